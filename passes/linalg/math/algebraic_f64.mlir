func.func private @hloom_rsqrt_f64(%x: f64) -> f64 {
  %c1 = arith.constant 1.0 : f64
  %t = math.sqrt %x : f64
  %result = arith.divf %c1, %t : f64
  return %result : f64
}

// cbrt(2^(3k + j) (1 + f)) = 2^k cbrt(2^j) cbrt(1 + f) with j in -1, 0, 1; exact for powers of 8.
func.func private @hloom_cbrt_f64(%x: f64) -> f64 {
  %third = arith.constant 0.3333333333333333 : f64
  %cm3 = arith.constant -3.0 : f64
  %p17 = arith.constant -0.009119496197850597 : f64
  %p16 = arith.constant 0.009154498834070662 : f64
  %p15 = arith.constant -0.005108476623022725 : f64
  %p14 = arith.constant 0.005921968121263979 : f64
  %p13 = arith.constant -0.007576039473273486 : f64
  %p12 = arith.constant 0.008300296237068934 : f64
  %p11 = arith.constant -0.009117327449750202 : f64
  %p10 = arith.constant 0.010265296158014298 : f64
  %p9 = arith.constant -0.01169079242493158 : f64
  %p8 = arith.constant 0.01348882485238134 : f64
  %p7 = arith.constant -0.015834281780511196 : f64
  %p6 = arith.constant 0.01900115978994426 : f64
  %p5 = arith.constant -0.02347203217413246 : f64
  %p4 = arith.constant 0.030178326594340225 : f64
  %p3 = arith.constant -0.041152263370131996 : f64
  %p2 = arith.constant 0.06172839506099747 : f64
  %p1 = arith.constant -0.11111111111112523 : f64
  %p0 = arith.constant 0.3333333333333346 : f64
  %c1 = arith.constant 1.0 : f64
  %c0_5 = arith.constant 0.5 : f64
  %cm0_5 = arith.constant -0.5 : f64
  %cbrt_half = arith.constant 0.7937005259840998 : f64
  %cbrt2 = arith.constant 1.2599210498948732 : f64
  %c0 = arith.constant 0.0 : f64
  %cbrt_half_lo = arith.constant -5.4345040970989115e-17 : f64
  %cbrt2_lo = arith.constant -2.589933375300507e-17 : f64
  %bias = arith.constant 1023 : i64
  %mantissa = arith.constant 52 : i64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %a = math.absf %x : f64
  %e_f:2 = func.call @hloom_log_split_f64(%a) : (f64) -> (f64, f64)
  %t = arith.mulf %e_f#0, %third : f64
  %k = math.roundeven %t : f64
  %j = math.fma %k, %cm3, %e_f#0 : f64
  %p_16 = math.fma %p17, %e_f#1, %p16 : f64
  %p_15 = math.fma %p_16, %e_f#1, %p15 : f64
  %p_14 = math.fma %p_15, %e_f#1, %p14 : f64
  %p_13 = math.fma %p_14, %e_f#1, %p13 : f64
  %p_12 = math.fma %p_13, %e_f#1, %p12 : f64
  %p_11 = math.fma %p_12, %e_f#1, %p11 : f64
  %p_10 = math.fma %p_11, %e_f#1, %p10 : f64
  %p_9 = math.fma %p_10, %e_f#1, %p9 : f64
  %p_8 = math.fma %p_9, %e_f#1, %p8 : f64
  %p_7 = math.fma %p_8, %e_f#1, %p7 : f64
  %p_6 = math.fma %p_7, %e_f#1, %p6 : f64
  %p_5 = math.fma %p_6, %e_f#1, %p5 : f64
  %p_4 = math.fma %p_5, %e_f#1, %p4 : f64
  %p_3 = math.fma %p_4, %e_f#1, %p3 : f64
  %p_2 = math.fma %p_3, %e_f#1, %p2 : f64
  %p_1 = math.fma %p_2, %e_f#1, %p1 : f64
  %p = math.fma %p_1, %e_f#1, %p0 : f64
  %m = math.fma %p, %e_f#1, %c1 : f64
  %up = arith.cmpf ogt, %j, %c0_5 : f64
  %down = arith.cmpf olt, %j, %cm0_5 : f64
  %t_1 = arith.select %down, %cbrt_half, %c1 : f64
  %s = arith.select %up, %cbrt2, %t_1 : f64
  %t_2 = arith.select %down, %cbrt_half_lo, %c0 : f64
  %lo = arith.select %up, %cbrt2_lo, %t_2 : f64
  %t_3 = arith.mulf %m, %lo : f64
  %y = math.fma %m, %s, %t_3 : f64
  %t_4 = arith.fptosi %k : f64 to i64
  %t_5 = arith.addi %t_4, %bias : i64
  %t_6 = arith.shli %t_5, %mantissa : i64
  %power = arith.bitcast %t_6 : i64 to f64
  %t_7 = arith.cmpf olt, %a, %inf : f64
  %t_8 = arith.mulf %y, %power : f64
  %finite = arith.select %t_7, %t_8, %a : f64
  %t_9 = arith.cmpf oeq, %a, %c0 : f64
  %t_10 = arith.select %t_9, %a, %finite : f64
  %result = math.copysign %t_10, %x : f64
  return %result : f64
}

// Halves away from zero; the largest float below 1/2 is added, since 1/2 would carry it up.
func.func private @hloom_round_f64(%x: f64) -> f64 {
  %below_half = arith.constant 0.49999999999999994 : f64
  %t = math.copysign %below_half, %x : f64
  %t_1 = arith.addf %x, %t : f64
  %result = math.trunc %t_1 : f64
  return %result : f64
}

func.func private @hloom_isinf_f64(%x: f64) -> i1 {
  %inf = arith.constant 0x7FF0000000000000 : f64
  %t = math.absf %x : f64
  %result = arith.cmpf oeq, %t, %inf : f64
  return %result : i1
}

// x - trunc(x/y) y, with the sign of x. A rounded quotient is at most 1 too large, so the remainder is exact up to 2^51; the rest is libm's.
func.func private @hloom_remf_f64(%x: f64, %y: f64) -> f64 {
  %c0 = arith.constant 0.0 : f64
  %rem_limit = arith.constant 2251799813685248.0 : f64
  %a = math.absf %x : f64
  %b = math.absf %y : f64
  %quotient = arith.divf %a, %b : f64
  %q = math.trunc %quotient : f64
  %t = arith.negf %q : f64
  %r = math.fma %t, %b, %a : f64
  %t_1 = arith.cmpf olt, %r, %c0 : f64
  %t_2 = arith.addf %r, %b : f64
  %positive = arith.select %t_1, %t_2, %r : f64
  %t_3 = arith.cmpf olt, %a, %b : f64
  %t_4 = arith.select %t_3, %a, %positive : f64
  %near = math.copysign %t_4, %x : f64
  %large = arith.cmpf oge, %quotient, %rem_limit : f64
  %z = scf.if %large -> (f64) {
    %exact = arith.remf %x, %y {hloom.native} : f64
    scf.yield %exact : f64
  } else {
    scf.yield %near : f64
  }
  return %z : f64
}
