//! Builders of `arith`: arithmetic on numbers, vectors and tensors.
//!
//! Written from the rows: `OPTC_BLESS=1 cargo test -p optc-tests --test it reference`.

super::builders! {
    /// Sum; wraps.
    "arith.addi" addi(lhs: value, rhs: value);

    /// Difference; wraps.
    "arith.subi" subi(lhs: value, rhs: value);

    /// Product; wraps.
    "arith.muli" muli(lhs: value, rhs: value);

    /// Quotient of signed integers, cut towards zero; by zero 0.
    "arith.divsi" divsi(lhs: value, rhs: value);

    /// Quotient of unsigned integers; by zero 0.
    "arith.divui" divui(lhs: value, rhs: value);

    /// Remainder of signed integers, with the dividend's sign; by zero 0.
    "arith.remsi" remsi(lhs: value, rhs: value);

    /// Remainder of unsigned integers; by zero 0.
    "arith.remui" remui(lhs: value, rhs: value);

    /// Quotient of signed integers, rounded up; by zero 0.
    "arith.ceildivsi" ceildivsi(lhs: value, rhs: value);

    /// Quotient of unsigned integers, rounded up; by zero 0.
    "arith.ceildivui" ceildivui(lhs: value, rhs: value);

    /// Quotient of signed integers, rounded down; by zero 0.
    "arith.floordivsi" floordivsi(lhs: value, rhs: value);

    /// Bitwise and.
    "arith.andi" andi(lhs: value, rhs: value);

    /// Bitwise or.
    "arith.ori" ori(lhs: value, rhs: value);

    /// Bitwise exclusive or.
    "arith.xori" xori(lhs: value, rhs: value);

    /// Left shift by an unsigned number of bits; 0 from the width on.
    "arith.shli" shli(lhs: value, rhs: value);

    /// Right shift that repeats the sign bit.
    "arith.shrsi" shrsi(lhs: value, rhs: value);

    /// Right shift that brings in zeros.
    "arith.shrui" shrui(lhs: value, rhs: value);

    /// The larger of signed integers.
    "arith.maxsi" maxsi(lhs: value, rhs: value);

    /// The larger of unsigned integers.
    "arith.maxui" maxui(lhs: value, rhs: value);

    /// The smaller of signed integers.
    "arith.minsi" minsi(lhs: value, rhs: value);

    /// The smaller of unsigned integers.
    "arith.minui" minui(lhs: value, rhs: value);

    /// Sum.
    "arith.addf" addf(lhs: value, rhs: value);

    /// Difference.
    "arith.subf" subf(lhs: value, rhs: value);

    /// Product.
    "arith.mulf" mulf(lhs: value, rhs: value);

    /// Quotient.
    "arith.divf" divf(lhs: value, rhs: value);

    /// Remainder of the quotient cut towards zero.
    "arith.remf" remf(lhs: value, rhs: value);

    /// The larger; NaN if either is, and 0 is larger than -0.
    "arith.maximumf" maximumf(lhs: value, rhs: value);

    /// The smaller; NaN if either is, and -0 is smaller than 0.
    "arith.minimumf" minimumf(lhs: value, rhs: value);

    /// The larger; the other, if one is NaN.
    "arith.maxnumf" maxnumf(lhs: value, rhs: value);

    /// The smaller; the other, if one is NaN.
    "arith.minnumf" minnumf(lhs: value, rhs: value);

    /// The opposite, of NaN and zero too.
    "arith.negf" negf(operand: value);

    /// Whether the comparison of integers holds.
    ///
    /// `predicate`: Which comparison: `s` of signed, `u` of unsigned integers; of floats `o` is false and `u`
    /// true on NaN.
    "arith.cmpi" cmpi(lhs: value, rhs: value, predicate: word);

    /// Whether the comparison of floats holds.
    ///
    /// `predicate`: Which comparison: `s` of signed, `u` of unsigned integers; of floats `o` is false and `u`
    /// true on NaN.
    "arith.cmpf" cmpf(lhs: value, rhs: value, predicate: word);

    /// The second operand where the condition holds, else the third; one condition may stand for all
    /// elements.
    "arith.select" select(condition: value, true_value: value, false_value: value);

    /// The signed integer in a wider type.
    "arith.extsi" extsi(r#in: value, result: result);

    /// The unsigned integer in a wider type.
    "arith.extui" extui(r#in: value, result: result);

    /// The lowest bits.
    "arith.trunci" trunci(r#in: value, result: result);

    /// The float in a wider type.
    "arith.extf" extf(r#in: value, result: result);

    /// The nearest float of a narrower type.
    "arith.truncf" truncf(r#in: value, result: result);

    /// The signed integer as a float.
    "arith.sitofp" sitofp(r#in: value, result: result);

    /// The unsigned integer as a float.
    "arith.uitofp" uitofp(r#in: value, result: result);

    /// The float cut to a signed integer; the nearest that there is, and 0 for NaN.
    "arith.fptosi" fptosi(r#in: value, result: result);

    /// The float cut to an unsigned integer; the nearest that there is, and 0 for NaN.
    "arith.fptoui" fptoui(r#in: value, result: result);

    /// The signed integer as an `index`, or the other way.
    "arith.index_cast" index_cast(r#in: value, result: result);

    /// The unsigned integer as an `index`, or the other way.
    "arith.index_castui" index_castui(r#in: value, result: result);

    /// The same bits as numbers of another type of the same width.
    "arith.bitcast" bitcast(r#in: value, result: result);

    /// The sum of unsigned integers, and whether it did not fit.
    "arith.addui_extended" addui_extended(lhs: value, rhs: value);

    /// The product of signed integers: its lower and its upper half.
    "arith.mulsi_extended" mulsi_extended(lhs: value, rhs: value);

    /// The product of unsigned integers: its lower and its upper half.
    "arith.mului_extended" mului_extended(lhs: value, rhs: value);

    /// The product of a float and a scale, in a wider type. It has no evaluation here.
    "arith.scaling_extf" scaling_extf(r#in: value, scale: value, result: result);

    /// The quotient of a float and a scale, in a narrower type. It has no evaluation here.
    "arith.scaling_truncf" scaling_truncf(r#in: value, scale: value, result: result);
}
