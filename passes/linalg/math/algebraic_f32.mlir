func.func private @hloom_rsqrt_f32(%x: f32) -> f32 {
  %c1 = arith.constant 1.0 : f32
  %t = math.sqrt %x : f32
  %result = arith.divf %c1, %t : f32
  return %result : f32
}

// cbrt(2^(3k + j) (1 + f)) = 2^k cbrt(2^j) cbrt(1 + f) with j in -1, 0, 1; exact for powers of 8.
func.func private @hloom_cbrt_f32(%x: f32) -> f32 {
  %third = arith.constant 0.33333334 : f32
  %cm3 = arith.constant -3.0 : f32
  %p8 = arith.constant 0.017997488 : f32
  %p7 = arith.constant -0.019390358 : f32
  %p6 = arith.constant 0.018359976 : f32
  %p5 = arith.constant -0.023139957 : f32
  %p4 = arith.constant 0.030218303 : f32
  %p3 = arith.constant -0.041163772 : f32
  %p2 = arith.constant 0.061727315 : f32
  %p1 = arith.constant -0.111111 : f32
  %c1 = arith.constant 1.0 : f32
  %c0_5 = arith.constant 0.5 : f32
  %cm0_5 = arith.constant -0.5 : f32
  %cbrt_half = arith.constant 0.7937005 : f32
  %cbrt2 = arith.constant 1.2599211 : f32
  %c0 = arith.constant 0.0 : f32
  %cbrt_half_lo = arith.constant 9.760193e-09 : f32
  %cbrt2_lo = arith.constant -2.4018702e-08 : f32
  %bias = arith.constant 127 : i32
  %mantissa = arith.constant 23 : i32
  %inf = arith.constant 0x7F800000 : f32
  %a = math.absf %x : f32
  %e_f:2 = func.call @hloom_log_split_f32(%a) : (f32) -> (f32, f32)
  %t = arith.mulf %e_f#0, %third : f32
  %k = math.roundeven %t : f32
  %j = math.fma %k, %cm3, %e_f#0 : f32
  %p_7 = math.fma %p8, %e_f#1, %p7 : f32
  %p_6 = math.fma %p_7, %e_f#1, %p6 : f32
  %p_5 = math.fma %p_6, %e_f#1, %p5 : f32
  %p_4 = math.fma %p_5, %e_f#1, %p4 : f32
  %p_3 = math.fma %p_4, %e_f#1, %p3 : f32
  %p_2 = math.fma %p_3, %e_f#1, %p2 : f32
  %p_1 = math.fma %p_2, %e_f#1, %p1 : f32
  %p = math.fma %p_1, %e_f#1, %third : f32
  %m = math.fma %p, %e_f#1, %c1 : f32
  %up = arith.cmpf ogt, %j, %c0_5 : f32
  %down = arith.cmpf olt, %j, %cm0_5 : f32
  %t_1 = arith.select %down, %cbrt_half, %c1 : f32
  %s = arith.select %up, %cbrt2, %t_1 : f32
  %t_2 = arith.select %down, %cbrt_half_lo, %c0 : f32
  %lo = arith.select %up, %cbrt2_lo, %t_2 : f32
  %t_3 = arith.mulf %m, %lo : f32
  %y = math.fma %m, %s, %t_3 : f32
  %t_4 = arith.fptosi %k : f32 to i32
  %t_5 = arith.addi %t_4, %bias : i32
  %t_6 = arith.shli %t_5, %mantissa : i32
  %power = arith.bitcast %t_6 : i32 to f32
  %t_7 = arith.cmpf olt, %a, %inf : f32
  %t_8 = arith.mulf %y, %power : f32
  %finite = arith.select %t_7, %t_8, %a : f32
  %t_9 = arith.cmpf oeq, %a, %c0 : f32
  %t_10 = arith.select %t_9, %a, %finite : f32
  %result = math.copysign %t_10, %x : f32
  return %result : f32
}

// Halves away from zero; the largest float below 1/2 is added, since 1/2 would carry it up.
func.func private @hloom_round_f32(%x: f32) -> f32 {
  %below_half = arith.constant 0.49999997 : f32
  %t = math.copysign %below_half, %x : f32
  %t_1 = arith.addf %x, %t : f32
  %result = math.trunc %t_1 : f32
  return %result : f32
}

func.func private @hloom_isinf_f32(%x: f32) -> i1 {
  %inf = arith.constant 0x7F800000 : f32
  %t = math.absf %x : f32
  %result = arith.cmpf oeq, %t, %inf : f32
  return %result : i1
}

// x - trunc(x/y) y, with the sign of x. A rounded quotient is at most 1 too large, so the remainder is exact up to 2^22; the rest is libm's.
func.func private @hloom_remf_f32(%x: f32, %y: f32) -> f32 {
  %c0 = arith.constant 0.0 : f32
  %rem_limit = arith.constant 4194304.0 : f32
  %a = math.absf %x : f32
  %b = math.absf %y : f32
  %quotient = arith.divf %a, %b : f32
  %q = math.trunc %quotient : f32
  %t = arith.negf %q : f32
  %r = math.fma %t, %b, %a : f32
  %t_1 = arith.cmpf olt, %r, %c0 : f32
  %t_2 = arith.addf %r, %b : f32
  %positive = arith.select %t_1, %t_2, %r : f32
  %t_3 = arith.cmpf olt, %a, %b : f32
  %t_4 = arith.select %t_3, %a, %positive : f32
  %near = math.copysign %t_4, %x : f32
  %large = arith.cmpf oge, %quotient, %rem_limit : f32
  %z = scf.if %large -> (f32) {
    %exact = arith.remf %x, %y {hloom.native} : f32
    scf.yield %exact : f32
  } else {
    scf.yield %near : f32
  }
  return %z : f32
}
