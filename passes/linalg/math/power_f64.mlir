// libm's pow; exact exponents up to 2^53.
func.func private @hloom_fpowi_f64(%x: f64, %n: i64) -> f64 {
  %t = arith.sitofp %n : i64 to f64
  %result = math.powf %x, %t {hloom.native} : f64
  return %result : f64
}

// x^-1
func.func private @hloom_reciprocal_f64(%x: f64, %y: f64) -> f64 {
  %c1 = arith.constant 1.0 : f64
  %result = arith.divf %c1, %x : f64
  return %result : f64
}

// x^(1/2): unlike sqrt, +0 for -0 and inf for -inf.
func.func private @hloom_power_half_f64(%x: f64, %y: f64) -> f64 {
  %m_inf = arith.constant 0xFFF0000000000000 : f64
  %c0 = arith.constant 0.0 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %t = arith.cmpf oeq, %x, %m_inf : f64
  %t_1 = arith.addf %x, %c0 : f64
  %t_2 = math.sqrt %t_1 : f64
  %result = arith.select %t, %inf, %t_2 : f64
  return %result : f64
}

func.func private @hloom_power_one_f64(%x: f64, %y: f64) -> f64 {
  return %x : f64
}

func.func private @hloom_square_f64(%x: f64, %y: f64) -> f64 {
  %result = arith.mulf %x, %x : f64
  return %result : f64
}

func.func private @hloom_cube_f64(%x: f64, %y: f64) -> f64 {
  %t = arith.mulf %x, %x : f64
  %result = arith.mulf %t, %x : f64
  return %result : f64
}

func.func private @hloom_power_four_f64(%x: f64, %y: f64) -> f64 {
  %z = arith.mulf %x, %x : f64
  %result = arith.mulf %z, %z : f64
  return %result : f64
}
