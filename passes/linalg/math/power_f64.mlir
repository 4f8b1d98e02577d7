// log2(a) as a sum of two numbers, to 2^-64 of it, for a > 0 and finite: e + log2(1 + f), with log2(1 + f) = s (c0 + s^2 (c1 + s^2 P(s^2))),
// s = f / (2 + f), whose first terms are such sums, too.
func.func private @hloom_log2_sum_f64(%a: f64) -> (f64, f64) {
  %p9 = arith.constant 0.14385588501300225 : f64
  %p8 = arith.constant 0.1362180835772021 : f64
  %p7 = arith.constant 0.15190407579925372 : f64
  %p6 = arith.constant 0.16972795459435094 : f64
  %p5 = arith.constant 0.19235935015648337 : f64
  %p4 = arith.constant 0.221953083123737 : f64
  %p3 = arith.constant 0.262308189252947 : f64
  %p2 = arith.constant 0.32059889797532426 : f64
  %p1 = arith.constant 0.4121985831111324 : f64
  %p0 = arith.constant 0.5770780163555853 : f64
  %c0_hi = arith.constant 2.8853900817779268 : f64
  %c0_lo = arith.constant 4.0710547481862066e-17 : f64
  %c1_hi = arith.constant 0.9617966939259756 : f64
  %c1_lo = arith.constant 5.0577616648125907e-17 : f64
  %bits_half_root = arith.constant 0x3FE6A09E667F3BCD : i64
  %c1 = arith.constant 1.0 : f64
  %c2 = arith.constant 2.0 : f64
  %e_f:2 = func.call @hloom_log_split_from_f64(%a, %bits_half_root) : (f64, i64) -> (f64, f64)
  %d = arith.addf %e_f#1, %c2 : f64
  %t = arith.subf %d, %c2 : f64
  %d_lo = arith.subf %e_f#1, %t : f64
  %over_d = arith.divf %c1, %d : f64
  %s = arith.mulf %e_f#1, %over_d : f64
  %m_s = arith.negf %s : f64
  %t_1 = math.fma %m_s, %d, %e_f#1 : f64
  %t_2 = math.fma %m_s, %d_lo, %t_1 : f64
  %s_lo = arith.mulf %t_2, %over_d : f64
  %z = arith.mulf %s, %s : f64
  %m_z = arith.negf %z : f64
  %t_3 = math.fma %s, %s, %m_z : f64
  %t_4 = arith.addf %s_lo, %s_lo : f64
  %z_lo = math.fma %t_4, %s, %t_3 : f64
  %p_8 = math.fma %p9, %z, %p8 : f64
  %p_7 = math.fma %p_8, %z, %p7 : f64
  %p_6 = math.fma %p_7, %z, %p6 : f64
  %p_5 = math.fma %p_6, %z, %p5 : f64
  %p_4 = math.fma %p_5, %z, %p4 : f64
  %p_3 = math.fma %p_4, %z, %p3 : f64
  %p_2 = math.fma %p_3, %z, %p2 : f64
  %p_1 = math.fma %p_2, %z, %p1 : f64
  %p = math.fma %p_1, %z, %p0 : f64
  %v = math.fma %p, %z, %c1_lo : f64
  %w = arith.addf %c1_hi, %v : f64
  %t_5 = arith.subf %c1_hi, %w : f64
  %w_lo = arith.addf %t_5, %v : f64
  %u = arith.mulf %z, %w : f64
  %m_u = arith.negf %u : f64
  %t_6 = math.fma %z, %w, %m_u : f64
  %t_7 = math.fma %z, %w_lo, %t_6 : f64
  %u_lo = math.fma %z_lo, %w, %t_7 : f64
  %c = arith.addf %c0_hi, %u : f64
  %t_8 = arith.subf %c0_hi, %c : f64
  %t_9 = arith.addf %t_8, %u : f64
  %t_10 = arith.addf %u_lo, %c0_lo : f64
  %c_lo = arith.addf %t_9, %t_10 : f64
  %l = arith.mulf %s, %c : f64
  %m_l = arith.negf %l : f64
  %t_11 = math.fma %s, %c, %m_l : f64
  %t_12 = math.fma %s, %c_lo, %t_11 : f64
  %l_lo = math.fma %s_lo, %c, %t_12 : f64
  %log2 = arith.addf %e_f#0, %l : f64
  %t_13 = arith.subf %e_f#0, %log2 : f64
  %t_14 = arith.addf %t_13, %l : f64
  %log2_lo = arith.addf %t_14, %l_lo : f64
  return %log2, %log2_lo : f64, f64
}

// 2^n 2^(r + r_lo) with |r| <= 1/2 and a tiny r_lo, where t = n and the shifter of @hloom_exp_scale_f64: 1 + r ln(2) as a sum of two numbers,
// and r^2 P(r).
func.func private @hloom_exp2_sum_f64(%r: f64, %r_lo: f64, %t: f64) -> f64 {
  %p12 = arith.constant 2.5725099252888687e-11 : f64
  %p11 = arith.constant 4.4549643712692967e-10 : f64
  %p10 = arith.constant 7.054899947032901e-09 : f64
  %p9 = arith.constant 1.0178062426976924e-07 : f64
  %p8 = arith.constant 1.3215486802919256e-06 : f64
  %p7 = arith.constant 1.525273382986708e-05 : f64
  %p6 = arith.constant 0.00015403530393375903 : f64
  %p5 = arith.constant 0.0013333558146416916 : f64
  %p4 = arith.constant 0.009618129107628479 : f64
  %p3 = arith.constant 0.0555041086648216 : f64
  %p2 = arith.constant 0.24022650695910072 : f64
  %ln2 = arith.constant 0.6931471805599453 : f64
  %ln2_lo = arith.constant 2.3190468138462996e-17 : f64
  %c1 = arith.constant 1.0 : f64
  %p_11 = math.fma %p12, %r, %p11 : f64
  %p_10 = math.fma %p_11, %r, %p10 : f64
  %p_9 = math.fma %p_10, %r, %p9 : f64
  %p_8 = math.fma %p_9, %r, %p8 : f64
  %p_7 = math.fma %p_8, %r, %p7 : f64
  %p_6 = math.fma %p_7, %r, %p6 : f64
  %p_5 = math.fma %p_6, %r, %p5 : f64
  %p_4 = math.fma %p_5, %r, %p4 : f64
  %p_3 = math.fma %p_4, %r, %p3 : f64
  %p = math.fma %p_3, %r, %p2 : f64
  %h = arith.mulf %r, %ln2 : f64
  %m_h = arith.negf %h : f64
  %t_1 = math.fma %r, %ln2, %m_h : f64
  %t_2 = math.fma %r, %ln2_lo, %t_1 : f64
  %t_3 = math.fma %r_lo, %ln2, %t_2 : f64
  %t_4 = arith.mulf %r, %r : f64
  %h_lo = math.fma %t_4, %p, %t_3 : f64
  %s = arith.addf %c1, %h : f64
  %t_5 = arith.subf %c1, %s : f64
  %t_6 = arith.addf %t_5, %h : f64
  %t_7 = arith.addf %t_6, %h_lo : f64
  %q = arith.addf %s, %t_7 : f64
  %result = func.call @hloom_exp_scale_f64(%q, %t) : (f64, f64) -> f64
  return %result : f64
}

// a^y = 2^(y log2(a)) for a >= 0.
func.func private @hloom_pow_magnitude_f64(%a: f64, %y: f64) -> f64 {
  // Beyond 2^65 every power of another number than 1 is 0 or inf: the product has no overflow.
  %largest = arith.constant 36893488147419103232.0 : f64
  %m_largest = arith.constant -36893488147419103232.0 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %m_inf = arith.constant 0xFFF0000000000000 : f64
  %c0 = arith.constant 0.0 : f64
  %highest = arith.constant 1025.0 : f64
  %lowest = arith.constant -2046.0 : f64
  %shifter = arith.constant 6755399441057790.0 : f64
  %l:2 = func.call @hloom_log2_sum_f64(%a) : (f64) -> (f64, f64)
  %t = arith.cmpf olt, %a, %inf : f64
  %finite = arith.select %t, %l#0, %a : f64
  %t_1 = arith.cmpf oeq, %a, %c0 : f64
  %log2 = arith.select %t_1, %m_inf, %finite : f64
  %t_2 = arith.cmpf olt, %largest, %y : f64
  %t_3 = arith.select %t_2, %largest, %y : f64
  %t_4 = arith.cmpf ogt, %m_largest, %t_3 : f64
  %exponent = arith.select %t_4, %m_largest, %t_3 : f64
  %z = arith.mulf %exponent, %log2 : f64
  %m_z = arith.negf %z : f64
  %t_5 = math.fma %exponent, %log2, %m_z : f64
  %z_lo = math.fma %exponent, %l#1, %t_5 : f64
  %above = arith.cmpf olt, %highest, %z : f64
  %t_6 = arith.select %above, %highest, %z : f64
  %below = arith.cmpf ogt, %lowest, %t_6 : f64
  %clamped = arith.select %below, %lowest, %t_6 : f64
  %t_7 = arith.ori %above, %below : i1
  %rest = arith.select %t_7, %c0, %z_lo : f64
  %t_8 = arith.addf %clamped, %shifter : f64
  %n = arith.subf %t_8, %shifter : f64
  %t_9 = arith.subf %clamped, %n : f64
  %r = arith.addf %t_9, %rest : f64
  %t_10 = arith.subf %t_9, %r : f64
  %r_lo = arith.addf %t_10, %rest : f64
  %result = func.call @hloom_exp2_sum_f64(%r, %r_lo, %t_8) : (f64, f64, f64) -> f64
  return %result : f64
}

// |x|^y with the sign of an odd power of a negative x; NaN for other powers of a negative finite x; 1 for y = 0 and for x = 1.
func.func private @hloom_powf_f64(%x: f64, %y: f64) -> f64 {
  %c0_5 = arith.constant 0.5 : f64
  %sign = arith.constant 0x8000000000000000 : i64
  %c0 = arith.constant 0 : i64
  %c0_1 = arith.constant 0.0 : f64
  %m_inf = arith.constant 0xFFF0000000000000 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %c1 = arith.constant 1.0 : f64
  %t_1 = math.absf %x : f64
  %magnitude = func.call @hloom_pow_magnitude_f64(%t_1, %y) : (f64, f64) -> f64
  // Floats above 2^53 are even integers, so halving tells odd ones.
  %half = arith.mulf %y, %c0_5 : f64
  %t_3 = math.trunc %y : f64
  %integer = arith.cmpf oeq, %t_3, %y : f64
  %t_4 = math.trunc %half : f64
  %t_5 = arith.cmpf une, %t_4, %half : f64
  %odd = arith.andi %t_5, %integer : i1
  %t_6 = arith.bitcast %x : f64 to i64
  %t_7 = arith.andi %t_6, %sign : i64
  %sign_1 = arith.select %odd, %t_7, %c0 : i64
  %t_8 = arith.bitcast %magnitude : f64 to i64
  %t_9 = arith.ori %t_8, %sign_1 : i64
  %signed = arith.bitcast %t_9 : i64 to f64
  %t_10 = arith.cmpf olt, %x, %c0_1 : f64
  %t_11 = arith.cmpf une, %x, %m_inf : f64
  %t_12 = arith.andi %t_10, %t_11 : i1
  %t_14 = arith.cmpf une, %t_3, %y : f64
  %undefined = arith.andi %t_12, %t_14 : i1
  %power = arith.select %undefined, %nan, %signed : f64
  %t_15 = arith.cmpf oeq, %x, %c1 : f64
  %t_16 = arith.cmpf oeq, %y, %c0_1 : f64
  %t_17 = arith.ori %t_15, %t_16 : i1
  %result = arith.select %t_17, %c1, %power : f64
  return %result : f64
}

// The exponent as f64: exact up to 2^53.
func.func private @hloom_fpowi_f64(%x: f64, %n: i64) -> f64 {
  %t = arith.sitofp %n : i64 to f64
  %result = func.call @hloom_powf_f64(%x, %t) : (f64, f64) -> f64
  return %result : f64
}

// x^-1
func.func private @hloom_reciprocal_f64(%x: f64, %y: f64) -> f64 {
  %c1 = arith.constant 1.0 : f64
  %result = arith.divf %c1, %x : f64
  return %result : f64
}

// x^(1/2): unlike sqrt, +0 for -0 and inf for -inf.
func.func private @hloom_power_half_f64(%x: f64, %y: f64) -> f64 {
  %m_inf = arith.constant 0xFFF0000000000000 : f64
  %c0 = arith.constant 0.0 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %t = arith.cmpf oeq, %x, %m_inf : f64
  %t_1 = arith.addf %x, %c0 : f64
  %t_2 = math.sqrt %t_1 : f64
  %result = arith.select %t, %inf, %t_2 : f64
  return %result : f64
}

func.func private @hloom_power_one_f64(%x: f64, %y: f64) -> f64 {
  return %x : f64
}

func.func private @hloom_square_f64(%x: f64, %y: f64) -> f64 {
  %result = arith.mulf %x, %x : f64
  return %result : f64
}

func.func private @hloom_cube_f64(%x: f64, %y: f64) -> f64 {
  %t = arith.mulf %x, %x : f64
  %result = arith.mulf %t, %x : f64
  return %result : f64
}

func.func private @hloom_power_four_f64(%x: f64, %y: f64) -> f64 {
  %z = arith.mulf %x, %x : f64
  %result = arith.mulf %z, %z : f64
  return %result : f64
}
