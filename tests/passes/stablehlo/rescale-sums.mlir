// RUN: hloom-opt %s --split-input-file --rescale-sums --cse | filecheck %s

// Changed: Softmax over rows that L2 does not hold: the maximum of a row is that of its parts', whose sums are scaled by how far they are below.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[P:.*]] = stablehlo.reshape %arg0 : (tensor<8x1048576xf32>) -> tensor<8x16x65536xf32>
// CHECK: %[[N:.*]] = stablehlo.reduce(%[[P]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [2] : {{.*}} -> tensor<8x16xf32>
// CHECK: %[[M:.*]] = stablehlo.reduce(%[[N]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [1] : {{.*}} -> tensor<8xf32>
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[N]], dims = [0, 1] : (tensor<8x16xf32>) -> tensor<8x16x65536xf32>
// CHECK: %[[LOWEST:.*]] = stablehlo.constant dense<-3.40282347E+38>
// CHECK: %[[GREATEST:.*]] = stablehlo.constant dense<3.40282347E+38>
// CHECK: %[[C:.*]] = stablehlo.clamp %[[LOWEST]], %[[W]], %[[GREATEST]]
// CHECK: %[[D:.*]] = stablehlo.subtract %[[P]], %[[C]]
// CHECK: %[[E:.*]] = stablehlo.exponential %[[D]] : tensor<8x16x65536xf32>
// CHECK: %[[T:.*]] = stablehlo.reduce(%[[E]] init: %{{.*}}) applies stablehlo.add across dimensions = [2] : {{.*}} -> tensor<8x16xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[M]], dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
// CHECK: %[[F:.*]] = stablehlo.subtract %[[N]], %[[B]] : tensor<8x16xf32>
// CHECK: %[[S:.*]] = stablehlo.exponential %[[F]] : tensor<8x16xf32>
// CHECK: %[[TS:.*]] = stablehlo.multiply %[[T]], %[[S]] : tensor<8x16xf32>
// CHECK: stablehlo.reduce(%[[TS]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : {{.*}} -> tensor<8xf32>
// CHECK: stablehlo.divide
func.func @softmax(%x: tensor<8x1048576xf32>) -> tensor<8x1048576xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<8x1048576xf32>, tensor<f32>) -> tensor<8xf32>
  %M = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x1048576xf32>
  %d = stablehlo.subtract %x, %M : tensor<8x1048576xf32>
  %e = stablehlo.exponential %d : tensor<8x1048576xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x1048576xf32>, tensor<f32>) -> tensor<8xf32>
  %S = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8xf32>) -> tensor<8x1048576xf32>
  %q = stablehlo.divide %e, %S : tensor<8x1048576xf32>
  return %q : tensor<8x1048576xf32>
}

// -----

// Changed: For a GPU few rows are parted for its blocks. What is subtracted is computed from the maximum.
// CHECK-LABEL: func.func @logsumexp
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.maximum across dimensions = [3] : {{.*}} -> tensor<8x1x32xf32>
// CHECK: %[[M:.*]] = stablehlo.reduce({{.*}}) applies stablehlo.maximum across dimensions = [2] : {{.*}} -> tensor<8x1xf32>
// CHECK: stablehlo.is_finite %[[M]]
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [3] : {{.*}} -> tensor<8x1x32xf32>
module attributes {hloom.target = {kind = "cuda", multiprocessors = 132 : i64}} {
  func.func @logsumexp(%x: tensor<8x1x65536xf32>) -> tensor<8x1xf32> {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<8x1x65536xf32>, tensor<f32>) -> tensor<8x1xf32>
    %finite = stablehlo.is_finite %m : (tensor<8x1xf32>) -> tensor<8x1xi1>
    %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x1xf32>
    %c = stablehlo.select %finite, %m, %zeros : tensor<8x1xi1>, tensor<8x1xf32>
    %r = stablehlo.reshape %c : (tensor<8x1xf32>) -> tensor<8x1x1xf32>
    %C = stablehlo.broadcast_in_dim %r, dims = [0, 1, 2] : (tensor<8x1x1xf32>) -> tensor<8x1x65536xf32>
    %d = stablehlo.subtract %x, %C : tensor<8x1x65536xf32>
    %e = stablehlo.exponential %d : tensor<8x1x65536xf32>
    %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x1x65536xf32>, tensor<f32>) -> tensor<8x1xf32>
    %l = stablehlo.log %s : tensor<8x1xf32>
    %t = stablehlo.add %l, %c : tensor<8x1xf32>
    return %t : tensor<8x1xf32>
  }
}

// -----

// Declined: rows that a kernel keeps; what is subtracted does not depend on a maximum of the rows; a maximum of other rows.
// CHECK-LABEL: func.func @others
// CHECK-NOT: stablehlo.reshape
// CHECK: return
func.func @others(%x: tensor<8x65536xf32>, %y: tensor<8x1048576xf32>, %c: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<8x65536xf32>, tensor<f32>) -> tensor<8xf32>
  %M = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x65536xf32>
  %d = stablehlo.subtract %x, %M : tensor<8x65536xf32>
  %e = stablehlo.exponential %d : tensor<8x65536xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x65536xf32>, tensor<f32>) -> tensor<8xf32>
  %C = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<8xf32>) -> tensor<8x1048576xf32>
  %d1 = stablehlo.subtract %y, %C : tensor<8x1048576xf32>
  %e1 = stablehlo.exponential %d1 : tensor<8x1048576xf32>
  %s1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x1048576xf32>, tensor<f32>) -> tensor<8xf32>
  %N = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x1048576xf32>
  %d2 = stablehlo.subtract %y, %N : tensor<8x1048576xf32>
  %e2 = stablehlo.exponential %d2 : tensor<8x1048576xf32>
  %s2 = stablehlo.reduce(%e2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x1048576xf32>, tensor<f32>) -> tensor<8xf32>
  return %s, %s1, %s2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Unchanged: sums that no maximum is behind.
// CHECK-LABEL: func.func @sums
// CHECK-NOT: stablehlo.reshape
// CHECK: return
func.func @sums(%x: tensor<8x1048576xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<8x1048576xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x1048576xf32>, tensor<f32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
