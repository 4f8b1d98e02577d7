// RUN: hloom-opt %s --distribute-attention --split-input-file | filecheck %s

// Changed: on sm_90a all four products are wgmma's, those of the columns' operands of tiles that TMA fetches. The kernel's rows are the columns
// of the mask, so that steps behind the diagonal come last, in a loop without it: s - 8 l is scaled, as s / 8 - l would be, and a number
// of the column has one reciprocal.
// CHECK-LABEL: gpu.module @kernels
// CHECK: gpu.func @gradients
// CHECK-SAME: !nvgpu.tensormap.descriptor
// CHECK-SAME: hloom.layouts = {products = "2 at points, 2 over columns", stages = 2 : i64, tile = "64x64", warps = "4x1"}
// CHECK-COUNT-2: nvgpu.tma.async.load
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK-COUNT-2: nvgpu.tma.async.load
// CHECK: nvgpu.mbarrier.try_wait.parity
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-8: nvvm.wgmma.mma_async
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: arith.cmpi sge
// CHECK: arith.select {{.*}} : vector<2xi1>, vector<2xf32>
// CHECK: math.exp2 {{.*}} fastmath<afn> : f32
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-COUNT-8: nvvm.wgmma.mma_async
// CHECK-NOT: arith.cmpi sge
// CHECK: arith.subf {{.*}} : vector<2xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf {{.*}}, %{{.*}} : vector<2xf32>
// CHECK: arith.subf {{.*}}, %[[SCALED]] : vector<2xf32>
// CHECK: arith.divf {{.*}} fastmath<afn> : vector<2xf32>
// CHECK: scf.for
// CHECK: vector.store {{.*}}, %arg5
// CHECK: vector.store {{.*}}, %arg6
// CHECK: gpu.return
#left = affine_map<(b, m, n, d) -> (b, m, d)>
#right = affine_map<(b, m, n, d) -> (b, n, d)>
#result = affine_map<(b, m, n, d) -> (b, m, n)>
#turned = affine_map<(b, m, n, d) -> (b, d, m)>
#over = affine_map<(b, m, n, d) -> (b, d, n)>
#at = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64}} {
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
      %eighth = arith.constant 0.125 : f32
      %lowest = arith.constant 0xFF800000 : f32
      %row = linalg.index 1 : index
      %column = linalg.index 2 : index
      %sees = arith.cmpi sge, %row, %column : index
      %small = arith.mulf %x, %eighth : f32
      %seen = arith.select %sees, %small, %lowest : f32
      %less = arith.subf %seen, %z : f32
      %e = math.exp %less : f32
      %h = arith.truncf %e : f32 to f16
      %quotient = arith.divf %y, %z : f32
      %m = arith.mulf %e, %quotient : f32
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

// Declined: fewer rows than a warp group has.
// CHECK-LABEL: gpu.func @few
// CHECK-NOT: wgmma
// CHECK: nvgpu.mma.sync
// CHECK-NOT: wgmma
#left = affine_map<(b, m, n, d) -> (b, m, d)>
#right = affine_map<(b, m, n, d) -> (b, n, d)>
#result = affine_map<(b, m, n, d) -> (b, m, n)>
#turned = affine_map<(b, m, n, d) -> (b, d, m)>
#over = affine_map<(b, m, n, d) -> (b, d, n)>
#at = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64}} {
  func.func private @few(%q: tensor<4x40x64xf16>, %k: tensor<4x40x64xf16>, %g: tensor<4x40x64xf16>, %v: tensor<4x40x64xf16>, %l: tensor<4x40xf32>) -> (tensor<4x40x64xf32>, tensor<4x40x64xf32>) attributes {hloom.kind = "matmul", hloom.recomputed} {
    %zero = arith.constant 0.0 : f32
    %es = tensor.empty() : tensor<4x40x40xf32>
    %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
    %s = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x40x64xf16>, tensor<4x40x64xf16>) outs(%fs : tensor<4x40x40xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x40x40xf32>
    %t = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%g, %v : tensor<4x40x64xf16>, tensor<4x40x64xf16>) outs(%fs : tensor<4x40x40xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x40x40xf32>
    %ep = tensor.empty() : tensor<4x40x40xf16>
    %w:2 = linalg.generic {indexing_maps = [#at, #at, #rows, #at, #at], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %t, %l : tensor<4x40x40xf32>, tensor<4x40x40xf32>, tensor<4x40xf32>) outs(%ep, %ep : tensor<4x40x40xf16>, tensor<4x40x40xf16>) {
    ^bb0(%x: f32, %y: f32, %z: f32, %p0: f16, %p1: f16):
      %less = arith.subf %x, %z : f32
      %e = math.exp %less : f32
      %h = arith.truncf %e : f32 to f16
      %m = arith.mulf %e, %y : f32
      %n = arith.truncf %m : f32 to f16
      linalg.yield %h, %n : f16, f16
    } -> (tensor<4x40x40xf16>, tensor<4x40x40xf16>)
    %eo = tensor.empty() : tensor<4x40x64xf32>
    %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x40x64xf32>) -> tensor<4x40x64xf32>
    %dv = linalg.generic {indexing_maps = [#turned, #over, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w#0, %g : tensor<4x40x40xf16>, tensor<4x40x64xf16>) outs(%fo : tensor<4x40x64xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x40x64xf32>
    %dk = linalg.generic {indexing_maps = [#turned, #over, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w#1, %q : tensor<4x40x40xf16>, tensor<4x40x64xf16>) outs(%fo : tensor<4x40x64xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %m = arith.mulf %wa, %wb fastmath<contract> : f32
      %r = arith.addf %c, %m fastmath<contract> : f32
      linalg.yield %r : f32
    } -> tensor<4x40x64xf32>
    return %dv, %dk : tensor<4x40x64xf32>, tensor<4x40x64xf32>
  }
}

