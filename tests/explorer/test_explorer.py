"""The explorer in a real browser: what a person does with it, on programs that people have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import hloom
from hloom.passes.fused.planner.policy import tomllib
from hloom.tools.explain import main as explain

from .chromium import NAMES, Page, browser, chromium
from .models import decoder, mlp, resnet50

pytestmark = pytest.mark.skipif(chromium() is None, reason=f"no browser: none of {', '.join(NAMES)} is installed (Debian: chromium)")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(str(chromium()), tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def mlp_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mlp")
    (folder / "mlp.mlir").write_text(mlp())
    assert explain([str(folder / "mlp.mlir"), "--target=cpu-avx2", f"--html={folder / 'mlp.html'}"]) == 0
    return folder / "mlp.html"


def text(page: Page, selector: str) -> str:
    return page.run(f"document.querySelector({selector!r})?.innerText ?? ''")


def test_search_panel_and_code_of_an_mlp(page: Page, mlp_page: Path):
    page.open(mlp_page)
    assert "mlp.mlir" in text(page, "#panel h2") and "Groups (" in text(page, "#panel")
    page.click_on("#search")
    page.type("dot_general 3:")
    page.wait("document.querySelectorAll('.hit').length")
    page.press("Enter")
    assert text(page, "#panel h2") == "dot_general"
    assert "mlp.mlir:3:" in text(page, "#panel")
    assert "stablehlo.dot_general %x, %w0" in text(page, "#panel .line")
    page.wait("document.querySelectorAll('.stage').length == 2")
    assert "stablehlo.dot_general" in text(page, "[data-stage=fused]")
    page.click_on(".stages input[name=assembly]")
    page.wait("document.querySelector('[data-stage=assembly]')")
    assert "vfmadd" in text(page, "[data-stage=assembly]")
    assert not page.errors


def test_the_page_asks_the_network_for_nothing(page: Page, mlp_page: Path):
    page.requests.clear()
    page.open(mlp_page)
    assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    refused = page.run("fetch('https://example.org').then(() => 'came', () => 'refused')")
    assert refused == "refused"
    page.errors.clear()  # the browser tells of what its policy forbade


@pytest.fixture(scope="module")
def torch_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("torch")
    models = {"resnet50": (resnet50(), torch.randn(1, 3, 224, 224)), "decoder": (decoder(), torch.randn(1, 128, 256))}
    pages = {}
    for name, (model, x) in models.items():
        pages[name] = folder / f"{name}.html"
        hloom.explain(model, x, target="cpu-avx2").html(pages[name])
    return pages


@pytest.mark.parametrize("name", ["resnet50", "decoder"])
def test_a_torch_model(page: Page, torch_pages: dict[str, Path], name: str):
    page.open(torch_pages[name])
    assert page.run("hloom.cy.zoom()") > 0.3, "what is drawn first can be read"
    merges = page.run("hloom.replay.steps.length")
    assert f"{merges} of {merges}" in text(page, "#told")
    _slide_to(page, 0)
    assert "0 of" in text(page, "#told") and page.run("hloom.cy.nodes('.part').length") == 0
    _slide_to(page, merges // 2)
    assert 0 < page.run("hloom.cy.nodes('.part').length") <= merges
    _slide_to(page, merges)
    assert page.run("hloom.cy.nodes('.part, .faded').length") == 0
    page.click_on("#home")
    assert page.run("(view => hloom.cy.nodes().every(n => n.position('x') > view.x1 && n.position('y') < view.y2))(hloom.cy.extent())")
    assert not page.errors


def test_a_rule_that_is_copied_changes_the_plan(page: Page, torch_pages: dict[str, Path]):
    page.open(torch_pages["decoder"])
    page.click_on("#search")
    page.type("attention_0")
    page.wait("document.querySelectorAll('.hit').length")
    page.press("Enter")
    page.run("document.addEventListener('copy', () => (window.taken = document.activeElement.value))")
    rules = page.run("[...document.querySelectorAll('.record')].map(r => r.innerText).findIndex(t => t.includes('FUSED_ATTENTION'))")
    page.click_on(f".record:nth-of-type({rules + 1}) .copy")
    page.wait("window.taken !== undefined || [...document.querySelectorAll('.copy')].some(b => b.textContent == 'copied')")
    rule = text(page, f".record:nth-of-type({rules + 1}) .copyable pre")
    assert page.run("window.taken ?? ''") in ("", rule) and 'use = "apart"' in rule
    plan = hloom.explain(decoder(), torch.randn(1, 128, 256), target="cpu-avx2", policy=tomllib.loads(rule)).data
    assert not [group for group in plan["groups"] if group["name"].startswith("attention")], "equal layers share a function"


def test_a_large_page_is_small_and_soon_there(page: Page, torch_pages: dict[str, Path]):
    """Two seconds of the processor's time, so that a machine that does other things tells the same."""
    path = torch_pages["resnet50"]
    assert path.stat().st_size < 5_000_000
    page.call("Performance.enable", timeDomain="threadTicks")
    page.open(path)
    measured = {each["name"]: each["value"] for each in page.call("Performance.getMetrics")["metrics"]}
    assert measured["TaskDuration"] < 2


def _slide_to(page: Page, value: int) -> None:
    page.run(f"(s => {{ s.value = {value}; s.dispatchEvent(new Event('input')) }})(document.querySelector('#slider'))")
