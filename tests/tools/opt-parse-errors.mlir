// Malformed programs: the error has line and column of the file, the other parts are still processed, exit status 1.
// RUN: not hloom-opt %s --split-input-file > %t.out 2> %t.err
// RUN: filecheck %s --check-prefix=ERR < %t.err
// RUN: filecheck %s --check-prefix=OUT < %t.out
// RUN: hloom-opt %s --split-input-file --verify-diagnostics

// ERR: error: [HL102] custom op 'nonsense' is unknown
// ERR-NEXT: at: loc("{{.*}}opt-parse-errors.mlir":21:1)
// ERR: error: [HL102] 'stablehlo.add' op requires the same shape
// ERR-NEXT: at: loc("{{.*}}opt-parse-errors.mlir":27:8)
// OUT: func.func @kept
// OUT: // -----
// OUT: func.func @last
func.func @kept() {
  return
}

// -----

// expected-error@below {{custom op 'nonsense' is unknown}}
nonsense

// -----

func.func @f(%a: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{requires the same shape}}
  %0 = "stablehlo.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @last() {
  return
}
