"""Tuning by measurement: who wins a contest, what a tuning keeps and writes, and that a second compile measures nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hloom
from hloom.compiler.target import load_target
from hloom.compiler.tuning import calibration, contest, session, tuner
from hloom.compiler.tuning.contest import Outcome
from hloom.compiler.tuning.policy_file import policy_text, seconds
from hloom.passes.errors import CompileError
from hloom.passes.fused.planner.policy import Policy
from hloom.tools import compile as compile_tool
from hloom.tools import run as run_tool

OUTER = """
func.func @main(%x: tensor<512xf32>, %y: tensor<768xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<512xf32>
  %b = stablehlo.broadcast_in_dim %e, dims = [0] : (tensor<512xf32>) -> tensor<512x768xf32>
  %c = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<768xf32>) -> tensor<512x768xf32>
  %m = stablehlo.multiply %b, %c : tensor<512x768xf32>
  %s = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [1] : (tensor<512x768xf32>, tensor<f32>) -> tensor<512xf32>
  return %s, %e : tensor<512xf32>, tensor<512xf32>
}"""


class Machine:
    """A clock that calls move: each by what it takes, with noise that some rounds have."""

    def __init__(self, noise=(0.0,)):
        self.now, self.noise = 0.0, itertools.cycle(noise)

    def call(self, cost: float):
        def run() -> None:
            self.now += cost + next(self.noise)

        return run


@pytest.fixture
def machine(monkeypatch):
    def made(noise=(0.0,)) -> Machine:
        found = Machine(noise)
        monkeypatch.setattr(contest, "clock", lambda: lambda: found.now)
        monkeypatch.setattr(contest.time, "perf_counter", lambda: found.now)
        return found

    return made


@pytest.mark.parametrize(
    ("holder", "challenger", "won"), [(1e-3, 0.9e-3, True), (1e-3, 0.99e-3, False), (1e-3, 1e-3, False), (1e-3, 2e-3, False)]
)
def test_the_faster_wins_by_more_than_noise(machine, holder, challenger, won):
    found = machine()
    assert contest.contest(found.call(holder), found.call(challenger)).won == won


@pytest.mark.parametrize("period", [3, 5, 7, 11])
def test_a_machine_that_is_disturbed_chooses_no_slower_candidate(machine, period):
    """Every so many calls take ten times as long: rounds that were disturbed are not the least."""
    noise = [0.0] * (period - 1) + [9e-3]
    found = machine(noise)
    assert not contest.contest(found.call(1e-3), found.call(1.03e-3)).won
    found = machine(noise)
    assert not contest.contest(found.call(1e-3), found.call(1e-3)).won


def test_a_lucky_round_is_not_enough():
    assert not Outcome(1.0, 0.5, faster=0.3).won
    assert not Outcome(1.0, 0.99, faster=1.0).won
    assert Outcome(1.0, 0.9, faster=0.8).won


@pytest.fixture
def wins(monkeypatch, tmp_path):
    """Contests that programs win whose label is among those given, without measuring."""
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path / "cache"))
    hloom_threads = hloom.get_threads()
    hloom.set_threads(1)

    def made(wanted) -> None:
        def held(self, best, policy, candidate):
            challenger = self.make(policy, False).executable()
            self._results(challenger)
            won = wanted(candidate)
            outcome = Outcome(1e-3, 0.5e-3 if won else 1e-3, float(won))
            return tuner.Trial(candidate, outcome, won), challenger

        monkeypatch.setattr(tuner.Tuner, "_try", held)
        monkeypatch.setattr(tuner, "contest", lambda *_, **__: Outcome(1e-3, 0.5e-3, 1.0))

    yield made
    hloom.set_threads(hloom_threads)


def forbids(candidate) -> bool:
    entries = candidate.rule.entries()
    return candidate.rule.table == "fuse" and entries["action"] == "forbid" and entries["op"] == "exponential"


def test_what_won_is_a_rule_and_the_program_is_compiled_by_it(wins):
    wins(forbids)
    exe = hloom.compile(OUTER, target="cpu", tune=60)
    told = exe.report.data["tuning"]
    assert [trial["what"] for trial in told["trials"] if trial["kept"]] == ["forbid exponential with multiply"]
    assert Policy.from_entries(session.tomllib.loads(told["policy"]), "it").fuse[0].entries() == {
        "op": "exponential",
        "shape": "512xf32",
        "with": {"op": "multiply", "shape": "512x768xf32"},
        "action": "forbid",
    }
    assert sorted(exe.report.data["groups"][0]["ops"]) == ["exponential"]
    assert {row["name"] for row in told["groups"]} and all(row["measured_s"] > 0 < row["priced_s"] for row in told["groups"])
    x, y = np.ones(512, np.float32), np.ones(768, np.float32)
    np.testing.assert_allclose(exe(x, y)[0], np.full(512, 768 * np.e), rtol=1e-5)


def test_a_second_compile_reads_what_was_kept_and_measures_nothing(wins, monkeypatch, tmp_path):
    wins(forbids)
    for policy in (None, tmp_path / "p.toml", {"tile": [{"op": "reduce", "sizes": [4]}]}):
        with monkeypatch.context() as patched:
            first = hloom.compile(OUTER, target="cpu", tune=60, policy=policy)
            patched.setattr(tuner.Tuner, "run", lambda self: pytest.fail("it measures"))
            second = hloom.compile(OUTER, target="cpu", tune=60, policy=policy)
        assert second.report.data["groups"] == first.report.data["groups"]
        assert second.report.data["tuning"]["policy"] == first.report.data["tuning"]["policy"]
    again = hloom.compile(OUTER, target="cpu", policy=tmp_path / "p.toml")
    assert sorted(again.report.data["groups"][0]["ops"]) == ["exponential"]


def test_nothing_is_kept_if_all_of_it_is_not_faster(wins, monkeypatch):
    wins(forbids)
    monkeypatch.setattr(tuner, "contest", lambda *_, **__: Outcome(1e-3, 1e-3, 0.5))
    told = hloom.compile(OUTER, target="cpu", tune=60).report.data["tuning"]
    assert "[[" not in told["policy"] and "Nothing that was tried is faster" in told["policy"]


def test_candidates_whose_results_are_others_are_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path / "cache"))
    results = tuner.Tuner._results
    calls = itertools.count()
    monkeypatch.setattr(tuner.Tuner, "_results", lambda self, exe: [each + next(calls) for each in results(self, exe)])
    monkeypatch.setattr(tuner, "contest", lambda *_, **__: Outcome(1e-3, 0.5e-3, 1.0))
    told = hloom.compile(OUTER, target="cpu", tune=60).report.data["tuning"]
    assert told["trials"] and not any(trial["kept"] for trial in told["trials"])
    assert {trial["why"] for trial in told["trials"]} <= {"its results are others", "it changes nothing"}


def test_it_measures_for_real_within_its_time(monkeypatch, tmp_path):
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path / "cache"))
    told = hloom.compile(OUTER, target="cpu", tune=0.0).report.data["tuning"]
    assert told["trials"] == [] and told["groups"]
    short = hloom.compile(OUTER, target="cpu-avx2", tune=3).report.data["tuning"]
    assert short["trials"] and short["seconds"] < 30


@pytest.mark.parametrize(("target", "message"), [("sm_80", "this machine's processor, and the target is sm_80")])
def test_what_cannot_be_tuned(target, message):
    with pytest.raises(CompileError, match=message):
        hloom.compile(OUTER, target=target, tune=1)


def test_the_tool_writes_a_policy_and_reads_it(wins, tmp_path, capfd, monkeypatch):
    wins(forbids)
    (tmp_path / "p.mlir").write_text(OUTER)
    command = [str(tmp_path / "p.mlir"), "--target=cpu", "--tune=60", "-o", str(tmp_path / "p.hloom")]
    assert compile_tool.main(command) == 0
    told = capfd.readouterr().err
    assert "kept    forbid exponential with multiply" in told and "1 of " in told
    text = (tmp_path / "p.policy.toml").read_text()
    assert "[[fuse]]" in text and "# group" in text
    monkeypatch.setattr(tuner.Tuner, "run", lambda self: pytest.fail("it measures"))
    assert compile_tool.main(command) == 0
    assert "nothing is measured" in capfd.readouterr().err
    assert run_tool.main([str(tmp_path / "p.hloom"), "--input=random", "--output=-"]) == 0
    assert compile_tool.main([str(tmp_path / "p.mlir"), "--tune=soon", "-o", "-"]) == 1
    assert "--tune takes seconds" in capfd.readouterr().err


def test_a_policy_of_no_rules_is_a_file_too():
    text = policy_text(tuner.Tuning(Policy()), "it", load_target("cpu-avx512"))
    assert Policy.from_entries(session.tomllib.loads(text), "it") == Policy()


def test_seconds_have_units_that_suit():
    assert [seconds(each) for each in (0.0, 3.2e-8, 4.5e-6, 0.012, 2.0)] == ["-", "32 ns", "4.5 µs", "12 ms", "2 s"]


def test_a_calibrated_target_is_one_that_target_takes(tmp_path, monkeypatch):
    """Rates are what amounts and times make: every program is said to take a microsecond for each thousand of what it does."""

    def least(calls, now):
        return {key: probe.amount * 1e-9 for key, probe in calls.items()}

    monkeypatch.setattr(calibration, "_least", least)
    monkeypatch.setattr(calibration, "_call", lambda probe, target: probe)
    monkeypatch.setattr(calibration, "is_busy", lambda: False)
    path = tmp_path / "machine.toml"
    assert compile_tool.main(["--calibrate", "--target=cpu-avx2", "-o", str(path)]) == 0
    made = load_target(str(path))
    assert made.f32_flops == made.int8_flops == made.dram_bytes_per_second == 10**9
    assert made.l1_bytes == load_target("cpu-avx2").l1_bytes and made.name == "machine"
    assert made.launch_ps >= 2 * made.min_gain_ps or made.min_gain_ps == load_target("cpu-avx2").min_gain_ps
    x, y = np.ones(512, np.float32), np.ones(768, np.float32)
    np.testing.assert_allclose(hloom.compile(OUTER, target=str(path))(x, y)[1], np.e, rtol=1e-6)


def test_a_busy_machine_says_nothing_of_several_threads(monkeypatch):
    monkeypatch.setattr(calibration, "is_busy", lambda: True)
    target = load_target("cpu-avx512").with_entries({"cores": 8})
    assert calibration._on_all_threads(target, 1.0) == {}
    assert "was busy" in calibration.target_text(target, {})
