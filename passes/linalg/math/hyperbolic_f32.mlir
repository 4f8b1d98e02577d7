// A rational of degree 9 over 8 in x, odd over even; 1 beyond the clamp to within the last bit. NaN passes the clamps.
func.func private @hloom_tanh_f32(%x: f32) -> f32 {
  %tanh_clamp = arith.constant 9.02 : f32
  %m_tanh_clamp = arith.constant -9.02 : f32
  %p3 = arith.constant 1.3386445e-08 : f32
  %p2 = arith.constant 2.0636633e-05 : f32
  %p1 = arith.constant 0.0034974725 : f32
  %p0 = arith.constant 0.13382693 : f32
  %q4 = arith.constant 7.790907e-07 : f32
  %q3 = arith.constant 0.00032885664 : f32
  %q2 = arith.constant 0.025884386 : f32
  %q1 = arith.constant 0.46716017 : f32
  %q0 = arith.constant 1.0 : f32
  %cm1 = arith.constant -1.0 : f32
  %above = arith.cmpf olt, %tanh_clamp, %x : f32
  %t = arith.select %above, %tanh_clamp, %x : f32
  %below = arith.cmpf ogt, %m_tanh_clamp, %t : f32
  %y = arith.select %below, %m_tanh_clamp, %t : f32
  %z = arith.mulf %y, %y : f32
  %p_2 = math.fma %p3, %z, %p2 : f32
  %p_1 = math.fma %p_2, %z, %p1 : f32
  %p = math.fma %p_1, %z, %p0 : f32
  %q_3 = math.fma %q4, %z, %q3 : f32
  %q_2 = math.fma %q_3, %z, %q2 : f32
  %q_1 = math.fma %q_2, %z, %q1 : f32
  %q = math.fma %q_1, %z, %q0 : f32
  %t_1 = arith.mulf %y, %z : f32
  %n = math.fma %p, %t_1, %y : f32
  // Rounding must not carry the quotient past 1.
  %t_2 = arith.divf %n, %q : f32
  %above_1 = arith.cmpf olt, %q0, %t_2 : f32
  %t_3 = arith.select %above_1, %q0, %t_2 : f32
  %below_1 = arith.cmpf ogt, %cm1, %t_3 : f32
  %result = arith.select %below_1, %cm1, %t_3 : f32
  return %result : f32
}

// e^x / 2 without early overflow, for x >= 0.
func.func private @hloom_exp_half_f32(%x: f32) -> f32 {
  %exp_half_highest = arith.constant 9.0e+01 : f32
  %log2e = arith.constant 1.442695 : f32
  %shifter = arith.constant 12583166.0 : f32
  %m_ln2_hi = arith.constant -0.69314575 : f32
  %m_ln2_lo = arith.constant -1.4286068e-06 : f32
  %p6 = arith.constant 0.0013820742 : f32
  %p5 = arith.constant 0.008369248 : f32
  %p4 = arith.constant 0.04166828 : f32
  %p3 = arith.constant 0.16666517 : f32
  %p2 = arith.constant 0.49999994 : f32
  %p1 = arith.constant 1.0 : f32
  %above = arith.cmpf olt, %exp_half_highest, %x : f32
  %y = arith.select %above, %exp_half_highest, %x : f32
  %t = math.fma %y, %log2e, %shifter : f32
  %n = arith.subf %t, %shifter : f32
  %t_1 = math.fma %n, %m_ln2_hi, %y : f32
  %r = math.fma %n, %m_ln2_lo, %t_1 : f32
  %p_5 = math.fma %p6, %r, %p5 : f32
  %p_4 = math.fma %p_5, %r, %p4 : f32
  %p_3 = math.fma %p_4, %r, %p3 : f32
  %p_2 = math.fma %p_3, %r, %p2 : f32
  %p_1 = math.fma %p_2, %r, %p1 : f32
  %p = math.fma %p_1, %r, %p1 : f32
  %t_2 = arith.subf %t, %p1 : f32
  %result = func.call @hloom_exp_scale_f32(%p, %t_2) : (f32, f32) -> f32
  return %result : f32
}

// (e^a - e^-a) / 2 with the sign of x; an odd polynomial below 1, where that cancels.
func.func private @hloom_sinh_f32(%x: f32) -> f32 {
  %c0_25 = arith.constant 0.25 : f32
  %p3 = arith.constant 2.7839255e-06 : f32
  %p2 = arith.constant 0.00019842635 : f32
  %p1 = arith.constant 0.008333311 : f32
  %p0 = arith.constant 0.16666667 : f32
  %c1 = arith.constant 1.0 : f32
  %a = math.absf %x : f32
  %h = func.call @hloom_exp_half_f32(%a) : (f32) -> f32
  %t = arith.divf %c0_25, %h : f32
  %far = arith.subf %h, %t : f32
  %z = arith.mulf %a, %a : f32
  %p_2 = math.fma %p3, %z, %p2 : f32
  %p_1 = math.fma %p_2, %z, %p1 : f32
  %p = math.fma %p_1, %z, %p0 : f32
  %t_1 = arith.mulf %a, %z : f32
  %near = math.fma %p, %t_1, %a : f32
  %t_2 = arith.cmpf olt, %a, %c1 : f32
  %t_3 = arith.select %t_2, %near, %far : f32
  %result = math.copysign %t_3, %x : f32
  return %result : f32
}

// (e^a + e^-a) / 2.
func.func private @hloom_cosh_f32(%x: f32) -> f32 {
  %c0_25 = arith.constant 0.25 : f32
  %t = math.absf %x : f32
  %h = func.call @hloom_exp_half_f32(%t) : (f32) -> f32
  %t_1 = arith.divf %c0_25, %h : f32
  %result = arith.addf %h, %t_1 : f32
  return %result : f32
}

// log1p(a + a^2 / (1 + sqrt(a^2 + 1))) with the sign of x; log(2a) where a^2 might overflow.
func.func private @hloom_asinh_f32(%x: f32) -> f32 {
  %huge = arith.constant 1.0e+09 : f32
  %c1 = arith.constant 1.0 : f32
  %c0 = arith.constant 0.0 : f32
  %ln2 = arith.constant 0.6931472 : f32
  %a = math.absf %x : f32
  %huge_1 = arith.cmpf ogt, %a, %huge : f32
  %square = arith.mulf %a, %a : f32
  %t = arith.addf %square, %c1 : f32
  %t_1 = math.sqrt %t : f32
  %t_2 = arith.addf %c1, %t_1 : f32
  %t_3 = arith.divf %square, %t_2 : f32
  %u = arith.addf %a, %t_3 : f32
  %t_4 = arith.select %huge_1, %a, %u : f32
  %y = func.call @hloom_log1p_f32(%t_4) : (f32) -> f32
  %t_5 = arith.select %huge_1, %ln2, %c0 : f32
  %t_6 = arith.addf %y, %t_5 : f32
  %result = math.copysign %t_6, %x : f32
  return %result : f32
}

// log1p(t + sqrt(2t + t^2)) with t = x - 1; log(2x) where t^2 might overflow; NaN below 1.
func.func private @hloom_acosh_f32(%x: f32) -> f32 {
  %huge = arith.constant 1.0e+09 : f32
  %c1 = arith.constant 1.0 : f32
  %c0 = arith.constant 0.0 : f32
  %cm0_75 = arith.constant -0.75 : f32
  %ln2 = arith.constant 0.6931472 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %huge_1 = arith.cmpf ogt, %x, %huge : f32
  %t = arith.subf %x, %c1 : f32
  %t_1 = arith.select %huge_1, %c0, %t : f32
  %t_2 = arith.addf %t_1, %t_1 : f32
  %t_3 = math.fma %t_1, %t_1, %t_2 : f32
  %s = math.sqrt %t_3 : f32
  %u = arith.addf %t_1, %s : f32
  // What the sum u lost matters near 1 only, where log1p(u + lost) is about log1p(u) + lost (1 - 0.75 u).
  %t_4 = arith.subf %s, %u : f32
  %lost = arith.addf %t_4, %t_1 : f32
  %t_5 = math.fma %u, %cm0_75, %c1 : f32
  %below = arith.cmpf ogt, %c0, %t_5 : f32
  %slope = arith.select %below, %c0, %t_5 : f32
  %t_6 = arith.select %huge_1, %x, %u : f32
  %r = func.call @hloom_log1p_f32(%t_6) : (f32) -> f32
  %t_7 = math.fma %lost, %slope, %r : f32
  %t_8 = arith.select %huge_1, %ln2, %c0 : f32
  %y = arith.addf %t_7, %t_8 : f32
  %t_9 = arith.cmpf olt, %x, %c1 : f32
  %result = arith.select %t_9, %nan, %y : f32
  return %result : f32
}

// log1p(2a + 2a^2 / (1 - a)) / 2 with the sign of x; inf at 1, NaN beyond.
func.func private @hloom_atanh_f32(%x: f32) -> f32 {
  %c1 = arith.constant 1.0 : f32
  %c0_5 = arith.constant 0.5 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %a = math.absf %x : f32
  %twice = arith.addf %a, %a : f32
  %t = arith.subf %c1, %a : f32
  %t_1 = arith.divf %a, %t : f32
  %u = math.fma %twice, %t_1, %twice : f32
  %r = func.call @hloom_log1p_f32(%u) : (f32) -> f32
  %t_2 = arith.mulf %r, %c0_5 : f32
  %y = math.copysign %t_2, %x : f32
  %t_3 = arith.cmpf ogt, %a, %c1 : f32
  %result = arith.select %t_3, %nan, %y : f32
  return %result : f32
}
