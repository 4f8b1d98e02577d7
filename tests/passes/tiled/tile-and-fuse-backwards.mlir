// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// Changed: What a tile reads along a loop backwards is a slice, of which it begins with the last element.
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1) -> (d1, -d0 + 15)>
// CHECK-LABEL: func.func private @whole_tiles
// CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %c240
// CHECK: tensor.extract_slice %arg0[0, %[[FIRST]]] [100, 16] [1, 1]
// CHECK: indexing_maps = [#[[MAP]],
// CHECK-NOT: tensor.extract %
// CHECK: return
#backwards = affine_map<(d0, d1) -> (d1, -d0 + 255)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @whole_tiles(%x: tensor<100x256xf32>) -> tensor<256x100xf32>
    attributes {hloom.kind = "transpose", hloom.tile = array<i64: 16, 0>, hloom.tile_rule = "tile 1: sizes = [16, 0]"} {
  %e = tensor.empty() : tensor<256x100xf32>
  %r = linalg.generic {indexing_maps = [#backwards, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<100x256xf32>) outs(%e : tensor<256x100xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<256x100xf32>
  return %r : tensor<256x100xf32>
}

// -----

// Declined: Where the last tile is not whole no map says which element is the last: elements are looked up.
// CHECK-LABEL: func.func private @a_part_is_left
// CHECK: tensor.extract %
#backwards = affine_map<(d0, d1) -> (d1, -d0 + 249)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @a_part_is_left(%x: tensor<100x250xf32>) -> tensor<250x100xf32>
    attributes {hloom.kind = "transpose", hloom.tile = array<i64: 16, 0>, hloom.tile_rule = "tile 1: sizes = [16, 0]"} {
  %e = tensor.empty() : tensor<250x100xf32>
  %r = linalg.generic {indexing_maps = [#backwards, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<100x250xf32>) outs(%e : tensor<250x100xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<250x100xf32>
  return %r : tensor<250x100xf32>
}
