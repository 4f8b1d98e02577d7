// a = q pi/2 + r with |r| <= pi/4 (a little more by rounding), for a >= 0; only the low two bits of q are good.
// pi/2 in three parts up to 2^30: the first step is exact, as it cancels. True for more, and for inf, which is left to libm.
func.func private @hloom_trig_reduce_f64(%a: f64) -> (f64, i64, i1) {
  %two_over_pi = arith.constant 0.6366197723675814 : f64
  %rounder = arith.constant 6755399441055744.0 : f64
  %m_pio2_1 = arith.constant -1.5707963267948966 : f64
  %m_pio2_2 = arith.constant -6.123233995736766e-17 : f64
  %m_pio2_3 = arith.constant 1.4973849048591698e-33 : f64
  %c = arith.constant 1073741824.0 : f64
  %t = math.fma %a, %two_over_pi, %rounder : f64
  %n = arith.subf %t, %rounder : f64
  %t_1 = math.fma %n, %m_pio2_1, %a : f64
  %t_2 = math.fma %n, %m_pio2_2, %t_1 : f64
  %near = math.fma %n, %m_pio2_3, %t_2 : f64
  %result = arith.bitcast %t : f64 to i64
  %result_1 = arith.cmpf oge, %a, %c : f64
  return %near, %result, %result_1 : f64, i64, i1
}

// sin(r) for |r| <= pi/4.
func.func private @hloom_sin_near_f64(%r: f64) -> f64 {
  %p5 = arith.constant 1.5896515293244936e-10 : f64
  %p4 = arith.constant -2.5050753516595747e-08 : f64
  %p3 = arith.constant 2.75573136642415e-06 : f64
  %p2 = arith.constant -0.00019841269829733456 : f64
  %p1 = arith.constant 0.008333333333322328 : f64
  %p0 = arith.constant -0.16666666666666632 : f64
  %z = arith.mulf %r, %r : f64
  %p_4 = math.fma %p5, %z, %p4 : f64
  %p_3 = math.fma %p_4, %z, %p3 : f64
  %p_2 = math.fma %p_3, %z, %p2 : f64
  %p_1 = math.fma %p_2, %z, %p1 : f64
  %p = math.fma %p_1, %z, %p0 : f64
  %t = arith.mulf %r, %z : f64
  %result = math.fma %p, %t, %r : f64
  return %result : f64
}

// cos(r) for |r| <= pi/4.
func.func private @hloom_cos_near_f64(%r: f64) -> f64 {
  %p7 = arith.constant -1.1359450996581574e-11 : f64
  %p6 = arith.constant 2.0875719615627933e-09 : f64
  %p5 = arith.constant -2.755731432656523e-07 : f64
  %p4 = arith.constant 2.48015872893973e-05 : f64
  %p3 = arith.constant -0.0013888888888873995 : f64
  %p2 = arith.constant 0.0416666666666666 : f64
  %p1 = arith.constant -0.5 : f64
  %p0 = arith.constant 1.0 : f64
  %z = arith.mulf %r, %r : f64
  %p_6 = math.fma %p7, %z, %p6 : f64
  %p_5 = math.fma %p_6, %z, %p5 : f64
  %p_4 = math.fma %p_5, %z, %p4 : f64
  %p_3 = math.fma %p_4, %z, %p3 : f64
  %p_2 = math.fma %p_3, %z, %p2 : f64
  %p_1 = math.fma %p_2, %z, %p1 : f64
  %p = math.fma %p_1, %z, %p0 : f64
  return %p : f64
}

// Reduced from |x|, so that -0 keeps its sign; the sign bits of x and of the quadrant meet in an xor.
func.func private @hloom_sin_f64(%x: f64) -> f64 {
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %sign = arith.constant 0x8000000000000000 : i64
  %c2 = arith.constant 2 : i64
  %c62 = arith.constant 62 : i64
  %t = math.absf %x : f64
  %r_q_large:3 = func.call @hloom_trig_reduce_f64(%t) : (f64) -> (f64, i64, i1)
  %s = func.call @hloom_sin_near_f64(%r_q_large#0) : (f64) -> f64
  %c = func.call @hloom_cos_near_f64(%r_q_large#0) : (f64) -> f64
  %t_1 = arith.andi %r_q_large#1, %c1 : i64
  %t_2 = arith.cmpi ne, %t_1, %c0 : i64
  %y = arith.select %t_2, %c, %s : f64
  %t_3 = arith.bitcast %x : f64 to i64
  %t_4 = arith.andi %t_3, %sign : i64
  %t_5 = arith.andi %r_q_large#1, %c2 : i64
  %t_6 = arith.shli %t_5, %c62 : i64
  %sign_1 = arith.xori %t_4, %t_6 : i64
  %t_7 = arith.bitcast %y : f64 to i64
  %t_8 = arith.xori %t_7, %sign_1 : i64
  %y_near = arith.bitcast %t_8 : i64 to f64
  %z = scf.if %r_q_large#2 -> (f64) {
    %exact = math.sin %x {hloom.native} : f64
    scf.yield %exact : f64
  } else {
    scf.yield %y_near : f64
  }
  return %z : f64
}

func.func private @hloom_cos_f64(%x: f64) -> f64 {
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c62 = arith.constant 62 : i64
  %t = math.absf %x : f64
  %r_q_large:3 = func.call @hloom_trig_reduce_f64(%t) : (f64) -> (f64, i64, i1)
  %s = func.call @hloom_sin_near_f64(%r_q_large#0) : (f64) -> f64
  %c = func.call @hloom_cos_near_f64(%r_q_large#0) : (f64) -> f64
  %t_1 = arith.andi %r_q_large#1, %c1 : i64
  %t_2 = arith.cmpi ne, %t_1, %c0 : i64
  %y = arith.select %t_2, %s, %c : f64
  %t_3 = arith.addi %r_q_large#1, %c1 : i64
  %t_4 = arith.andi %t_3, %c2 : i64
  %sign = arith.shli %t_4, %c62 : i64
  %t_5 = arith.bitcast %y : f64 to i64
  %t_6 = arith.xori %t_5, %sign : i64
  %y_near = arith.bitcast %t_6 : i64 to f64
  %z = scf.if %r_q_large#2 -> (f64) {
    %exact = math.cos %x {hloom.native} : f64
    scf.yield %exact : f64
  } else {
    scf.yield %y_near : f64
  }
  return %z : f64
}

// t = tan(r), or -1 / t in the odd quadrants, with what the quotient and the sum t = r + w lost put back.
func.func private @hloom_tan_f64(%x: f64) -> f64 {
  %p14 = arith.constant 9.844199197495971e-06 : f64
  %p13 = arith.constant -2.4487108737422178e-05 : f64
  %p12 = arith.constant 4.908860663226379e-05 : f64
  %p11 = arith.constant -2.6204819856300706e-05 : f64
  %p10 = arith.constant 6.769802112838699e-05 : f64
  %p9 = arith.constant 8.328270421312612e-05 : f64
  %p8 = arith.constant 0.00024386539967576106 : f64
  %p7 = arith.constant 0.0005888305162855403 : f64
  %p6 = arith.constant 0.0014560528296635596 : f64
  %p5 = arith.constant 0.0035920997840082534 : f64
  %p4 = arith.constant 0.008863238035084407 : f64
  %p3 = arith.constant 0.021869488391831785 : f64
  %p2 = arith.constant 0.05396825397319754 : f64
  %p1 = arith.constant 0.13333333333324757 : f64
  %p0 = arith.constant 0.33333333333333387 : f64
  %cm1 = arith.constant -1.0 : f64
  %c1 = arith.constant 1.0 : f64
  %c1_1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %sign = arith.constant 0x8000000000000000 : i64
  %t = math.absf %x : f64
  %r_q_large:3 = func.call @hloom_trig_reduce_f64(%t) : (f64) -> (f64, i64, i1)
  %z2 = arith.mulf %r_q_large#0, %r_q_large#0 : f64
  %p_13 = math.fma %p14, %z2, %p13 : f64
  %p_12 = math.fma %p_13, %z2, %p12 : f64
  %p_11 = math.fma %p_12, %z2, %p11 : f64
  %p_10 = math.fma %p_11, %z2, %p10 : f64
  %p_9 = math.fma %p_10, %z2, %p9 : f64
  %p_8 = math.fma %p_9, %z2, %p8 : f64
  %p_7 = math.fma %p_8, %z2, %p7 : f64
  %p_6 = math.fma %p_7, %z2, %p6 : f64
  %p_5 = math.fma %p_6, %z2, %p5 : f64
  %p_4 = math.fma %p_5, %z2, %p4 : f64
  %p_3 = math.fma %p_4, %z2, %p3 : f64
  %p_2 = math.fma %p_3, %z2, %p2 : f64
  %p_1 = math.fma %p_2, %z2, %p1 : f64
  %p = math.fma %p_1, %z2, %p0 : f64
  %t_1 = arith.mulf %r_q_large#0, %z2 : f64
  %w = arith.mulf %p, %t_1 : f64
  %t_2 = arith.addf %r_q_large#0, %w : f64
  %t_3 = arith.subf %r_q_large#0, %t_2 : f64
  %low = arith.addf %t_3, %w : f64
  %inverse = arith.divf %cm1, %t_2 : f64
  %t_4 = math.fma %inverse, %t_2, %c1 : f64
  %lost = math.fma %inverse, %low, %t_4 : f64
  %corrected = math.fma %inverse, %lost, %inverse : f64
  %t_5 = arith.andi %r_q_large#1, %c1_1 : i64
  %t_6 = arith.cmpi ne, %t_5, %c0 : i64
  %y = arith.select %t_6, %corrected, %t_2 : f64
  %t_7 = arith.bitcast %y : f64 to i64
  %t_8 = arith.bitcast %x : f64 to i64
  %t_9 = arith.andi %t_8, %sign : i64
  %t_10 = arith.xori %t_7, %t_9 : i64
  %y_near = arith.bitcast %t_10 : i64 to f64
  %z = scf.if %r_q_large#2 -> (f64) {
    %exact = math.tan %x {hloom.native} : f64
    scf.yield %exact : f64
  } else {
    scf.yield %y_near : f64
  }
  return %z : f64
}
