// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: A multiplication by the reciprocal, corrected. Registers are combined before one comparison each: a zero passes, for one less than
// its bits is the greatest number.
// CHECK-LABEL: func.func private @by_reciprocal(
// CHECK: %[[R:.*]] = arith.divf %{{.*}} : f32
// CHECK: %[[RS:.*]] = vector.broadcast %[[R]]
// CHECK: %[[Q:.*]] = arith.mulf %[[X:.*]], %[[RS]] : vector<64xf32>
// CHECK: arith.negf %[[X]]
// CHECK: math.fma %[[Q]]
// CHECK: math.fma
// CHECK: arith.minui {{.*}} : vector<32xi32>
// CHECK: arith.minui {{.*}} : vector<16xi32>
// CHECK: arith.maxui {{.*}} : vector<32xi32>
// CHECK: arith.cmpi uge, {{.*}} : vector<16xi32>
// CHECK: vector.reduction <and>, %{{.*}} : vector<16xi1>
// CHECK: scf.if
// CHECK: arith.divf %[[X]], %{{.*}} : vector<64xf32>
#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64, divided_bits = 0 : i64}} {
func.func private @by_reciprocal(%x: tensor<4096xf32>, %c: tensor<f32>) -> tensor<4096xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel"]} ins(%x, %c : tensor<4096xf32>, tensor<f32>) outs(%e : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}
}

// -----

// Unchanged: The target divides floats of so many bits as fast.
// CHECK-LABEL: func.func private @by_division(
// CHECK-NOT: arith.mulf
// CHECK: arith.divf {{.*}} : vector<64xf32>
// CHECK-NOT: math.fma
// CHECK: return
#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
module attributes {hloom.target = {name = "cpu-zen5", vector_bits = 512 : i64, divided_bits = 32 : i64}} {
func.func private @by_division(%x: tensor<4096xf32>, %c: tensor<f32>) -> tensor<4096xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel"]} ins(%x, %c : tensor<4096xf32>, tensor<f32>) outs(%e : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}
}

// -----

// Declined: Each lane has a divisor of its own.
// CHECK-LABEL: func.func private @by_each(
// CHECK: arith.divf {{.*}} : vector<64xf32>
// CHECK-NOT: math.fma
// CHECK: return
#id = affine_map<(d0) -> (d0)>
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64, divided_bits = 0 : i64}} {
func.func private @by_each(%x: tensor<4096xf32>, %c: tensor<4096xf32>) -> tensor<4096xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %c : tensor<4096xf32>, tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}
}
