"""Lowerings and decompositions of torch ops: the mechanism, and the families of ops that have lowerings of hloom's own."""

from __future__ import annotations

import copy
import itertools
import operator

import pytest

torch = pytest.importorskip("torch")

from torch_functions import Function  # noqa: E402

import hloom  # noqa: E402
from hloom.compiler.frontend import read_program  # noqa: E402
from hloom.compiler.frontends import torch_registry  # noqa: E402
from hloom.compiler.frontends.torch_lowerings import torch_decomposition, torch_lowering  # noqa: E402
from hloom.passes.errors import PassFailure, UnsupportedOpError  # noqa: E402
from hloom.passes.stablehlo.support import build  # noqa: E402


def check(function, *inputs, **tolerance) -> None:
    """Compiles, calls, and compares with eager: types, shapes, values and the signs of zeros."""
    expected = torch.utils._pytree.tree_leaves(function(*inputs))
    results = torch.utils._pytree.tree_leaves(hloom.compile(Function(function), *inputs)(*inputs))
    for result, wanted in zip(results, expected, strict=True):
        torch.testing.assert_close(result, wanted, equal_nan=True, **tolerance)
        if wanted.is_floating_point():
            zeros = wanted == 0
            assert torch.equal(torch.signbit(result[zeros]), torch.signbit(wanted[zeros]))


@pytest.fixture
def registry(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(torch_registry, "_lowerings", dict(torch_registry._lowerings))
    monkeypatch.setattr(torch_registry, "_decompositions", dict(torch_registry._decompositions))


@torch.library.custom_op("hloom_test::blend", mutates_args=())
def blend(x: torch.Tensor, others: list[torch.Tensor], factor: float = 2.0, *, twice: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    total = x * factor + sum(others)
    return total * (2 if twice else 1), total.sum()


@blend.register_fake
def _(x, others, factor=2.0, *, twice=False):
    return torch.empty_like(x), x.new_empty(())


def test_a_custom_op_is_lowered_by_its_users_function(registry) -> None:
    seen = []

    @hloom.torch_lowering("hloom_test.blend")
    def lower(op, x, others, factor, *, twice):
        seen.append((op.name, op.used, len(others), factor, twice))
        factor = build.splat(x.type, build.scalar(op.results[0].element_type, factor))
        total = build.elementwise("multiply", x, factor)
        for other in others:
            total = build.elementwise("add", total, other)
        return [build.elementwise("add", total, total) if twice else total, build.sum_along(total, [0, 1]) if op.used[1] else None]

    x = torch.randn(3, 4)
    check(lambda x: blend(x, [x + 1, x * x], 3.0, twice=True)[0], x)
    check(lambda x: torch.relu(blend(x, [x])[1]), x)
    assert seen == [("hloom_test.blend.default", (True, False), 2, 3.0, True), ("hloom_test.blend.default", (False, True), 1, 2.0, False)]


def test_a_lowering_goes_before_torch_mlirs_and_may_leave_it_the_op(registry) -> None:
    @torch_lowering("aten.relu.default")
    def relu(op, x):
        return build.elementwise("negate", x) if op.result.rank == 1 else NotImplemented

    x = torch.tensor([-2.0, 3.0])
    assert hloom.compile(torch.nn.ReLU(), x)(x).tolist() == [2.0, -3.0]
    assert hloom.compile(torch.nn.ReLU(), x[None])(x[None]).tolist() == [[0.0, 3.0]]


def test_what_has_a_lowering_is_not_decomposed(registry) -> None:
    @torch_decomposition("aten.silu")
    def silu(x):
        return x * 10

    x = torch.tensor([1.0, 2.0])
    assert hloom.compile(torch.nn.SiLU(), x)(x).tolist() == [10.0, 20.0]

    @torch_lowering("aten.silu")
    def lower(op, x):
        return build.elementwise("negate", x)

    assert hloom.compile(torch.nn.SiLU(), x)(x).tolist() == [-1.0, -2.0]


def test_errors_of_lowerings_name_the_op_and_the_users_line(registry) -> None:
    x = torch.ones(2, 3)

    @torch_lowering("aten.tanh")
    def refused(op, x):
        raise op.refused("not today", "use sigmoid")

    with pytest.raises(UnsupportedOpError, match=r"default: not today\n.*\n.*test_torch_lowerings.py:\d+: return torch.tanh\(x\)"):
        hloom.compile(Tanh(), x)

    @torch_lowering("aten.tanh")
    def wrong_type(op, x):
        return build.reshape(x, [6])

    with pytest.raises(PassFailure, match=r"the lowering of aten.tanh.default gives tensor<6xf32>, where torch has tensor<2x3xf32>"):
        hloom.compile(Tanh(), x)

    @torch_lowering("aten.tanh")
    def broken(op, x):
        return x.nothing

    with pytest.raises(PassFailure, match=r"the lowering of aten.tanh.default failed: AttributeError"):
        hloom.compile(Tanh(), x)
    with pytest.raises(ValueError, match="not the name of a torch op"):
        torch_lowering("tanh")


class Tanh(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(x)


# Families.

DIVISIONS = {
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "floor_divide": torch.floor_divide,
    "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "none": lambda x, y: torch.div(x, y, rounding_mode=None),
}
WHOLE = torch.tensor(list(itertools.product([-7, -6, -1, 0, 1, 5, 6], [-3, -2, -1, 1, 2, 3])))
REAL = torch.tensor(
    list(itertools.product([-7.5, -6.0, -0.3, -0.0, 0.0, 0.3, 6.0, 1e8, float("inf"), float("nan")], [-3.0, -0.1, 0.0, 0.1, 2.5]))
)


@pytest.mark.parametrize("name", DIVISIONS)
def test_divisions_have_pythons_signs(name: str) -> None:
    divide = DIVISIONS[name]
    x, y = WHOLE.T
    a, b = REAL.T
    check(
        lambda x, y, a, b: (
            divide(x, y), divide(x.int(), y[:1].int()), divide(x.to(torch.int8), y.to(torch.int8)), divide(x, -3), divide(x, -2.5),
            divide(a, b), divide(a.double(), b.double()), divide(a, 3), divide(x[:5], b[:5]),
            divide(a[:5, None].bfloat16(), b[:5].bfloat16()),
        ), x, y, a, b
    )  # fmt: skip


def test_the_remainder_operator_takes_numbers_on_either_side() -> None:
    x = WHOLE[:, 1].contiguous()
    check(lambda x: (7 % x, x % 5, -7.5 % x, x.byte() % 3), x)


torch.manual_seed(0)
LINE, PLANE, VOLUME = torch.randn(2, 3, 11), torch.randn(2, 3, 9, 11), torch.randn(2, 2, 7, 6, 9)
TIES = PLANE.round()
TIES[0, 0, :4, :4] = -torch.inf
TIES[1, 1, :3, :3] = torch.nan
F = torch.nn.functional


def test_max_pools() -> None:
    check(
        lambda x, y, z, t: (
            F.max_pool2d(y, 2, 2, 0, ceil_mode=True), F.max_pool2d(y, 2), F.max_pool2d(y, (3, 2), 2, 1, 2, True), F.max_pool2d(y[0], 3, 2),
            F.max_pool2d(y.bfloat16(), 3, 2, 1, ceil_mode=True), F.max_pool2d((y * 9).int(), 3, 3, 1, ceil_mode=True),
            F.max_pool1d(x, 3, 2, ceil_mode=True), F.max_pool1d(x, 3, 2, 1, 2, True), F.max_pool3d(z, 3, 2, 1, ceil_mode=True),
            F.max_pool2d(y, (9, 11)),
        ), LINE, PLANE, VOLUME, TIES
    )  # fmt: skip


def test_max_pools_with_indices() -> None:
    check(
        lambda x, y, z, t: (
            F.max_pool2d(t, 3, return_indices=True), F.max_pool2d(t, 3, 2, 1, 1, True, True), F.max_pool2d(t, 2, 2, 0, 3, False, True),
            F.max_pool2d((y * 9).int(), 2, return_indices=True), F.max_pool1d(x, 3, 2, return_indices=True),
            F.max_pool3d(z, 2, return_indices=True), F.max_pool2d(t, (3, 5), 1, (1, 2), return_indices=True),
            F.max_pool2d(t, 3, 2, 1, 2, return_indices=True), F.max_pool2d(t, (9, 8), 4, 4, return_indices=True),
            F.max_pool3d(z, 3, 2, 1, 1, True, return_indices=True), F.max_pool1d(x, 4, 3, 2, return_indices=True),
            F.adaptive_max_pool2d(t, (3, 11), return_indices=True),
        ), LINE, PLANE, VOLUME, TIES
    )  # fmt: skip


@pytest.mark.parametrize("counted", [True, False])
def test_average_pools(counted: bool) -> None:
    check(
        lambda x, y, z: (
            F.avg_pool1d(x, 3, 2, 1, True, counted), F.avg_pool2d(y, 3, 2, 1, True, counted),
            F.avg_pool2d(y.bfloat16(), 3, 2, 1, True, counted), F.avg_pool2d(y, (3, 2), (2, 3), (1, 0), True, counted),
            F.avg_pool3d(z, (3, 2, 3), (2, 2, 1), (1, 0, 1), True, counted), F.avg_pool2d(y, 3, 2, 1, True, counted, 5), F.avg_pool2d(y, 2),
            F.avg_pool2d((y * 9).long(), 2), F.avg_pool2d(y, (9, 11)),
        ), LINE, PLANE, VOLUME
    )  # fmt: skip


@pytest.mark.parametrize("count", [1, 3, 5, 7, 13])
def test_adaptive_pools(count: int) -> None:
    check(
        lambda x, y, z, t: (
            F.adaptive_avg_pool1d(x, count), F.adaptive_avg_pool2d(y, count), F.adaptive_avg_pool2d(y.bfloat16(), (count, 4)),
            F.adaptive_avg_pool3d(z, count), F.adaptive_max_pool1d(x, count), F.adaptive_max_pool2d(y, (None, count)),
            F.adaptive_max_pool2d(t, count, return_indices=True), F.adaptive_max_pool3d(z, count, return_indices=True),
        ), LINE, PLANE, VOLUME, TIES
    )  # fmt: skip


@pytest.mark.parametrize(("extent", "count", "table"), [(33, 7, "6x7"), (40, 50, "2x50"), (333, 4, "4x84")])
def test_parts_are_looked_up_side_by_side(extent: int, count: int, table: str) -> None:
    """First the first elements of all parts, in numbers of 32 bits, of which a register holds most; part by part where parts are long."""
    program = read_program(torch.nn.AdaptiveAvgPool1d(count), (torch.randn(2, 3, extent),))
    assert f"tensor<{table}xi32>" in str(program.module)


def test_lp_pools() -> None:
    check(
        lambda x, y, z: (F.lp_pool1d(x, 2, 3, 2, True), F.lp_pool2d(y.abs(), 1.5, (2, 3)), F.lp_pool3d(z, 2, 2, ceil_mode=True)),
        LINE, PLANE, VOLUME
    )  # fmt: skip


def test_windows_of_tensors() -> None:
    """Along any dimension, overlapping, apart and side by side, with elements left over, of one element, and of none."""
    check(
        lambda x, y, z: (
            x.unfold(2, 4, 3), x.unfold(-1, 3, 3), y.unfold(1, 2, 1), y.unfold(2, 2, 4).unfold(3, 5, 3), z.unfold(0, 2, 2) + 1,
            x.unfold(0, 1, 1), y.unfold(3, 11, 1), x[:, :0].unfold(2, 3, 2), (z > 0).unfold(4, 4, 1), x[0, 0, 0].unfold(0, 1, 1),
        ), LINE, PLANE, VOLUME
    )  # fmt: skip


def test_gradients_of_windows() -> None:
    """Overlapping by less and more than a stride, by very many, apart, side by side, and a few elements that no window has."""
    cases = [
        (LINE, -1, 4, 3),
        (PLANE, 1, 2, 1),
        (PLANE, 2, 3, 4),
        (torch.randn(3, 90), 1, 40, 1),
        (torch.randn(40, 2), 0, 9, 2),
        (LINE[0, 0, 0], 0, 1, 1),
    ]
    for x, *windows in cases:
        check(torch.func.grad(lambda x, windows=windows: (x.unfold(*windows).sin() * x.unfold(*windows)).sum()), x)


def test_folds_and_what_they_fold() -> None:
    """Blocks side by side, overlapping by less and more than a stride, with places between them, padded and cut, spread, of one element."""
    sizes = [
        ((8, 6), 2, 1, 0, 2),
        ((13, 17), (3, 2), 1, (1, 0), (2, 3)),
        ((12, 10), (5, 4), 1, (2, 1), (2, 2)),
        ((7, 8), (4, 3), 1, (3, 1), (3, 2)),
        ((10, 11), (2, 3), 1, 0, (3, 4)),
        ((9, 9), 3, 2, 1, 2),
        ((9, 7), 3, 1, 1, 1),
        ((6, 6), 1, 1, 0, 2),
    ]
    images = [torch.arange(2.0 * 3 * h * w).reshape(2, 3, h, w) for (h, w), *_ in sizes]
    check(lambda *images: tuple(torch.nn.functional.unfold(x, *rest) for x, (_, *rest) in zip(images, sizes)), *images)
    columns = [torch.nn.functional.unfold(x, *rest) for x, (_, *rest) in zip(images, sizes)]
    check(lambda *columns: tuple(torch.nn.functional.fold(x, *size) for x, size in zip(columns, sizes)), *columns)
    check(lambda x: torch.nn.functional.unfold(x[0], 3, 1, 1) + 1, images[1])


def test_distances_of_pairs_and_powers_of_two() -> None:
    x = torch.cat([PLANE.reshape(-1, 11) * 40, torch.tensor([[torch.nan, torch.inf, -torch.inf, 0.0, -150.0, 128.0, -127.5, 1, 2, 3, 4]])])
    check(
        lambda x, y: (F.pdist(x[:9]), F.pdist(x[:5], 1.0), F.pdist(x[:1]), torch.exp2(x), 2.0 ** x.double(), y.exp2(), torch.pow(2, x * 2)),
        x, TIES.bfloat16()
    )  # fmt: skip


def test_norms_by_their_older_name() -> None:
    x = torch.randn(3, 4)
    check(lambda x: (x.norm(), x.norm(3), x.norm(1, [0]), torch.ops.aten.norm.ScalarOpt_dtype(x, 2, dtype=torch.float64)), x)


@pytest.mark.parametrize("to", [torch.float32, torch.bfloat16, torch.float8_e4m3fn])
def test_products_of_eight_bits_are_scaled(to) -> None:
    x, y = torch.randn(16, 32).to(torch.float8_e4m3fn), torch.randn(48, 32).to(torch.float8_e5m2)
    whole, rows = (torch.tensor(0.5), torch.tensor(3.0)), (torch.rand(16, 1), torch.rand(1, 48))
    bias = torch.randn(48, dtype=torch.bfloat16 if to is torch.float8_e4m3fn else to)
    by_row = torch.nn.functional.ScalingType.RowWise

    def products(x, y, bias):
        yield torch._scaled_mm(x, y.t(), *whole, out_dtype=to)
        yield torch._scaled_mm(x, y.t(), *rows, bias, out_dtype=to)
        yield torch.nn.functional.scaled_mm(x, y.t(), rows[0], by_row, rows[1], by_row, bias=bias, output_dtype=to)

    got = hloom.compile(Function(lambda *inputs: tuple(products(*inputs))), x, y, bias)(x, y, bias)
    for result, wanted in zip(got, products(x, y, bias), strict=True):
        assert result.dtype == wanted.dtype
        torch.testing.assert_close(result.float(), wanted.float(), rtol=torch.finfo(to).eps, atol=1e-3)


def test_a_scale_of_the_result_is_refused() -> None:
    x, one = torch.randn(16, 16).to(torch.float8_e4m3fn), torch.ones(())
    with pytest.raises(UnsupportedOpError, match="scale of the result"):
        hloom.compile(Function(lambda x: torch._scaled_mm(x, x.t(), one, one, scale_result=one, out_dtype=torch.float8_e4m3fn)), x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int32, torch.uint8, torch.bool])
def test_constants_beside_numbers_of_another_kind(dtype) -> None:
    """torch-mlir folds these wrongly, or does not survive them."""
    splat, several = torch.ones(3, dtype=dtype), torch.tensor([1, 0, 3], dtype=dtype)

    def function(x):
        compared = [operator(y, number) for y in (splat, several) for number in (1, 1.0, 2.5) for operator in COMPARISONS]
        made = [y * -1 for y in (splat, several)] + [several * -1.5, several + -1, 2 - splat * 1, several / -2]
        return [each & (x > 0) for each in compared], [each * x for each in made]

    check(function, torch.tensor([1.0, -1.0, 2.0]))


def test_magnitudes_of_integers_without_signs() -> None:
    check(lambda x: x.abs() + x, torch.tensor([0, 3, 200], dtype=torch.uint8))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.bool])
def test_constants_of_types_that_torch_mlir_has_no_literals_of(dtype) -> None:
    table = torch.tensor([1, 0, 3], dtype=dtype)

    def function(x):
        made = [torch.ones(3, dtype=dtype), torch.zeros(3, dtype=dtype), torch.full((3,), 2.5).to(dtype), torch.full_like(table, 2)]
        kept = [y[[0]] for y in (*made, torch.ones_like(table), torch.zeros_like(table), table)]
        return [y.flip(0) * x[0] for y in kept], torch.copysign(torch.zeros(3).trunc(), (x > 0).to(dtype) * table), table.sort()[0]

    check(function, torch.tensor([1.0, -1.0, 2.0]))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8])
def test_integers_are_clamped_to_floats(dtype) -> None:
    check(lambda x: (x.clamp(min=0.5), x.clamp(-1.5, 2), x.clamp(max=0.25)), torch.arange(-3, 4).to(dtype))


COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_numbers_that_a_narrow_float_has_not(dtype) -> None:
    """Products and quotients are with the number, of f32; sums and comparisons with what the type has of it. Bit for bit as eager's."""
    torch.manual_seed(0)
    x, tenth = torch.randn(300).to(dtype), torch.tensor(0.1)

    def function(x):
        y = x.flip(0)
        return x * 0.1, x / 0.1, x * tenth, x + 0.1, 0.1 - x, x + tenth, torch.add(x, y, alpha=0.5), x < tenth, x == 0.1

    check(function, x, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("layer", "shape"), [
    (torch.nn.Conv1d(13, 24, 5, 3, 6, 3), (2, 13, 28)),
    (torch.nn.Conv2d(16, 32, 3, padding=1), (1, 16, 14, 14)),
    (torch.nn.Conv2d(16, 16, 3, padding=1, groups=16), (1, 16, 14, 14)),
    (torch.nn.ConvTranspose2d(8, 12, 3, 2, output_padding=(1, 0)), (1, 8, 9, 9)),
    (torch.nn.RMSNorm(96, eps=1e-6), (7, 96)),
    (torch.nn.RMSNorm(96), (7, 96)),
])  # fmt: skip
def test_halves_are_rounded_once(dtype: torch.dtype, layer: torch.nn.Module, shape: tuple[int, ...]) -> None:
    """A second rounding, of the sum before the bias or of the mean of squares, makes the error 1.4 times as large and more."""
    layer, x = copy.deepcopy(layer).to(dtype), (torch.randn(shape) * 0.1).to(dtype)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    with torch.no_grad():
        exact = layer.double()(x.double())
        found = hloom.compile(layer.to(dtype), x)(x)
    error, least = ((rounded.double() - exact).norm() for rounded in (found, exact.to(dtype)))
    assert error < 1.1 * least


@pytest.mark.parametrize("stride", [2, 3, 4])
def test_transposed_convolutions_of_given_weights(stride: int) -> None:
    """The image is turned about where it has fewer elements than the weights: the result is read from its end, at quotients below zero."""
    x, weight = torch.randn(1, 64, 4, 7), torch.randn(64, 24, 3, 3)
    check(lambda x, weight: torch.nn.functional.conv_transpose2d(x, weight, None, stride, 1), x, weight, rtol=1e-4, atol=1e-4)


def test_few_channels_transposed() -> None:
    """The places of some elements are quotients of constants."""
    check(
        torch.nn.ConvTranspose2d(3, 3, 2, (1, 3), (1, 2), dilation=(1, 2), bias=False).eval(),
        torch.randn(3, 3, 24, 10),
        rtol=1e-4,
        atol=1e-4,
    )


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16])
@pytest.mark.parametrize("function", [torch.gcd, torch.lcm])
def test_divisors_and_multiples_that_no_type_holds(function, dtype) -> None:
    limits = torch.iinfo(dtype)
    ends = torch.tensor([limits.min, limits.min + 2, limits.max, limits.max - 5, 0, 1, 3, 6, 100, 126], dtype=dtype)
    x, y = (each.reshape(-1) for each in torch.meshgrid(ends, ends, indexing="ij"))
    assert torch.equal(hloom.compile(Function(function), x, y)(x, y), function(x, y))
