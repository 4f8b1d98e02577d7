// atan(t) for |t| <= 1.
func.func private @hloom_atan_near_f64(%t: f64) -> f64 {
  %p19 = arith.constant 1.3225076247223217e-05 : f64
  %p18 = arith.constant -0.00015216110157412357 : f64
  %p17 = arith.constant 0.0008313240501391533 : f64
  %p16 = arith.constant -0.0028849279958496187 : f64
  %p15 = arith.constant 0.00719652844115414 : f64
  %p14 = arith.constant -0.013900605667255914 : f64
  %p13 = arith.constant 0.02198491265746675 : f64
  %p12 = arith.constant -0.02990391589714021 : f64
  %p11 = arith.constant 0.03664195294463981 : f64
  %p10 = arith.constant -0.042191813007524656 : f64
  %p9 = arith.constant 0.04722323214190331 : f64
  %p8 = arith.constant -0.05253518874190741 : f64
  %p7 = arith.constant 0.05880527891982929 : f64
  %p6 = arith.constant -0.06666404071200639 : f64
  %p5 = arith.constant 0.07692279840989526 : f64
  %p4 = arith.constant -0.09090907003133449 : f64
  %p3 = arith.constant 0.1111111100703354 : f64
  %p2 = arith.constant -0.14285714282575315 : f64
  %p1 = arith.constant 0.19999999999951462 : f64
  %p0 = arith.constant -0.3333333333333307 : f64
  %z = arith.mulf %t, %t : f64
  %p_18 = math.fma %p19, %z, %p18 : f64
  %p_17 = math.fma %p_18, %z, %p17 : f64
  %p_16 = math.fma %p_17, %z, %p16 : f64
  %p_15 = math.fma %p_16, %z, %p15 : f64
  %p_14 = math.fma %p_15, %z, %p14 : f64
  %p_13 = math.fma %p_14, %z, %p13 : f64
  %p_12 = math.fma %p_13, %z, %p12 : f64
  %p_11 = math.fma %p_12, %z, %p11 : f64
  %p_10 = math.fma %p_11, %z, %p10 : f64
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
  %t_1 = arith.mulf %t, %z : f64
  %result = math.fma %p, %t_1, %t : f64
  return %result : f64
}

// atan(a) for a <= 1, pi/2 + atan(-1/a) beyond, with the sign of x.
func.func private @hloom_atan_f64(%x: f64) -> f64 {
  %c1 = arith.constant 1.0 : f64
  %cm1 = arith.constant -1.0 : f64
  %c0 = arith.constant 0.0 : f64
  %pio2 = arith.constant 1.5707963267948966 : f64
  %a = math.absf %x : f64
  %big = arith.cmpf ogt, %a, %c1 : f64
  %t = arith.select %big, %cm1, %a : f64
  %t_1 = arith.select %big, %a, %c1 : f64
  %t_2 = arith.divf %t, %t_1 : f64
  %r = func.call @hloom_atan_near_f64(%t_2) : (f64) -> f64
  %t_3 = arith.select %big, %pio2, %c0 : f64
  %y = arith.addf %r, %t_3 : f64
  %result = math.copysign %y, %x : f64
  return %result : f64
}

// The angle of (x, y): of the smaller by the larger first. Equal magnitudes give 1, both zero 0: so inf/inf and 0/0 are right.
func.func private @hloom_atan2_f64(%y: f64, %x: f64) -> f64 {
  %c0 = arith.constant 0.0 : f64
  %c1 = arith.constant 1.0 : f64
  %pio2 = arith.constant 1.5707963267948966 : f64
  %c0_1 = arith.constant 0 : i64
  %pi_lo = arith.constant 1.2246467991473532e-16 : f64
  %pi = arith.constant 3.141592653589793 : f64
  %ax = math.absf %x : f64
  %ay = math.absf %y : f64
  %steep = arith.cmpf ogt, %ay, %ax : f64
  %t = arith.negf %ax : f64
  %t_1 = arith.select %steep, %t, %ay : f64
  %t_2 = arith.select %steep, %ay, %ax : f64
  %quotient = arith.divf %t_1, %t_2 : f64
  %t_3 = arith.cmpf oeq, %ax, %c0 : f64
  %equal = arith.select %t_3, %c0, %c1 : f64
  %t_4 = arith.cmpf oeq, %ax, %ay : f64
  %t_5 = arith.select %t_4, %equal, %quotient : f64
  %r = func.call @hloom_atan_near_f64(%t_5) : (f64) -> f64
  %t_6 = arith.select %steep, %pio2, %c0 : f64
  %first = arith.addf %r, %t_6 : f64
  %t_7 = arith.bitcast %x : f64 to i64
  %left = arith.cmpi slt, %t_7, %c0_1 : i64
  %t_8 = arith.subf %first, %pi_lo : f64
  %t_9 = arith.subf %pi, %t_8 : f64
  %angle = arith.select %left, %t_9, %first : f64
  %result = math.copysign %angle, %y : f64
  return %result : f64
}

// asin(a) = s + w and true for 0 <= a < 1/2, else asin(sqrt((1 - a) / 2)) = s + w and false; NaN beyond 1.
func.func private @hloom_asin_near_f64(%a: f64) -> (f64, f64, i1) {
  %c0_5 = arith.constant 0.5 : f64
  %cm0_5 = arith.constant -0.5 : f64
  %p11 = arith.constant 0.03197435887765985 : f64
  %p10 = arith.constant -0.016315550544421326 : f64
  %p9 = arith.constant 0.01958696938323632 : f64
  %p8 = arith.constant 0.0065063044531990175 : f64
  %p7 = arith.constant 0.012174280725915247 : f64
  %p6 = arith.constant 0.01388445323240507 : f64
  %p5 = arith.constant 0.017359785131834865 : f64
  %p4 = arith.constant 0.022371752633088743 : f64
  %p3 = arith.constant 0.030381959367007685 : f64
  %p2 = arith.constant 0.044642856822639264 : f64
  %p1 = arith.constant 0.07500000000344052 : f64
  %p0 = arith.constant 0.16666666666665378 : f64
  %small = arith.cmpf olt, %a, %c0_5 : f64
  %t = arith.mulf %a, %a : f64
  %t_1 = math.fma %a, %cm0_5, %c0_5 : f64
  %z = arith.select %small, %t, %t_1 : f64
  %t_2 = math.sqrt %z : f64
  %s = arith.select %small, %a, %t_2 : f64
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
  %t_3 = arith.mulf %s, %z : f64
  %result = arith.mulf %p, %t_3 : f64
  return %s, %result, %small : f64, f64, i1
}

// asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) for a >= 1/2.
func.func private @hloom_asin_f64(%x: f64) -> f64 {
  %cm2 = arith.constant -2.0 : f64
  %pio2 = arith.constant 1.5707963267948966 : f64
  %pio2_lo = arith.constant 6.123233995736766e-17 : f64
  %t = math.absf %x : f64
  %s_w_small:3 = func.call @hloom_asin_near_f64(%t) : (f64) -> (f64, f64, i1)
  %high = math.fma %s_w_small#0, %cm2, %pio2 : f64
  %t_1 = arith.subf %pio2, %high : f64
  %lost = math.fma %s_w_small#0, %cm2, %t_1 : f64
  %t_2 = math.fma %s_w_small#1, %cm2, %pio2_lo : f64
  %t_3 = arith.addf %lost, %t_2 : f64
  %far = arith.addf %high, %t_3 : f64
  %t_4 = arith.addf %s_w_small#0, %s_w_small#1 : f64
  %t_5 = arith.select %s_w_small#2, %t_4, %far : f64
  %result = math.copysign %t_5, %x : f64
  return %result : f64
}

// pi/2 - asin(x) near 0; 2 asin(sqrt((1 - a) / 2)), or pi less that, beyond 1/2.
func.func private @hloom_acos_f64(%x: f64) -> f64 {
  %c0 = arith.constant 0.0 : f64
  %pi_lo = arith.constant 1.2246467991473532e-16 : f64
  %pi = arith.constant 3.141592653589793 : f64
  %pio2_lo = arith.constant 6.123233995736766e-17 : f64
  %pio2 = arith.constant 1.5707963267948966 : f64
  %t = math.absf %x : f64
  %s_w_small:3 = func.call @hloom_asin_near_f64(%t) : (f64) -> (f64, f64, i1)
  %y = arith.addf %s_w_small#0, %s_w_small#1 : f64
  %twice = arith.addf %y, %y : f64
  %t_1 = arith.cmpf olt, %x, %c0 : f64
  %t_2 = arith.subf %twice, %pi_lo : f64
  %t_3 = arith.subf %pi, %t_2 : f64
  %far = arith.select %t_1, %t_3, %twice : f64
  %t_4 = math.copysign %y, %x : f64
  %t_5 = arith.subf %t_4, %pio2_lo : f64
  %t_6 = arith.subf %pio2, %t_5 : f64
  %result = arith.select %s_w_small#2, %t_6, %far : f64
  return %result : f64
}
