//! What a row says about an operation: its name, shape, meaning, and what may be done with it.
//!
//! Everything that works on operations (parser, printer, verifier, interpreter, passes, machine code) asks
//! rows; nothing matches on an operation's name. A dialect is a table of rows; another crate's dialect has
//! the same rights as ours.

use bitflags::bitflags;

use crate::body::OpRef;
use crate::entities::Type;
pub use crate::infer::{InferError, InferInput};
use crate::interp::{EvalError, Tensor};
use crate::scalar::Scalar;
use crate::words::{Flags, Words};

/// A named table of rows.
pub struct Dialect {
    /// What stands before the dot of its operations' names.
    pub name: &'static str,
    /// What the dialect is for, in a sentence or two.
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

/// The row of an operation.
pub struct OpDef {
    /// Full name: `nn.relu`.
    pub name: &'static str,
    /// One sentence: what the results are.
    pub doc: &'static str,
    /// A line of IR text that uses it, or a function around it; read by a test.
    pub example: &'static str,
    /// Its pretty text after the name, in the notation of [`text`](crate::text); none for the form that the
    /// other columns give it.
    pub syntax: Option<&'static str>,
    /// Operands in order; at most one of them [`Arity::Variadic`] or [`Arity::Optional`], unless
    /// `operandSegmentSizes` is among `attrs`.
    pub operands: &'static [OperandDef],
    /// Results in order.
    pub results: &'static [OperandDef],
    /// Inherent attributes (printed as properties).
    pub attrs: &'static [AttrDef],
    /// How many regions it has.
    pub regions: RegionCount,
    /// How the result types follow from operands and attributes.
    pub infer: Infer,
    /// A law beyond what the row's other columns say.
    pub verify: Option<fn(OpRef<'_>) -> Result<(), String>>,
    /// Facts that hold of every instance.
    pub traits: Traits,
    /// What kind of computation it is.
    pub kind: Kind,
    /// Which result may overwrite which operand; elementwise rows need not say it.
    pub reuse: &'static [Reuse],
    /// Where in a result of this layout operand 0 lies, if the result is that operand with more elements
    /// around it: then it may be made there, and the operation writes what is around it.
    pub frame: Option<fn(OpRef<'_>, &Strided) -> Option<Strided>>,
    /// How the interpreter computes it; elementwise rows, regions and symbols need none.
    pub eval: Option<Eval>,
}

/// Computes an operation's results from its operands: the reference meaning.
pub type Eval = fn(OpRef<'_>, &[Tensor]) -> Result<Vec<Tensor>, EvalError>;

impl OpDef {
    /// A row with no operands, results, attributes or facts: what rows start from.
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

    /// In which order `result` may overwrite `operand`, if the row allows it at all.
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

/// One operand (or result) of a row, or a run of them.
pub struct OperandDef {
    /// What the documentation calls it.
    pub name: &'static str,
    /// Which types it takes.
    pub types: TypeClass,
    /// How many values stand here.
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

/// How many values stand at one place of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly one.
    One,
    /// One or none.
    Optional,
    /// Any number.
    Variadic,
}

/// Which types an operand takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    /// Any.
    Any,
    /// A tensor of any element type.
    Tensor,
    /// A tensor of floats.
    FloatTensor,
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
    /// The class in words, as errors and lists say it.
    pub fn words(self) -> &'static str {
        match self {
            TypeClass::Any => "anything",
            TypeClass::Own(own) => own.name,
            TypeClass::Tensor => "a tensor",
            TypeClass::FloatTensor => "a tensor of floats",
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

/// A type that a dialect defines: `!my.counter<4>`. It is read and written as it stands; rows that take it as
/// [`TypeClass::Own`] have it checked.
pub struct TypeDef {
    /// The dialect, and what stands before the angle bracket: `my.counter`.
    pub name: &'static str,
    /// What its values are.
    pub doc: &'static str,
    /// What must hold of the text in the angle brackets; empty, if there are none.
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

/// How many regions an operation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionCount {
    /// That many.
    Exactly(u8),
    /// Any number.
    Any,
}

/// One inherent attribute of a row.
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// Which attributes it takes.
    pub kind: AttrKind,
    /// Whether it must be there, or what its absence stands for.
    pub presence: Presence,
    /// What it means, with its unit.
    pub doc: &'static str,
}

/// Whether an attribute must be there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Presence {
    /// It must.
    Required,
    /// It need not be; the documentation says what its absence means.
    Optional,
    /// Its absence stands for this integer.
    DefaultInt(i64),
    /// Its absence stands for this number.
    DefaultFloat(f64),
    /// Its absence stands for this list.
    DefaultInts(&'static [i64]),
    /// Its absence stands for this text.
    DefaultText(&'static str),
    /// Whoever makes the operation without it, writes it down: no flags.
    NoFlags,
}

/// Which attributes a row's attribute takes.
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
    /// One of some words, kept as its number.
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
    /// An `array<i64: ...>` of sizes, or `#optc.dims<...>` where some of them follow from named ones.
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

/// How result types follow from operands and attributes.
pub enum Infer {
    /// They do not: whoever builds the operation says them.
    Declared,
    /// The one result has the type of this operand.
    SameAs(u8),
    /// By this rule.
    Rule(fn(&InferInput<'_>) -> Result<Vec<Type>, InferError>),
}

bitflags! {
    /// Facts that hold of every instance of a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Traits: u32 {
        /// No effect but its results: may be removed, repeated, moved.
        const PURE = 1;
        /// Its two first operands may change places.
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
        /// Applied to its own result it changes nothing.
        const IDEMPOTENT = 1 << 7;
        /// All operands and results have one type.
        const SAME_TYPE = 1 << 8;
        /// Its blocks need no terminator.
        const NO_TERMINATOR = 1 << 9;
        /// Each region has at most one block.
        const SINGLE_BLOCK = 1 << 10;
        /// Returns its operands from the function around it.
        const RETURN = 1 << 11;
        /// Hands its operands to the operation around it.
        const YIELD = 1 << 12;
        /// A function: has `sym_name` and `function_type`, and one region that may be empty (a declaration).
        const FUNCTION = 1 << 13;
        /// All operands and results have one shape, and the result's elements may differ in type.
        const SAME_SHAPE = 1 << 14;
        /// Result is the operand's elements in another element type.
        const CAST = 1 << 15;
        /// Permuting the axes of operand 0 (and of all others, if they are joined or broadcast with it), with
        /// the attributes that speak of axes, permutes the axes of the result. Elementwise rows need not say
        /// it.
        const PERMUTABLE = 1 << 16;
        /// The result has the elements of operand 0 in the same row-major order.
        const SAME_ORDER = 1 << 17;
        /// Ends the first region of a loop: operand 0 says whether the loop goes on, the others are handed
        /// over.
        const CONDITION = 1 << 18;
        /// A window that its attributes describe slides over the rows and columns of operand 0, an image; the
        /// sizes of the other operands do not depend on the image's.
        const WINDOW = 1 << 19;
    }
}

/// What kind of computation an operation is. Small and closed: passes and machine code match on it.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Each result element is this function of the operands' elements at the same (broadcast) index.
    Elementwise(&'static Scalar),
    /// Folds axes of the operand.
    Reduce(Reduce),
    /// Result (or operand) is a window on the other's bytes.
    View(View),
    /// Sums of products: matmul, convolution.
    Contract(Contract),
    /// Anything else that is computed from whole operands: pool, softmax, gather; the text names the
    /// lowering.
    Kernel(&'static str),
    /// A fused body that is run as one.
    Group,
    /// Control flow that comes back: if, loop, call.
    Region(RegionFlow),
    /// Control flow that ends a block and goes on in another.
    Branch(Branch),
    /// A constant.
    Source,
    /// Modules, functions, terminators: what holds the rest.
    Structure,
}

/// How control goes through an operation's regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionFlow {
    /// Into the function that a symbol, or the first operand, names: operands are its arguments, results what
    /// it returns.
    Call,
    /// `(condition)`: into the first region if the condition holds, else into the second (which may be
    /// empty); results are what the region yields.
    If,
    /// `(lower, upper, step, initial...)`: into the region for each number from lower up to, not including,
    /// upper. Its arguments are the number and the carried values, and what it yields is carried on; results
    /// are the last carried.
    For,
    /// `(initial...)`: into the first region, which ends with a condition and values. If it holds, the second
    /// region takes the values, and what it yields goes into the first again; else the values are the
    /// results.
    While,
}

/// How a terminator chooses the block that it goes to. The arguments of each block are the operands that its
/// [`Successor`](crate::Successor) names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// There is only one.
    Always,
    /// The first if operand 0 holds, else the second.
    Condition,
    /// The one whose number in `case_values` is operand 0, after the first, which is for all other numbers.
    Switch,
}

/// Which operator a reduction folds with.
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

/// Which contraction an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// `[.., M, K] x [.., K, N] (+ [N])`.
    Matmul,
    /// Two-dimensional convolution `(input, filter OIHW, bias?)`.
    Conv2d,
}

/// Elements of a shape laid out in memory: element `i` is at `offset + sum(i * strides)`, counted in
/// elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Where the first element is.
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

    /// Whether the elements lie without gaps, last axis innermost; strides along axes of one element do not
    /// count.
    pub fn is_row_major(&self) -> bool {
        let wanted = Strided::row_major(0, self.shape.clone()).strides;
        let mut axes = self.strides.iter().zip(&wanted).zip(&self.shape);
        self.shape.contains(&0) || axes.all(|((stride, wanted), size)| *size == 1 || stride == wanted)
    }
}

/// How a view maps layouts.
#[derive(Clone, Copy)]
pub enum View {
    /// The result is a window on operand 0: its layout follows from the operand's, or is none where no
    /// strides describe it.
    OfOperand(fn(OpRef<'_>, usize, &Strided) -> Option<Strided>),
    /// Each operand is a window on the result, as in a concatenation: its layout follows from the result's.
    OfResult(fn(OpRef<'_>, usize, &Strided) -> Option<Strided>),
}

/// Says that `result` may overwrite `operand`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// Index of the result.
    pub result: u8,
    /// Index of the operand.
    pub operand: u8,
    /// In which order the operand is read.
    pub access: Access,
}

/// In which order an operand is read while a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Element `i` of the operand is read for element `i` of the result only, and before it is written.
    SameIndex,
    /// A row of the operand is read whole before the same row of the result is written.
    RowWise,
    /// The operand is read whole before anything of the result is written, then once more at the index that
    /// is written.
    Whole,
    /// No order makes it right.
    Never,
}
