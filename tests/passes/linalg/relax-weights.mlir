// RUN: hloom-opt %s --relax-weights --split-input-file | filecheck %s

// Changed: attention's weights, which a sum and a product add up; the question whether a row has anything is asked of the sum.
// CHECK-LABEL: func.func @attention
// CHECK: %[[LEAST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK: %[[START:.*]] = linalg.fill ins(%[[LEAST]] : f32)
// CHECK: %[[M:.*]] = linalg.generic {{.*}} outs(%[[START]] : tensor<8xf32>)
// CHECK: arith.maxnumf
// CHECK: %[[E:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[M]] : tensor<8x32xf32>, tensor<8xf32>)
// CHECK: arith.subf
// CHECK: math.exp %{{.*}} {hloom.weight} : f32
// CHECK: %[[L:.*]] = linalg.generic {{.*}} ins(%[[E]] : tensor<8x32xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[L]] : tensor<8xf32>)
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: arith.cmpf oeq, %{{.*}}, %[[ZERO]] : f32
#rows = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0) -> (d0)>
#w = affine_map<(d0, d1, d2) -> (d0, d2)>
#v = affine_map<(d0, d1, d2) -> (d2, d1)>
#o = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @attention(%x: tensor<8x32xf32>, %v: tensor<32x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<8xi1>) {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<8xf32>
  %1 = linalg.fill ins(%ninf : f32) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x32xf32>) outs(%1 : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %2 = arith.maximumf %acc, %a : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %3 = tensor.empty() : tensor<8x32xf32>
  %e = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<8x32xf32>, tensor<8xf32>) outs(%3 : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %4 = arith.subf %a, %b : f32
    %5 = math.exp %4 : f32
    linalg.yield %5 : f32
  } -> tensor<8x32xf32>
  %6 = tensor.empty() : tensor<8xf32>
  %7 = linalg.fill ins(%zero : f32) outs(%6 : tensor<8xf32>) -> tensor<8xf32>
  %l = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<8x32xf32>) outs(%7 : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %8 = arith.addf %acc, %a : f32
    linalg.yield %8 : f32
  } -> tensor<8xf32>
  %9 = tensor.empty() : tensor<8xi1>
  %n = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%m : tensor<8xf32>) outs(%9 : tensor<8xi1>) {
  ^bb0(%a: f32, %out: i1):
    %10 = arith.cmpf oeq, %a, %ninf : f32
    linalg.yield %10 : i1
  } -> tensor<8xi1>
  %11 = tensor.empty() : tensor<8x4xf32>
  %12 = linalg.fill ins(%zero : f32) outs(%11 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e, %v : tensor<8x32xf32>, tensor<32x4xf32>) outs(%12 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %13 = arith.mulf %a, %b : f32
    %14 = arith.addf %acc, %13 : f32
    linalg.yield %14 : f32
  } -> tensor<8x4xf32>
  return %o, %l, %n : tensor<8x4xf32>, tensor<8xf32>, tensor<8xi1>
}

// -----

// Changed: a positive factor moves behind the maximum.
// CHECK-LABEL: func.func @scaled
// CHECK: %[[LARGEST:.*]] = linalg.generic
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[ACC:.*]]: f32):
// CHECK-NEXT: arith.maxnumf %[[ACC]], %[[X]] : f32
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[LARGEST]] : tensor<8xf32>)
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[M]] :
// CHECK: %[[LESS:.*]] = arith.negf
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[LESS]] : f32
// CHECK: math.exp
#rows = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @scaled(%x: tensor<8x32xf32>) -> tensor<8xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %0 = tensor.empty() : tensor<8xf32>
  %1 = linalg.fill ins(%ninf : f32) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x32xf32>) outs(%1 : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %2 = arith.mulf %a, %scale : f32
    %3 = arith.maximumf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8xf32>
  %4 = tensor.empty() : tensor<8x32xf32>
  %e = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<8x32xf32>, tensor<8xf32>) outs(%4 : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %5 = arith.mulf %a, %scale : f32
    %6 = arith.subf %5, %b : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<8x32xf32>
  %8 = tensor.empty() : tensor<8xf32>
  %9 = linalg.fill ins(%zero : f32) outs(%8 : tensor<8xf32>) -> tensor<8xf32>
  %l = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<8x32xf32>) outs(%9 : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %10 = arith.addf %acc, %a : f32
    linalg.yield %10 : f32
  } -> tensor<8xf32>
  return %l : tensor<8xf32>
}

// -----

// Declined: softmax returns its weights one by one.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: hloom.weight
// CHECK: arith.maximumf
// CHECK-NOT: hloom.weight
// CHECK: return
#rows = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @softmax(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %0 = tensor.empty() : tensor<8xf32>
  %1 = linalg.fill ins(%ninf : f32) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x32xf32>) outs(%1 : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %2 = arith.maximumf %acc, %a : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %3 = tensor.empty() : tensor<8x32xf32>
  %e = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<8x32xf32>, tensor<8xf32>) outs(%3 : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %4 = arith.subf %a, %b : f32
    %5 = math.exp %4 : f32
    linalg.yield %5 : f32
  } -> tensor<8x32xf32>
  return %e : tensor<8x32xf32>
}

// -----

// Declined: sums along the columns, which need not have a 1 among them; and exponentials of less than another array's maximum.
// CHECK-LABEL: func.func @others
// CHECK-NOT: hloom.weight
// CHECK: return
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @others(%x: tensor<8x32xf32>, %y: tensor<8x32xf32>) -> (tensor<32xf32>, tensor<8xf32>) {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<8xf32>
  %1 = linalg.fill ins(%ninf : f32) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x32xf32>) outs(%1 : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %2 = arith.maximumf %acc, %a : f32
    linalg.yield %2 : f32
  } -> tensor<8xf32>
  %3 = tensor.empty() : tensor<8x32xf32>
  %e = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<8x32xf32>, tensor<8xf32>) outs(%3 : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %4 = arith.subf %a, %b : f32
    %5 = math.exp %4 : f32
    linalg.yield %5 : f32
  } -> tensor<8x32xf32>
  %f = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]} ins(%y, %m : tensor<8x32xf32>, tensor<8xf32>) outs(%3 : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %4 = arith.subf %a, %b : f32
    %5 = math.exp %4 : f32
    linalg.yield %5 : f32
  } -> tensor<8x32xf32>
  %6 = tensor.empty() : tensor<32xf32>
  %7 = linalg.fill ins(%zero : f32) outs(%6 : tensor<32xf32>) -> tensor<32xf32>
  %down = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]} ins(%e : tensor<8x32xf32>) outs(%7 : tensor<32xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %8 = arith.addf %acc, %a : f32
    linalg.yield %8 : f32
  } -> tensor<32xf32>
  %9 = linalg.fill ins(%zero : f32) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  %l = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<8x32xf32>) outs(%9 : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %10 = arith.addf %acc, %a : f32
    linalg.yield %10 : f32
  } -> tensor<8xf32>
  return %down, %l : tensor<32xf32>, tensor<8xf32>
}

// -----

// Unchanged: exponentials of no difference.
// CHECK-LABEL: func.func @plain
// CHECK: math.exp %{{[^ ]*}} : f32
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @plain(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %0 = tensor.empty() : tensor<8x32xf32>
  %e = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x32xf32>) outs(%0 : tensor<8x32xf32>) {
  ^bb0(%a: f32, %out: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<8x32xf32>
  return %e : tensor<8x32xf32>
}
