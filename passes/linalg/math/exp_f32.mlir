// q * 2^n, exact but for the last rounding, where t = 1.5 * 2^23 + 254 + n and -254 <= n <= 256: two factors of half the exponent each,
// so that overflow and gradual underflow come from the multiplications. |q| < 8.
func.func private @hloom_scale_f32(%q: f32, %t: f32) -> f32 {
  %c1 = arith.constant 1 : i32
  %mantissa = arith.constant 23 : i32
  %n = arith.bitcast %t : f32 to i32
  // Only the low nine bits of n and of its halves survive the shift into the exponent field.
  %half = arith.shrui %n, %c1 : i32
  %rest = arith.subi %n, %half : i32
  %t_1 = arith.shli %half, %mantissa : i32
  %a = arith.bitcast %t_1 : i32 to f32
  %t_2 = arith.shli %rest, %mantissa : i32
  %b = arith.bitcast %t_2 : i32 to f32
  %t_3 = arith.mulf %q, %a : f32
  %result = arith.mulf %t_3, %b : f32
  return %result : f32
}

// The same, but 0 for n <= -153, without a product that underflows, which takes processors a hundred cycles.
func.func private @hloom_exp_scale_f32(%q: f32, %t: f32) -> f32 {
  %last = arith.constant 12583013.0 : f32
  %zero = arith.constant 0.0 : f32
  %vanishes = arith.cmpf ole, %t, %last : f32
  %q_1 = arith.select %vanishes, %zero, %q : f32
  %result = func.call @hloom_scale_f32(%q_1, %t) : (f32, f32) -> f32
  return %result : f32
}

// e^x = 2^n e^r with |r| <= ln(2) / 2. Beyond the clamps the result is inf or 0; NaN passes both clamps.
func.func private @hloom_exp_f32(%x: f32) -> f32 {
  %exp_highest = arith.constant 89.0 : f32
  %exp_lowest = arith.constant -176.0 : f32
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
  %above = arith.cmpf olt, %exp_highest, %x : f32
  %t = arith.select %above, %exp_highest, %x : f32
  %below = arith.cmpf ogt, %exp_lowest, %t : f32
  %y = arith.select %below, %exp_lowest, %t : f32
  %t_1 = math.fma %y, %log2e, %shifter : f32
  %n = arith.subf %t_1, %shifter : f32
  %t_2 = math.fma %n, %m_ln2_hi, %y : f32
  %r = math.fma %n, %m_ln2_lo, %t_2 : f32
  %p_5 = math.fma %p6, %r, %p5 : f32
  %p_4 = math.fma %p_5, %r, %p4 : f32
  %p_3 = math.fma %p_4, %r, %p3 : f32
  %p_2 = math.fma %p_3, %r, %p2 : f32
  %p_1 = math.fma %p_2, %r, %p1 : f32
  %p = math.fma %p_1, %r, %p1 : f32
  %result = func.call @hloom_exp_scale_f32(%p, %t_1) : (f32, f32) -> f32
  return %result : f32
}

// e^x of a weight, x <= 0 or NaN, as sums of weights need it that have a 1 among them (relax-weights): e^x = 2^n 2^f, 0 <= f < 1, with
// 2.5 ulp and as much again as rounding x makes; what is below the normal numbers is 0. Where t is -inf, f is not looked at.
func.func private @hloom_exp_weight_f32(%x: f32) -> f32 {
  %log2e = arith.constant 1.442695 : f32
  %shifter = arith.constant 12583166.0 : f32
  %least_normal = arith.constant -126.0 : f32
  %lowest = arith.constant -127.0 : f32
  %zero = arith.constant 0.0 : f32
  %p5 = arith.constant 0.00186713 : f32
  %p4 = arith.constant 0.009017031 : f32
  %p3 = arith.constant 0.055799913 : f32
  %p2 = arith.constant 0.24016444 : f32
  %p1 = arith.constant 0.6931513 : f32
  %p0 = arith.constant 1.0 : f32
  %t = arith.mulf %x, %log2e : f32
  %n = math.floor %t : f32
  %f = arith.subf %t, %n fastmath<ninf> : f32
  %p_4 = math.fma %p5, %f, %p4 : f32
  %p_3 = math.fma %p_4, %f, %p3 : f32
  %p_2 = math.fma %p_3, %f, %p2 : f32
  %p_1 = math.fma %p_2, %f, %p1 : f32
  %p = math.fma %p_1, %f, %p0 : f32
  %vanishes = arith.cmpf olt, %t, %least_normal : f32
  %q = arith.select %vanishes, %zero, %p : f32
  %below = arith.cmpf ogt, %lowest, %n : f32
  %n_1 = arith.select %below, %lowest, %n : f32
  %t_1 = arith.addf %n_1, %shifter : f32
  %result = func.call @hloom_scale_f32(%q, %t_1) : (f32, f32) -> f32
  return %result : f32
}

// 2^x = 2^n 2^r with |r| <= 1/2.
func.func private @hloom_exp2_f32(%x: f32) -> f32 {
  %exp2_highest = arith.constant 129.0 : f32
  %exp2_lowest = arith.constant -254.0 : f32
  %shifter = arith.constant 12583166.0 : f32
  %p6 = arith.constant 0.00015329264 : f32
  %p5 = arith.constant 0.0013390969 : f32
  %p4 = arith.constant 0.009618499 : f32
  %p3 = arith.constant 0.055503596 : f32
  %p2 = arith.constant 0.24022648 : f32
  %p1 = arith.constant 0.6931472 : f32
  %p0 = arith.constant 1.0 : f32
  %above = arith.cmpf olt, %exp2_highest, %x : f32
  %t = arith.select %above, %exp2_highest, %x : f32
  %below = arith.cmpf ogt, %exp2_lowest, %t : f32
  %y = arith.select %below, %exp2_lowest, %t : f32
  %t_1 = arith.addf %y, %shifter : f32
  %n = arith.subf %t_1, %shifter : f32
  %r = arith.subf %y, %n : f32
  %p_5 = math.fma %p6, %r, %p5 : f32
  %p_4 = math.fma %p_5, %r, %p4 : f32
  %p_3 = math.fma %p_4, %r, %p3 : f32
  %p_2 = math.fma %p_3, %r, %p2 : f32
  %p_1 = math.fma %p_2, %r, %p1 : f32
  %p = math.fma %p_1, %r, %p0 : f32
  %result = func.call @hloom_exp_scale_f32(%p, %t_1) : (f32, f32) -> f32
  return %result : f32
}

// e^x - 1 = 2 (2^(n-1) (e^r - 1) + 2^(n-1) - 1/2): the half keeps 2^128 from overflowing early.
func.func private @hloom_expm1_f32(%x: f32) -> f32 {
  %exp_highest = arith.constant 89.0 : f32
  %expm1_lowest = arith.constant -2.0e+01 : f32
  %log2e = arith.constant 1.442695 : f32
  %expm1_shifter = arith.constant 12583038.0 : f32
  %m_ln2_hi = arith.constant -0.69314575 : f32
  %m_ln2_lo = arith.constant -1.4286068e-06 : f32
  %q5 = arith.constant 0.00019766994 : f32
  %q4 = arith.constant 0.0013933228 : f32
  %q3 = arith.constant 0.008333541 : f32
  %q2 = arith.constant 0.041666485 : f32
  %q1 = arith.constant 0.16666666 : f32
  %q0 = arith.constant 0.5 : f32
  %mantissa = arith.constant 23 : i32
  %tiny = arith.constant 1.0e-30 : f32
  %above = arith.cmpf olt, %exp_highest, %x : f32
  %t = arith.select %above, %exp_highest, %x : f32
  %below = arith.cmpf ogt, %expm1_lowest, %t : f32
  %y = arith.select %below, %expm1_lowest, %t : f32
  %t_1 = math.fma %y, %log2e, %expm1_shifter : f32
  %n = arith.subf %t_1, %expm1_shifter : f32
  %t_2 = math.fma %n, %m_ln2_hi, %y : f32
  %r = math.fma %n, %m_ln2_lo, %t_2 : f32
  %q_4 = math.fma %q5, %r, %q4 : f32
  %q_3 = math.fma %q_4, %r, %q3 : f32
  %q_2 = math.fma %q_3, %r, %q2 : f32
  %q_1 = math.fma %q_2, %r, %q1 : f32
  %q = math.fma %q_1, %r, %q0 : f32
  %t_3 = arith.mulf %r, %r : f32
  %p = math.fma %t_3, %q, %r : f32
  %t_4 = arith.bitcast %t_1 : f32 to i32
  %t_5 = arith.shli %t_4, %mantissa : i32
  %s = arith.bitcast %t_5 : i32 to f32
  %t_6 = arith.subf %s, %q0 : f32
  %z = math.fma %s, %p, %t_6 : f32
  // x itself where x is tiny: keeps -0, subnormals and their rounding.
  %result = arith.addf %z, %z : f32
  %t_7 = math.absf %x : f32
  %t_8 = arith.cmpf olt, %t_7, %tiny : f32
  %result_1 = arith.select %t_8, %x, %result : f32
  return %result_1 : f32
}
