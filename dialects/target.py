"""The target as a module attribute, and its typed, read-only view.

    module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64, fma = true, …}} { … }

A pass asks `target_of(module)`: what it does depends on the module alone, so a dump is self-contained and a FileCheck test can name any
target. Where the attribute or one of its entries is absent, the defaults below hold: one core of a server with AVX-512 and no AMX.
All figures are integers, so that plans made from them are deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from torch_mlir import ir

from hloom.runtime.processor import machine_of

from .read_once import ReadOnce

ATTRIBUTE = "hloom.target"


@dataclass(frozen=True)
class TargetView:
    """What a pass may know of the machine that the program will run on."""

    name: str = "cpu-avx512"
    kind: str = "cpu"
    triple: str = "x86_64-unknown-linux-gnu"
    cpu: str = "skylake-avx512"
    """LLVM's name of the processor, and beside it LLVM's feature string, which adds to what the name implies."""
    features: str = ""
    needs: str = "avx512bw,avx512dq,avx512f,avx512vl,fma"
    """LLVM's names of what any such processor has: this machine is described by the file whose needs it meets."""
    extensions: str = "f16_convert=f16c,f16_arithmetic=avx512fp16,bf16_dot=avx512bf16,int8_dot=avx512vnni"
    """What only some of them have: entries of this description that are true or false, with LLVM's names of what they stand for."""

    vector_bits: int = 512
    vector_registers: int = 32
    masked_bits: int = 8
    """The narrowest elements that are loaded and stored under a mask by an instruction (on AVX2 those of 32 bits); 0 where none are."""
    divided_bits: int = 0
    """The widest floats that divide faster in vectors than they multiply by a divisor's reciprocal, with the quotient's correction."""
    fma: bool = True
    f16_convert: bool = True
    """f16 ↔ f32 conversion instructions (F16C)."""
    f16_arithmetic: bool = False
    """Arithmetic in f16 (AVX512-FP16; on AArch64 FP16)."""
    bf16_dot: bool = False
    """Dot products of bf16 pairs in vector registers (AVX512-BF16; on AArch64 BF16)."""
    int8_dot: bool = False
    """Dot products of four bytes in vector registers (AVX512-VNNI; of 256 bits AVX-VNNI; on AArch64 DotProd)."""
    amx_bf16: bool = False
    amx_int8: bool = False

    cores: int = 1
    cache_line_bytes: int = 64
    l1_bytes: int = 48 << 10
    l2_bytes: int = 2 << 20
    llc_bytes: int = 32 << 20
    dram_bytes_per_second: int = 18_000_000_000
    """One core's bandwidth, as are the rates below."""
    memory_cores: int = 8
    """As many cores together move bytes as fast as the whole memory does."""
    llc_bytes_per_second: int = 28_000_000_000

    f64_flops: int = 95_000_000_000
    f32_flops: int = 190_000_000_000
    f16_flops: int = 190_000_000_000
    """Of contractions of f16 operands accumulated in f32; likewise bf16 and int8 (accumulated in i32)."""
    bf16_flops: int = 190_000_000_000
    bf16_dot_flops: int = 380_000_000_000
    """Of `bf16_dot`, where there is that: some processors are slower by it than by widening to f32."""
    int8_flops: int = 380_000_000_000
    integer_ops: int = 95_000_000_000
    special_flops: int = 24
    """How many f32 flops one transcendental function costs."""

    launch_ps: int = 200_000
    """Entering a kernel; and, where it runs on several threads, opening a parallel region."""
    parallel_region_ps: int = 3_000_000
    grid_barrier_ps: int = 0
    """Of a GPU: all blocks of a launch wait for each other."""
    loop_iteration_ps: int = 5_000
    """One trip of a while loop of the host program."""
    min_gain_ps: int = 100_000
    """A fusion that gains less is not made."""

    compute_capability: int = 0
    """Of an NVIDIA GPU, ten times the major and the minor number: 90. The entries below are 0 on a CPU."""
    multiprocessors: int = 0
    registers_per_multiprocessor: int = 0
    """In words of 32 bits."""
    threads_per_multiprocessor: int = 0
    blocks_per_multiprocessor: int = 0
    shared_bytes_per_multiprocessor: int = 0
    shared_bytes_per_block: int = 0
    """The most that a block may have; more than 48 KB of it must be dynamic."""

    @property
    def machine(self) -> str:
        """The instruction set, as LLVM's triples begin: "x86_64", "aarch64"."""
        return machine_of(self.triple)

    def masks(self, bits: int) -> bool:
        """Whether elements of so many bits are loaded and stored under a mask by an instruction."""
        return 0 < self.masked_bits <= bits

    @property
    def required_features(self) -> list[str]:
        """LLVM's names of what a CPU must have to run the code: LLVM may use whatever it was told of."""
        named = {word[1:] for word in self.features.split(",") if word.startswith("+")}
        had = {feature for entry, feature in self.extension_features.items() if getattr(self, entry)}
        return sorted(named | had | set(filter(None, self.needs.split(","))))

    @property
    def extension_features(self) -> dict[str, str]:
        """`extensions` by their entries."""
        return dict(pair.split("=") for pair in self.extensions.split(",") if pair)

    @property
    def multiplies_f8(self) -> bool:
        """Whether it has tensor cores for f8E4M3FN and f8E5M2."""
        return self.compute_capability >= 89

    @property
    def tile_bytes(self) -> int:
        """A tile's share of the cache: what the values that it keeps may take together. The core's L2, or a quarter of its part of the last
        cache where that is more; never so much that the stack of a thread is in danger."""
        return min(max(self.l2_bytes, self.llc_bytes // max(1, self.cores) // 4), 2 << 20)

    @property
    def memory_bytes_per_second(self) -> int:
        """Of all cores together."""
        return self.dram_bytes_per_second * self.memory_cores

    def lanes(self, element_bits: int) -> int:
        """Elements of that width in one vector register."""
        return self.vector_bits // element_bits

    def peak_flops(self, type_name: str) -> int:
        """Flops a second of a contraction of operands of that MLIR type ("bf16"); integers wider than i8 count as integer ops. Floats of
        8 bits go at the rate of such integers. Dot products of bytes in vector registers multiply four times what f32's do."""
        is_byte = type_name in ("i8", "si8", "ui8") or type_name.startswith("f8")
        rate = getattr(self, f"{type_name}_flops", self.int8_flops if is_byte else self.integer_ops)
        by_pairs = self.bf16_dot_flops * (type_name == "bf16" and self.multiplies_pairs)
        by_quads = 4 * self.f32_flops * (type_name in ("i8", "si8", "ui8") and self.int8_dot)
        return max(rate, by_pairs, by_quads)

    @property
    def multiplies_pairs(self) -> bool:
        """Whether dot products of bf16 pairs in vector registers are there, and faster than products of f32."""
        return self.bf16_dot and self.bf16_dot_flops > self.f32_flops

    def widens(self, half: str) -> bool:
        """Whether products of such floats are products of f32: no instruction multiplies them as they are, or faster."""
        return half == "f16" or (half == "bf16" and not self.multiplies_pairs and not self.amx_bf16)

    def with_entries(self, entries: dict[str, Any]) -> TargetView:
        """This target with the named entries replaced. Raises ValueError on an unknown entry or a value of another type or sign."""
        types = {f.name: type(getattr(self, f.name)) for f in fields(self)}
        for key, value in entries.items():
            if key not in types:
                raise ValueError(f"a target has no entry {key!r}; it has {', '.join(types)}")
            if type(value) is not types[key]:
                raise ValueError(f"entry {key!r} of a target is {types[key].__name__}, got {value!r}")
            if type(value) is int and value < 0:
                raise ValueError(f"entry {key!r} of a target cannot be negative, got {value}")
        return replace(self, **entries)

    def to_attribute(self) -> ir.DictAttr:
        """All entries as a dictionary attribute, in the current context."""
        return ir.DictAttr.get({f.name: _to_attribute(getattr(self, f.name)) for f in fields(self)})


def target_of(module: ir.Operation) -> TargetView:
    """The target attached to the module that `module` is or lies in; the default if there is none. Raises ValueError on a malformed one."""
    root = module.operation
    while root.attached and root.parent is not None:
        root = root.parent.operation
    if ATTRIBUTE not in root.attributes:
        return TargetView()
    return _view_of(root.attributes[ATTRIBUTE])


@ReadOnce
def _view_of(attribute: ir.Attribute) -> TargetView:
    if not isinstance(attribute, ir.DictAttr):
        raise ValueError(f"{ATTRIBUTE} is a dictionary attribute, got {attribute}")
    return TargetView().with_entries({entry.name: _from_attribute(entry.name, entry.attr) for entry in attribute})


def attach_target(module: ir.Operation, target: TargetView) -> None:
    """Attaches `target` to the module, in place of what was attached."""
    with module.context:
        module.attributes[ATTRIBUTE] = target.to_attribute()


def _to_attribute(value: str | int | bool) -> ir.Attribute:
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    return ir.StringAttr.get(value)


def _from_attribute(name: str, attribute: ir.Attribute) -> str | int | bool:
    for kind in (ir.BoolAttr, ir.IntegerAttr, ir.StringAttr):
        if isinstance(attribute, kind):
            return attribute.value
    raise ValueError(f"entry {name!r} of a target is an integer, a boolean or a string, got {attribute}")
