"""What is made of figures that were never measured: ratios, the page, the comparison of two commits."""

from __future__ import annotations

import pytest

from benchmarks.layers.compare import changes, text
from benchmarks.layers.page import _reasons, write_page
from benchmarks.layers.results import Results, load_results, save, summary
from benchmarks.session import Measured
from benchmarks.suite import load

CONVOLUTION, SUM = "resnet_3x3_64_56", "sum_all_4m"


def measured(milliseconds: float, note: str = "", **more: object) -> Measured:
    found = Measured(compile_seconds=0.1, note=note, **more)  # type: ignore[arg-type]
    found.add([2 * milliseconds] * 3, [milliseconds] * 3)
    return found


def results(hloom: float, commit: str = "before", slower: float = 1.0) -> Results:
    convolution = {"hloom": hloom, "eager": 2.0, "compile": 4.0, "openvino": 1.0}
    found = {(CONVOLUTION, 1, peer): measured(time * slower) for peer, time in convolution.items()}
    found[CONVOLUTION, 1, "fma"] = measured(0.4 * slower, note="231211008")
    found[CONVOLUTION, 1, "bandwidth"] = measured(0.1 * slower, note="1753088")
    found[SUM, 1, "hloom"], found[SUM, 1, "eager"] = measured(2 * slower), measured(1 * slower)
    found[SUM, 1, "fma"], found[SUM, 1, "bandwidth"] = measured(0.001, note="0"), measured(1 * slower, note="16777220")
    return Results("layers", commit, "a machine.", "1 round", found)


def test_against_the_best_peer_and_the_limit():
    found = results(0.5)
    assert found.ratio(CONVOLUTION, 1) == pytest.approx(0.5)
    assert found.of_limit(CONVOLUTION, 1) == (pytest.approx(0.8), "fma")
    assert found.ratio(SUM, 1) == pytest.approx(2)
    assert found.of_limit(SUM, 1) == (pytest.approx(0.5), "bandwidth")
    assert found.work(CONVOLUTION, 1, "fma") == 231211008


def test_a_summary_names_the_worst_and_what_failed():
    found = results(0.5)
    found.measured[SUM, 1, "compile"] = Measured(error="no such thing")
    said = summary(found, load("layers"))
    assert "| all | 2 | 1.00 | 1 | 2.00 sum_all_4m |" in said
    assert "sum_all_4m, compile: no such thing" in said


def test_there_and_back(tmp_path):
    save(results(0.5), tmp_path / "results.json")
    assert load_results(tmp_path / "results.json") == results(0.5)


def test_a_slower_machine_is_no_slower_row():
    assert [change.factor for change in changes(results(0.5), results(0.5, slower=3.0))] == pytest.approx([1, 1])
    assert text(results(0.5), results(0.5, slower=3.0), 1.05)[1] is False


def test_what_got_slower_is_named():
    said, slower = text(results(0.5), results(0.6, "after"), 1.05)
    assert slower and "before → after: 2 rows" in said
    assert f"| {CONVOLUTION} | 1 | 0.5 | 0.6 | 1.00 | 1.20 |" in said and SUM not in said


def test_what_newly_fails_is_named():
    after = results(0.5, "after")
    after.measured[SUM, 1, "hloom"].differs = "results differ by 1 of the largest"
    said, slower = text(results(0.5), after, 1.05)
    assert slower and f"- {SUM}: results differ by 1 of the largest" in said


def test_the_page(tmp_path):
    pytest.importorskip("matplotlib")
    page = write_page(results(0.5), tmp_path)
    said = page.read_text()
    assert "| resnet_3x3_64_56 | 0.5 / 0.5 | 2 / 2 | 4 / 4 | 1 / 1 | 0.50 | 80% of fma | 0.10 |" in said
    assert "| sum_all_4m | 2 / 2 | 1 / 1 | – | – | **2.00** | 50% of bandwidth | 0.10 |" in said
    assert "## Below 60% of the limit" in said and "| sum_all_4m | 50% of bandwidth | – |" in said
    assert {path.name for path in tmp_path.glob("*.svg")} == {"layers-bars.svg", "layers-roofline.svg"}


def test_a_row_that_left_the_table_is_still_told(tmp_path):
    pytest.importorskip("matplotlib")
    found = results(0.5)
    found.measured["an_old_one", 1, "hloom"], found.measured["an_old_one", 1, "eager"] = measured(1), measured(2)
    assert "### no longer in the table\n\n" in write_page(found, tmp_path).read_text()
    assert "| no longer in the table | 1 | 0.50 |" in summary(found, load("layers"))


def test_where_products_dominate_jax_counts():
    found = results(0.5)
    for row in (CONVOLUTION, "square_1024"):
        found.measured[row, 1, "hloom"], found.measured[row, 1, "eager"] = measured(1), measured(2)
        found.measured[row, 1, "jax"] = measured(0.5)
    assert found.best("square_1024", 1) == (pytest.approx(0.5), "jax")
    assert found.best(CONVOLUTION, 1) == (pytest.approx(1), "openvino")


def test_reasons_are_of_what_there_is():
    suites = load("layers"), load("models")
    assert set(_reasons()) <= {name for suite in suites for name in (*suite.rows, *suite.families())}
