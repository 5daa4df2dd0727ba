//! Scalar trees: the function that an elementwise operation computes for one element.
//!
//! The tree is the only definition of the operation. The interpreter evaluates it, the simplifier hashes it,
//! code generation lowers it, and a law test checks that all agree to the bit.

/// A function of the operands' elements at one index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// The element of operand `n`.
    Arg(u8),
    /// The number in the operation's float attribute of this name.
    Attr(&'static str),
    /// A number, rounded to the element type.
    Const(f64),
    /// A function of one number.
    Unary(Unary, &'static Scalar),
    /// A function of two numbers.
    Binary(Binary, &'static Scalar, &'static Scalar),
    /// `a * b + c`, rounded once.
    Fma(&'static Scalar, &'static Scalar, &'static Scalar),
    /// The second operand if the first is true, else the third.
    Select(&'static Scalar, &'static Scalar, &'static Scalar),
    /// The operand converted to the result's element type.
    Convert(&'static Scalar),
    /// The operand, a float, converted to an unsigned integer of the result's width.
    ConvertUnsigned(&'static Scalar),
    /// The lowest bits of the operand as an integer of the result's type; a wider result takes the operand's
    /// extension.
    Resize(&'static Scalar),
    /// The same bits as a signed integer (`i1`: 0 and -1).
    Signed(&'static Scalar),
    /// The same bits as an unsigned integer.
    Unsigned(&'static Scalar),
    /// The function whose number is in the operation's integer attribute of this name; 0 if it has none.
    Choose(&'static str, &'static [Scalar]),
}

/// A function of one number. On floats, each is defined to the bit (see `math`); on integers, arithmetic
/// wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Flips the sign, of NaN too.
    Neg,
    /// Clears the sign, of NaN too.
    Abs,
    /// IEEE square root.
    Sqrt,
    /// Largest integer not above.
    Floor,
    /// Smallest integer not below.
    Ceil,
    /// Nearest integer, ties to even.
    RoundEven,
    /// `e^x`.
    Exp,
    /// Natural logarithm.
    Log,
    /// Hyperbolic tangent.
    Tanh,
    /// Error function.
    Erf,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// `x/2 * (1 + erf(x / sqrt 2))`.
    Gelu,
    /// `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`.
    GeluTanh,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Inverse sine.
    Asin,
    /// Inverse cosine.
    Acos,
    /// Inverse tangent.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Inverse hyperbolic sine.
    Asinh,
    /// Inverse hyperbolic cosine.
    Acosh,
    /// Inverse hyperbolic tangent.
    Atanh,
    /// Flips every bit; negates a boolean.
    Not,
}

/// A function of two numbers. Comparisons return a boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient; integers truncate. A division without a result (by zero, or the smallest number by -1) gives
    /// 0 or the dividend.
    Div,
    /// Remainder with the dividend's sign; integers by zero give 0.
    Rem,
    /// `a > b ? a : b`: the second if either is NaN, or if both are zeros.
    Max,
    /// `a < b ? a : b`: the second if either is NaN, or if both are zeros.
    Min,
    /// `a` to the power `b`.
    Pow,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Left shift; 0 from the width on.
    Shl,
    /// Right shift (arithmetic on signed and signless integers); all sign bits from the width on.
    Shr,
    /// Equal; false on NaN.
    Eq,
    /// Not equal; true on NaN.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

impl Scalar {
    /// The number of operands of the function: one more than the largest argument number.
    pub fn arg_count(&self) -> usize {
        match self {
            Scalar::Arg(n) => *n as usize + 1,
            Scalar::Attr(_) | Scalar::Const(_) => 0,
            Scalar::Unary(_, a)
            | Scalar::Convert(a)
            | Scalar::ConvertUnsigned(a)
            | Scalar::Resize(a)
            | Scalar::Signed(a)
            | Scalar::Unsigned(a) => a.arg_count(),
            Scalar::Choose(_, all) => all.iter().map(Scalar::arg_count).max().unwrap_or(0),
            Scalar::Binary(_, a, b) => a.arg_count().max(b.arg_count()),
            Scalar::Fma(a, b, c) | Scalar::Select(a, b, c) => {
                a.arg_count().max(b.arg_count()).max(c.arg_count())
            }
        }
    }
}
