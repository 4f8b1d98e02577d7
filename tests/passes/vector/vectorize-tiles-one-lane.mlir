// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

// Changed: Of 65 columns, one lane of a chunk is live: a bf16 is stored alone, as LLVM stores 32 bits for a mask of one lane,
// and the next row may be another thread's.
// CHECK-LABEL: func.func private @one_lane
// CHECK: vector.store %{{.*}} : memref<260xbf16>, vector<64xbf16>
// CHECK-NOT: vector.maskedstore
// CHECK: memref.store %{{.*}} : memref<260xbf16>
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func private @one_lane(%x: tensor<4x65xbf16>) -> tensor<4x65xbf16> attributes {hloom.kind = "loop"} {
  %0 = tensor.empty() : tensor<4x65xbf16>
  %1 = scf.forall (%i) in (4) shared_outs(%o = %0) -> (tensor<4x65xbf16>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 65] [1, 1] : tensor<4x65xbf16> to tensor<1x65xbf16>
    %out = tensor.extract_slice %o[%i, 0] [1, 65] [1, 1] : tensor<4x65xbf16> to tensor<1x65xbf16>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%row : tensor<1x65xbf16>) outs(%out : tensor<1x65xbf16>) {
    ^bb0(%in: bf16, %old: bf16):
      %wide = arith.extf %in : bf16 to f32
      %twice = arith.addf %wide, %wide : f32
      %half = arith.truncf %twice : f32 to bf16
      linalg.yield %half : bf16
    } -> tensor<1x65xbf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %2 into %o[%i, 0] [1, 65] [1, 1] : tensor<1x65xbf16> into tensor<4x65xbf16>
    }
  }
  return %1 : tensor<4x65xbf16>
}
