// RUN: hloom-opt %s --cse --expand-math --cse --mlir-timing -o /dev/null 2>&1 | filecheck %s
// RUN: env HLOOM_DEBUG=timing hloom-opt %s --cse --expand-math --cse -o /dev/null 2>&1 | filecheck %s
// RUN: hloom-opt %s --cse --mlir-pass-statistics -o /dev/null 2>&1 | filecheck %s --check-prefix=STATS

// CHECK: Execution time report
// CHECK: Total Execution Time: {{[0-9.]+}} seconds
// CHECK: --Wall Time--
// CHECK: {{[0-9.]+ \( *[0-9.]+%\) +2 +}}cse
// CHECK-NEXT: {{[0-9.]+ \( *[0-9.]+%\) +1 +}}expand-math
// CHECK: {{\(100.0%\) +}}Total

// STATS: Pass statistics report
// STATS: cse: 6 ops before, 5 after
// STATS-NEXT: -1 arith.negf
func.func @f(%a: f32) -> f32 {
  %0 = arith.negf %a : f32
  %1 = arith.negf %a : f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
