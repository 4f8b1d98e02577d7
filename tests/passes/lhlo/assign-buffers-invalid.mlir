// RUN: hloom-opt %s --split-input-file --verify-diagnostics --assign-buffers

// Declined: An op outside of all groups.
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{the host program holds an op that belongs to no group}}
  %0 = stablehlo.tanh %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Declined: A call of what is no group.
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{calls @helper, which is not a group with a body}}
  %0 = call @helper(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @helper(%a: tensor<8xf32>) -> tensor<8xf32>

// -----

// expected-error @+1 {{no buffer layout for elements of type i4}}
func.func @main(%a: tensor<8xi4>) -> tensor<8xi4> {
  return %a : tensor<8xi4>
}

// -----

func.func @main(%a: tensor<4x4xf16>, %b: tensor<4x4xf16>) -> tensor<4x4xf32> {
  %0 = call @dot(%a, %b) : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @dot(%a: tensor<4x4xf16>, %b: tensor<4x4xf16>) -> tensor<4x4xf32> attributes {hloom.kind = "library", hloom.library = "gemm"} {
  // expected-error @+1 {{a library group that no library does: a CPU's multiplies matrices of f32 and f64}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
