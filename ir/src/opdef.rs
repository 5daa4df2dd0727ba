//! Rows: definitions of operations, each with a name, operands, meaning and properties.
//!
//! All code that works on operations (parser, printer, verifier, interpreter, passes, code generation) looks
//! at their rows, and never matches on an operation's name. A dialect is a table of rows. Dialects of other
//! crates have the same possibilities as the built-in ones.

use bitflags::bitflags;

use crate::body::OpRef;
use crate::entities::Type;
pub use crate::infer::{InferError, InferInput};
use crate::interp::{EvalError, Tensor};
use crate::scalar::Scalar;
use crate::words::{Flags, Words};

/// A dialect: a named table of rows.
pub struct Dialect {
    /// The prefix of its operations' names, before the dot.
    pub name: &'static str,
    /// The purpose of the dialect, in a sentence or two.
    pub doc: &'static str,
    /// Its operations, in one table or several.
    pub tables: &'static [&'static [OpDef]],
}

impl Dialect {
    /// Its operations.
    pub fn ops(&self) -> impl Iterator<Item = &'static OpDef> + use<> {
        self.tables.iter().flat_map(|table| table.iter())
    }
}

/// The definition of an operation: a row of its dialect's table.
pub struct OpDef {
    /// Full name: `nn.relu`.
    pub name: &'static str,
    /// One sentence on the meaning of the results.
    pub doc: &'static str,
    /// A line of IR text that uses it, or a function around it; read by a test.
    pub example: &'static str,
    /// Its pretty form after the name, in the notation of [`text`](crate::text); none for the default form,
    /// which is derived from the other columns.
    pub syntax: Option<&'static str>,
    /// Operands in order; at most one of them [`Arity::Variadic`] or [`Arity::Optional`], unless
    /// `operandSegmentSizes` is among `attrs`.
    pub operands: &'static [OperandDef],
    /// Results in order.
    pub results: &'static [OperandDef],
    /// Inherent attributes (printed as properties).
    pub attrs: &'static [AttrDef],
    /// The number of its regions.
    pub regions: RegionCount,
    /// The inference of result types from operands and attributes.
    pub infer: Infer,
    /// An extra rule for the verifier, beyond the other columns.
    pub verify: Option<fn(OpRef<'_>) -> Result<(), String>>,
    /// Facts that hold for every operation of this row.
    pub traits: Traits,
    /// The kind of its computation.
    pub kind: Kind,
    /// The results that may overwrite operands; elementwise rows need not declare it.
    pub reuse: &'static [Reuse],
    /// For an operation whose result is operand 0 with more elements around it: the layout of operand 0
    /// inside a result of this layout. The operand may then be computed there, and the operation writes only
    /// the elements around it.
    pub frame: Option<fn(OpRef<'_>, &Strided) -> Option<Strided>>,
    /// Its meaning in the interpreter; elementwise rows, regions and symbols need none.
    pub eval: Option<Eval>,
}

/// Computes an operation's results from its operands, as the interpreter does.
pub type Eval = fn(OpRef<'_>, &[Tensor]) -> Result<Vec<Tensor>, EvalError>;

impl OpDef {
    /// A row without operands, results, attributes or facts, to start from.
    pub const BLANK: OpDef = OpDef {
        name: "",
        doc: "",
        example: "",
        syntax: None,
        operands: &[],
        results: &[],
        attrs: &[],
        regions: RegionCount::Exactly(0),
        infer: Infer::Declared,
        verify: None,
        traits: Traits::empty(),
        kind: Kind::Structure,
        reuse: &[],
        frame: None,
        eval: None,
    };

    /// The order in which operand `operand` is read while `result` is written, or [`Access::Never`] if
    /// `result` may not overwrite it.
    pub fn access(&self, result: usize, operand: usize) -> Access {
        if let Kind::Elementwise(_) = self.kind {
            return Access::SameIndex;
        }
        let found = self.reuse.iter().find(|r| r.result as usize == result && r.operand as usize == operand);
        found.map_or(Access::Never, |reuse| reuse.access)
    }

    /// The inherent attribute called `name`, if the row has one.
    pub fn attr(&self, name: &str) -> Option<&'static AttrDef> {
        self.attrs.iter().find(|attr| attr.name == name)
    }
}

/// An operand or result of a row, or a run of several.
pub struct OperandDef {
    /// The name in the documentation.
    pub name: &'static str,
    /// The allowed types.
    pub types: TypeClass,
    /// The number of values.
    pub arity: Arity,
}

impl OperandDef {
    /// Exactly one value.
    pub const fn one(name: &'static str, types: TypeClass) -> OperandDef {
        OperandDef { name, types, arity: Arity::One }
    }

    /// One value or none.
    pub const fn optional(name: &'static str, types: TypeClass) -> OperandDef {
        OperandDef { name, types, arity: Arity::Optional }
    }

    /// Any number of values.
    pub const fn variadic(name: &'static str, types: TypeClass) -> OperandDef {
        OperandDef { name, types, arity: Arity::Variadic }
    }
}

/// The number of values of an operand or result of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly one.
    One,
    /// One or none.
    Optional,
    /// Any number.
    Variadic,
}

/// A class of types for operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    /// Any.
    Any,
    /// A tensor of any element type.
    Tensor,
    /// A tensor of floats.
    FloatTensor,
    /// A tensor of floats or of integers of 8 bits.
    FloatOrByteTensor,
    /// A tensor of integers or booleans.
    IntTensor,
    /// A float, or a vector or tensor of floats.
    FloatLike,
    /// An integer without a sign or index, or a vector or tensor of them.
    IntLike,
    /// An integer without a sign, or a vector or tensor of them.
    FixedIntLike,
    /// A number without a sign, or a vector or tensor of them.
    NumberLike,
    /// An `i1`, or a vector or tensor of them.
    BoolLike,
    /// `index`.
    Index,
    /// `i1` itself.
    Bool,
    /// An integer without a sign, or `index`, itself.
    Int,
    /// The type of a function.
    Function,
    /// A type that a dialect defines.
    Own(&'static TypeDef),
}

impl TypeClass {
    /// The class in words, for messages and lists.
    pub fn words(self) -> &'static str {
        match self {
            TypeClass::Any => "anything",
            TypeClass::Own(own) => own.name,
            TypeClass::Tensor => "a tensor",
            TypeClass::FloatTensor => "a tensor of floats",
            TypeClass::FloatOrByteTensor => "a tensor of floats or of 8-bit integers",
            TypeClass::IntTensor => "a tensor of integers",
            TypeClass::FloatLike => "a float, or a vector or tensor of floats",
            TypeClass::IntLike => "an integer without a sign or index, or a vector or tensor of them",
            TypeClass::FixedIntLike => "an integer without a sign, or a vector or tensor of them",
            TypeClass::NumberLike => "a float or an integer without a sign, or a vector or tensor of them",
            TypeClass::BoolLike => "an `i1`, or a vector or tensor of them",
            TypeClass::Index => "an `index`",
            TypeClass::Bool => "an `i1`",
            TypeClass::Function => "a function",
            TypeClass::Int => "an integer without a sign, or an `index`",
        }
    }
}

/// A type that a dialect defines: `!my.counter<4>`. Its text is kept unchanged; rows with [`TypeClass::Own`]
/// verify it.
pub struct TypeDef {
    /// The dialect and the type's name, before the angle bracket: `my.counter`.
    pub name: &'static str,
    /// The meaning of its values.
    pub doc: &'static str,
    /// Verifies the text between the angle brackets; it is empty without brackets.
    pub check: fn(&str) -> Result<(), String>,
}

impl TypeDef {
    /// A type without parameters.
    pub const fn plain(name: &'static str, doc: &'static str) -> TypeDef {
        fn check(text: &str) -> Result<(), String> {
            if text.is_empty() { Ok(()) } else { Err(format!("has no parameters, found `{text}`")) }
        }
        TypeDef { name, doc, check }
    }
}

impl PartialEq for TypeDef {
    fn eq(&self, other: &TypeDef) -> bool {
        self.name == other.name
    }
}

impl Eq for TypeDef {}

impl std::fmt::Debug for TypeDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "!{}", self.name)
    }
}

/// The number of regions of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionCount {
    /// Exactly this number.
    Exactly(u8),
    /// Any number.
    Any,
}

/// An inherent attribute of a row.
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// The kind of attribute.
    pub kind: AttrKind,
    /// Whether it is required, or its default.
    pub presence: Presence,
    /// Its meaning, with the unit.
    pub doc: &'static str,
}

/// Whether an attribute is required.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Presence {
    /// It is required.
    Required,
    /// It is optional; the documentation gives the meaning of its absence.
    Optional,
    /// Its absence stands for this integer.
    DefaultInt(i64),
    /// Its absence stands for this number.
    DefaultFloat(f64),
    /// Its absence stands for this list.
    DefaultInts(&'static [i64]),
    /// Its absence stands for this text.
    DefaultText(&'static str),
    /// If it is missing when an operation is made, it is added with no flags.
    NoFlags,
}

/// A kind of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// Any.
    Any,
    /// An integer of any type.
    Int,
    /// A float of any type.
    Float,
    /// `true` or `false`.
    Bool,
    /// `unit`: there or not.
    Unit,
    /// A string.
    Text,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// One of some words, stored as its number.
    Word(&'static Words),
    /// Some of a set of words.
    Flags(&'static Flags),
    /// `array<i32: ...>`.
    Int32s,
    /// `array<i64: ...>`.
    Ints,
    /// An integer that is the number of an axis of operand 0.
    Axis,
    /// `array<i64: ...>`: numbers of axes of operand 0.
    Axes,
    /// `array<i64: ...>`: a number for each axis of operand 0.
    PerAxis,
    /// An `array<i64: ...>` of sizes, or `#optc.dims<...>` if some of them are expressions of named sizes.
    Sizes,
    /// `array<f64: ...>` or `array<f32: ...>`.
    Floats,
    /// A type.
    Type,
    /// A function type.
    FunctionType,
    /// A symbol.
    Symbol,
    /// Elements of a tensor: dense, sparse, or a resource.
    Elements,
    /// An array of attributes.
    Array,
    /// A dictionary.
    Dict,
}

/// The inference of result types.
pub enum Infer {
    /// None: the types are given when the operation is built.
    Declared,
    /// The one result has the type of this operand.
    SameAs(u8),
    /// This rule computes them.
    Rule(fn(&InferInput<'_>) -> Result<Vec<Type>, InferError>),
}

bitflags! {
    /// Facts that hold for every operation of a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Traits: u32 {
        /// No side effects: may be removed, repeated, moved.
        const PURE = 1;
        /// Its first two operands may be swapped.
        const COMMUTATIVE = 1 << 1;
        /// Ends a block.
        const TERMINATOR = 1 << 2;
        /// Its regions use no value from outside; it owns a body of its own.
        const ISOLATED = 1 << 3;
        /// Defines the symbol named by `sym_name`.
        const SYMBOL = 1 << 4;
        /// Its region holds symbols.
        const SYMBOL_TABLE = 1 << 5;
        /// Its result is the attribute `value`.
        const CONSTANT = 1 << 6;
        /// Applied to its own result, it changes nothing.
        const IDEMPOTENT = 1 << 7;
        /// All operands and results have one type.
        const SAME_TYPE = 1 << 8;
        /// Its blocks need no terminator.
        const NO_TERMINATOR = 1 << 9;
        /// Each region has at most one block.
        const SINGLE_BLOCK = 1 << 10;
        /// Returns its operands from the function around it.
        const RETURN = 1 << 11;
        /// Passes its operands to the operation around it.
        const YIELD = 1 << 12;
        /// A function: has `sym_name` and `function_type`, and one region that may be empty (a declaration).
        const FUNCTION = 1 << 13;
        /// All operands and results have one shape, and the result's elements may differ in type.
        const SAME_SHAPE = 1 << 14;
        /// Result is the operand's elements in another element type.
        const CAST = 1 << 15;
        /// Permuting the axes of operand 0 (and of all operands that are concatenated or broadcast with it),
        /// and the attributes that name axes, permutes the axes of the result. Implied for elementwise rows.
        /// If the attributes name one axis, this holds where the result has as many axes as operand 0.
        const PERMUTABLE = 1 << 16;
        /// The result has the elements of operand 0 in the same row-major order.
        const SAME_ORDER = 1 << 17;
        /// Ends the first region of a loop: operand 0 is the loop condition, and the other operands are
        /// passed on.
        const CONDITION = 1 << 18;
        /// A window described by its attributes slides over the rows and columns of operand 0, an image. The
        /// sizes of the other operands do not depend on the image's.
        const WINDOW = 1 << 19;
        /// Each element of the result is one of operand 0's, selected by other operands, or the largest in a
        /// sliding window. So a function of single elements may be computed before or after it; for a window,
        /// the function must never fall. A window without elements has the least number of its type.
        const SELECTS = 1 << 20;
    }
}

/// The kind of computation. Small and closed: passes and code generation match on it.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Each result element is this function of the operands' elements at the same (broadcast) index.
    Elementwise(&'static Scalar),
    /// Folds axes of the operand.
    Reduce(Reduce),
    /// The result may share the operand's bytes (slice, reshape), or the operands the result's
    /// (concatenation).
    View(View),
    /// Sums of products: matmul, convolution.
    Contract(Contract),
    /// Any other computation on whole operands: pool, softmax, gather; the string names the lowering.
    Kernel(&'static str),
    /// A fused body that runs as one step of the program.
    Group,
    /// Control flow that returns to the next operation: if, loop, call.
    Region(RegionFlow),
    /// Control flow that ends a block and continues in another.
    Branch(Branch),
    /// A constant.
    Source,
    /// Modules, functions, terminators.
    Structure,
}

/// How control passes through an operation's regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionFlow {
    /// Calls a function with the remaining operands: the function named by a symbol attribute, or else by the
    /// first operand. Its return values are the results.
    Call,
    /// `(condition)`: runs the first region if the condition holds, else the second (which may be empty). The
    /// results are the values that the region yields.
    If,
    /// `(lower, upper, step, initial...)`: runs the region for each number from lower up to, not including,
    /// upper. Its arguments are the number and the carried values; the yielded values are carried to the next
    /// iteration, and the last ones are the results.
    For,
    /// `(initial...)`: runs the first region, which ends with a condition and values. If the condition holds,
    /// these are the arguments of the second region, whose yielded values go to the first again; else they
    /// are the results.
    While,
}

/// How a terminator chooses the next block. The arguments of each block are the operands given by its
/// [`Successor`](crate::Successor).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// There is only one successor.
    Always,
    /// The first if operand 0 holds, else the second.
    Condition,
    /// The successor of the case in `case_values` that equals operand 0; the first successor is the default.
    Switch,
}

/// The operator of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// Sum, from the first element on.
    Sum,
    /// Sum over count.
    Mean,
    /// Product.
    Prod,
    /// Largest.
    Max,
    /// Smallest.
    Min,
    /// Sum of squares.
    SumSquare,
}

/// The kind of a contraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// `[.., M, K] x [.., K, N] (+ [N])`.
    Matmul,
    /// Two-dimensional convolution `(input, filter OIHW, bias?)`.
    Conv2d,
    /// A product of 8-bit integers minus zero points: `(a, b, a zero, b zero)`.
    QuantizedMatmul,
    /// A convolution of 8-bit integers minus zero points: `(input, filter OIHW, input zero, filter zero)`.
    QuantizedConv2d,
}

impl Contract {
    /// Whether it multiplies 8-bit integers and adds the products as 32-bit integers.
    pub fn is_quantized(self) -> bool {
        matches!(self, Contract::QuantizedMatmul | Contract::QuantizedConv2d)
    }
}

/// Elements of a shape laid out in memory: element `i` is at `offset + sum(i * strides)`, counted in
/// elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strided {
    /// The offset of the first element.
    pub offset: i64,
    /// Sizes, outermost first.
    pub shape: Vec<u64>,
    /// Distance between neighbours along each axis.
    pub strides: Vec<i64>,
}

impl Strided {
    /// The layout without gaps, last axis innermost.
    pub fn row_major(offset: i64, shape: Vec<u64>) -> Strided {
        let mut strides = vec![1i64; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis] as i64;
        }
        Strided { offset, shape, strides }
    }

    /// Whether the elements have no gaps, with the last axis innermost. Strides along axes of one element are
    /// ignored.
    pub fn is_row_major(&self) -> bool {
        let wanted = Strided::row_major(0, self.shape.clone()).strides;
        let mut axes = self.strides.iter().zip(&wanted).zip(&self.shape);
        self.shape.contains(&0) || axes.all(|((stride, wanted), size)| *size == 1 || stride == wanted)
    }
}

/// How a view maps layouts.
#[derive(Clone, Copy)]
pub enum View {
    /// The result is a view of operand 0. The function computes the result's layout from the operand's; none
    /// if no strides describe it.
    OfOperand(fn(OpRef<'_>, usize, &Strided) -> Option<Strided>),
    /// Each operand is a part of the result, as in a concatenation: on each axis, type inference requires
    /// equal sizes or adds them. The function computes each operand's layout from the result's; none
    /// where a size is not known.
    OfResult(fn(OpRef<'_>, &Strided) -> Vec<Option<Strided>>),
}

/// A declaration that `result` may overwrite `operand`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// Index of the result.
    pub result: u8,
    /// Index of the operand.
    pub operand: u8,
    /// The order in which the operand is read.
    pub access: Access,
}

/// The order in which an operand is read while a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Element `i` of the operand is only read for element `i` of the result, before that element is written.
    SameIndex,
    /// A whole row of the operand is read before the same row of the result is written.
    RowWise,
    /// The whole operand is read before the result is written, and each element again just before the same
    /// element of the result is written.
    Whole,
    /// The result may not overwrite the operand.
    Never,
}
