// a^y = 2^(y log2(a)) for a >= 0 and y finite; the exponent in f64, so that its error stays below the last bit at 2^128.
func.func private @hloom_pow_magnitude_f32(%a: f32, %y: f64) -> f32 {
  %p12 = arith.constant 0.15765506134640334 : f64
  %p11 = arith.constant -0.1662176555991987 : f64
  %p10 = arith.constant 0.12352840687094402 : f64
  %p9 = arith.constant -0.13742985174486735 : f64
  %p8 = arith.constant 0.16089510734510182 : f64
  %p7 = arith.constant -0.18080919250030209 : f64
  %p6 = arith.constant 0.2060757743109837 : f64
  %p5 = arith.constant -0.2404335250654874 : f64
  %p4 = arith.constant 0.28853944628426126 : f64
  %p3 = arith.constant -0.36067398096779535 : f64
  %p2 = arith.constant 0.48089834392432035 : f64
  %p1 = arith.constant -0.7213475195580935 : f64
  %p0 = arith.constant 1.442695040892379 : f64
  %inf = arith.constant 0x7F800000 : f32
  %c0 = arith.constant 0.0 : f32
  %m_inf = arith.constant 0xFFF0000000000000 : f64
  %c129 = arith.constant 129.0 : f64
  %cm254 = arith.constant -254.0 : f64
  %q6 = arith.constant 0.0001534580633428876 : f64
  %q5 = arith.constant 0.001339993116125124 : f64
  %q4 = arith.constant 0.009618488976506445 : f64
  %q3 = arith.constant 0.05550328777125772 : f64
  %q2 = arith.constant 0.24022646890478855 : f64
  %q1 = arith.constant 0.6931472057371976 : f64
  %q0 = arith.constant 1.0000000005541874 : f64
  %shifter = arith.constant 12583166.0 : f32
  %e_f:2 = func.call @hloom_log_split_f32(%a) : (f32) -> (f32, f32)
  %g = arith.extf %e_f#1 : f32 to f64
  %p_11 = math.fma %p12, %g, %p11 : f64
  %p_10 = math.fma %p_11, %g, %p10 : f64
  %p_9 = math.fma %p_10, %g, %p9 : f64
  %p_8 = math.fma %p_9, %g, %p8 : f64
  %p_7 = math.fma %p_8, %g, %p7 : f64
  %p_6 = math.fma %p_7, %g, %p6 : f64
  %p_5 = math.fma %p_6, %g, %p5 : f64
  %p_4 = math.fma %p_5, %g, %p4 : f64
  %p_3 = math.fma %p_4, %g, %p3 : f64
  %p_2 = math.fma %p_3, %g, %p2 : f64
  %p_1 = math.fma %p_2, %g, %p1 : f64
  %p = math.fma %p_1, %g, %p0 : f64
  %t = arith.extf %e_f#0 : f32 to f64
  %l = math.fma %p, %g, %t : f64
  %t_1 = arith.cmpf olt, %a, %inf : f32
  %t_2 = arith.extf %a : f32 to f64
  %finite = arith.select %t_1, %l, %t_2 : f64
  %t_3 = arith.cmpf oeq, %a, %c0 : f32
  %log2 = arith.select %t_3, %m_inf, %finite : f64
  %t_4 = arith.mulf %y, %log2 : f64
  %above = arith.cmpf olt, %c129, %t_4 : f64
  %t_5 = arith.select %above, %c129, %t_4 : f64
  %below = arith.cmpf ogt, %cm254, %t_5 : f64
  %z = arith.select %below, %cm254, %t_5 : f64
  %n = math.roundeven %z : f64
  %r = arith.subf %z, %n : f64
  %q_5 = math.fma %q6, %r, %q5 : f64
  %q_4 = math.fma %q_5, %r, %q4 : f64
  %q_3 = math.fma %q_4, %r, %q3 : f64
  %q_2 = math.fma %q_3, %r, %q2 : f64
  %q_1 = math.fma %q_2, %r, %q1 : f64
  %q = math.fma %q_1, %r, %q0 : f64
  %t_6 = arith.truncf %q : f64 to f32
  %t_7 = arith.truncf %n : f64 to f32
  %t_8 = arith.addf %t_7, %shifter : f32
  %result = func.call @hloom_exp_scale_f32(%t_6, %t_8) : (f32, f32) -> f32
  return %result : f32
}

// |x|^y with the sign of an odd power of a negative x; NaN for other powers of a negative finite x; 1 for y = 0 and for x = 1.
func.func private @hloom_powf_f32(%x: f32, %y: f32) -> f32 {
  %largest = arith.constant 3.4028235e+38 : f32
  %m_largest = arith.constant -3.4028235e+38 : f32
  %c0_5 = arith.constant 0.5 : f32
  %sign = arith.constant 0x80000000 : i32
  %c0 = arith.constant 0 : i32
  %c0_1 = arith.constant 0.0 : f32
  %m_inf = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %c1 = arith.constant 1.0 : f32
  %above = arith.cmpf olt, %largest, %y : f32
  %t = arith.select %above, %largest, %y : f32
  %below = arith.cmpf ogt, %m_largest, %t : f32
  %finite = arith.select %below, %m_largest, %t : f32
  %t_1 = math.absf %x : f32
  %t_2 = arith.extf %finite : f32 to f64
  %magnitude = func.call @hloom_pow_magnitude_f32(%t_1, %t_2) : (f32, f64) -> f32
  // Floats above 2^24 are even integers, so halving tells odd ones.
  %half = arith.mulf %y, %c0_5 : f32
  %t_3 = math.trunc %y : f32
  %integer = arith.cmpf oeq, %t_3, %y : f32
  %t_4 = math.trunc %half : f32
  %t_5 = arith.cmpf une, %t_4, %half : f32
  %odd = arith.andi %t_5, %integer : i1
  %t_6 = arith.bitcast %x : f32 to i32
  %t_7 = arith.andi %t_6, %sign : i32
  %sign_1 = arith.select %odd, %t_7, %c0 : i32
  %t_8 = arith.bitcast %magnitude : f32 to i32
  %t_9 = arith.ori %t_8, %sign_1 : i32
  %signed = arith.bitcast %t_9 : i32 to f32
  %t_10 = arith.cmpf olt, %x, %c0_1 : f32
  %t_11 = arith.cmpf une, %x, %m_inf : f32
  %t_12 = arith.andi %t_10, %t_11 : i1
  %t_13 = math.trunc %y : f32
  %t_14 = arith.cmpf une, %t_13, %y : f32
  %undefined = arith.andi %t_12, %t_14 : i1
  %power = arith.select %undefined, %nan, %signed : f32
  %t_15 = arith.cmpf oeq, %x, %c1 : f32
  %t_16 = arith.cmpf oeq, %y, %c0_1 : f32
  %t_17 = arith.ori %t_15, %t_16 : i1
  %result = arith.select %t_17, %c1, %power : f32
  return %result : f32
}

// |x|^n with the sign of x where n is odd.
func.func private @hloom_fpowi_f32(%x: f32, %n: i64) -> f32 {
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %sign = arith.constant 0x80000000 : i32
  %c0_1 = arith.constant 0 : i32
  %c1_1 = arith.constant 1.0 : f32
  %t = math.absf %x : f32
  %t_1 = arith.sitofp %n : i64 to f64
  %magnitude = func.call @hloom_pow_magnitude_f32(%t, %t_1) : (f32, f64) -> f32
  %t_2 = arith.andi %n, %c1 : i64
  %t_3 = arith.cmpi ne, %t_2, %c0 : i64
  %t_4 = arith.bitcast %x : f32 to i32
  %t_5 = arith.andi %t_4, %sign : i32
  %sign_1 = arith.select %t_3, %t_5, %c0_1 : i32
  %t_6 = arith.cmpi eq, %n, %c0 : i64
  %t_7 = arith.bitcast %magnitude : f32 to i32
  %t_8 = arith.ori %t_7, %sign_1 : i32
  %t_9 = arith.bitcast %t_8 : i32 to f32
  %result = arith.select %t_6, %c1_1, %t_9 : f32
  return %result : f32
}

// x^-1
func.func private @hloom_reciprocal_f32(%x: f32, %y: f32) -> f32 {
  %c1 = arith.constant 1.0 : f32
  %result = arith.divf %c1, %x : f32
  return %result : f32
}

// x^(1/2): unlike sqrt, +0 for -0 and inf for -inf.
func.func private @hloom_power_half_f32(%x: f32, %y: f32) -> f32 {
  %m_inf = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %t = arith.cmpf oeq, %x, %m_inf : f32
  %t_1 = arith.addf %x, %c0 : f32
  %t_2 = math.sqrt %t_1 : f32
  %result = arith.select %t, %inf, %t_2 : f32
  return %result : f32
}

func.func private @hloom_power_one_f32(%x: f32, %y: f32) -> f32 {
  return %x : f32
}

func.func private @hloom_square_f32(%x: f32, %y: f32) -> f32 {
  %result = arith.mulf %x, %x : f32
  return %result : f32
}

func.func private @hloom_cube_f32(%x: f32, %y: f32) -> f32 {
  %t = arith.mulf %x, %x : f32
  %result = arith.mulf %t, %x : f32
  return %result : f32
}

func.func private @hloom_power_four_f32(%x: f32, %y: f32) -> f32 {
  %z = arith.mulf %x, %x : f32
  %result = arith.mulf %z, %z : f32
  return %result : f32
}
