// atan(t) for |t| <= 1.
func.func private @hloom_atan_near_f32(%t: f32) -> f32 {
  %p8 = arith.constant -0.0017875476 : f32
  %p7 = arith.constant 0.010887361 : f32
  %p6 = arith.constant -0.031127002 : f32
  %p5 = arith.constant 0.057906546 : f32
  %p4 = arith.constant -0.08400475 : f32
  %p3 = arith.constant 0.10951175 : f32
  %p2 = arith.constant -0.14264052 : f32
  %p1 = arith.constant 0.19998531 : f32
  %p0 = arith.constant -0.333333 : f32
  %z = arith.mulf %t, %t : f32
  %p_7 = math.fma %p8, %z, %p7 : f32
  %p_6 = math.fma %p_7, %z, %p6 : f32
  %p_5 = math.fma %p_6, %z, %p5 : f32
  %p_4 = math.fma %p_5, %z, %p4 : f32
  %p_3 = math.fma %p_4, %z, %p3 : f32
  %p_2 = math.fma %p_3, %z, %p2 : f32
  %p_1 = math.fma %p_2, %z, %p1 : f32
  %p = math.fma %p_1, %z, %p0 : f32
  %t_1 = arith.mulf %t, %z : f32
  %result = math.fma %p, %t_1, %t : f32
  return %result : f32
}

// atan(a) for a <= 1, pi/2 + atan(-1/a) beyond, with the sign of x.
func.func private @hloom_atan_f32(%x: f32) -> f32 {
  %c1 = arith.constant 1.0 : f32
  %cm1 = arith.constant -1.0 : f32
  %c0 = arith.constant 0.0 : f32
  %pio2 = arith.constant 1.5707964 : f32
  %a = math.absf %x : f32
  %big = arith.cmpf ogt, %a, %c1 : f32
  %t = arith.select %big, %cm1, %a : f32
  %t_1 = arith.select %big, %a, %c1 : f32
  %t_2 = arith.divf %t, %t_1 : f32
  %r = func.call @hloom_atan_near_f32(%t_2) : (f32) -> f32
  %t_3 = arith.select %big, %pio2, %c0 : f32
  %y = arith.addf %r, %t_3 : f32
  %result = math.copysign %y, %x : f32
  return %result : f32
}

// The angle of (x, y): of the smaller by the larger first. Equal magnitudes give 1, both zero 0: so inf/inf and 0/0 are right.
func.func private @hloom_atan2_f32(%y: f32, %x: f32) -> f32 {
  %c0 = arith.constant 0.0 : f32
  %c1 = arith.constant 1.0 : f32
  %pio2 = arith.constant 1.5707964 : f32
  %c0_1 = arith.constant 0 : i32
  %pi_lo = arith.constant -8.742278e-08 : f32
  %pi = arith.constant 3.1415927 : f32
  %ax = math.absf %x : f32
  %ay = math.absf %y : f32
  %steep = arith.cmpf ogt, %ay, %ax : f32
  %t = arith.negf %ax : f32
  %t_1 = arith.select %steep, %t, %ay : f32
  %t_2 = arith.select %steep, %ay, %ax : f32
  %quotient = arith.divf %t_1, %t_2 : f32
  %t_3 = arith.cmpf oeq, %ax, %c0 : f32
  %equal = arith.select %t_3, %c0, %c1 : f32
  %t_4 = arith.cmpf oeq, %ax, %ay : f32
  %t_5 = arith.select %t_4, %equal, %quotient : f32
  %r = func.call @hloom_atan_near_f32(%t_5) : (f32) -> f32
  %t_6 = arith.select %steep, %pio2, %c0 : f32
  %first = arith.addf %r, %t_6 : f32
  %t_7 = arith.bitcast %x : f32 to i32
  %left = arith.cmpi slt, %t_7, %c0_1 : i32
  %t_8 = arith.subf %first, %pi_lo : f32
  %t_9 = arith.subf %pi, %t_8 : f32
  %angle = arith.select %left, %t_9, %first : f32
  %result = math.copysign %angle, %y : f32
  return %result : f32
}

// asin(a) = s + w and true for 0 <= a < 1/2, else asin(sqrt((1 - a) / 2)) = s + w and false; NaN beyond 1.
func.func private @hloom_asin_near_f32(%a: f32) -> (f32, f32, i1) {
  %c0_5 = arith.constant 0.5 : f32
  %cm0_5 = arith.constant -0.5 : f32
  %p4 = arith.constant 0.04221852 : f32
  %p3 = arith.constant 0.02414885 : f32
  %p2 = arith.constant 0.04547653 : f32
  %p1 = arith.constant 0.0749525 : f32
  %p0 = arith.constant 0.16666754 : f32
  %small = arith.cmpf olt, %a, %c0_5 : f32
  %t = arith.mulf %a, %a : f32
  %t_1 = math.fma %a, %cm0_5, %c0_5 : f32
  %z = arith.select %small, %t, %t_1 : f32
  %t_2 = math.sqrt %z : f32
  %s = arith.select %small, %a, %t_2 : f32
  %p_3 = math.fma %p4, %z, %p3 : f32
  %p_2 = math.fma %p_3, %z, %p2 : f32
  %p_1 = math.fma %p_2, %z, %p1 : f32
  %p = math.fma %p_1, %z, %p0 : f32
  %t_3 = arith.mulf %s, %z : f32
  %result = arith.mulf %p, %t_3 : f32
  return %s, %result, %small : f32, f32, i1
}

// asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) for a >= 1/2.
func.func private @hloom_asin_f32(%x: f32) -> f32 {
  %cm2 = arith.constant -2.0 : f32
  %pio2 = arith.constant 1.5707964 : f32
  %pio2_lo = arith.constant -4.371139e-08 : f32
  %t = math.absf %x : f32
  %s_w_small:3 = func.call @hloom_asin_near_f32(%t) : (f32) -> (f32, f32, i1)
  %high = math.fma %s_w_small#0, %cm2, %pio2 : f32
  %t_1 = arith.subf %pio2, %high : f32
  %lost = math.fma %s_w_small#0, %cm2, %t_1 : f32
  %t_2 = math.fma %s_w_small#1, %cm2, %pio2_lo : f32
  %t_3 = arith.addf %lost, %t_2 : f32
  %far = arith.addf %high, %t_3 : f32
  %t_4 = arith.addf %s_w_small#0, %s_w_small#1 : f32
  %t_5 = arith.select %s_w_small#2, %t_4, %far : f32
  %result = math.copysign %t_5, %x : f32
  return %result : f32
}

// pi/2 - asin(x) near 0; 2 asin(sqrt((1 - a) / 2)), or pi less that, beyond 1/2.
func.func private @hloom_acos_f32(%x: f32) -> f32 {
  %c0 = arith.constant 0.0 : f32
  %pi_lo = arith.constant -8.742278e-08 : f32
  %pi = arith.constant 3.1415927 : f32
  %pio2_lo = arith.constant -4.371139e-08 : f32
  %pio2 = arith.constant 1.5707964 : f32
  %t = math.absf %x : f32
  %s_w_small:3 = func.call @hloom_asin_near_f32(%t) : (f32) -> (f32, f32, i1)
  %y = arith.addf %s_w_small#0, %s_w_small#1 : f32
  %twice = arith.addf %y, %y : f32
  %t_1 = arith.cmpf olt, %x, %c0 : f32
  %t_2 = arith.subf %twice, %pi_lo : f32
  %t_3 = arith.subf %pi, %t_2 : f32
  %far = arith.select %t_1, %t_3, %twice : f32
  %t_4 = math.copysign %y, %x : f32
  %t_5 = arith.subf %t_4, %pio2_lo : f32
  %t_6 = arith.subf %pio2, %t_5 : f32
  %result = arith.select %s_w_small#2, %t_6, %far : f32
  return %result : f32
}
