"""Programs that were compiled before: when they are taken from the cache, and when not."""

import subprocess
import sys

import pytest

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program

PROGRAM = """
module {{
  func.func @main(%x: tensor<{0}xf32>) -> tensor<{0}xf32> {{
    %y = stablehlo.add %x, %x : tensor<{0}xf32>
    return %y : tensor<{0}xf32>
  }}
}}
"""


@pytest.fixture(autouse=True)
def compiles(tmp_path, monkeypatch):
    """The programs that were compiled and not read."""
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("HLOOM_DEBUG", raising=False)
    done = []
    compile_whole = Compilation._compiled
    monkeypatch.setattr(Compilation, "_compiled", lambda compilation: (done.append(compilation), compile_whole(compilation))[1])
    return done


def compiled(size=8, target="sm_90a", **options):
    return Compilation(load_program(PROGRAM.format(size)), target=target, simulated=True, **options).artifact()


def test_the_second_compile_reads_what_the_first_wrote(compiles, tmp_path):
    compiled().save(tmp_path / "first.hloom")
    compiled().save(tmp_path / "second.hloom")
    assert len(compiles) == 1
    assert (tmp_path / "first.hloom").read_bytes() == (tmp_path / "second.hloom").read_bytes()


def test_another_program_target_or_option_is_another_entry(compiles):
    compiled()
    compiled(size=9)
    compiled(target="sm_80")
    compiled(name="other")
    assert len(compiles) == 4


@pytest.mark.parametrize("asked", ["timing", "dump={0}", "print-after-all", "statistics"])
def test_whoever_looks_on_sees_the_compile(compiles, monkeypatch, tmp_path, asked):
    compiled()
    monkeypatch.setenv("HLOOM_DEBUG", asked.format(tmp_path / "dump"))
    compiled()
    assert len(compiles) == 2


def test_it_can_be_turned_off(compiles, monkeypatch, tmp_path):
    compiled()
    monkeypatch.setenv("HLOOM_CACHE", "0")
    compiled()
    compiled(size=9)
    assert len(compiles) == 3 and len(list((tmp_path / "cache").rglob("*.hloom"))) == 1


def test_a_damaged_entry_is_made_again(compiles, tmp_path):
    compiled()
    (entry,) = (tmp_path / "cache" / "programs").iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    compiled()
    assert len(compiles) == 2


def test_programs_for_the_processor_are_not_kept(compiles, tmp_path):
    hloom.compile(PROGRAM.format(8))
    assert len(compiles) == 1 and not (tmp_path / "cache").exists()


def test_the_compiler_is_imported_without_llvm():
    code = "import sys, hloom.compiler.compile; sys.exit('llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def jitted(function, x):
    """The result of the function compiled as another process would: nothing is left but the folder."""
    from hloom.compiler.jax import primitive

    primitive._compiled.cache_clear()
    return hloom.jit(lambda x: function(x))(x)


def test_hloom_jit_reads_what_another_process_wrote(compiles):
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.linspace(-2.0, 2.0, 37)
    first, second = (jitted(lambda x: jnp.tanh(x) * 2 + x, x) for _ in range(2))
    assert len(compiles) == 1 and first.tobytes() == second.tobytes()
    jitted(lambda x: jnp.tanh(x) * 3 + x, x)
    jitted(lambda x: jnp.tanh(x) * 2 + x, x[:36])
    assert len(compiles) == 3


def test_what_calls_a_function_of_this_process_is_not_kept(compiles, tmp_path):
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones(3)
    for _ in range(2):
        jitted(lambda x: jax.pure_callback(lambda v: v + 1, x, x), x)
    assert len(compiles) == 2 and not (tmp_path / "cache" / "programs").exists()


def test_a_program_too_large_is_not_kept(compiles, monkeypatch):
    monkeypatch.setattr("hloom.compiler.artifact_cache._LARGEST", 100)
    compiled()
    compiled()
    assert len(compiles) == 2
