// x = 2^e (1 + f) with 2/3 <= 1 + f < 4/3, for positive finite x, subnormal too.
func.func private @hloom_log_split_f64(%x: f64) -> (f64, f64) {
  %bits_2_3 = arith.constant 0x3FE5555555555555 : i64
  %e_f:2 = func.call @hloom_log_split_from_f64(%x, %bits_2_3) : (f64, i64) -> (f64, f64)
  return %e_f#0, %e_f#1 : f64, f64
}

// The same with least <= 1 + f < 2 least, given as bits.
func.func private @hloom_log_split_from_f64(%x: f64, %least: i64) -> (f64, f64) {
  %min_normal = arith.constant 2.2250738585072014e-308 : f64
  %subnormal_scale = arith.constant 4503599627370496.0 : f64
  %mantissa = arith.constant 52 : i64
  %c1 = arith.constant 1.0 : f64
  %c0 = arith.constant 0.0 : f64
  %subnormal_exponent = arith.constant 52.0 : f64
  %small = arith.cmpf olt, %x, %min_normal : f64
  %t = arith.mulf %x, %subnormal_scale : f64
  %y = arith.select %small, %t, %x : f64
  %i = arith.bitcast %y : f64 to i64
  %t_1 = arith.subi %i, %least : i64
  %k = arith.shrsi %t_1, %mantissa : i64
  %t_2 = arith.shli %k, %mantissa : i64
  %t_3 = arith.subi %i, %t_2 : i64
  %t_4 = arith.bitcast %t_3 : i64 to f64
  %f = arith.subf %t_4, %c1 : f64
  %t_5 = arith.sitofp %k : i64 to f64
  %t_6 = arith.select %small, %subnormal_exponent, %c0 : f64
  %e = arith.subf %t_5, %t_6 : f64
  return %e, %f : f64, f64
}

// The logarithm y of x, put right for x = 0 (-inf), x < 0 (NaN), inf and NaN (themselves).
func.func private @hloom_log_special_f64(%x: f64, %y: f64) -> f64 {
  %inf = arith.constant 0x7FF0000000000000 : f64
  %c0 = arith.constant 0.0 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %m_inf = arith.constant 0xFFF0000000000000 : f64
  %t = arith.cmpf olt, %x, %inf : f64
  %a = arith.select %t, %y, %x : f64
  %t_1 = arith.cmpf olt, %x, %c0 : f64
  %b = arith.select %t_1, %nan, %a : f64
  %t_2 = arith.cmpf oeq, %x, %c0 : f64
  %result = arith.select %t_2, %m_inf, %b : f64
  return %result : f64
}

// log(x) = e ln(2) + f + f^2 P(f).
func.func private @hloom_log_f64(%x: f64) -> f64 {
  %p18 = arith.constant -0.08664763009474559 : f64
  %p17 = arith.constant 0.08869657025407558 : f64
  %p16 = arith.constant -0.04551300964892948 : f64
  %p15 = arith.constant 0.049515454562510504 : f64
  %p14 = arith.constant -0.06396157206397282 : f64
  %p13 = arith.constant 0.06793124366264637 : f64
  %p12 = arith.constant -0.07130104577848251 : f64
  %p11 = arith.constant 0.07682151913611576 : f64
  %p10 = arith.constant -0.08334026391281933 : f64
  %p9 = arith.constant 0.0909140673860893 : f64
  %p8 = arith.constant -0.09999976659826065 : f64
  %p7 = arith.constant 0.11111096464461395 : f64
  %p6 = arith.constant -0.1250000046637389 : f64
  %p5 = arith.constant 0.14285714528733012 : f64
  %p4 = arith.constant -0.1666666666164599 : f64
  %p3 = arith.constant 0.1999999999802753 : f64
  %p2 = arith.constant -0.2500000000002377 : f64
  %p1 = arith.constant 0.3333333333333884 : f64
  %p0 = arith.constant -0.4999999999999997 : f64
  %ln2_lo = arith.constant -1.7239444525614835e-13 : f64
  %ln2_hi = arith.constant 0.6931471805601177 : f64
  %e_f:2 = func.call @hloom_log_split_f64(%x) : (f64) -> (f64, f64)
  %p_17 = math.fma %p18, %e_f#1, %p17 : f64
  %p_16 = math.fma %p_17, %e_f#1, %p16 : f64
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
  %t = arith.mulf %e_f#1, %e_f#1 : f64
  %t_1 = arith.mulf %e_f#0, %ln2_lo : f64
  %low = math.fma %t, %p, %t_1 : f64
  %t_2 = arith.addf %e_f#1, %low : f64
  %y = math.fma %e_f#0, %ln2_hi, %t_2 : f64
  %result = func.call @hloom_log_special_f64(%x, %y) : (f64, f64) -> f64
  return %result : f64
}

// log2(x) = e + f / ln(2) + f^2 P(f); exact for powers of two.
func.func private @hloom_log2_f64(%x: f64) -> f64 {
  %p18 = arith.constant -0.12500610624247077 : f64
  %p17 = arith.constant 0.12796210204941438 : f64
  %p16 = arith.constant -0.06566139331644211 : f64
  %p15 = arith.constant 0.0714357007446967 : f64
  %p14 = arith.constant -0.09227704282415565 : f64
  %p13 = arith.constant 0.09800406835351974 : f64
  %p12 = arith.constant -0.10286566515481368 : f64
  %p11 = arith.constant 0.11083002469123082 : f64
  %p10 = arith.constant -0.12023458545340189 : f64
  %p9 = arith.constant 0.13116127416495607 : f64
  %p8 = arith.constant -0.14426916736136444 : f64
  %p7 = arith.constant 0.1602992376811735 : f64
  %p6 = arith.constant -0.18033688683947338 : f64
  %p5 = arith.constant 0.2060992950615853 : f64
  %p4 = arith.constant -0.24044917340906086 : f64
  %p3 = arith.constant 0.2885390081493359 : f64
  %p2 = arith.constant -0.36067376022258374 : f64
  %p1 = arith.constant 0.4808983469630672 : f64
  %p0 = arith.constant -0.7213475204444812 : f64
  %log2e_lo = arith.constant 2.0355273740931033e-17 : f64
  %log2e = arith.constant 1.4426950408889634 : f64
  %e_f:2 = func.call @hloom_log_split_f64(%x) : (f64) -> (f64, f64)
  %p_17 = math.fma %p18, %e_f#1, %p17 : f64
  %p_16 = math.fma %p_17, %e_f#1, %p16 : f64
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
  %t = arith.mulf %e_f#1, %e_f#1 : f64
  %t_1 = arith.mulf %e_f#1, %log2e_lo : f64
  %low = math.fma %t, %p, %t_1 : f64
  %t_2 = math.fma %e_f#1, %log2e, %low : f64
  %y = arith.addf %e_f#0, %t_2 : f64
  %result = func.call @hloom_log_special_f64(%x, %y) : (f64, f64) -> f64
  return %result : f64
}

// log10(x) = e log10(2) + f / ln(10) + f^2 P(f).
func.func private @hloom_log10_f64(%x: f64) -> f64 {
  %p18 = arith.constant -0.03763058762014215 : f64
  %p17 = arith.constant 0.03852043102508913 : f64
  %p16 = arith.constant -0.01976604894533953 : f64
  %p15 = arith.constant 0.021504288685429508 : f64
  %p14 = arith.constant -0.027778157801240582 : f64
  %p13 = arith.constant 0.029502164271512567 : f64
  %p12 = arith.constant -0.030965650735526103 : f64
  %p11 = arith.constant 0.03336316185224014 : f64
  %p10 = arith.constant -0.03619421673769815 : f64
  %p9 = arith.constant 0.03948347779315897 : f64
  %p8 = arith.constant -0.04342934682523772 : f64
  %p7 = arith.constant 0.04825487882410315 : f64
  %p6 = arith.constant -0.05428681226334254 : f64
  %p5 = arith.constant 0.0620420698987386 : f64
  %p4 = arith.constant -0.07238241362873746 : f64
  %p3 = arith.constant 0.08685889637208404 : f64
  %p2 = arith.constant -0.10857362047591618 : f64
  %p1 = arith.constant 0.14476482730110785 : f64
  %p0 = arith.constant -0.2171472409516258 : f64
  %log10_2_lo = arith.constant -8.532344317057107e-14 : f64
  %log10e_lo = arith.constant 1.098319650216765e-17 : f64
  %log10e = arith.constant 0.4342944819032518 : f64
  %log10_2_hi = arith.constant 0.3010299956640665 : f64
  %e_f:2 = func.call @hloom_log_split_f64(%x) : (f64) -> (f64, f64)
  %p_17 = math.fma %p18, %e_f#1, %p17 : f64
  %p_16 = math.fma %p_17, %e_f#1, %p16 : f64
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
  %t = arith.mulf %e_f#1, %e_f#1 : f64
  %t_1 = arith.mulf %e_f#0, %log10_2_lo : f64
  %t_2 = math.fma %e_f#1, %log10e_lo, %t_1 : f64
  %low = math.fma %t, %p, %t_2 : f64
  %t_3 = math.fma %e_f#1, %log10e, %low : f64
  %y = math.fma %e_f#0, %log10_2_hi, %t_3 : f64
  %result = func.call @hloom_log_special_f64(%x, %y) : (f64, f64) -> f64
  return %result : f64
}

// log(1 + x) = k ln(2) + log(1 + f) where 1 + f = 2^-k (1 + x) is formed with one rounding.
func.func private @hloom_log1p_f64(%x: f64) -> f64 {
  %c1 = arith.constant 1.0 : f64
  %bits_2_3 = arith.constant 0x3FE5555555555555 : i64
  %mantissa = arith.constant 52 : i64
  %four_bits = arith.constant 0x4010000000000000 : i64
  %c0_25 = arith.constant 0.25 : f64
  %cm1 = arith.constant -1.0 : f64
  %p18 = arith.constant -0.08664763009474559 : f64
  %p17 = arith.constant 0.08869657025407558 : f64
  %p16 = arith.constant -0.04551300964892948 : f64
  %p15 = arith.constant 0.049515454562510504 : f64
  %p14 = arith.constant -0.06396157206397282 : f64
  %p13 = arith.constant 0.06793124366264637 : f64
  %p12 = arith.constant -0.07130104577848251 : f64
  %p11 = arith.constant 0.07682151913611576 : f64
  %p10 = arith.constant -0.08334026391281933 : f64
  %p9 = arith.constant 0.0909140673860893 : f64
  %p8 = arith.constant -0.09999976659826065 : f64
  %p7 = arith.constant 0.11111096464461395 : f64
  %p6 = arith.constant -0.1250000046637389 : f64
  %p5 = arith.constant 0.14285714528733012 : f64
  %p4 = arith.constant -0.1666666666164599 : f64
  %p3 = arith.constant 0.1999999999802753 : f64
  %p2 = arith.constant -0.2500000000002377 : f64
  %p1 = arith.constant 0.3333333333333884 : f64
  %p0 = arith.constant -0.4999999999999997 : f64
  %ln2_lo = arith.constant -1.7239444525614835e-13 : f64
  %ln2_hi = arith.constant 0.6931471805601177 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %m_inf = arith.constant 0xFFF0000000000000 : f64
  %tiny = arith.constant 1.0e-300 : f64
  %t = arith.addf %x, %c1 : f64
  %t_1 = arith.bitcast %t : f64 to i64
  %t_2 = arith.subi %t_1, %bits_2_3 : i64
  %k = arith.shrsi %t_2, %mantissa : i64
  %e = arith.sitofp %k : i64 to f64
  // Four times 2^-k is normal up to k = 1024.
  %t_3 = arith.shli %k, %mantissa : i64
  %t_4 = arith.subi %four_bits, %t_3 : i64
  %scale = arith.bitcast %t_4 : i64 to f64
  %t_5 = arith.bitcast %x : f64 to i64
  %t_6 = arith.shli %k, %mantissa : i64
  %t_7 = arith.subi %t_5, %t_6 : i64
  %y = arith.bitcast %t_7 : i64 to f64
  %t_8 = math.fma %scale, %c0_25, %cm1 : f64
  %f = arith.addf %y, %t_8 : f64
  %p_17 = math.fma %p18, %f, %p17 : f64
  %p_16 = math.fma %p_17, %f, %p16 : f64
  %p_15 = math.fma %p_16, %f, %p15 : f64
  %p_14 = math.fma %p_15, %f, %p14 : f64
  %p_13 = math.fma %p_14, %f, %p13 : f64
  %p_12 = math.fma %p_13, %f, %p12 : f64
  %p_11 = math.fma %p_12, %f, %p11 : f64
  %p_10 = math.fma %p_11, %f, %p10 : f64
  %p_9 = math.fma %p_10, %f, %p9 : f64
  %p_8 = math.fma %p_9, %f, %p8 : f64
  %p_7 = math.fma %p_8, %f, %p7 : f64
  %p_6 = math.fma %p_7, %f, %p6 : f64
  %p_5 = math.fma %p_6, %f, %p5 : f64
  %p_4 = math.fma %p_5, %f, %p4 : f64
  %p_3 = math.fma %p_4, %f, %p3 : f64
  %p_2 = math.fma %p_3, %f, %p2 : f64
  %p_1 = math.fma %p_2, %f, %p1 : f64
  %p = math.fma %p_1, %f, %p0 : f64
  %t_9 = arith.mulf %f, %f : f64
  %t_10 = arith.mulf %e, %ln2_lo : f64
  %low = math.fma %t_9, %p, %t_10 : f64
  %t_11 = arith.addf %f, %low : f64
  %z = math.fma %e, %ln2_hi, %t_11 : f64
  %t_12 = arith.cmpf olt, %x, %inf : f64
  %a = arith.select %t_12, %z, %x : f64
  %t_13 = arith.cmpf olt, %x, %cm1 : f64
  %b = arith.select %t_13, %nan, %a : f64
  %t_14 = arith.cmpf oeq, %x, %cm1 : f64
  %c = arith.select %t_14, %m_inf, %b : f64
  %t_15 = math.absf %x : f64
  %t_16 = arith.cmpf olt, %t_15, %tiny : f64
  %result = arith.select %t_16, %x, %c : f64
  return %result : f64
}
