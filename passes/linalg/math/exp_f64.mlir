// q * 2^n, exact but for the last rounding, where t = 1.5 * 2^52 + 2046 + n and -2046 <= n <= 2048: two factors of half the exponent each,
// so that overflow and gradual underflow come from the multiplications. |q| < 8; for n <= -1078 the result is 0, and is so without a product
// that underflows, which takes processors a hundred cycles.
func.func private @hloom_exp_scale_f64(%q: f64, %t: f64) -> f64 {
  %c1 = arith.constant 1 : i64
  %mantissa = arith.constant 52 : i64
  %n = arith.bitcast %t : f64 to i64
  // Only the low twelve bits of n and of its halves survive the shift into the exponent field.
  %half = arith.shrui %n, %c1 : i64
  %rest = arith.subi %n, %half : i64
  %t_1 = arith.shli %half, %mantissa : i64
  %a = arith.bitcast %t_1 : i64 to f64
  %t_2 = arith.shli %rest, %mantissa : i64
  %b = arith.bitcast %t_2 : i64 to f64
  %last = arith.constant 6755399441056712.0 : f64
  %zero = arith.constant 0.0 : f64
  %vanishes = arith.cmpf ole, %t, %last : f64
  %q_1 = arith.select %vanishes, %zero, %q : f64
  %t_3 = arith.mulf %q_1, %a : f64
  %result = arith.mulf %t_3, %b : f64
  return %result : f64
}

// e^x = 2^n e^r with |r| <= ln(2) / 2. Beyond the clamps the result is inf or 0; NaN passes both clamps.
func.func private @hloom_exp_f64(%x: f64) -> f64 {
  %exp_highest = arith.constant 710.0 : f64
  %exp_lowest = arith.constant -1418.4 : f64
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
  %above = arith.cmpf olt, %exp_highest, %x : f64
  %t = arith.select %above, %exp_highest, %x : f64
  %below = arith.cmpf ogt, %exp_lowest, %t : f64
  %y = arith.select %below, %exp_lowest, %t : f64
  %t_1 = math.fma %y, %log2e, %shifter : f64
  %n = arith.subf %t_1, %shifter : f64
  %t_2 = math.fma %n, %m_ln2_hi, %y : f64
  %r = math.fma %n, %m_ln2_lo, %t_2 : f64
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
  %result = func.call @hloom_exp_scale_f64(%p, %t_1) : (f64, f64) -> f64
  return %result : f64
}

// 2^x = 2^n 2^r with |r| <= 1/2.
func.func private @hloom_exp2_f64(%x: f64) -> f64 {
  %exp2_highest = arith.constant 1025.0 : f64
  %exp2_lowest = arith.constant -2046.0 : f64
  %shifter = arith.constant 6755399441057790.0 : f64
  %p12 = arith.constant 2.5737813502097133e-11 : f64
  %p11 = arith.constant 4.457533018943657e-10 : f64
  %p10 = arith.constant 7.0548914678111154e-09 : f64
  %p9 = arith.constant 1.0178045296501752e-07 : f64
  %p8 = arith.constant 1.3215486823296216e-06 : f64
  %p7 = arith.constant 1.5252733871034374e-05 : f64
  %p6 = arith.constant 0.00015403530393354775 : f64
  %p5 = arith.constant 0.001333355814637423 : f64
  %p4 = arith.constant 0.009618129107628487 : f64
  %p3 = arith.constant 0.05550410866482177 : f64
  %p2 = arith.constant 0.24022650695910072 : f64
  %p1 = arith.constant 0.6931471805599453 : f64
  %p0 = arith.constant 1.0 : f64
  %above = arith.cmpf olt, %exp2_highest, %x : f64
  %t = arith.select %above, %exp2_highest, %x : f64
  %below = arith.cmpf ogt, %exp2_lowest, %t : f64
  %y = arith.select %below, %exp2_lowest, %t : f64
  %t_1 = arith.addf %y, %shifter : f64
  %n = arith.subf %t_1, %shifter : f64
  %r = arith.subf %y, %n : f64
  %p_11 = math.fma %p12, %r, %p11 : f64
  %p_10 = math.fma %p_11, %r, %p10 : f64
  %p_9 = math.fma %p_10, %r, %p9 : f64
  %p_8 = math.fma %p_9, %r, %p8 : f64
  %p_7 = math.fma %p_8, %r, %p7 : f64
  %p_6 = math.fma %p_7, %r, %p6 : f64
  %p_5 = math.fma %p_6, %r, %p5 : f64
  %p_4 = math.fma %p_5, %r, %p4 : f64
  %p_3 = math.fma %p_4, %r, %p3 : f64
  %p_2 = math.fma %p_3, %r, %p2 : f64
  %p_1 = math.fma %p_2, %r, %p1 : f64
  %p = math.fma %p_1, %r, %p0 : f64
  %result = func.call @hloom_exp_scale_f64(%p, %t_1) : (f64, f64) -> f64
  return %result : f64
}

// e^x - 1 = 2 (2^(n-1) (e^r - 1) + 2^(n-1) - 1/2): the half keeps 2^1024 from overflowing early.
func.func private @hloom_expm1_f64(%x: f64) -> f64 {
  %exp_highest = arith.constant 710.0 : f64
  %expm1_lowest = arith.constant -40.0 : f64
  %log2e = arith.constant 1.4426950408889634 : f64
  %expm1_shifter = arith.constant 6755399441056766.0 : f64
  %m_ln2_hi = arith.constant -0.6931471805601177 : f64
  %m_ln2_lo = arith.constant 1.7239444525614835e-13 : f64
  %q10 = arith.constant 2.0875322781728217e-09 : f64
  %q9 = arith.constant 2.5109081424871223e-08 : f64
  %q8 = arith.constant 2.7557402960896976e-07 : f64
  %q7 = arith.constant 2.75572441041757e-06 : f64
  %q6 = arith.constant 2.480158717181742e-05 : f64
  %q5 = arith.constant 0.00019841269886207888 : f64
  %q4 = arith.constant 0.0013888888888962912 : f64
  %q3 = arith.constant 0.008333333333321608 : f64
  %q2 = arith.constant 0.041666666666666505 : f64
  %q1 = arith.constant 0.16666666666666677 : f64
  %q0 = arith.constant 0.5 : f64
  %mantissa = arith.constant 52 : i64
  %tiny = arith.constant 1.0e-300 : f64
  %above = arith.cmpf olt, %exp_highest, %x : f64
  %t = arith.select %above, %exp_highest, %x : f64
  %below = arith.cmpf ogt, %expm1_lowest, %t : f64
  %y = arith.select %below, %expm1_lowest, %t : f64
  %t_1 = math.fma %y, %log2e, %expm1_shifter : f64
  %n = arith.subf %t_1, %expm1_shifter : f64
  %t_2 = math.fma %n, %m_ln2_hi, %y : f64
  %r = math.fma %n, %m_ln2_lo, %t_2 : f64
  %q_9 = math.fma %q10, %r, %q9 : f64
  %q_8 = math.fma %q_9, %r, %q8 : f64
  %q_7 = math.fma %q_8, %r, %q7 : f64
  %q_6 = math.fma %q_7, %r, %q6 : f64
  %q_5 = math.fma %q_6, %r, %q5 : f64
  %q_4 = math.fma %q_5, %r, %q4 : f64
  %q_3 = math.fma %q_4, %r, %q3 : f64
  %q_2 = math.fma %q_3, %r, %q2 : f64
  %q_1 = math.fma %q_2, %r, %q1 : f64
  %q = math.fma %q_1, %r, %q0 : f64
  %t_3 = arith.mulf %r, %r : f64
  %p = math.fma %t_3, %q, %r : f64
  %t_4 = arith.bitcast %t_1 : f64 to i64
  %t_5 = arith.shli %t_4, %mantissa : i64
  %s = arith.bitcast %t_5 : i64 to f64
  %t_6 = arith.subf %s, %q0 : f64
  %z = math.fma %s, %p, %t_6 : f64
  // x itself where x is tiny: keeps -0, subnormals and their rounding.
  %result = arith.addf %z, %z : f64
  %t_7 = math.absf %x : f64
  %t_8 = arith.cmpf olt, %t_7, %tiny : f64
  %result_1 = arith.select %t_8, %x, %result : f64
  return %result_1 : f64
}
