"""Targets: files, host detection, the module attribute."""

import dataclasses

import pytest
from torch_mlir import ir

from hloom.compiler import target as targets
from hloom.compiler.parsing import parse_module
from hloom.compiler.target import Target, TargetError, attach_target, describe_host, host, known_targets, load_target, resolve
from hloom.dialects.context import make_context
from hloom.dialects.target import target_of
from hloom.runtime.cuda import driver
from hloom.runtime.errors import MissingDriverError
from hloom.runtime.processor import linux_features, macos_features

AVX2 = {"avx2": True, "fma": True, "f16c": True}
AVX512 = {**AVX2, "avx512f": True, "avx512bw": True, "avx512dq": True, "avx512vl": True}
ZEN5 = {**AVX512, "avx512bf16": True, "avx512vnni": True, "avxvnni": True, "clzero": True}
AMX = {**AVX512, "amx-tile": True, "amx-bf16": True, "amx-int8": True, "avx512fp16": True, "avx512bf16": True}


def describe(features, triple=Target.triple, **caches):
    return describe_host(features, cpu="some-cpu", cores=3, caches=caches, triple=triple)


def test_the_default_target_is_the_avx512_file():
    assert load_target("cpu-avx512") == Target()


@pytest.mark.parametrize("name", known_targets())
def test_every_file_round_trips_through_the_attribute(name):
    target = load_target(name)
    module = parse_module("module { func.func private @f() }", make_context())
    attach_target(module.operation, target)
    again = parse_module(str(module), make_context())
    assert target_of(again.operation) == target
    assert target_of(again.body.operations[0].operation) == target
    assert target.name == name


@pytest.mark.parametrize("name", [name for name in known_targets() if name.startswith("sm_")])
def test_gpus_are_complete(name):
    target = resolve(name)
    assert target.kind == "cuda" and target.cpu == name and target.compute_capability == int(name.strip("sm_a"))
    assert target.threads_per_multiprocessor % 32 == 0 and target.registers_per_multiprocessor == 65536
    assert 48 << 10 < target.shared_bytes_per_block < target.shared_bytes_per_multiprocessor <= target.l1_bytes
    assert target.multiprocessors > 0 and target.blocks_per_multiprocessor > 0
    assert target.f32_flops < target.f16_flops == target.bf16_flops < target.int8_flops
    assert target.dram_bytes_per_second < target.llc_bytes_per_second and target.llc_bytes == target.l2_bytes
    assert target.launch_ps == 2_500_000


@pytest.mark.parametrize(("told", "cores", "taken"), [(260, 2, 32), (260, 1, 32), (32, 1, 32), (8, 4, 8), (260, 64, 260)])
def test_of_a_last_cache_that_other_machines_share_a_part_is_taken(told, cores, taken):
    target = describe_host(AVX512, cpu="some-cpu", cores=cores, caches={"llc_bytes": told << 20})
    assert target.llc_bytes == taken << 20


def test_cpus_name_nothing_of_gpus():
    assert load_target("cpu-avx512").compute_capability == load_target("cpu-avx512").multiprocessors == 0


def test_no_attribute_is_the_default_and_entries_override_it():
    assert target_of(parse_module("module {}", make_context()).operation) == Target()
    text = 'module attributes {hloom.target = {name = "mine", vector_bits = 256 : i64, fma = false}} {}'
    assert target_of(parse_module(text, make_context()).operation) == dataclasses.replace(Target(), name="mine", vector_bits=256, fma=False)


@pytest.mark.parametrize("attribute", ["{vector_bits = true}", "{nosuch = 1 : i64}", "{name = 1.0 : f32}", '"text"', "{cores = -1 : i64}"])
def test_malformed_attributes_are_refused(attribute):
    module = parse_module(f"module attributes {{hloom.target = {attribute}}} {{}}", make_context())
    with pytest.raises(ValueError, match="target"):
        target_of(module.operation)


def test_hosts_are_told_apart_by_their_features():
    assert [describe(f).name for f in (AVX2, AVX512, AMX)] == ["cpu-avx2", "cpu-avx512", "cpu-amx"]
    assert describe(ZEN5).name == "cpu-zen5" and describe({**ZEN5, "avxvnni": False}).name == "cpu-avx512"
    assert describe(AMX).amx_bf16 and not describe(AVX512).amx_bf16
    assert describe({**AVX2, "avx512f": True}).vector_bits == 256
    assert describe({**AVX512, "avx512vnni": True}).int8_dot and describe({**AVX2, "avxvnni": True}).int8_dot
    assert not describe({**AVX2, "avx512vnni": True}).int8_dot
    assert describe(AVX512, l2_bytes=12345).l2_bytes == 12345
    assert describe({**AVX2, "sse4a": False}).features == "+avx2,+f16c,+fma,-sse4a"
    with pytest.raises(TargetError, match="cpu-avx2 needs avx2, fma"):
        describe({"avx2": True})


CPUINFO = """processor\t: 0
BogoMIPS\t: 50.00
Features\t: fp asimd evtstrm aes crc32 atomics fphp asimdhp cpuid asimddp {}
CPU implementer\t: 0x41
"""


def test_aarch64_hosts_are_told_apart_by_their_features():
    graviton2, grace = (linux_features(CPUINFO.format(more)) for more in ("", "sve i8mm bf16"))
    found = describe(graviton2, triple="aarch64-unknown-linux-gnu")
    assert found.name == "cpu-neon" and found.int8_dot and found.f16_arithmetic and not found.bf16_dot
    assert found.required_features == ["dotprod", "fullfp16", "neon"]
    assert describe(grace, triple="aarch64-unknown-linux-gnu").bf16_dot
    old = describe(linux_features("Features : fp asimd"), triple="aarch64-unknown-linux-gnu")
    assert not old.int8_dot and not old.f16_arithmetic and old.required_features == ["neon"]
    flags = {"hw.optional.AdvSIMD": 1, "hw.optional.arm.FEAT_DotProd": 1, "hw.optional.arm.FEAT_FP16": 1}
    mac = describe(macos_features(lambda name: flags.get(name, 0)), triple="arm64-apple-darwin23.1.0")
    assert mac.name == "cpu-apple" and mac.int8_dot and not mac.bf16_dot
    with pytest.raises(TargetError, match="cpu-neon needs neon"):
        describe(linux_features("no features"), triple="aarch64-unknown-linux-gnu")
    with pytest.raises(TargetError, match="there is none for riscv64"):
        describe({}, triple="riscv64-unknown-linux-gnu")


@pytest.mark.parametrize("name", [name for name in known_targets() if name.startswith("cpu-")])
def test_extensions_are_entries(name):
    target = load_target(name)
    assert all(type(getattr(target, entry)) is bool for entry in target.extension_features)
    named = {word[1:] for word in target.features.split(",") if word}
    wanted = {feature for entry, feature in target.extension_features.items() if getattr(target, entry)}
    assert not named or wanted <= named  # LLVM may use what the passes use


class _Gpu:
    def __init__(self, capability, name="NVIDIA GPU"):
        self.capability, self.name = capability, name


@pytest.mark.parametrize(
    ("capability", "name"), [(80, "sm_80"), (87, "sm_86"), (89, "sm_89"), (90, "sm_90a"), (100, "sm_100a"), (103, None), (75, None)]
)
def test_auto_is_the_known_target_that_fits_the_gpu_best(monkeypatch, capability, name):
    monkeypatch.delenv("HLOOM_TARGET")
    monkeypatch.setattr(targets, "_DRIVER", None)  # the process itself, which loads anywhere
    monkeypatch.setattr(driver, "default_driver", lambda: _Gpu(capability))
    assert resolve("auto") == (load_target(name) if name else host())


@pytest.mark.parametrize(("product", "name"), [("NVIDIA H200", "h200"), ("NVIDIA H100 80GB HBM3", "sm_90a")])
def test_auto_is_a_products_own_target_where_there_is_one(monkeypatch, product, name):
    monkeypatch.delenv("HLOOM_TARGET")
    monkeypatch.setattr(targets, "_DRIVER", None)
    monkeypatch.setattr(driver, "default_driver", lambda: _Gpu(90, product))
    assert resolve("auto") == load_target(name)


def test_auto_is_the_processor_without_a_driver_or_gpu(monkeypatch):
    def absent():
        raise MissingDriverError("no GPU")

    monkeypatch.delenv("HLOOM_TARGET")
    monkeypatch.setattr(driver, "default_driver", absent)
    for library in ("libnot-there.so", None):
        monkeypatch.setattr(targets, "_DRIVER", library)
        assert resolve("auto") == host()


def test_auto_is_what_the_environment_says(monkeypatch):
    monkeypatch.setenv("HLOOM_TARGET", "sm_80")
    assert resolve("auto") == load_target("sm_80")


def test_this_machine():
    target = host()
    assert resolve("cpu") == target
    assert target.kind == "cpu" and target.cores >= 1 and target.l1_bytes > 0 and target.lanes(32) * 32 == target.vector_bits


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vector_bits = 'wide'", "vector_bits"),
        ("vector_bits = 512.0", "vector_bits"),
        ("nosuch = 1", "nosuch"),
        ("name = ", "no TOML"),
        ("inherits = 'missing'", "missing"),
        ("inherits = 3", "inherits"),
        ("cores = -1", "negative"),
    ],
)
def test_malformed_files_are_refused(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(TargetError, match=message):
        load_target(str(path))


def test_unknown_names_list_the_known_ones():
    with pytest.raises(TargetError, match="cpu-avx2"):
        load_target("nosuch")


def test_a_file_of_the_users_inherits(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("inherits = 'cpu-amx'\ncores = 4")
    assert load_target(str(path)) == dataclasses.replace(load_target("cpu-amx"), name="mine", cores=4)


def test_peak_flops_are_by_type():
    target = load_target("cpu-amx")
    with make_context():
        assert target.peak_flops(str(ir.BF16Type.get())) == target.bf16_flops
        assert target.peak_flops(str(ir.IntegerType.get_signless(32))) == target.integer_ops
    assert target.peak_flops("ui8") == target.int8_flops


def test_pairs_of_bf16_are_multiplied_where_that_is_faster_than_f32():
    zen5, amx, none = (load_target(name) for name in ("cpu-zen5", "cpu-amx", "cpu-avx512"))
    assert zen5.multiplies_pairs and not zen5.widens("bf16") and zen5.peak_flops("bf16") == zen5.bf16_dot_flops
    assert amx.bf16_dot and not amx.multiplies_pairs and not amx.widens("bf16")
    without = amx.with_entries({"amx_bf16": False, "bf16_flops": amx.f32_flops})
    assert without.widens("bf16") and without.peak_flops("bf16") == amx.f32_flops
    assert not none.multiplies_pairs and none.with_entries({"bf16_dot": True}).multiplies_pairs
