"""collapse-loop-dims along chains of ops."""

from torch_mlir import ir

from hloom.compiler.pipeline import Pipeline
from hloom.dialects.context import make_context
from hloom.passes.linalg import collapse_loop_dims

_OP = """%e{0} = tensor.empty() : tensor<8x16x32xf32>
%v{1} = linalg.generic {{indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel", "parallel"]}}
  ins(%v{0} : tensor<8x16x32xf32>) outs(%e{0} : tensor<8x16x32xf32>) {{
  ^bb0(%a: f32, %o: f32): %x = arith.addf %a, %a : f32 linalg.yield %x : f32 }} -> tensor<8x16x32xf32>"""
_SUM = """%c = arith.constant 0.0 : f32
%e = tensor.empty() : tensor<8x32xf32>
%z = linalg.fill ins(%c : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
%r = linalg.generic {{indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction", "parallel"]}}
  ins(%v{0} : tensor<8x16x32xf32>) outs(%z : tensor<8x32xf32>) {{
  ^bb0(%a: f32, %o: f32): %x = arith.addf %a, %o : f32 linalg.yield %x : f32 }} -> tensor<8x32xf32>
return %r : tensor<8x32xf32>"""


def test_what_the_last_of_a_chain_forbids_reaches_the_first_in_one_sweep(monkeypatch):
    sweeps, restrict = [], collapse_loop_dims._restrict
    monkeypatch.setattr(collapse_loop_dims, "_restrict", lambda nests, *given: sweeps.append(nests) or restrict(nests, *given))
    ops = "\n".join(_OP.format(number, number + 1) for number in range(20))
    text = f"""#m = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
    #r = affine_map<(d0, d1, d2) -> (d0, d2)>
    func.func private @f(%v0: tensor<8x16x32xf32>) -> tensor<8x32xf32> attributes {{hloom.kind = "multi_reduce"}} {{
    {ops}
    {_SUM.format(20)} }}"""
    module = ir.Module.parse(text, make_context())
    Pipeline("collapse-loop-dims").run(module)
    assert len(sweeps) <= 3
    assert "collapse_shape" not in str(module)  # the sum's loops keep the first op's apart
