// RUN: hloom-opt %s --split-input-file --split-reductions | filecheck %s

// Changed: Two blocks of 32 columns would do all the work: 125 parts, each from the neutral value; the initial value counts once.
// CHECK-LABEL: func.func public @columns
// CHECK: %[[P:.*]] = stablehlo.reshape %{{.*}} : (tensor<100000x64xf32>) -> tensor<125x800x64xf32>
// CHECK: %[[N:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[P]] init: %[[N]]) applies stablehlo.add across dimensions = [1]{{.*}} -> tensor<125x64xf32>
// CHECK: %[[R:.*]] = stablehlo.reduce(%[[S]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]{{.*}} -> tensor<64xf32>
// CHECK: return %[[R]]
module attributes {hloom.target = {kind = "cuda", multiprocessors = 132 : i64}} {
  func.func public @columns(%x: tensor<100000x64xf32>) -> tensor<64xf32> {
    %c = stablehlo.constant dense<3.0> : tensor<f32>
    %r = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<100000x64xf32>, tensor<f32>) -> tensor<64xf32>
    return %r : tensor<64xf32>
  }
}

// -----

// Changed: All of a matrix: its longer dimension is split.
// CHECK-LABEL: func.func public @all
// CHECK: stablehlo.reshape %{{.*}} : (tensor<4096x1024xi32>) -> tensor<256x16x1024xi32>
// CHECK: stablehlo.reduce{{.*}}applies stablehlo.maximum across dimensions = [1, 2]{{.*}} -> tensor<256xi32>
// CHECK: stablehlo.reduce{{.*}}applies stablehlo.maximum across dimensions = [0]{{.*}} -> tensor<i32>
module attributes {hloom.target = {kind = "cuda", multiprocessors = 132 : i64}} {
  func.func public @all(%x: tensor<4096x1024xi32>) -> tensor<i32> {
    %c = stablehlo.constant dense<-2147483648> : tensor<i32>
    %r = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4096x1024xi32>, tensor<i32>) -> tensor<i32>
    return %r : tensor<i32>
  }
}

// -----

// Declined: rows enough for all multiprocessors, few elements, a body without a neutral value.
// CHECK-LABEL: func.func public @declined
// CHECK-NOT: stablehlo.reshape
module attributes {hloom.target = {kind = "cuda", multiprocessors = 132 : i64}} {
  func.func public @declined(%x: tensor<4096x1024xf32>, %y: tensor<1024xf32>, %z: tensor<200000xf32>) -> (tensor<4096xf32>, tensor<f32>, tensor<f32>) {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
    %1 = stablehlo.reduce(%y init: %c) applies stablehlo.add across dimensions = [0] : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.reduce(%z init: %c) across dimensions = [0] : (tensor<200000xf32>, tensor<f32>) -> tensor<f32>
      reducer(%a: tensor<f32>, %b: tensor<f32>) {
        %s = stablehlo.atan2 %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }
    return %0, %1, %2 : tensor<4096xf32>, tensor<f32>, tensor<f32>
  }
}

// -----

// Changed: On a CPU, dimensions that lie together are split as one, into parts of 1,439 elements here, and sums of halves are f32.
// CHECK-LABEL: func.func public @on_a_cpu
// CHECK: %[[W:.*]] = stablehlo.convert %{{.*}} : (tensor<1453x1439xbf16>) -> tensor<1453x1439xf32>
// CHECK: %[[J:.*]] = stablehlo.reshape %[[W]] : (tensor<1453x1439xf32>) -> tensor<2090867xf32>
// CHECK: %[[P:.*]] = stablehlo.reshape %[[J]] : (tensor<2090867xf32>) -> tensor<1453x1439xf32>
// CHECK: %[[A:.*]] = stablehlo.reduce(%[[P]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] {{.*}} -> tensor<1453xf32>
// CHECK: %[[B:.*]] = stablehlo.reduce(%[[A]] init: %{{.*}}) applies stablehlo.add across dimensions = [0] {{.*}} -> tensor<f32>
// CHECK: %[[R:.*]] = stablehlo.convert %[[B]] : (tensor<f32>) -> tensor<bf16>
// CHECK: return %[[R]]
func.func public @on_a_cpu(%x: tensor<1453x1439xbf16>) -> tensor<bf16> {
  %c = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<1453x1439xbf16>, tensor<bf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}

// -----

// Changed: On a CPU, rows of a slice stay whole, and neutral ones come last where no number of parts divides them.
// CHECK-LABEL: func.func public @slice_on_a_cpu
// CHECK: %[[S:.*]] = stablehlo.slice
// CHECK: %[[P:.*]] = stablehlo.pad %[[S]], {{.*}} -> tensor<990x990xf32>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[P]] : (tensor<990x990xf32>) -> tensor<110x9x990xf32>
// CHECK: stablehlo.reduce(%[[R]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [1, 2] {{.*}} -> tensor<110xf32>
func.func public @slice_on_a_cpu(%x: tensor<990x1000xf32>) -> tensor<f32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.slice %x [3:990, 5:995] : (tensor<990x1000xf32>) -> tensor<987x990xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<987x990xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// Unchanged: On a CPU, whole rows of a matrix follow one another: parts have whatever number of elements divides all.
// CHECK-LABEL: func.func public @rows_on_a_cpu
// CHECK-NOT: stablehlo.pad
// CHECK: stablehlo.reshape %{{.*}} -> tensor<987000xf32>
func.func public @rows_on_a_cpu(%x: tensor<990x1000xf32>) -> tensor<f32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %x [3:990, 0:1000] : (tensor<990x1000xf32>) -> tensor<987x1000xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<987x1000xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// Declined: On a CPU, few elements, rows enough for all threads, and a prime number of elements.
// CHECK-LABEL: func.func public @declined_on_a_cpu
// CHECK-NOT: stablehlo.reshape
func.func public @declined_on_a_cpu(%x: tensor<200000xf32>, %y: tensor<4x100000xf32>, %z: tensor<300007xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<f32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<200000xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%y init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x100000xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.reduce(%z init: %c) applies stablehlo.add across dimensions = [0] : (tensor<300007xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<4xf32>, tensor<f32>
}

// -----

// Unchanged: No reduction.
// CHECK-LABEL: func.func public @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[R]]
module attributes {hloom.target = {kind = "cuda", multiprocessors = 132}} {
  func.func public @none(%x: tensor<200000xf32>) -> tensor<200000xf32> {
    %0 = stablehlo.tanh %x : tensor<200000xf32>
    return %0 : tensor<200000xf32>
  }
}
