//! Named sizes: the sizes allowed for inputs, and those determined by the shapes that a caller sets.
//!
//! The dimensions of inputs are numbers, *symbols* or expressions of symbols (`2 * N + 1`, `N * M`). A symbol
//! has one size at a time, wherever it occurs. So the shapes that are set determine the symbols' sizes, or
//! contradict each other: `x: [N, 4]`, `y: [N]` with `x` set to `[2, 4]` and `y` to `[3]`; or no size of a
//! symbol matches: `z: [2 * N]` set to `[5]`.

use std::fmt;

use crate::extent::{Extent, LinearExtent};
use crate::tensor::TensorSpec;

/// A size chosen at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// The least size.
    pub least: u64,
    /// The greatest size.
    pub most: u64,
    /// The size if no input's shape determines it.
    pub default: Option<u64>,
}

impl Symbol {
    /// Whether a size is in the range.
    pub fn may_be(&self, size: u64) -> bool {
        (self.least..=self.most).contains(&size)
    }

    /// The allowed sizes, for messages.
    pub fn range_text(&self) -> String {
        let Symbol { name, least, most, .. } = self;
        match *most {
            u64::MAX => format!("{name} >= {least}"),
            most => format!("{least} <= {name} <= {most}"),
        }
    }
}

/// A dimension of an input, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputDimension {
    /// The input's name.
    pub input: String,
    /// The input's number.
    pub number: usize,
    /// The dimension, from 0.
    pub dimension: usize,
}

/// The reason why a program can't run with these shapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShapeError {
    /// No input has this name.
    Unknown {
        /// The name.
        name: String,
    },
    /// Too few or too many dimensions.
    Rank {
        /// The input.
        input: String,
        /// Its number.
        number: usize,
        /// The number of its dimensions.
        expected: usize,
        /// The given number.
        found: usize,
    },
    /// A size that a dimension can't have.
    Extent {
        /// The dimension.
        at: InputDimension,
        /// Its constraint: `3`, `1 <= N <= 512`, `2 * N with N >= 1`.
        constraint: String,
        /// The given size.
        found: u64,
    },
    /// A size that contradicts another one.
    Conflict {
        /// The dimension.
        at: InputDimension,
        /// Its constraint: `N = 4`, `2 * N = 8`.
        constraint: String,
        /// The size given here.
        found: u64,
        /// The dimension that the constraint comes from.
        other: InputDimension,
    },
    /// No shape determines a symbol's size.
    Unset {
        /// The first dimension with the symbol.
        at: InputDimension,
        /// The symbol.
        symbol: String,
    },
    /// The model can't be run at these sizes.
    Refused {
        /// The symbols with their sizes and the origins of these: ``N = 3 (axis 0 of input `x`)``.
        sizes: String,
        /// The reason.
        message: String,
    },
}

/// The declarations of a program: its inputs, and their named sizes.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) inputs: Vec<TensorSpec>,
}

/// The shapes that a caller has set; those of other inputs follow from the symbols.
#[derive(Debug)]
pub(crate) struct Shapes {
    /// For each input, whether its shape was set, and its dimensions.
    set: Vec<(bool, Vec<u64>)>,
}

/// The size of each symbol that follows from the shapes of inputs, by name.
///
/// # Errors
/// As for a context with these shapes, see [`crate::RunContext::set_shape`].
pub fn sizes_of(
    symbols: Vec<Symbol>,
    inputs: Vec<TensorSpec>,
    given: &[(&str, &[u64])],
) -> Result<Vec<u64>, ShapeError> {
    let declared = Declared::new(symbols, inputs);
    let mut shapes = Shapes::new(&declared);
    given.iter().try_for_each(|(name, shape)| shapes.set(&declared, name, shape))?;
    let mut sizes = vec![0; declared.symbols.len()];
    shapes.sizes(&declared, &mut sizes)?;
    Ok(sizes)
}

/// An unknown size.
const UNSET: u64 = u64::MAX;

/// A dimension whose size is set.
struct Use<'s> {
    input: usize,
    dimension: usize,
    extent: &'s Extent,
    found: u64,
}

impl Shapes {
    pub(crate) fn new(declared: &Declared) -> Shapes {
        Shapes { set: declared.inputs.iter().map(|input| (false, vec![0; input.extents.len()])).collect() }
    }

    /// Sets an input's shape. If that fails, the shape is unchanged.
    pub(crate) fn set(&mut self, declared: &Declared, name: &str, shape: &[u64]) -> Result<(), ShapeError> {
        let number = declared.inputs.iter().position(|input| input.name == name);
        let number = number.ok_or_else(|| ShapeError::Unknown { name: name.to_owned() })?;
        let input = &declared.inputs[number];
        let (expected, found) = (input.extents.len(), shape.len());
        if expected != found {
            return Err(ShapeError::Rank { input: name.to_owned(), number, expected, found });
        }
        for (dimension, (extent, size)) in input.extents.iter().zip(shape).enumerate() {
            if let Some(constraint) = declared.broken(extent, *size) {
                let at = declared.dimension(number, dimension);
                return Err(ShapeError::Extent { at, constraint, found: *size });
            }
        }
        let (is_set, dimensions) = &mut self.set[number];
        *is_set = true;
        dimensions.copy_from_slice(shape);
        Ok(())
    }

    /// Unsets all shapes, so that they follow from the symbols again.
    pub(crate) fn unset_all(&mut self) {
        self.set.iter_mut().for_each(|(is_set, _)| *is_set = false);
    }

    /// Finds the size of each symbol. Allocates only for errors.
    pub(crate) fn sizes(&self, declared: &Declared, sizes: &mut [u64]) -> Result<(), ShapeError> {
        sizes.fill(UNSET);
        while self.solve(declared, sizes)? {}
        for (size, symbol) in sizes.iter_mut().zip(&declared.symbols) {
            if let (UNSET, Some(default)) = (*size, symbol.default) {
                *size = default;
            }
        }
        if let Some(symbol) = sizes.iter().position(|size| *size == UNSET) {
            return Err(declared.unset(symbol));
        }
        let wrong = self.uses(declared).find(|used| value(used.extent, sizes) != Some(used.found.into()));
        wrong.map_or(Ok(()), |used| Err(self.conflict(declared, &used, sizes)))
    }

    /// Finds the sizes of symbols that are the only unknown in a dimension that is set. Returns whether there
    /// were any.
    fn solve(&self, declared: &Declared, sizes: &mut [u64]) -> Result<bool, ShapeError> {
        let mut is_any = false;
        for used in self.uses(declared) {
            let line = used.extent.line(&|symbol| Some(sizes[symbol]).filter(|size| *size != UNSET));
            let Some(LinearExtent { offset, unknown: Some((symbol, factor)) }) = line else { continue };
            let rest = i128::from(used.found) - offset;
            let solved = (rest % factor == 0).then(|| (rest / factor).try_into().ok()).flatten();
            let Symbol { least, most, .. } = &declared.symbols[symbol];
            let Some(solved) = solved.filter(|size| (*least..=*most).contains(size)) else {
                let at = declared.dimension(used.input, used.dimension);
                let constraint = declared.constraint(used.extent);
                return Err(ShapeError::Extent { at, constraint, found: used.found });
            };
            sizes[symbol] = solved;
            is_any = true;
        }
        Ok(is_any)
    }

    /// The error of a dimension that contradicts the others.
    fn conflict(&self, declared: &Declared, used: &Use<'_>, sizes: &[u64]) -> ShapeError {
        let at = declared.dimension(used.input, used.dimension);
        let expected = value(used.extent, sizes).map_or("no size".to_owned(), |size| size.to_string());
        let constraint = format!("{} = {expected}", declared.text(used.extent));
        let own = used.extent.symbols();
        let shares = |other: &Use<'_>| own.iter().any(|symbol| other.extent.has(*symbol));
        let is_itself = |other: &Use<'_>| (other.input, other.dimension) == (used.input, used.dimension);
        let other = self.uses(declared).find(|other| shares(other) && !is_itself(other));
        let other = other.as_ref().unwrap_or(used);
        let (other, found) = (declared.dimension(other.input, other.dimension), used.found);
        ShapeError::Conflict { at, constraint, found, other }
    }

    /// All dimensions with symbols whose size is set.
    fn uses<'s>(&'s self, declared: &'s Declared) -> impl Iterator<Item = Use<'s>> {
        let set = self.set.iter().enumerate().filter(|(_, shape)| shape.0);
        set.flat_map(|(input, (_, shape))| {
            let extents = declared.inputs[input].extents.iter().zip(shape).enumerate();
            let named = extents.filter(|(_, (extent, _))| !matches!(extent, Extent::Known(_)));
            named.map(move |(dimension, (extent, found))| Use { input, dimension, extent, found: *found })
        })
    }
}

/// The size of a dimension if all its symbols have sizes.
fn value(extent: &Extent, sizes: &[u64]) -> Option<i128> {
    extent.value(&|symbol| sizes[symbol])
}

/// The first symbol of inputs that no shapes determine: it only occurs in quotients, or in products of
/// unknown sizes.
pub fn undetermined(symbols: &[Symbol], inputs: &[TensorSpec]) -> Option<usize> {
    let extents: Vec<&Extent> = inputs.iter().flat_map(|input| &input.extents).collect();
    crate::extent::undetermined(symbols.len(), &extents)
}

impl Declared {
    pub(crate) fn new(symbols: Vec<Symbol>, inputs: Vec<TensorSpec>) -> Declared {
        let mut extents = inputs.iter().flat_map(|input| &input.extents);
        let is_unknown = |extent: &Extent| extent.symbols().iter().any(|index| *index >= symbols.len());
        assert!(!extents.any(is_unknown), "dimensions name symbols of the program");
        Declared { symbols, inputs }
    }

    /// Whether an input or output has the shape that follows from the symbols' sizes.
    pub(crate) fn has_shape(spec: &TensorSpec, sizes: &[u64], shape: &[u64]) -> bool {
        let wanted = spec.extents.iter().map(|extent| value(extent, sizes));
        wanted.eq(shape.iter().map(|size| Some(i128::from(*size))))
    }

    /// The constraint that a size violates; none if the dimension can have this size, considered alone.
    fn broken(&self, extent: &Extent, size: u64) -> Option<String> {
        let fits = match (extent, extent.line(&|_| None)) {
            (Extent::Known(known), _) => *known == size,
            (_, Some(LinearExtent { offset, unknown: Some((symbol, factor)) })) => {
                let Symbol { least, most, .. } = &self.symbols[symbol];
                let rest = i128::from(size) - offset;
                let range = i128::from(*least)..=i128::from(*most);
                rest % factor == 0 && range.contains(&(rest / factor))
            }
            _ => true,
        };
        (!fits).then(|| self.constraint(extent))
    }

    /// The constraint on a dimension.
    fn constraint(&self, extent: &Extent) -> String {
        let ranges = extent.symbols().into_iter().map(|symbol| self.symbols[symbol].range_text());
        let ranges = ranges.collect::<Vec<_>>().join(", ");
        match extent {
            Extent::Known(size) => size.to_string(),
            Extent::Symbol(_) => ranges,
            Extent::Expr(expr) => format!("{} with {ranges}", expr.text),
        }
    }

    /// Whether each symbol may have its size.
    ///
    /// # Errors
    /// The constraint of the first symbol that may not have its size.
    pub(crate) fn check_ranges(&self, sizes: &[u64]) -> Result<(), String> {
        let wrong = self.symbols.iter().zip(sizes).find(|(symbol, size)| !symbol.may_be(**size));
        wrong.map_or(Ok(()), |(symbol, _)| Err(format!("expected {}", symbol.range_text())))
    }

    /// The text of a dimension.
    fn text(&self, extent: &Extent) -> String {
        match extent {
            Extent::Known(size) => size.to_string(),
            Extent::Symbol(symbol) => self.symbols[*symbol].name.clone(),
            Extent::Expr(expr) => expr.text.clone(),
        }
    }

    fn dimension(&self, number: usize, dimension: usize) -> InputDimension {
        InputDimension { input: self.inputs[number].name.clone(), number, dimension }
    }

    /// The first dimension with a symbol.
    fn first(&self, symbol: usize) -> Option<InputDimension> {
        let place = |input: &TensorSpec| input.extents.iter().position(|extent| extent.has(symbol));
        let mut inputs = self.inputs.iter().enumerate();
        inputs.find_map(|(number, input)| Some(self.dimension(number, place(input)?)))
    }

    fn unset(&self, symbol: usize) -> ShapeError {
        let nowhere = InputDimension { input: String::new(), number: 0, dimension: 0 };
        let at = self.first(symbol).unwrap_or(nowhere);
        ShapeError::Unset { at, symbol: self.symbols[symbol].name.clone() }
    }

    pub(crate) fn refused(&self, sizes: &[u64], message: String) -> ShapeError {
        let sizes = self.symbols.iter().zip(sizes).enumerate().map(|(index, (symbol, size))| {
            let at = self.first(index).map_or(String::new(), |at| format!(" ({at})"));
            format!("{} = {size}{at}", symbol.name)
        });
        ShapeError::Refused { sizes: sizes.collect::<Vec<_>>().join(", "), message }
    }
}

impl fmt::Display for InputDimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InputDimension { input, number, dimension } = self;
        match input.is_empty() {
            true => write!(f, "axis {dimension} of input {number}"),
            false => write!(f, "axis {dimension} of input `{input}`"),
        }
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::Unknown { name } => write!(f, "the program has no input `{name}`"),
            ShapeError::Rank { input, expected, found, .. } => {
                write!(f, "input `{input}` has {expected} dimensions, and {found} were given")
            }
            ShapeError::Extent { at, constraint, found } => {
                write!(f, "{at} is {found}, expected {constraint}")
            }
            ShapeError::Conflict { at, constraint, found, other } => {
                write!(f, "{at} is {found}, expected {constraint}, which follows from {other}")
            }
            ShapeError::Unset { at, symbol } => {
                write!(f, "{at} has no size: set the shape, or say what {symbol} is")
            }
            ShapeError::Refused { sizes, message } => {
                write!(f, "the program can't be run with {sizes}: {message}")
            }
        }
    }
}

impl std::error::Error for ShapeError {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use SizeStep::{Add, Multiply, Number, Symbol};

    use super::*;
    use crate::extent::{SizeExpr, SizeStep};
    use crate::tensor::ElementKind;

    /// `x: [N, 4]`, `y: [M, N]`, `z: [2 * N + 1, N + K]` with N in 1..=512, M with default 1, and K of at
    /// least 0 with default 3.
    fn declared() -> Declared {
        let symbol =
            |name: &str, least, most, default| super::Symbol { name: name.to_owned(), least, most, default };
        let input =
            |name: &str, extents| TensorSpec { name: name.to_owned(), element: ElementKind::F32, extents };
        let expr = |steps: &[SizeStep], text: &str| {
            Extent::Expr(Arc::new(SizeExpr { steps: steps.to_vec(), text: text.to_owned() }))
        };
        let sums = vec![
            expr(&[Add, Multiply, Number(2), Symbol(0), Number(1)], "2 * N + 1"),
            expr(&[Add, Symbol(2), Symbol(0)], "K + N"),
        ];
        Declared {
            symbols: vec![
                symbol("N", 1, 512, None),
                symbol("M", 1, u64::MAX, Some(1)),
                symbol("K", 0, u64::MAX, Some(3)),
            ],
            inputs: vec![
                input("x", vec![Extent::Symbol(0), Extent::Known(4)]),
                input("y", vec![Extent::Symbol(1), Extent::Symbol(0)]),
                input("z", sums),
            ],
        }
    }

    /// The sizes that follow from shapes set one after the other, or the first error.
    #[track_caller]
    fn check(set: &[(&str, &[u64])], expected: Result<[u64; 3], &str>) {
        let declared = declared();
        let mut shapes = Shapes::new(&declared);
        let mut sizes = [0; 3];
        let set = set.iter().try_for_each(|(name, shape)| shapes.set(&declared, name, shape));
        let found = set.and_then(|()| shapes.sizes(&declared, &mut sizes)).map(|()| sizes);
        assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn a_symbol_takes_its_size_from_the_input_that_was_set() {
        check(&[("x", &[3, 4])], Ok([3, 1, 3]));
        check(&[("y", &[5, 3])], Ok([3, 5, 3]));
        check(&[("x", &[2, 4]), ("y", &[1, 7]), ("x", &[7, 4])], Ok([7, 1, 3]));
    }

    #[test]
    fn a_sum_is_solved_for_the_symbol_that_is_unknown() {
        check(&[("z", &[7, 3])], Ok([3, 1, 0]));
        check(&[("z", &[7, 10]), ("x", &[3, 4])], Ok([3, 1, 7]));
    }

    #[test]
    fn a_sum_that_no_size_gives_is_told() {
        let range = "expected 2 * N + 1 with 1 <= N <= 512";
        check(&[("z", &[6, 9])], Err(&format!("axis 0 of input `z` is 6, {range}")));
        check(&[("z", &[1, 9])], Err(&format!("axis 0 of input `z` is 1, {range}")));
        check(&[("z", &[1027, 9])], Err(&format!("axis 0 of input `z` is 1027, {range}")));
        let negative = "axis 1 of input `z` is 2, expected K + N with K >= 0, 1 <= N <= 512";
        check(&[("z", &[7, 2])], Err(negative));
        let conflict = "axis 0 of input `z` is 7, expected 2 * N + 1 = 9, which follows from axis 0 of \
                        input `x`";
        check(&[("x", &[4, 4]), ("z", &[7, 9])], Err(conflict));
    }

    #[test]
    fn a_fault_names_input_dimension_and_constraint() {
        let unset = "axis 0 of input `x` has no size: set the shape, or say what N is";
        check(&[], Err(unset));
        check(&[("w", &[1])], Err("the program has no input `w`"));
        check(&[("x", &[3])], Err("input `x` has 2 dimensions, and 1 were given"));
        check(&[("x", &[3, 5])], Err("axis 1 of input `x` is 5, expected 4"));
        let range = "axis 0 of input `x` is 513, expected 1 <= N <= 512";
        check(&[("x", &[513, 4])], Err(range));
        check(&[("y", &[0, 4])], Err("axis 0 of input `y` is 0, expected M >= 1"));
        let conflict = "axis 1 of input `y` is 4, expected N = 3, which follows from axis 0 of input \
                        `x`";
        check(&[("x", &[3, 4]), ("y", &[1, 4])], Err(conflict));
        let refused = declared().refused(&[3, 1, 0], "a window does not fit".to_owned()).to_string();
        let expected = "the program can't be run with N = 3 (axis 0 of input `x`), M = 1 (axis 0 of \
                        input `y`), K = 0 (axis 1 of input `z`): a window does not fit";
        assert_eq!(refused, expected);
    }

    #[test]
    fn a_shape_that_is_refused_changes_nothing() {
        let declared = declared();
        let mut shapes = Shapes::new(&declared);
        let mut sizes = [0; 3];
        shapes.set(&declared, "x", &[3, 4]).unwrap();
        shapes.set(&declared, "x", &[513, 4]).unwrap_err();
        shapes.sizes(&declared, &mut sizes).unwrap();
        assert_eq!(sizes, [3, 1, 3]);
        shapes.unset_all();
        shapes.sizes(&declared, &mut sizes).unwrap_err();
    }
}
