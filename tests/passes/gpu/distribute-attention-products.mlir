// RUN: hloom-opt %s --distribute-attention --split-input-file | filecheck %s

// Changed: contractions at rows and columns, and two over their rows: one kernel, whose rows are the columns of the first. What both read of
// the columns is copied once, as four tiles in all, and the columns' numbers beside them; from the last step what is behind the last column is 0.
// CHECK-LABEL: gpu.module @kernels
// CHECK: gpu.func @gradients
// CHECK-SAME: hloom.layouts = {products = "2 at points, 2 over columns", stages = 2 : i64, tile = "64x64", warps = "4x1"}
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 8, 1, 1>
// CHECK: memref.view {{.*}} to memref<2x128xf32,
// CHECK-COUNT-4: memref.view
// CHECK-NOT: memref.view
// CHECK: nvgpu.device_async_copy %arg4[{{.*}}], {{.*}}, 1, {{.*}} to memref<2x128xf32,
// CHECK: scf.for
// CHECK: nvgpu.device_async_wait
// CHECK: gpu.barrier
// CHECK: nvgpu.device_async_copy %arg4[{{.*}}], {{.*}}, 1, {{.*}} to memref<2x128xf32,
// CHECK-NOT: load %arg4
// CHECK-COUNT-64: nvgpu.mma.sync
// CHECK: math.exp2 {{.*}} fastmath<afn> : f32
// CHECK: arith.select {{.*}} : vector<2xf16>
// CHECK: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = true}
// CHECK-COUNT-64: nvgpu.mma.sync
// CHECK: scf.yield
// CHECK: vector.store {{.*}}, %arg5
// CHECK: vector.store {{.*}}, %arg6
// CHECK: gpu.return
// CHECK-NOT: func.func
#left = affine_map<(b, m, n, d) -> (b, m, d)>
#right = affine_map<(b, m, n, d) -> (b, n, d)>
#result = affine_map<(b, m, n, d) -> (b, m, n)>
#turned = affine_map<(b, m, n, d) -> (b, d, m)>
#over = affine_map<(b, m, n, d) -> (b, d, n)>
#at = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @gradients(%q: tensor<4x100x64xf16>, %k: tensor<4x100x64xf16>, %g: tensor<4x100x64xf16>, %v: tensor<4x100x64xf16>, %l: tensor<4x100xf32>) -> (tensor<4x100x64xf32>, tensor<4x100x64xf32>) attributes {hloom.kind = "matmul", hloom.recomputed} {
    %zero = arith.constant 0.0 : f32
    %es = tensor.empty() : tensor<4x100x100xf32>
    %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x100x100xf32>) -> tensor<4x100x100xf32>
    %s = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x100x64xf16>, tensor<4x100x64xf16>) outs(%fs : tensor<4x100x100xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x100xf32>
    %t = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%g, %v : tensor<4x100x64xf16>, tensor<4x100x64xf16>) outs(%fs : tensor<4x100x100xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x100xf32>
    %ep = tensor.empty() : tensor<4x100x100xf16>
    %w:2 = linalg.generic {indexing_maps = [#at, #at, #rows, #at, #at], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %t, %l : tensor<4x100x100xf32>, tensor<4x100x100xf32>, tensor<4x100xf32>) outs(%ep, %ep : tensor<4x100x100xf16>, tensor<4x100x100xf16>) {
    ^bb0(%x: f32, %y: f32, %z: f32, %p0: f16, %p1: f16):
      %less = arith.subf %x, %z : f32
      %e = math.exp %less : f32
      %h = arith.truncf %e : f32 to f16
      %m = arith.mulf %e, %y : f32
      %n = arith.truncf %m : f32 to f16
      linalg.yield %h, %n : f16, f16
    } -> (tensor<4x100x100xf16>, tensor<4x100x100xf16>)
    %eo = tensor.empty() : tensor<4x100x64xf32>
    %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x100x64xf32>) -> tensor<4x100x64xf32>
    %dv = linalg.generic {indexing_maps = [#turned, #over, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w#0, %g : tensor<4x100x100xf16>, tensor<4x100x64xf16>) outs(%fo : tensor<4x100x64xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x64xf32>
    %dk = linalg.generic {indexing_maps = [#turned, #over, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w#1, %q : tensor<4x100x100xf16>, tensor<4x100x64xf16>) outs(%fo : tensor<4x100x64xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x64xf32>
    return %dv, %dk : tensor<4x100x64xf32>, tensor<4x100x64xf32>
  }
}

// -----

// Changed: of rows whose mask leaves columns out only the others are gone through, here from the block's first row on.
// CHECK-LABEL: gpu.func @begins
// CHECK: arith.maxsi
// CHECK: %[[FROM:.*]] = arith.minsi
// CHECK: scf.for %{{.*}} = %[[FROM]] to
#left = affine_map<(b, m, n, d) -> (b, m, d)>
#right = affine_map<(b, m, n, d) -> (b, n, d)>
#result = affine_map<(b, m, n, d) -> (b, m, n)>
#turned = affine_map<(b, m, n, d) -> (b, d, m)>
#over = affine_map<(b, m, n, d) -> (b, d, n)>
#at = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @begins(%q: tensor<4x100x64xf16>, %k: tensor<4x100x64xf16>, %g: tensor<4x100x64xf16>, %v: tensor<4x100x64xf16>, %l: tensor<4x100xf32>) -> (tensor<4x100x64xf32>, tensor<4x100x64xf32>) attributes {hloom.kind = "matmul", hloom.begins = array<i64: 100, 100, 0>, hloom.recomputed} {
    %zero = arith.constant 0.0 : f32
    %es = tensor.empty() : tensor<4x100x100xf32>
    %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x100x100xf32>) -> tensor<4x100x100xf32>
    %s = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x100x64xf16>, tensor<4x100x64xf16>) outs(%fs : tensor<4x100x100xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x100xf32>
    %t = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%g, %v : tensor<4x100x64xf16>, tensor<4x100x64xf16>) outs(%fs : tensor<4x100x100xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x100xf32>
    %ep = tensor.empty() : tensor<4x100x100xf16>
    %w:2 = linalg.generic {indexing_maps = [#at, #at, #rows, #at, #at], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %t, %l : tensor<4x100x100xf32>, tensor<4x100x100xf32>, tensor<4x100xf32>) outs(%ep, %ep : tensor<4x100x100xf16>, tensor<4x100x100xf16>) {
    ^bb0(%x: f32, %y: f32, %z: f32, %p0: f16, %p1: f16):
      %less = arith.subf %x, %z : f32
      %e = math.exp %less : f32
      %h = arith.truncf %e : f32 to f16
      %m = arith.mulf %e, %y : f32
      %n = arith.truncf %m : f32 to f16
      linalg.yield %h, %n : f16, f16
    } -> (tensor<4x100x100xf16>, tensor<4x100x100xf16>)
    %eo = tensor.empty() : tensor<4x100x64xf32>
    %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x100x64xf32>) -> tensor<4x100x64xf32>
    %dv = linalg.generic {indexing_maps = [#turned, #over, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w#0, %g : tensor<4x100x100xf16>, tensor<4x100x64xf16>) outs(%fo : tensor<4x100x64xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x64xf32>
    %dk = linalg.generic {indexing_maps = [#turned, #over, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w#1, %q : tensor<4x100x100xf16>, tensor<4x100x64xf16>) outs(%fo : tensor<4x100x64xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x64xf32>
    return %dv, %dk : tensor<4x100x64xf32>, tensor<4x100x64xf32>
  }
}

// -----

// Declined: without the mark of recompute-operands.
// CHECK-LABEL: func.func private @unmarked
// CHECK-NOT: gpu.func
#left = affine_map<(b, m, n, d) -> (b, m, d)>
#right = affine_map<(b, m, n, d) -> (b, n, d)>
#result = affine_map<(b, m, n, d) -> (b, m, n)>
#turned = affine_map<(b, m, n, d) -> (b, d, m)>
#over = affine_map<(b, m, n, d) -> (b, d, n)>
#at = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @unmarked(%q: tensor<4x100x64xf16>, %k: tensor<4x100x64xf16>, %g: tensor<4x100x64xf16>, %v: tensor<4x100x64xf16>, %l: tensor<4x100xf32>) -> (tensor<4x100x64xf32>, tensor<4x100x64xf32>) attributes {hloom.kind = "matmul", hloom.flops = 1 : i64} {
    %zero = arith.constant 0.0 : f32
    %es = tensor.empty() : tensor<4x100x100xf32>
    %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x100x100xf32>) -> tensor<4x100x100xf32>
    %s = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x100x64xf16>, tensor<4x100x64xf16>) outs(%fs : tensor<4x100x100xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x100xf32>
    %t = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%g, %v : tensor<4x100x64xf16>, tensor<4x100x64xf16>) outs(%fs : tensor<4x100x100xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x100xf32>
    %ep = tensor.empty() : tensor<4x100x100xf16>
    %w:2 = linalg.generic {indexing_maps = [#at, #at, #rows, #at, #at], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %t, %l : tensor<4x100x100xf32>, tensor<4x100x100xf32>, tensor<4x100xf32>) outs(%ep, %ep : tensor<4x100x100xf16>, tensor<4x100x100xf16>) {
    ^bb0(%x: f32, %y: f32, %z: f32, %p0: f16, %p1: f16):
      %less = arith.subf %x, %z : f32
      %e = math.exp %less : f32
      %h = arith.truncf %e : f32 to f16
      %m = arith.mulf %e, %y : f32
      %n = arith.truncf %m : f32 to f16
      linalg.yield %h, %n : f16, f16
    } -> (tensor<4x100x100xf16>, tensor<4x100x100xf16>)
    %eo = tensor.empty() : tensor<4x100x64xf32>
    %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x100x64xf32>) -> tensor<4x100x64xf32>
    %dv = linalg.generic {indexing_maps = [#turned, #over, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w#0, %g : tensor<4x100x100xf16>, tensor<4x100x64xf16>) outs(%fo : tensor<4x100x64xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x64xf32>
    %dk = linalg.generic {indexing_maps = [#turned, #over, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w#1, %q : tensor<4x100x100xf16>, tensor<4x100x64xf16>) outs(%fo : tensor<4x100x64xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x100x64xf32>
    return %dv, %dk : tensor<4x100x64xf32>, tensor<4x100x64xf32>
  }
}

// -----

// Changed: a sum of each row, which the first of the four lanes that share it stores, and a product of f32 with widened bf16: three of bf16.
// CHECK-LABEL: gpu.module @kernels
// CHECK: gpu.func @numbers
// CHECK-SAME: products = "1 at points, 1 over columns, 1 numbers of rows"
// CHECK: scf.for
// CHECK-COUNT-32: nvgpu.mma.sync
// CHECK: arith.truncf {{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK-COUNT-96: nvgpu.mma.sync
// CHECK: arith.addf {{.*}} : f32
// CHECK: scf.yield
// CHECK-COUNT-2: gpu.shuffle
// CHECK: scf.if
// CHECK: memref.store {{.*}}, %arg3
// CHECK: gpu.return
#left = affine_map<(b, m, n, d) -> (b, m, d)>
#right = affine_map<(b, m, n, d) -> (b, n, d)>
#result = affine_map<(b, m, n, d) -> (b, m, n)>
#over = affine_map<(b, m, d, n) -> (b, m, n)>
#keys = affine_map<(b, m, d, n) -> (b, n, d)>
#out = affine_map<(b, m, d, n) -> (b, m, d)>
#at = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @numbers(%q: tensor<4x128x64xbf16>, %k: tensor<4x128x64xbf16>) -> (tensor<4x128x64xf32>, tensor<4x128xf32>) attributes {hloom.kind = "matmul", hloom.recomputed} {
    %zero = arith.constant 0.0 : f32
    %es = tensor.empty() : tensor<4x128x128xf32>
    %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
    %s = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>) outs(%fs : tensor<4x128x128xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %wa = arith.extf %a : bf16 to f32
      %wb = arith.extf %b : bf16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x128x128xf32>
    %ee = tensor.empty() : tensor<4x128x128xf32>
    %e = linalg.generic {indexing_maps = [#at, #at], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<4x128x128xf32>) outs(%ee : tensor<4x128x128xf32>) {
    ^bb0(%x: f32, %o: f32):
      %y = arith.mulf %x, %x : f32
      linalg.yield %y : f32
    } -> tensor<4x128x128xf32>
    %el = tensor.empty() : tensor<4x128xf32>
    %fl = linalg.fill ins(%zero : f32) outs(%el : tensor<4x128xf32>) -> tensor<4x128xf32>
    %l = linalg.generic {indexing_maps = [#at, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<4x128x128xf32>) outs(%fl : tensor<4x128xf32>) {
    ^bb0(%x: f32, %c: f32):
      %r = arith.addf %c, %x : f32
      linalg.yield %r : f32
    } -> tensor<4x128xf32>
    %eo = tensor.empty() : tensor<4x128x64xf32>
    %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
    %o = linalg.generic {indexing_maps = [#over, #keys, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%e, %k : tensor<4x128x128xf32>, tensor<4x128x64xbf16>) outs(%fo : tensor<4x128x64xf32>) {
    ^bb0(%a: f32, %b: bf16, %c: f32):
      %wb = arith.extf %b : bf16 to f32
      %m = arith.mulf %a, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x128x64xf32>
    return %o, %l : tensor<4x128x64xf32>, tensor<4x128xf32>
  }
}
