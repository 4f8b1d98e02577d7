// a = q pi/2 + r with |r| <= pi/4 (a little more by rounding), for a >= 0; only the low two bits of q are good.
// pi/2 in three parts up to 2^17: the first step is exact, as it cancels. Beyond that, and for inf, in integers.
func.func private @hloom_trig_reduce_f32(%a: f32) -> (f32, i32) {
  %two_over_pi = arith.constant 0.63661975 : f32
  %rounder = arith.constant 12582912.0 : f32
  %m_pio2_1 = arith.constant -1.5707964 : f32
  %m_pio2_2 = arith.constant 4.371139e-08 : f32
  %m_pio2_3 = arith.constant 1.7151245e-15 : f32
  %c = arith.constant 131072.0 : f32
  %t = math.fma %a, %two_over_pi, %rounder : f32
  %n = arith.subf %t, %rounder : f32
  %t_1 = math.fma %n, %m_pio2_1, %a : f32
  %t_2 = math.fma %n, %m_pio2_2, %t_1 : f32
  %near = math.fma %n, %m_pio2_3, %t_2 : f32
  %quadrant = arith.bitcast %t : f32 to i32
  %large = arith.cmpf oge, %a, %c : f32
  %r_q:2 = scf.if %large -> (f32, i32) {
    %exact:2 = func.call @hloom_trig_reduce_large_f32(%a) : (f32) -> (f32, i32)
    scf.yield %exact#0, %exact#1 : f32, i32
  } else {
    scf.yield %near, %quadrant : f32, i32
  }
  return %r_q#0, %r_q#1 : f32, i32
}

// Payne and Hanek: with a = m 2^e, m an integer, only 96 bits of 2/pi decide a 2/pi mod 4; the higher ones contribute multiples of 4.
// They are cut from the words of 2/pi (w0 = 0 stands before the point) by the exponent; m times them is taken mod 2^96.
func.func private @hloom_trig_reduce_large_f32(%a: f32) -> (f32, i32) {
  %c23 = arith.constant 23 : i32
  %c120 = arith.constant 120 : i32
  %c5 = arith.constant 5 : i32
  %w0 = arith.constant 0 : i64
  %w1 = arith.constant 0xA2F9836E : i64
  %w2 = arith.constant 0x4E441529 : i64
  %w3 = arith.constant 0xFC2757D1 : i64
  %w4 = arith.constant 0xF534DDC0 : i64
  %w5 = arith.constant 0xDB629599 : i64
  %w6 = arith.constant 0x3C439041 : i64
  %w7 = arith.constant 0xFE5163AB : i64
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %c32_1 = arith.constant 32 : i64
  %c = arith.constant 0xFFFFFFFF : i64
  %c_1 = arith.constant 0x7FFFFF : i32
  %c_2 = arith.constant 0x800000 : i32
  %two61 = arith.constant 0x2000000000000000 : i64
  %c62 = arith.constant 62 : i64
  %pio2_twom62 = arith.constant 3.4061215800865545e-19 : f64
  %inf = arith.constant 0x7F800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %i = arith.bitcast %a : f32 to i32
  %t = arith.shrsi %i, %c23 : i32
  %position = arith.subi %t, %c120 : i32
  %word = arith.shrsi %position, %c5 : i32
  %in0 = arith.cmpi slt, %word, %c1 : i32
  %in1 = arith.cmpi slt, %word, %c2 : i32
  %in2 = arith.cmpi slt, %word, %c3 : i32
  %in3 = arith.cmpi slt, %word, %c4 : i32
  %t_1 = arith.select %in3, %w3, %w4 : i64
  %t_2 = arith.select %in2, %w2, %t_1 : i64
  %t_3 = arith.select %in1, %w1, %t_2 : i64
  %a0 = arith.select %in0, %w0, %t_3 : i64
  %t_4 = arith.select %in3, %w4, %w5 : i64
  %t_5 = arith.select %in2, %w3, %t_4 : i64
  %t_6 = arith.select %in1, %w2, %t_5 : i64
  %a1 = arith.select %in0, %w1, %t_6 : i64
  %t_7 = arith.select %in3, %w5, %w6 : i64
  %t_8 = arith.select %in2, %w4, %t_7 : i64
  %t_9 = arith.select %in1, %w3, %t_8 : i64
  %a2 = arith.select %in0, %w2, %t_9 : i64
  %t_10 = arith.select %in3, %w6, %w7 : i64
  %t_11 = arith.select %in2, %w5, %t_10 : i64
  %t_12 = arith.select %in1, %w4, %t_11 : i64
  %a3 = arith.select %in0, %w3, %t_12 : i64
  // The 96 bits from bit `position & 31` of these four words, in three words.
  %t_13 = arith.andi %position, %c31 : i32
  %t_14 = arith.subi %c32, %t_13 : i32
  %down = arith.extsi %t_14 : i32 to i64
  %t_15 = arith.shli %a0, %c32_1 : i64
  %t_16 = arith.ori %t_15, %a1 : i64
  %t_17 = arith.shrui %t_16, %down : i64
  %b0 = arith.andi %t_17, %c : i64
  %t_18 = arith.shli %a1, %c32_1 : i64
  %t_19 = arith.ori %t_18, %a2 : i64
  %t_20 = arith.shrui %t_19, %down : i64
  %b1 = arith.andi %t_20, %c : i64
  %t_21 = arith.shli %a2, %c32_1 : i64
  %t_22 = arith.ori %t_21, %a3 : i64
  %t_23 = arith.shrui %t_22, %down : i64
  %b2 = arith.andi %t_23, %c : i64
  %t_24 = arith.andi %i, %c_1 : i32
  %t_25 = arith.ori %t_24, %c_2 : i32
  %m = arith.extsi %t_25 : i32 to i64
  // The upper 64 bits of the product: two for the quadrant, 62 for the fraction.
  %t_26 = arith.muli %m, %b0 : i64
  %t_27 = arith.shli %t_26, %c32_1 : i64
  %t_28 = arith.muli %m, %b1 : i64
  %t_29 = arith.addi %t_27, %t_28 : i64
  %t_30 = arith.muli %m, %b2 : i64
  %t_31 = arith.shrui %t_30, %c32_1 : i64
  %product = arith.addi %t_29, %t_31 : i64
  %t_32 = arith.addi %product, %two61 : i64
  %quadrant = arith.shrui %t_32, %c62 : i64
  %t_33 = arith.shli %quadrant, %c62 : i64
  %fraction = arith.subi %product, %t_33 : i64
  %t_34 = arith.sitofp %fraction : i64 to f64
  %t_35 = arith.mulf %t_34, %pio2_twom62 : f64
  %r = arith.truncf %t_35 : f64 to f32
  %t_36 = arith.cmpf olt, %a, %inf : f32
  %result = arith.select %t_36, %r, %nan : f32
  %result_1 = arith.trunci %quadrant : i64 to i32
  return %result, %result_1 : f32, i32
}

// sin(r) for |r| <= pi/4.
func.func private @hloom_sin_near_f32(%r: f32) -> f32 {
  %p2 = arith.constant -0.00019505629 : f32
  %p1 = arith.constant 0.008332096 : f32
  %p0 = arith.constant -0.16666654 : f32
  %z = arith.mulf %r, %r : f32
  %p_1 = math.fma %p2, %z, %p1 : f32
  %p = math.fma %p_1, %z, %p0 : f32
  %t = arith.mulf %r, %z : f32
  %result = math.fma %p, %t, %r : f32
  return %result : f32
}

// cos(r) for |r| <= pi/4.
func.func private @hloom_cos_near_f32(%r: f32) -> f32 {
  %p4 = arith.constant 2.442821e-05 : f32
  %p3 = arith.constant -0.0013887289 : f32
  %p2 = arith.constant 0.041666646 : f32
  %p1 = arith.constant -0.5 : f32
  %p0 = arith.constant 1.0 : f32
  %z = arith.mulf %r, %r : f32
  %p_3 = math.fma %p4, %z, %p3 : f32
  %p_2 = math.fma %p_3, %z, %p2 : f32
  %p_1 = math.fma %p_2, %z, %p1 : f32
  %p = math.fma %p_1, %z, %p0 : f32
  return %p : f32
}

// Reduced from |x|, so that -0 keeps its sign; the sign bits of x and of the quadrant meet in an xor.
func.func private @hloom_sin_f32(%x: f32) -> f32 {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %sign = arith.constant 0x80000000 : i32
  %c2 = arith.constant 2 : i32
  %c30 = arith.constant 30 : i32
  %t = math.absf %x : f32
  %r_q:2 = func.call @hloom_trig_reduce_f32(%t) : (f32) -> (f32, i32)
  %s = func.call @hloom_sin_near_f32(%r_q#0) : (f32) -> f32
  %c = func.call @hloom_cos_near_f32(%r_q#0) : (f32) -> f32
  %t_1 = arith.andi %r_q#1, %c1 : i32
  %t_2 = arith.cmpi ne, %t_1, %c0 : i32
  %y = arith.select %t_2, %c, %s : f32
  %t_3 = arith.bitcast %x : f32 to i32
  %t_4 = arith.andi %t_3, %sign : i32
  %t_5 = arith.andi %r_q#1, %c2 : i32
  %t_6 = arith.shli %t_5, %c30 : i32
  %sign_1 = arith.xori %t_4, %t_6 : i32
  %t_7 = arith.bitcast %y : f32 to i32
  %t_8 = arith.xori %t_7, %sign_1 : i32
  %result = arith.bitcast %t_8 : i32 to f32
  return %result : f32
}

func.func private @hloom_cos_f32(%x: f32) -> f32 {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c30 = arith.constant 30 : i32
  %t = math.absf %x : f32
  %r_q:2 = func.call @hloom_trig_reduce_f32(%t) : (f32) -> (f32, i32)
  %s = func.call @hloom_sin_near_f32(%r_q#0) : (f32) -> f32
  %c = func.call @hloom_cos_near_f32(%r_q#0) : (f32) -> f32
  %t_1 = arith.andi %r_q#1, %c1 : i32
  %t_2 = arith.cmpi ne, %t_1, %c0 : i32
  %y = arith.select %t_2, %s, %c : f32
  %t_3 = arith.addi %r_q#1, %c1 : i32
  %t_4 = arith.andi %t_3, %c2 : i32
  %sign = arith.shli %t_4, %c30 : i32
  %t_5 = arith.bitcast %y : f32 to i32
  %t_6 = arith.xori %t_5, %sign : i32
  %result = arith.bitcast %t_6 : i32 to f32
  return %result : f32
}

// t = tan(r), or -1 / t in the odd quadrants, with what the quotient and the sum t = r + w lost put back.
func.func private @hloom_tan_f32(%x: f32) -> f32 {
  %p6 = arith.constant 0.0046408186 : f32
  %p5 = arith.constant -0.00045040445 : f32
  %p4 = arith.constant 0.01126475 : f32
  %p3 = arith.constant 0.02111549 : f32
  %p2 = arith.constant 0.05409244 : f32
  %p1 = arith.constant 0.13332374 : f32
  %p0 = arith.constant 0.33333358 : f32
  %cm1 = arith.constant -1.0 : f32
  %c1 = arith.constant 1.0 : f32
  %c1_1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %sign = arith.constant 0x80000000 : i32
  %t = math.absf %x : f32
  %r_q:2 = func.call @hloom_trig_reduce_f32(%t) : (f32) -> (f32, i32)
  %z = arith.mulf %r_q#0, %r_q#0 : f32
  %p_5 = math.fma %p6, %z, %p5 : f32
  %p_4 = math.fma %p_5, %z, %p4 : f32
  %p_3 = math.fma %p_4, %z, %p3 : f32
  %p_2 = math.fma %p_3, %z, %p2 : f32
  %p_1 = math.fma %p_2, %z, %p1 : f32
  %p = math.fma %p_1, %z, %p0 : f32
  %t_1 = arith.mulf %r_q#0, %z : f32
  %w = arith.mulf %p, %t_1 : f32
  %t_2 = arith.addf %r_q#0, %w : f32
  %t_3 = arith.subf %r_q#0, %t_2 : f32
  %low = arith.addf %t_3, %w : f32
  %inverse = arith.divf %cm1, %t_2 : f32
  %t_4 = math.fma %inverse, %t_2, %c1 : f32
  %lost = math.fma %inverse, %low, %t_4 : f32
  %corrected = math.fma %inverse, %lost, %inverse : f32
  %t_5 = arith.andi %r_q#1, %c1_1 : i32
  %t_6 = arith.cmpi ne, %t_5, %c0 : i32
  %y = arith.select %t_6, %corrected, %t_2 : f32
  %t_7 = arith.bitcast %y : f32 to i32
  %t_8 = arith.bitcast %x : f32 to i32
  %t_9 = arith.andi %t_8, %sign : i32
  %t_10 = arith.xori %t_7, %t_9 : i32
  %result = arith.bitcast %t_10 : i32 to f32
  return %result : f32
}
