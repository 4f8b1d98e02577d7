// -t / (t + 2) with t = expm1(-2a), with the sign of x.
func.func private @hloom_tanh_f64(%x: f64) -> f64 {
  %cm2 = arith.constant -2.0 : f64
  %c2 = arith.constant 2.0 : f64
  %a = math.absf %x : f64
  %t = arith.mulf %a, %cm2 : f64
  %t_1 = func.call @hloom_expm1_f64(%t) : (f64) -> f64
  %t_2 = arith.negf %t_1 : f64
  %t_3 = arith.addf %t_1, %c2 : f64
  %t_4 = arith.divf %t_2, %t_3 : f64
  %result = math.copysign %t_4, %x : f64
  return %result : f64
}

// e^x / 2 without early overflow, for x >= 0.
func.func private @hloom_exp_half_f64(%x: f64) -> f64 {
  %exp_half_highest = arith.constant 711.0 : f64
  %log2e = arith.constant 1.4426950408889634 : f64
  %shifter = arith.constant 6755399441057790.0 : f64
  %m_ln2_hi = arith.constant -0.6931471805601177 : f64
  %m_ln2_lo = arith.constant 1.7239444525614835e-13 : f64
  %p11 = arith.constant 2.5110154340462048e-08 : f64
  %p10 = arith.constant 2.7632791582662336e-07 : f64
  %p9 = arith.constant 2.7557242059340425e-06 : f64
  %p8 = arith.constant 2.4801486965350888e-05 : f64
  %p7 = arith.constant 0.00019841269886836392 : f64
  %p6 = arith.constant 0.0013888888948140007 : f64
  %p5 = arith.constant 0.008333333333322127 : f64
  %p4 = arith.constant 0.04166666666652095 : f64
  %p3 = arith.constant 0.16666666666666674 : f64
  %p2 = arith.constant 0.500000000000001 : f64
  %p1 = arith.constant 1.0 : f64
  %above = arith.cmpf olt, %exp_half_highest, %x : f64
  %y = arith.select %above, %exp_half_highest, %x : f64
  %t = math.fma %y, %log2e, %shifter : f64
  %n = arith.subf %t, %shifter : f64
  %t_1 = math.fma %n, %m_ln2_hi, %y : f64
  %r = math.fma %n, %m_ln2_lo, %t_1 : f64
  %p_10 = math.fma %p11, %r, %p10 : f64
  %p_9 = math.fma %p_10, %r, %p9 : f64
  %p_8 = math.fma %p_9, %r, %p8 : f64
  %p_7 = math.fma %p_8, %r, %p7 : f64
  %p_6 = math.fma %p_7, %r, %p6 : f64
  %p_5 = math.fma %p_6, %r, %p5 : f64
  %p_4 = math.fma %p_5, %r, %p4 : f64
  %p_3 = math.fma %p_4, %r, %p3 : f64
  %p_2 = math.fma %p_3, %r, %p2 : f64
  %p_1 = math.fma %p_2, %r, %p1 : f64
  %p = math.fma %p_1, %r, %p1 : f64
  %t_2 = arith.subf %t, %p1 : f64
  %result = func.call @hloom_exp_scale_f64(%p, %t_2) : (f64, f64) -> f64
  return %result : f64
}

// (e^a - e^-a) / 2 with the sign of x; an odd polynomial below 1, where that cancels.
func.func private @hloom_sinh_f64(%x: f64) -> f64 {
  %c0_25 = arith.constant 0.25 : f64
  %p6 = arith.constant 7.759298423625675e-13 : f64
  %p5 = arith.constant 1.605724088940753e-10 : f64
  %p4 = arith.constant 2.5052123390143985e-08 : f64
  %p3 = arith.constant 2.7557319155399263e-06 : f64
  %p2 = arith.constant 0.00019841269841437453 : f64
  %p1 = arith.constant 0.008333333333333139 : f64
  %p0 = arith.constant 0.16666666666666669 : f64
  %c1 = arith.constant 1.0 : f64
  %a = math.absf %x : f64
  %h = func.call @hloom_exp_half_f64(%a) : (f64) -> f64
  %t = arith.divf %c0_25, %h : f64
  %far = arith.subf %h, %t : f64
  %z = arith.mulf %a, %a : f64
  %p_5 = math.fma %p6, %z, %p5 : f64
  %p_4 = math.fma %p_5, %z, %p4 : f64
  %p_3 = math.fma %p_4, %z, %p3 : f64
  %p_2 = math.fma %p_3, %z, %p2 : f64
  %p_1 = math.fma %p_2, %z, %p1 : f64
  %p = math.fma %p_1, %z, %p0 : f64
  %t_1 = arith.mulf %a, %z : f64
  %near = math.fma %p, %t_1, %a : f64
  %t_2 = arith.cmpf olt, %a, %c1 : f64
  %t_3 = arith.select %t_2, %near, %far : f64
  %result = math.copysign %t_3, %x : f64
  return %result : f64
}

// (e^a + e^-a) / 2.
func.func private @hloom_cosh_f64(%x: f64) -> f64 {
  %c0_25 = arith.constant 0.25 : f64
  %t = math.absf %x : f64
  %h = func.call @hloom_exp_half_f64(%t) : (f64) -> f64
  %t_1 = arith.divf %c0_25, %h : f64
  %result = arith.addf %h, %t_1 : f64
  return %result : f64
}

// log1p(a + a^2 / (1 + sqrt(a^2 + 1))) with the sign of x; log(2a) where a^2 might overflow.
func.func private @hloom_asinh_f64(%x: f64) -> f64 {
  %huge = arith.constant 1.0e+30 : f64
  %c1 = arith.constant 1.0 : f64
  %c0 = arith.constant 0.0 : f64
  %ln2 = arith.constant 0.6931471805599453 : f64
  %a = math.absf %x : f64
  %huge_1 = arith.cmpf ogt, %a, %huge : f64
  %square = arith.mulf %a, %a : f64
  %t = arith.addf %square, %c1 : f64
  %t_1 = math.sqrt %t : f64
  %t_2 = arith.addf %c1, %t_1 : f64
  %t_3 = arith.divf %square, %t_2 : f64
  %u = arith.addf %a, %t_3 : f64
  %t_4 = arith.select %huge_1, %a, %u : f64
  %y = func.call @hloom_log1p_f64(%t_4) : (f64) -> f64
  %t_5 = arith.select %huge_1, %ln2, %c0 : f64
  %t_6 = arith.addf %y, %t_5 : f64
  %result = math.copysign %t_6, %x : f64
  return %result : f64
}

// log1p(t + sqrt(2t + t^2)) with t = x - 1; log(2x) where t^2 might overflow; NaN below 1.
func.func private @hloom_acosh_f64(%x: f64) -> f64 {
  %huge = arith.constant 1.0e+30 : f64
  %c1 = arith.constant 1.0 : f64
  %c0 = arith.constant 0.0 : f64
  %cm0_75 = arith.constant -0.75 : f64
  %ln2 = arith.constant 0.6931471805599453 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %huge_1 = arith.cmpf ogt, %x, %huge : f64
  %t = arith.subf %x, %c1 : f64
  %t_1 = arith.select %huge_1, %c0, %t : f64
  %t_2 = arith.addf %t_1, %t_1 : f64
  %t_3 = math.fma %t_1, %t_1, %t_2 : f64
  %s = math.sqrt %t_3 : f64
  %u = arith.addf %t_1, %s : f64
  // What the sum u lost matters near 1 only, where log1p(u + lost) is about log1p(u) + lost (1 - 0.75 u).
  %t_4 = arith.subf %s, %u : f64
  %lost = arith.addf %t_4, %t_1 : f64
  %t_5 = math.fma %u, %cm0_75, %c1 : f64
  %below = arith.cmpf ogt, %c0, %t_5 : f64
  %slope = arith.select %below, %c0, %t_5 : f64
  %t_6 = arith.select %huge_1, %x, %u : f64
  %r = func.call @hloom_log1p_f64(%t_6) : (f64) -> f64
  %t_7 = math.fma %lost, %slope, %r : f64
  %t_8 = arith.select %huge_1, %ln2, %c0 : f64
  %y = arith.addf %t_7, %t_8 : f64
  %t_9 = arith.cmpf olt, %x, %c1 : f64
  %result = arith.select %t_9, %nan, %y : f64
  return %result : f64
}

// log1p(2a + 2a^2 / (1 - a)) / 2 with the sign of x; inf at 1, NaN beyond.
func.func private @hloom_atanh_f64(%x: f64) -> f64 {
  %c1 = arith.constant 1.0 : f64
  %c0_5 = arith.constant 0.5 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %a = math.absf %x : f64
  %twice = arith.addf %a, %a : f64
  %t = arith.subf %c1, %a : f64
  %t_1 = arith.divf %a, %t : f64
  %u = math.fma %twice, %t_1, %twice : f64
  %r = func.call @hloom_log1p_f64(%u) : (f64) -> f64
  %t_2 = arith.mulf %r, %c0_5 : f64
  %y = math.copysign %t_2, %x : f64
  %t_3 = arith.cmpf ogt, %a, %c1 : f64
  %result = arith.select %t_3, %nan, %y : f64
  return %result : f64
}
