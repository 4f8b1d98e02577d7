// RUN: hloom-opt %s --verify-diagnostics --emit-thunks

// Declined: An op on a buffer that no lhlo op names.
func.func @main(%a: memref<8xf32>, %out: memref<8xf32>, %arena: memref<0xi8>) attributes {hloom.signature = (tensor<8xf32>) -> tensor<8xf32>} {
  // expected-error @+1 {{the host function holds an op that is not an lhlo op}}
  memref.copy %a, %out : memref<8xf32> to memref<8xf32>
  return
}
