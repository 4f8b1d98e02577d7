// RUN: hloom-opt %s --expand-math=only=sin_f32+powf_f64 | filecheck %s

// Named by op and the type that it is computed in: a sine on f16 is one on f32.
// CHECK-LABEL: func.func @chosen
// CHECK-NOT: math.sin
// CHECK-NOT: math.powf
// CHECK: math.cos %{{.*}} : f32
// CHECK-NEXT: math.sin %{{.*}} : f64
// CHECK-NEXT: math.exp %{{.*}} : f32
// CHECK-NOT: math.powf
func.func @chosen(%a: f32, %h: f16, %d: f64) -> (f32, f16, f64, f32, f64, f32, f64) {
  %square = arith.constant 2.0 : f64
  %0 = math.sin %a : f32
  %1 = math.sin %h : f16
  %2 = math.powf %d, %square : f64
  %3 = math.cos %a : f32
  %4 = math.sin %d : f64
  %5 = math.exp %a : f32
  %6 = math.powf %d, %d : f64
  return %0, %1, %2, %3, %4, %5, %6 : f32, f16, f64, f32, f64, f32, f64
}
