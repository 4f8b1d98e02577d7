// RUN: hloom-opt %s --split-input-file --fuse-loops | filecheck %s

// Changed: On a GPU a kernel for each turn costs more than all turns in one.
// CHECK: code = "FUSED_LOOP"{{.*}}groups = [@loop_0]{{.*}}reason = "40 turns, 1 carried scalars for each element"
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME: %[[X:.*]]: tensor<4096xf32>, %[[Y:.*]]: tensor<4096xf32>)
// CHECK-NOT: stablehlo.while
// CHECK: %[[R:.*]] = call @loop_0(%[[X]], %[[Y]])
// CHECK-NEXT: return %[[R]]
// CHECK-LABEL: func.func private @loop_0(
// CHECK-SAME: hloom.kind = "while"
// CHECK: stablehlo.while
module attributes {hloom.target = {kind = "cuda", name = "sm_90a", multiprocessors = 132 : i64, launch_ps = 2500000 : i64, loop_iteration_ps = 5000000 : i64, f32_flops = 66900000000000 : i64}} {
  func.func @elementwise(%x0: tensor<4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %x = %x0) : tensor<i32>, tensor<4096xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %s = stablehlo.sine %x : tensor<4096xf32>
      %x1 = stablehlo.add %s, %y : tensor<4096xf32>
      stablehlo.return %j, %x1 : tensor<i32>, tensor<4096xf32>
    }
    return %r#1 : tensor<4096xf32>
  }
}

// -----

// Declined: On a CPU sines wait for each other longer than a turn of the host program takes.
// CHECK: code = "NO_GAIN"{{.*}}reason = "the loop turns faster in the host program"
// CHECK-LABEL: func.func @waits(
// CHECK: stablehlo.while
module {
  func.func @waits(%x0: tensor<4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %x = %x0) : tensor<i32>, tensor<4096xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %s = stablehlo.sine %x : tensor<4096xf32>
      %x1 = stablehlo.add %s, %y : tensor<4096xf32>
      stablehlo.return %j, %x1 : tensor<i32>, tensor<4096xf32>
    }
    return %r#1 : tensor<4096xf32>
  }
}

// -----

// Changed: A policy's rule goes before the price.
// CHECK: code = "FUSED_LOOP"{{.*}}policy_rule = "loop 1: turns_in = 'kernel'"{{.*}}against the price
// CHECK-LABEL: func.func @forced(
// CHECK: call @loop_0
module attributes {hloom.policy = {loop = [{turns_in = "kernel"}]}} {
  func.func @forced(%x0: tensor<4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %x = %x0) : tensor<i32>, tensor<4096xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %s = stablehlo.sine %x : tensor<4096xf32>
      %x1 = stablehlo.add %s, %y : tensor<4096xf32>
      stablehlo.return %j, %x1 : tensor<i32>, tensor<4096xf32>
    }
    return %r#1 : tensor<4096xf32>
  }
}

// -----

// Declined: A policy's rule, where the price would have a kernel.
// CHECK: code = "POLICY_FORBIDDEN"{{.*}}policy_rule = "loop 1: turns_in = 'host'"
// CHECK-LABEL: func.func @forbidden(
// CHECK: stablehlo.while
module attributes {hloom.policy = {loop = [{turns_in = "host"}]}} {
  func.func @forbidden(%x0: tensor<4194304xf32>) -> tensor<4194304xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %x = %x0) : tensor<i32>, tensor<4194304xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %x1 = stablehlo.add %x, %x : tensor<4194304xf32>
      stablehlo.return %j, %x1 : tensor<i32>, tensor<4194304xf32>
    }
    return %r#1 : tensor<4194304xf32>
  }
}

// -----

// Changed: Carries that no cache holds are read and written once; the turns of the other loop are not known.
// CHECK: code = "FUSED_LOOP"{{.*}}reason = "2 carried scalars for each element"
// CHECK-LABEL: func.func @large(
// CHECK: call @loop_0
module {
  func.func @large(%x0: tensor<4194304xf32>, %end: tensor<i32>) -> tensor<4194304xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %x = %x0) : tensor<i32>, tensor<4194304xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %x1 = stablehlo.add %x, %x : tensor<4194304xf32>
      stablehlo.return %j, %x1 : tensor<i32>, tensor<4194304xf32>
    }
    return %r#1 : tensor<4194304xf32>
  }
}

// -----

// Changed: A row of the result is written in each turn: its turns are a loop of the kernel's.
// CHECK: code = "FUSED_LOOP"
// CHECK-LABEL: func.func @stream(
// CHECK: call @loop_0
module attributes {hloom.policy = {loop = [{turns_in = "kernel"}]}} {
  func.func @stream(%x0: tensor<4096xf32>, %ys0: tensor<40x4096xf32>, %xs: tensor<40x4096xf32>) -> tensor<40x4096xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:3 = stablehlo.while(%i = %c0, %x = %x0, %ys = %ys0) : tensor<i32>, tensor<4096xf32>, tensor<40x4096xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %a = stablehlo.dynamic_slice %xs, %i, %c0, sizes = [1, 4096] : (tensor<40x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4096xf32>
      %b = stablehlo.reshape %a : (tensor<1x4096xf32>) -> tensor<4096xf32>
      %x1 = stablehlo.add %x, %b : tensor<4096xf32>
      %row = stablehlo.reshape %x1 : (tensor<4096xf32>) -> tensor<1x4096xf32>
      %ys1 = stablehlo.dynamic_update_slice %ys, %row, %i, %c0 : (tensor<40x4096xf32>, tensor<1x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<40x4096xf32>
      stablehlo.return %j, %x1, %ys1 : tensor<i32>, tensor<4096xf32>, tensor<40x4096xf32>
    }
    return %r#2 : tensor<40x4096xf32>
  }
}

// -----

// Declined: A carry of which a row is written and others are read; the rule that asks for a kernel is told so.
// CHECK: code = "LOOP_ALIAS"{{.*}}edge = "tensor<40x4096xf32>"{{.*}}reason = "a carry is read while parts of it are overwritten"{{.*}}code = "POLICY_UNMET"
// CHECK-LABEL: func.func @alias(
// CHECK: stablehlo.while
module attributes {hloom.policy = {loop = [{turns_in = "kernel"}]}} {
  func.func @alias(%ys0: tensor<40x4096xf32>) -> tensor<40x4096xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %ys = %ys0) : tensor<i32>, tensor<40x4096xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %a = stablehlo.dynamic_slice %ys, %c0, %c0, sizes = [1, 4096] : (tensor<40x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4096xf32>
      %row = stablehlo.add %a, %a : tensor<1x4096xf32>
      %ys1 = stablehlo.dynamic_update_slice %ys, %row, %i, %c0 : (tensor<40x4096xf32>, tensor<1x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<40x4096xf32>
      stablehlo.return %j, %ys1 : tensor<i32>, tensor<40x4096xf32>
    }
    return %r#1 : tensor<40x4096xf32>
  }
}

// -----

// Declined: Each element needs its neighbour, which needs its own.
// CHECK: code = "LOOP_CROSS_TILE"{{.*}}edge = "tensor<4096xf32>"{{.*}}reason = "a tile would lie over several parts of a concatenation"
// CHECK-LABEL: func.func @neighbours(
// CHECK: stablehlo.while
module {
  func.func @neighbours(%x0: tensor<4096xf32>) -> tensor<4096xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %x = %x0) : tensor<i32>, tensor<4096xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %a = stablehlo.slice %x [1:4096] : (tensor<4096xf32>) -> tensor<4095xf32>
      %b = stablehlo.slice %x [0:1] : (tensor<4096xf32>) -> tensor<1xf32>
      %c = stablehlo.concatenate %a, %b, dim = 0 : (tensor<4095xf32>, tensor<1xf32>) -> tensor<4096xf32>
      %x1 = stablehlo.add %x, %c : tensor<4096xf32>
      stablehlo.return %j, %x1 : tensor<i32>, tensor<4096xf32>
    }
    return %r#1 : tensor<4096xf32>
  }
}

// -----

// Declined: A row is reversed in each turn.
// CHECK: code = "LOOP_CROSS_TILE"{{.*}}reason = "carry 1 is read at another index than it is written"
// CHECK-LABEL: func.func @reversed(
// CHECK: stablehlo.while
module {
  func.func @reversed(%x0: tensor<4096xf32>) -> tensor<4096xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %x = %x0) : tensor<i32>, tensor<4096xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %x1 = stablehlo.reverse %x, dims = [0] : tensor<4096xf32>
      stablehlo.return %j, %x1 : tensor<i32>, tensor<4096xf32>
    }
    return %r#1 : tensor<4096xf32>
  }
}

// -----

// Declined: Each element needs all of its row.
// CHECK: code = "LOOP_CROSS_TILE"{{.*}}reason = "each element needs 64 others (reduce)"
// CHECK-LABEL: func.func @rows(
// CHECK: stablehlo.while
module {
  func.func @rows(%x0: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %x = %x0) : tensor<i32>, tensor<64x64xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
      %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
      %x1 = stablehlo.divide %x, %b : tensor<64x64xf32>
      stablehlo.return %j, %x1 : tensor<i32>, tensor<64x64xf32>
    }
    return %r#1 : tensor<64x64xf32>
  }
}

// -----

// Declined: Whether it goes on depends on all elements.
// CHECK: code = "LOOP_COND"{{.*}}reason = "whether it goes on: each element needs 4096 others (reduce)"
// CHECK-LABEL: func.func @all(
// CHECK: stablehlo.while
module {
  func.func @all(%x0: tensor<4096xf32>) -> tensor<4096xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %x = %x0) : tensor<i32>, tensor<4096xf32>
    cond {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %m = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
      %t = stablehlo.constant dense<100.0> : tensor<f32>
      %p = stablehlo.compare LT, %m, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %x1 = stablehlo.add %x, %x : tensor<4096xf32>
      stablehlo.return %j, %x1 : tensor<i32>, tensor<4096xf32>
    }
    return %r#1 : tensor<4096xf32>
  }
}

// -----

// Declined: Turns that need nothing of each other would be lanes, but each halves its number until that is small.
// CHECK: code = "LOOP_COND"{{.*}}reason = "turns are lanes, and a loop in them may end at another turn in each"
// CHECK-LABEL: func.func @each_its_own_end(
// CHECK: stablehlo.while
module {
  func.func @each_its_own_end(%xs: tensor<64xf32>, %ys0: tensor<64xf32>) -> tensor<64xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<64> : tensor<i32>
    %half = stablehlo.constant dense<0.5> : tensor<f32>
    %r:2 = stablehlo.while(%i = %c0, %ys = %ys0) : tensor<i32>, tensor<64xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %row = stablehlo.dynamic_slice %xs, %i, sizes = [1] : (tensor<64xf32>, tensor<i32>) -> tensor<1xf32>
      %x0 = stablehlo.reshape %row : (tensor<1xf32>) -> tensor<f32>
      %x = stablehlo.while(%x = %x0) : tensor<f32>
      cond {
        %p = stablehlo.compare GT, %x, %half : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %y = stablehlo.multiply %x, %half : tensor<f32>
        stablehlo.return %y : tensor<f32>
      }
      %made = stablehlo.reshape %x : (tensor<f32>) -> tensor<1xf32>
      %ys1 = stablehlo.dynamic_update_slice %ys, %made, %i : (tensor<64xf32>, tensor<1xf32>, tensor<i32>) -> tensor<64xf32>
      %j = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %j, %ys1 : tensor<i32>, tensor<64xf32>
    }
    return %r#1 : tensor<64xf32>
  }
}

// -----

// Declined: Outside code is no scalar code.
// CHECK: code = "LOOP_BODY"{{.*}}reason = "custom_call in its body is not code of one element"
// CHECK-LABEL: func.func @outside(
// CHECK: stablehlo.while
module {
  func.func @outside(%x0: tensor<4096xf32>) -> tensor<4096xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %x = %x0) : tensor<i32>, tensor<4096xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %x1 = stablehlo.custom_call @mine(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
      stablehlo.return %j, %x1 : tensor<i32>, tensor<4096xf32>
    }
    return %r#1 : tensor<4096xf32>
  }
}

// -----

// Declined: On a GPU a thread would hold the matrix of a row's product.
// CHECK: code = "LOOP_BODY"{{.*}}reason = "a thread would hold {{[0-9]+}} scalars at once: more than 128 are no registers"
// CHECK-LABEL: func.func @recurrent(
// CHECK: stablehlo.while
module attributes {hloom.target = {kind = "cuda", name = "sm_90a", multiprocessors = 132 : i64, launch_ps = 2500000 : i64, loop_iteration_ps = 5000000 : i64, f32_flops = 66900000000000 : i64}} {
  func.func @recurrent(%w: tensor<16x16xf32>, %h0: tensor<4096x16xf32>) -> tensor<4096x16xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<40> : tensor<i32>
    %r:2 = stablehlo.while(%i = %c0, %h = %h0) : tensor<i32>, tensor<4096x16xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %h1 = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<4096x16xf32>, tensor<16x16xf32>) -> tensor<4096x16xf32>
      stablehlo.return %j, %h1 : tensor<i32>, tensor<4096x16xf32>
    }
    return %r#1 : tensor<4096x16xf32>
  }
}

// -----

// Unchanged: No loop.
// CHECK-NOT: hloom.decisions
// CHECK-LABEL: func.func @straight(
// CHECK-NEXT: stablehlo.add
func.func @straight(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = stablehlo.add %x, %x : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
