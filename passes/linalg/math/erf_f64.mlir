// erf(x) for |x| <= 1.
func.func private @hloom_erf_near_f64(%x: f64) -> f64 {
  %p11 = arith.constant -7.779462971758002e-10 : f64
  %p10 = arith.constant 1.3710988704188445e-08 : f64
  %p9 = arith.constant -1.6206318752968687e-07 : f64
  %p8 = arith.constant 1.6447132699786545e-06 : f64
  %p7 = arith.constant -1.4924712439534808e-05 : f64
  %p6 = arith.constant 0.0001205529358693695 : f64
  %p5 = arith.constant -0.0008548325929766244 : f64
  %p4 = arith.constant 0.005223977606130842 : f64
  %p3 = arith.constant -0.026866170643113415 : f64
  %p2 = arith.constant 0.112837916709442 : f64
  %p1 = arith.constant -0.3761263890318352 : f64
  %p0 = arith.constant 0.12837916709551256 : f64
  %z = arith.mulf %x, %x : f64
  %p_10 = math.fma %p11, %z, %p10 : f64
  %p_9 = math.fma %p_10, %z, %p9 : f64
  %p_8 = math.fma %p_9, %z, %p8 : f64
  %p_7 = math.fma %p_8, %z, %p7 : f64
  %p_6 = math.fma %p_7, %z, %p6 : f64
  %p_5 = math.fma %p_6, %z, %p5 : f64
  %p_4 = math.fma %p_5, %z, %p4 : f64
  %p_3 = math.fma %p_4, %z, %p3 : f64
  %p_2 = math.fma %p_3, %z, %p2 : f64
  %p_1 = math.fma %p_2, %z, %p1 : f64
  %p = math.fma %p_1, %z, %p0 : f64
  %result = math.fma %x, %p, %x : f64
  return %result : f64
}

// e^(-a^2) P(t) / (1 + 2a), t = (a - 3) / (a + 3), for a >= 1/2; the square in two parts.
func.func private @hloom_erfc_far_f64(%a: f64) -> f64 {
  %c28 = arith.constant 28.0 : f64
  %c3 = arith.constant 3.0 : f64
  %p20 = arith.constant 7.842022971710081e-09 : f64
  %p19 = arith.constant 7.178584671524017e-08 : f64
  %p18 = arith.constant -8.199849634280199e-08 : f64
  %p17 = arith.constant -5.85577255347973e-07 : f64
  %p16 = arith.constant 3.003711680291829e-07 : f64
  %p15 = arith.constant 3.4542517105686213e-06 : f64
  %p14 = arith.constant -6.994655480346402e-07 : f64
  %p13 = arith.constant -2.0094066453798892e-05 : f64
  %p12 = arith.constant 4.938091609670592e-06 : f64
  %p11 = arith.constant 0.00012509789083594734 : f64
  %p10 = arith.constant -0.00010515724211379749 : f64
  %p9 = arith.constant -0.0007798320674944203 : f64
  %p8 = arith.constant 0.0018886900051489422 : f64
  %p7 = arith.constant 0.00252939179892424 : f64
  %p6 = arith.constant -0.023770514890246983 : f64
  %p5 = arith.constant 0.06830802734476898 : f64
  %p4 = arith.constant -0.11927366341647236 : f64
  %p3 = arith.constant 0.12964515870274368 : f64
  %p2 = arith.constant -0.0475622943534322 : f64
  %p1 = arith.constant -0.13562110612458106 : f64
  %p0 = arith.constant 1.2530080582697296 : f64
  %m_log2e = arith.constant -1.4426950408889634 : f64
  %shifter = arith.constant 6755399441057790.0 : f64
  %m_ln2_hi = arith.constant -0.6931471805601177 : f64
  %m_ln2_lo = arith.constant 1.7239444525614835e-13 : f64
  %e11 = arith.constant 2.5110154340462048e-08 : f64
  %e10 = arith.constant 2.7632791582662336e-07 : f64
  %e9 = arith.constant 2.7557242059340425e-06 : f64
  %e8 = arith.constant 2.4801486965350888e-05 : f64
  %e7 = arith.constant 0.00019841269886836392 : f64
  %e6 = arith.constant 0.0013888888948140007 : f64
  %e5 = arith.constant 0.008333333333322127 : f64
  %e4 = arith.constant 0.04166666666652095 : f64
  %e3 = arith.constant 0.16666666666666674 : f64
  %e2 = arith.constant 0.500000000000001 : f64
  %e1 = arith.constant 1.0 : f64
  %c2 = arith.constant 2.0 : f64
  %above = arith.cmpf olt, %c28, %a : f64
  %b = arith.select %above, %c28, %a : f64
  %t = arith.subf %b, %c3 : f64
  %t_1 = arith.addf %b, %c3 : f64
  %t_2 = arith.divf %t, %t_1 : f64
  %p_19 = math.fma %p20, %t_2, %p19 : f64
  %p_18 = math.fma %p_19, %t_2, %p18 : f64
  %p_17 = math.fma %p_18, %t_2, %p17 : f64
  %p_16 = math.fma %p_17, %t_2, %p16 : f64
  %p_15 = math.fma %p_16, %t_2, %p15 : f64
  %p_14 = math.fma %p_15, %t_2, %p14 : f64
  %p_13 = math.fma %p_14, %t_2, %p13 : f64
  %p_12 = math.fma %p_13, %t_2, %p12 : f64
  %p_11 = math.fma %p_12, %t_2, %p11 : f64
  %p_10 = math.fma %p_11, %t_2, %p10 : f64
  %p_9 = math.fma %p_10, %t_2, %p9 : f64
  %p_8 = math.fma %p_9, %t_2, %p8 : f64
  %p_7 = math.fma %p_8, %t_2, %p7 : f64
  %p_6 = math.fma %p_7, %t_2, %p6 : f64
  %p_5 = math.fma %p_6, %t_2, %p5 : f64
  %p_4 = math.fma %p_5, %t_2, %p4 : f64
  %p_3 = math.fma %p_4, %t_2, %p3 : f64
  %p_2 = math.fma %p_3, %t_2, %p2 : f64
  %p_1 = math.fma %p_2, %t_2, %p1 : f64
  %p = math.fma %p_1, %t_2, %p0 : f64
  %square = arith.mulf %b, %b : f64
  %t_3 = arith.negf %square : f64
  %low = math.fma %b, %b, %t_3 : f64
  %s = math.fma %square, %m_log2e, %shifter : f64
  %n = arith.subf %s, %shifter : f64
  %t_4 = arith.negf %square : f64
  %t_5 = math.fma %n, %m_ln2_hi, %t_4 : f64
  %t_6 = math.fma %n, %m_ln2_lo, %t_5 : f64
  %r = arith.subf %t_6, %low : f64
  %e_10 = math.fma %e11, %r, %e10 : f64
  %e_9 = math.fma %e_10, %r, %e9 : f64
  %e_8 = math.fma %e_9, %r, %e8 : f64
  %e_7 = math.fma %e_8, %r, %e7 : f64
  %e_6 = math.fma %e_7, %r, %e6 : f64
  %e_5 = math.fma %e_6, %r, %e5 : f64
  %e_4 = math.fma %e_5, %r, %e4 : f64
  %e_3 = math.fma %e_4, %r, %e3 : f64
  %e_2 = math.fma %e_3, %r, %e2 : f64
  %e_1 = math.fma %e_2, %r, %e1 : f64
  %e = math.fma %e_1, %r, %e1 : f64
  %t_7 = arith.mulf %e, %p : f64
  %t_8 = math.fma %b, %c2, %e1 : f64
  %t_9 = arith.divf %t_7, %t_8 : f64
  %result = func.call @hloom_exp_scale_f64(%t_9, %s) : (f64, f64) -> f64
  return %result : f64
}

// An odd polynomial up to 1, then 1 - erfc(a) with the sign of x.
func.func private @hloom_erf_f64(%x: f64) -> f64 {
  %c1 = arith.constant 1.0 : f64
  %a = math.absf %x : f64
  %r = func.call @hloom_erfc_far_f64(%a) : (f64) -> f64
  %t = arith.subf %c1, %r : f64
  %far = math.copysign %t, %x : f64
  %t_1 = arith.cmpf olt, %a, %c1 : f64
  %r_1 = func.call @hloom_erf_near_f64(%x) : (f64) -> f64
  %result = arith.select %t_1, %r_1, %far : f64
  return %result : f64
}

// 1 - erf(x) around 0, and 2 - erfc(a) for negative x.
func.func private @hloom_erfc_f64(%x: f64) -> f64 {
  %c0 = arith.constant 0.0 : f64
  %c2 = arith.constant 2.0 : f64
  %c0_5 = arith.constant 0.5 : f64
  %c1 = arith.constant 1.0 : f64
  %a = math.absf %x : f64
  %y = func.call @hloom_erfc_far_f64(%a) : (f64) -> f64
  %t = arith.cmpf olt, %x, %c0 : f64
  %t_1 = arith.subf %c2, %y : f64
  %far = arith.select %t, %t_1, %y : f64
  %t_2 = arith.cmpf olt, %a, %c0_5 : f64
  %r = func.call @hloom_erf_near_f64(%x) : (f64) -> f64
  %t_3 = arith.subf %c1, %r : f64
  %result = arith.select %t_2, %t_3, %far : f64
  return %result : f64
}
