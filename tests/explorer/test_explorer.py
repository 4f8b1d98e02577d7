"""The explorer in a real browser: what a person does with it, on programs that people have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hloom.tools.explain import main as explain

from .chromium import NAMES, Page, browser, chromium
from .models import mlp

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
