
// expected-error @-2 {{failed to convert VHLO to v0.9.0}}
// expected-error@+1 {{failed to legalize operation 'vhlo.func_v1' that was explicitly marked illegal}}
func.func @new_type(%a: tensor<4xf8E3M4>) -> tensor<4xf8E3M4> {
  return %a : tensor<4xf8E3M4>
}

// -----

// expected-error @-3 {{failed to convert VHLO to v0.9.0}}
// expected-error@+1 {{failed to legalize operation 'vhlo.func_v1' that was explicitly marked illegal}}
func.func @another(%a: tensor<2xf8E3M4>) -> tensor<2xf8E3M4> {
  return %a : tensor<2xf8E3M4>
}

// -----

// expected-error@+1 {{failed to convert VHLO to v0.9.0}}
module {
  // expected-error@+1 {{failed to legalize operation 'vhlo.func_v1' that was explicitly marked illegal}}
  func.func @named(%a: tensor<4xf8E3M4>) -> tensor<4xf8E3M4> {
    return %a : tensor<4xf8E3M4>
  }
}
