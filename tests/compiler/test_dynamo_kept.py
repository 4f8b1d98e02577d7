"""What torch.compile(…, backend="hloom") keeps across processes: what is read again, what is made again, and what damage does."""

from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
import subprocess
import sys

import pytest

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontends import torch_lowerings, torch_registry  # noqa: F401  hloom's own are registered
from hloom.passes.stablehlo.support import build

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch._dynamo.callback import callback_handler  # noqa: E402
from torch._dynamo.utils import counters  # noqa: E402

from hloom.compiler.dynamo import torch_source  # noqa: E402
from hloom.compiler.dynamo.tracing import standing_in  # noqa: E402

STEP = """
import json, sys, torch
from torch import nn
from torch._dynamo.utils import counters
from hloom.compiler.dynamo.backend import backend

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
x = torch.randn(2, 2, 6, 6)
call = torch.compile(net, backend="hloom")
call(x).square().sum().backward()
with torch.no_grad():
    told = [call(x).tolist(), [p.grad.tolist() for p in net.parameters()]]
needless = ["hloom.compiler.pipeline", "hloom.compiler.frontends.torch_registry", "torch._inductor.ir", "torch._inductor.codegen.wrapper"]
compiler = [name for name in needless if name in sys.modules]
print(json.dumps([counters["aot_autograd"]["autograd_cache_hit"], compiler, told]))
"""


@pytest.fixture(autouse=True)
def compiles(tmp_path, monkeypatch):
    """The programs that were compiled and not read."""
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path / "hloom"))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "torch"))
    monkeypatch.delenv("HLOOM_DEBUG", raising=False)
    monkeypatch.setattr(torch_registry, "_registered", torch_registry._own)  # other tests of the process register lowerings
    counters.clear()
    done = []
    compile_whole = Compilation._compiled
    monkeypatch.setattr(Compilation, "_compiled", lambda compilation: (done.append(compilation), compile_whole(compilation))[1])
    return done


def again(function, *inputs, **options):
    """The results of a call in what is, to dynamo, a new process."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    return torch.compile(function, backend="hloom", **options)(*inputs)


def hits() -> int:
    return counters["aot_autograd"]["autograd_cache_hit"]


def process() -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", STEP], stdout=subprocess.PIPE, env=os.environ, text=True)


def told(child: subprocess.Popen) -> list:
    out, _ = child.communicate(timeout=300)
    assert child.returncode == 0
    return json.loads(out)


def test_a_second_process_reads_what_two_at_once_have_written():
    first, other = [told(child) for child in [process(), process()]]
    later = told(process())
    assert first[2] == other[2] == later[2]
    assert later[0] == 2, "inference and training"
    assert first[1] and not later[1], "nothing of the compiler was loaded, nor of inductor's"


def test_training_and_inference(compiles):
    net, x = nn.Linear(3, 4), torch.randn(2, 3)
    gradients = []
    for _ in range(2):
        net.zero_grad()
        again(net, x).square().sum().backward()
        with torch.no_grad():
            torch.testing.assert_close(again(net, x), net(x))
        gradients.append([p.grad.clone() for p in net.parameters()])
    assert len(compiles) == 3 and hits() == 2
    assert all(map(torch.equal, *gradients))


def test_a_backward_that_was_not_compiled_before(compiles):
    x = torch.randn(3, requires_grad=True)
    again(torch.sin, x)
    assert len(compiles) == 1
    again(torch.sin, x).sum().backward()
    torch.testing.assert_close(x.grad, x.cos())
    again(torch.sin, x).sum().backward()
    assert len(compiles) == 2 and hits() == 1


def test_other_options_types_and_constants_are_other_entries(compiles, monkeypatch):
    def scaled(x):
        return x * factor + torch.tensor(table)

    x, factor, table = torch.randn(4), 2.0, [1.0, 2.0, 3.0, 4.0]
    variants = [{}, {"options": {"target": "cpu-avx2"}}, {"options": {"policy": {"kernel": [{"op": "add", "use": "cost"}]}}}]
    for options in variants:
        torch.testing.assert_close(again(scaled, x, **options), scaled(x))
    for other in (x.double(), torch.randn(8)[::2], torch.randn(1)):
        torch.testing.assert_close(again(scaled, other), scaled(other))
    factor = 3.0
    torch.testing.assert_close(again(scaled, x), scaled(x))
    table = [4.0, 3.0, 2.0, 1.0]
    torch.testing.assert_close(again(scaled, x), scaled(x))
    assert len(compiles) == 8
    torch.testing.assert_close(again(scaled, x), scaled(x))
    assert len(compiles) == 8
    monkeypatch.setenv("HLOOM_TARGET", "cpu-avx2")
    again(scaled, x)
    assert len(compiles) == 9


@torch.library.custom_op("hloom_kept_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


twice.register_fake(torch.empty_like)


def test_what_a_user_registered_is_asked_each_time(compiles, monkeypatch):
    from hloom.compiler.frontends import torch_registry

    monkeypatch.setattr(torch_registry, "_lowerings", dict(torch_registry._lowerings))
    monkeypatch.setattr(torch_registry, "_registered", torch_registry._registered)
    x = torch.randn(3)
    for factor in (2.0, 2.0, 5.0):
        hloom.torch_lowering("hloom_kept_test.twice")(lambda op, x, by=factor: build.elementwise("multiply", x, op.operand(by)))
        torch.testing.assert_close(again(torch.ops.hloom_kept_test.twice, x, fullgraph=True), x * factor)
    assert len(compiles) == 2 and hits() == 0


@torch.no_grad()
def test_weights_and_random_numbers_are_of_the_call(compiles):
    x = torch.ones(64)
    drawn = []
    for seed in (1, 1, 2):
        net = nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.5))
        again(net, x)
        torch.manual_seed(seed)
        result = torch.compile(net, backend="hloom")(x)
        torch.testing.assert_close(result, torch.where(result == 0, 0, net[0](x) * 2))
        drawn.append(result == 0)
    assert len(compiles) == 1 and hits() == 2
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])


@pytest.mark.parametrize("kind", ["hloom", "torch"])
@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: data[:-9] + b"\1" * 9])
def test_damaged_entries_are_made_again(compiles, tmp_path, kind, damage, caplog):
    x = torch.randn(4, 4)
    again(torch.matmul, x, x)
    entries = [path for path in (tmp_path / kind).rglob("*") if path.is_file()]
    assert len(entries) == 1
    entries[0].write_bytes(damage(entries[0].read_bytes()))
    torch.testing.assert_close(again(torch.matmul, x, x), x @ x)
    assert len(compiles) == (2 if kind == "hloom" else 1)
    compiles.clear()
    torch.testing.assert_close(again(torch.matmul, x, x), x @ x)
    assert not compiles and hits() >= 1


def test_what_others_gave_inductor_is_no_part_of_the_key(compiles, monkeypatch):
    x = torch.randn(3)
    again(torch.sin, x)
    monkeypatch.setattr(torch._inductor.codecache, "custom_backend_passes", {"cpu": None})
    again(torch.sin, x)
    assert len(compiles) == 1 and hits() == 1


@pytest.mark.parametrize(("asked", "found"), [("known", 1), ("late", 2), ("other", 3)])
def test_a_stand_in_loads_its_module_for_what_it_does_not_know(tmp_path, monkeypatch, asked, found):
    (tmp_path / "stood_for.py").write_text("known = late = lambda: 2\nother = lambda: 3")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        with standing_in("stood_for", known=lambda: 1, late=None):
            assert getattr(importlib.import_module("stood_for"), asked)() == found
        assert ("stood_for" in sys.modules) == (asked != "known")
    finally:
        sys.modules.pop("stood_for", None)


def test_nothing_is_collected_while_dynamo_traces(compiles, nothing_frozen):
    frozen, x = [], torch.randn(3)
    again(torch.sin, x)  # after a reset, which takes what the backend told dynamo before
    callback_handler.register_start_callback(lambda _: frozen.append(gc.get_freeze_count()))
    torch.compile(torch.cos, backend="hloom")(x)
    torch._dynamo.reset()
    assert len(frozen) == 1 and frozen[0]
    assert gc.get_freeze_count() == 0


PRECOMPILED = """
import json, os, sys, torch
from torch import nn
from torch._dynamo.utils import counters
import hloom

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 4)

    def forward(self, x):
        return self.linear(x).relu()

class Trained(Net):
    def forward(self, x):
        return self.linear(x).square()

backend, options, seed, os.environ["HLOOM_TARGET"] = json.loads(sys.argv[1])
torch.manual_seed(seed)
net, trained, x = Net().requires_grad_(False), Trained(), torch.randn(2, 8)
torch.testing.assert_close(torch.compile(net, backend=backend, options=options)(x), net(x))
gradients = []
for call in (torch.compile(trained, backend=backend, options=options), trained):
    trained.zero_grad()
    call(x).sum().backward()
    gradients.append([p.grad for p in trained.parameters()])
torch.testing.assert_close(*gradients)
targets = {program.program.target["name"] for program in hloom.programs()}
print(json.dumps([counters["frames"]["total"], *targets]))
"""


NEW_PROCESSES = """
import json, os, sys
import torch._dynamo, torch._inductor.compile_fx
for line in sys.stdin:
    __file__, *arguments = json.loads(line)
    if not os.fork():
        break
    print(os.wait()[1], flush=True)
else:
    sys.exit()
sys.argv = [__file__, *arguments]
exec(compile(open(__file__).read(), __file__, "exec"))
"""
"""Runs the file of each line in a process that has imported torch, and nothing else: that takes most of a new one's time."""


@pytest.fixture
def traced(tmp_path, monkeypatch):
    """What PRECOMPILED tells in a new process."""
    monkeypatch.setenv("TORCH_CACHING_PRECOMPILE", "1")
    (tmp_path / "net.py").write_text(PRECOMPILED)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": os.environ, "text": True}
    with subprocess.Popen([sys.executable, "-c", NEW_PROCESSES], **pipes) as forking:

        def run(backend="hloom", options=None, seed=0, target="cpu") -> list:
            print(json.dumps([str(tmp_path / "net.py"), json.dumps([backend, options, seed, target])]), file=forking.stdin, flush=True)
            answer = json.loads(forking.stdout.readline())
            assert forking.stdout.readline() == "0\n"  # it has ended, and kept what it keeps
            return answer

        yield run
        forking.stdin.close()


def test_what_dynamo_keeps_holds_for_the_same_source_target_options_and_programs_that_are_there(tmp_path, traced):
    frames, target = traced()
    assert frames == 2 and traced(seed=1) == [0, target], "the weights are others"
    assert traced(options={"bind": False}) == [2, target] and traced(options={"bind": False}) == [0, target]
    assert traced("eager") == [2]
    (tmp_path / "net.py").write_text(PRECOMPILED.replace("relu", "sigmoid"))
    assert traced() == [2, target]
    assert traced(target="cpu-avx2") == [2, "cpu-avx2"]
    assert traced() == [2, target]
    shutil.rmtree(tmp_path / "hloom")
    assert traced() == [2, target]


@pytest.mark.parametrize("variable", ["HLOOM_DEBUG", "HLOOM_CACHE", "off"])
def test_nothing_is_kept_for_who_looks_on_or_wants_no_cache(compiles, tmp_path, monkeypatch, variable):
    x = torch.randn(3)
    if variable != "off":
        monkeypatch.setenv(variable, {"HLOOM_DEBUG": f"dump={tmp_path / 'dump'}", "HLOOM_CACHE": "0"}[variable])
    with torch.compiler.config.patch(force_disable_caches=variable == "off"):  # monkeypatch would take the setting away for good
        again(torch.sin, x)
        again(torch.sin, x)
    assert len(compiles) == 2 and not (tmp_path / "hloom").exists()


def test_torchs_key_is_its_own_and_read_once(monkeypatch):
    of_torch, asked = torch_source._of_torch, []
    monkeypatch.setattr(torch_source, "_of_torch", lambda: asked.append(1) or of_torch())
    ask = torch_source.torch_key.__wrapped__
    assert ask() == ask() == of_torch() and len(asked) == 1
    files = [*torch_source._files(os.path.dirname(torch.__file__))]
    assert {f"{torch.__path__[0]}/_inductor/codecache.py", torch._C.__file__} <= {path for path, _ in files}
    monkeypatch.setattr(torch_source, "_files", lambda package: files[1:])
    assert ask() == of_torch() and len(asked) == 2


def test_what_was_traced_where_dispatch_leaves_autograd_out_is_not_read_elsewhere():
    """A transform that fails within torch may leave it out for the rest of the process, which must not tell later ones."""
    net, x = nn.Linear(3, 2), torch.randn(4, 3, requires_grad=True)
    with torch._C._AutoDispatchBelowAutograd():
        assert again(net, x).grad_fn is None
    again(net, x).sum().backward()
    assert hits() == 0
    again(net, x).sum().backward()
    assert hits() == 1
