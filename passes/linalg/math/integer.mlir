// By squaring, over the six bits that count: a power above 63 overflows unless x is 0, 1 or -1. Negative powers round to 0.
func.func private @hloom_ipowi_i64(%x: i64, %n: i64) -> i64 {
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c4 = arith.constant 4 : i64
  %c8 = arith.constant 8 : i64
  %c16 = arith.constant 16 : i64
  %c32 = arith.constant 32 : i64
  %c63 = arith.constant 63 : i64
  %cm1 = arith.constant -1 : i64
  %x2 = arith.muli %x, %x : i64
  %x4 = arith.muli %x2, %x2 : i64
  %x8 = arith.muli %x4, %x4 : i64
  %x16 = arith.muli %x8, %x8 : i64
  %x32 = arith.muli %x16, %x16 : i64
  %t = arith.andi %n, %c1 : i64
  %t_1 = arith.cmpi ne, %t, %c0 : i64
  %p0 = arith.select %t_1, %x, %c1 : i64
  %t_2 = arith.andi %n, %c2 : i64
  %t_3 = arith.cmpi ne, %t_2, %c0 : i64
  %t_4 = arith.muli %p0, %x2 : i64
  %p1 = arith.select %t_3, %t_4, %p0 : i64
  %t_5 = arith.andi %n, %c4 : i64
  %t_6 = arith.cmpi ne, %t_5, %c0 : i64
  %t_7 = arith.muli %p1, %x4 : i64
  %p2 = arith.select %t_6, %t_7, %p1 : i64
  %t_8 = arith.andi %n, %c8 : i64
  %t_9 = arith.cmpi ne, %t_8, %c0 : i64
  %t_10 = arith.muli %p2, %x8 : i64
  %p3 = arith.select %t_9, %t_10, %p2 : i64
  %t_11 = arith.andi %n, %c16 : i64
  %t_12 = arith.cmpi ne, %t_11, %c0 : i64
  %t_13 = arith.muli %p3, %x16 : i64
  %p4 = arith.select %t_12, %t_13, %p3 : i64
  %t_14 = arith.andi %n, %c32 : i64
  %t_15 = arith.cmpi ne, %t_14, %c0 : i64
  %t_16 = arith.muli %p4, %x32 : i64
  %p5 = arith.select %t_15, %t_16, %p4 : i64
  // Beyond 63, the low six bits still give the parity that -1 needs; an even x vanishes.
  %t_17 = arith.cmpi sgt, %n, %c63 : i64
  %t_18 = arith.andi %x, %c1 : i64
  %t_19 = arith.cmpi eq, %t_18, %c0 : i64
  %vanishes = arith.andi %t_17, %t_19 : i1
  %power = arith.select %vanishes, %c0, %p5 : i64
  %t_20 = arith.cmpi eq, %x, %c1 : i64
  %t_21 = arith.cmpi eq, %x, %cm1 : i64
  %unit = arith.ori %t_20, %t_21 : i1
  %t_22 = arith.cmpi sge, %n, %c0 : i64
  %t_23 = arith.ori %t_22, %unit : i1
  %result = arith.select %t_23, %power, %c0 : i64
  return %result : i64
}
