func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{op was not bufferized}}
  %0 = "unknown.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error-re@+1 {{custom op 'non{{s.*e}}' is unknown}}
nonsense

// -----

nonsense // expected-error {{custom op 'nonsense' is unknown}}

// -----

nonsense
// expected-error@above {{is unknown}}

// -----

nonsense
// expected-error@unknown {{is unknown}}
