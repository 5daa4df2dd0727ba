//! Builders of what `nn` computes for each element.
//!
//! Written from the rows: `OPTC_BLESS=1 cargo test -p optc-tests --test it reference`.

super::builders! {
    /// -x.
    "nn.neg" neg(x: value);

    /// The magnitude of x.
    "nn.abs" abs(x: value);

    /// The square root of x; NaN below zero.
    "nn.sqrt" sqrt(x: value);

    /// The largest integer not above x.
    "nn.floor" floor(x: value);

    /// The smallest integer not below x.
    "nn.ceil" ceil(x: value);

    /// The integer nearest to x, ties to even.
    "nn.round" round(x: value);

    /// e to the power x.
    "nn.exp" exp(x: value);

    /// The natural logarithm of x.
    "nn.log" log(x: value);

    /// The hyperbolic tangent of x.
    "nn.tanh" tanh(x: value);

    /// The error function of x.
    "nn.erf" erf(x: value);

    /// 1 / (1 + e^-x).
    "nn.sigmoid" sigmoid(x: value);

    /// The sine of x.
    "nn.sin" sin(x: value);

    /// The cosine of x.
    "nn.cos" cos(x: value);

    /// Every bit of x flipped; of a boolean, its truth.
    "nn.not" not(x: value);

    /// x, but at least 0; NaN for NaN.
    "nn.relu" relu(x: value);

    /// x * sigmoid(x).
    "nn.silu" silu(x: value);

    /// x/2 * (1 + erf(x / sqrt 2)).
    "nn.gelu" gelu(x: value);

    /// The tanh form of GELU: x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))).
    "nn.gelu_tanh" gelu_tanh(x: value);

    /// log(1 + e^x), without overflow.
    "nn.softplus" softplus(x: value);

    /// x * clip(x/6 + 1/2, 0, 1).
    "nn.hard_swish" hard_swish(x: value);

    /// 1 / x.
    "nn.reciprocal" reciprocal(x: value);

    /// x * x.
    "nn.square" square(x: value);

    /// x, but at least `lo` and at most `hi`; NaN for NaN.
    "nn.clip" clip(x: value) -> Clip {
        /// Least value. (default -inf)
        lo: float,
        /// Greatest value. (default inf)
        hi: float,
    };

    /// x where x > 0, else `alpha` * x.
    "nn.leaky_relu" leaky_relu(x: value) -> LeakyRelu {
        /// Slope below zero. (default 0.01)
        alpha: float,
    };

    /// x where x > 0, else `alpha` * (e^x - 1).
    "nn.elu" elu(x: value) -> Elu {
        /// Scale below zero. (default 1)
        alpha: float,
    };

    /// clip(`alpha` * x + `beta`, 0, 1), the sum rounded once.
    "nn.hard_sigmoid" hard_sigmoid(x: value) -> HardSigmoid {
        /// Slope. (default 0.2)
        alpha: float,
        /// Offset. (default 0.5)
        beta: float,
    };

    /// x with its elements converted: floats round to nearest even, to integers towards zero (saturating, NaN
    /// to 0); to booleans, whether x is not 0.
    ///
    /// `to`: Element type of the result.
    "nn.cast" cast(x: value, to: ty);

    /// a + b.
    "nn.add" add(a: value, b: value);

    /// a - b.
    "nn.sub" sub(a: value, b: value);

    /// a * b.
    "nn.mul" mul(a: value, b: value);

    /// a / b; integers truncate, by zero give 0.
    "nn.div" div(a: value, b: value);

    /// The remainder of a / b, with a's sign.
    "nn.rem" rem(a: value, b: value);

    /// a where a > b, else b.
    "nn.max" max(a: value, b: value);

    /// a where a \< b, else b.
    "nn.min" min(a: value, b: value);

    /// a to the power b.
    "nn.pow" pow(a: value, b: value);

    /// Bitwise and.
    "nn.and" and(a: value, b: value);

    /// Bitwise or.
    "nn.or" or(a: value, b: value);

    /// Bitwise exclusive or.
    "nn.xor" xor(a: value, b: value);

    /// Whether a = b; false on NaN.
    "nn.eq" eq(a: value, b: value);

    /// Whether a is not b; true on NaN.
    "nn.ne" ne(a: value, b: value);

    /// Whether a \< b.
    "nn.lt" lt(a: value, b: value);

    /// Whether a \<= b.
    "nn.le" le(a: value, b: value);

    /// Whether a > b.
    "nn.gt" gt(a: value, b: value);

    /// Whether a >= b.
    "nn.ge" ge(a: value, b: value);

    /// a where cond is true, else b.
    "nn.select" select(cond: value, a: value, b: value);

    /// The tangent of x.
    "nn.tan" tan(x: value);

    /// The angle in \[-pi/2, pi/2\] whose sine is x; NaN beyond \[-1, 1\].
    "nn.asin" asin(x: value);

    /// The angle in \[0, pi\] whose cosine is x; NaN beyond \[-1, 1\].
    "nn.acos" acos(x: value);

    /// The angle in \[-pi/2, pi/2\] whose tangent is x.
    "nn.atan" atan(x: value);

    /// The hyperbolic sine of x.
    "nn.sinh" sinh(x: value);

    /// The hyperbolic cosine of x.
    "nn.cosh" cosh(x: value);

    /// The number whose hyperbolic sine is x.
    "nn.asinh" asinh(x: value);

    /// The number, at least 0, whose hyperbolic cosine is x; NaN below 1.
    "nn.acosh" acosh(x: value);

    /// The number whose hyperbolic tangent is x; NaN beyond \[-1, 1\].
    "nn.atanh" atanh(x: value);

    /// x with its bits moved up by a number of bits; 0 where that is negative, or the width or more.
    "nn.shl" shl(x: value, bits: value);

    /// x with its bits moved down by a number of bits, with copies of its sign after them; nothing but those
    /// where that is negative, or the width or more.
    "nn.shr" shr(x: value, bits: value);
}
