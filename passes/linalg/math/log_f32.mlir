// x = 2^e (1 + f) with 2/3 <= 1 + f < 4/3, for positive finite x, subnormal too.
func.func private @hloom_log_split_f32(%x: f32) -> (f32, f32) {
  %min_normal = arith.constant 1.1754944e-38 : f32
  %subnormal_scale = arith.constant 8388608.0 : f32
  %bits_2_3 = arith.constant 0x3F2AAAAB : i32
  %mantissa = arith.constant 23 : i32
  %c1 = arith.constant 1.0 : f32
  %c0 = arith.constant 0.0 : f32
  %subnormal_exponent = arith.constant 23.0 : f32
  %small = arith.cmpf olt, %x, %min_normal : f32
  %t = arith.mulf %x, %subnormal_scale : f32
  %y = arith.select %small, %t, %x : f32
  %i = arith.bitcast %y : f32 to i32
  %t_1 = arith.subi %i, %bits_2_3 : i32
  %k = arith.shrsi %t_1, %mantissa : i32
  %t_2 = arith.shli %k, %mantissa : i32
  %t_3 = arith.subi %i, %t_2 : i32
  %t_4 = arith.bitcast %t_3 : i32 to f32
  %f = arith.subf %t_4, %c1 : f32
  %t_5 = arith.sitofp %k : i32 to f32
  %t_6 = arith.select %small, %subnormal_exponent, %c0 : f32
  %e = arith.subf %t_5, %t_6 : f32
  return %e, %f : f32, f32
}

// The logarithm y of x, put right for x = 0 (-inf), x < 0 (NaN), inf and NaN (themselves).
func.func private @hloom_log_special_f32(%x: f32, %y: f32) -> f32 {
  %inf = arith.constant 0x7F800000 : f32
  %c0 = arith.constant 0.0 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %m_inf = arith.constant 0xFF800000 : f32
  %t = arith.cmpf olt, %x, %inf : f32
  %a = arith.select %t, %y, %x : f32
  %t_1 = arith.cmpf olt, %x, %c0 : f32
  %b = arith.select %t_1, %nan, %a : f32
  %t_2 = arith.cmpf oeq, %x, %c0 : f32
  %result = arith.select %t_2, %m_inf, %b : f32
  return %result : f32
}

// log(x) = e ln(2) + f + f^2 P(f).
func.func private @hloom_log_f32(%x: f32) -> f32 {
  %p8 = arith.constant -0.12898429 : f32
  %p7 = arith.constant 0.13990721 : f32
  %p6 = arith.constant -0.12182853 : f32
  %p5 = arith.constant 0.14004722 : f32
  %p4 = arith.constant -0.16680579 : f32
  %p3 = arith.constant 0.20010467 : f32
  %p2 = arith.constant -0.24999796 : f32
  %p1 = arith.constant 0.33333215 : f32
  %p0 = arith.constant -0.5 : f32
  %ln2_lo = arith.constant 1.4286068e-06 : f32
  %ln2_hi = arith.constant 0.69314575 : f32
  %e_f:2 = func.call @hloom_log_split_f32(%x) : (f32) -> (f32, f32)
  %p_7 = math.fma %p8, %e_f#1, %p7 : f32
  %p_6 = math.fma %p_7, %e_f#1, %p6 : f32
  %p_5 = math.fma %p_6, %e_f#1, %p5 : f32
  %p_4 = math.fma %p_5, %e_f#1, %p4 : f32
  %p_3 = math.fma %p_4, %e_f#1, %p3 : f32
  %p_2 = math.fma %p_3, %e_f#1, %p2 : f32
  %p_1 = math.fma %p_2, %e_f#1, %p1 : f32
  %p = math.fma %p_1, %e_f#1, %p0 : f32
  %t = arith.mulf %e_f#1, %e_f#1 : f32
  %t_1 = arith.mulf %e_f#0, %ln2_lo : f32
  %low = math.fma %t, %p, %t_1 : f32
  %t_2 = arith.addf %e_f#1, %low : f32
  %y = math.fma %e_f#0, %ln2_hi, %t_2 : f32
  %result = func.call @hloom_log_special_f32(%x, %y) : (f32, f32) -> f32
  return %result : f32
}

// log2(x) = e + f / ln(2) + f^2 P(f); exact for powers of two.
func.func private @hloom_log2_f32(%x: f32) -> f32 {
  %p8 = arith.constant -0.18555835 : f32
  %p7 = arith.constant 0.20165426 : f32
  %p6 = arith.constant -0.17591533 : f32
  %p5 = arith.constant 0.20208924 : f32
  %p4 = arith.constant -0.24063398 : f32
  %p3 = arith.constant 0.28868684 : f32
  %p2 = arith.constant -0.3606715 : f32
  %p1 = arith.constant 0.4808967 : f32
  %p0 = arith.constant -0.7213475 : f32
  %log2e_lo = arith.constant 1.925963e-08 : f32
  %log2e = arith.constant 1.442695 : f32
  %e_f:2 = func.call @hloom_log_split_f32(%x) : (f32) -> (f32, f32)
  %p_7 = math.fma %p8, %e_f#1, %p7 : f32
  %p_6 = math.fma %p_7, %e_f#1, %p6 : f32
  %p_5 = math.fma %p_6, %e_f#1, %p5 : f32
  %p_4 = math.fma %p_5, %e_f#1, %p4 : f32
  %p_3 = math.fma %p_4, %e_f#1, %p3 : f32
  %p_2 = math.fma %p_3, %e_f#1, %p2 : f32
  %p_1 = math.fma %p_2, %e_f#1, %p1 : f32
  %p = math.fma %p_1, %e_f#1, %p0 : f32
  %t = arith.mulf %e_f#1, %e_f#1 : f32
  %t_1 = arith.mulf %e_f#1, %log2e_lo : f32
  %low = math.fma %t, %p, %t_1 : f32
  %t_2 = math.fma %e_f#1, %log2e, %low : f32
  %y = arith.addf %e_f#0, %t_2 : f32
  %result = func.call @hloom_log_special_f32(%x, %y) : (f32, f32) -> f32
  return %result : f32
}

// log10(x) = e log10(2) + f / ln(10) + f^2 P(f).
func.func private @hloom_log10_f32(%x: f32) -> f32 {
  %p8 = arith.constant -0.05613414 : f32
  %p7 = arith.constant 0.060870033 : f32
  %p6 = arith.constant -0.05286472 : f32
  %p5 = arith.constant 0.060796574 : f32
  %p4 = arith.constant -0.07244867 : f32
  %p3 = arith.constant 0.086906165 : f32
  %p2 = arith.constant -0.10857243 : f32
  %p1 = arith.constant 0.14476427 : f32
  %p0 = arith.constant -0.21714725 : f32
  %log10_2_lo = arith.constant -3.0243555e-06 : f32
  %log10e_lo = arith.constant -1.010305e-08 : f32
  %log10e = arith.constant 0.4342945 : f32
  %log10_2_hi = arith.constant 0.30103302 : f32
  %e_f:2 = func.call @hloom_log_split_f32(%x) : (f32) -> (f32, f32)
  %p_7 = math.fma %p8, %e_f#1, %p7 : f32
  %p_6 = math.fma %p_7, %e_f#1, %p6 : f32
  %p_5 = math.fma %p_6, %e_f#1, %p5 : f32
  %p_4 = math.fma %p_5, %e_f#1, %p4 : f32
  %p_3 = math.fma %p_4, %e_f#1, %p3 : f32
  %p_2 = math.fma %p_3, %e_f#1, %p2 : f32
  %p_1 = math.fma %p_2, %e_f#1, %p1 : f32
  %p = math.fma %p_1, %e_f#1, %p0 : f32
  %t = arith.mulf %e_f#1, %e_f#1 : f32
  %t_1 = arith.mulf %e_f#0, %log10_2_lo : f32
  %t_2 = math.fma %e_f#1, %log10e_lo, %t_1 : f32
  %low = math.fma %t, %p, %t_2 : f32
  %t_3 = math.fma %e_f#1, %log10e, %low : f32
  %y = math.fma %e_f#0, %log10_2_hi, %t_3 : f32
  %result = func.call @hloom_log_special_f32(%x, %y) : (f32, f32) -> f32
  return %result : f32
}

// log(1 + x) = k ln(2) + log(1 + f) where 1 + f = 2^-k (1 + x) is formed with one rounding.
func.func private @hloom_log1p_f32(%x: f32) -> f32 {
  %c1 = arith.constant 1.0 : f32
  %bits_2_3 = arith.constant 0x3F2AAAAB : i32
  %mantissa = arith.constant 23 : i32
  %four_bits = arith.constant 0x40800000 : i32
  %c0_25 = arith.constant 0.25 : f32
  %cm1 = arith.constant -1.0 : f32
  %p8 = arith.constant -0.12898429 : f32
  %p7 = arith.constant 0.13990721 : f32
  %p6 = arith.constant -0.12182853 : f32
  %p5 = arith.constant 0.14004722 : f32
  %p4 = arith.constant -0.16680579 : f32
  %p3 = arith.constant 0.20010467 : f32
  %p2 = arith.constant -0.24999796 : f32
  %p1 = arith.constant 0.33333215 : f32
  %p0 = arith.constant -0.5 : f32
  %ln2_lo = arith.constant 1.4286068e-06 : f32
  %ln2_hi = arith.constant 0.69314575 : f32
  %inf = arith.constant 0x7F800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %m_inf = arith.constant 0xFF800000 : f32
  %tiny = arith.constant 1.0e-30 : f32
  %t = arith.addf %x, %c1 : f32
  %t_1 = arith.bitcast %t : f32 to i32
  %t_2 = arith.subi %t_1, %bits_2_3 : i32
  %k = arith.shrsi %t_2, %mantissa : i32
  %e = arith.sitofp %k : i32 to f32
  // Four times 2^-k is normal up to k = 128.
  %t_3 = arith.shli %k, %mantissa : i32
  %t_4 = arith.subi %four_bits, %t_3 : i32
  %scale = arith.bitcast %t_4 : i32 to f32
  %t_5 = arith.bitcast %x : f32 to i32
  %t_6 = arith.shli %k, %mantissa : i32
  %t_7 = arith.subi %t_5, %t_6 : i32
  %y = arith.bitcast %t_7 : i32 to f32
  %t_8 = math.fma %scale, %c0_25, %cm1 : f32
  %f = arith.addf %y, %t_8 : f32
  %p_7 = math.fma %p8, %f, %p7 : f32
  %p_6 = math.fma %p_7, %f, %p6 : f32
  %p_5 = math.fma %p_6, %f, %p5 : f32
  %p_4 = math.fma %p_5, %f, %p4 : f32
  %p_3 = math.fma %p_4, %f, %p3 : f32
  %p_2 = math.fma %p_3, %f, %p2 : f32
  %p_1 = math.fma %p_2, %f, %p1 : f32
  %p = math.fma %p_1, %f, %p0 : f32
  %t_9 = arith.mulf %f, %f : f32
  %t_10 = arith.mulf %e, %ln2_lo : f32
  %low = math.fma %t_9, %p, %t_10 : f32
  %t_11 = arith.addf %f, %low : f32
  %z = math.fma %e, %ln2_hi, %t_11 : f32
  %t_12 = arith.cmpf olt, %x, %inf : f32
  %a = arith.select %t_12, %z, %x : f32
  %t_13 = arith.cmpf olt, %x, %cm1 : f32
  %b = arith.select %t_13, %nan, %a : f32
  %t_14 = arith.cmpf oeq, %x, %cm1 : f32
  %c = arith.select %t_14, %m_inf, %b : f32
  %t_15 = math.absf %x : f32
  %t_16 = arith.cmpf olt, %t_15, %tiny : f32
  %result = arith.select %t_16, %x, %c : f32
  return %result : f32
}
