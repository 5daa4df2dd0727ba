//! Which sizes an input may have, and what follows from the shapes that a caller sets.
//!
//! The dimensions of inputs are numbers or *symbols*; a symbol has one size at a time, wherever it stands. So the shapes that are set
//! determine the symbols' sizes, or contradict each other: `x: [N, 4]`, `y: [N]` with `x` set to `[2, 4]` and `y` to `[3]`.

use std::fmt;

use crate::program::ElementKind;

/// A size that is chosen when a program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// The least size.
    pub least: u64,
    /// The greatest size.
    pub most: u64,
    /// The size where no input's shape says one.
    pub default: Option<u64>,
}

/// A dimension of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Always of this size.
    Known(u64),
    /// The size of the symbol of this index.
    Symbol(usize),
}

/// An input as it is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSpec {
    /// The name by which the model knows it.
    pub name: String,
    /// The kind of its elements.
    pub element: ElementKind,
    /// Its dimensions, outermost first.
    pub extents: Vec<Extent>,
}

/// Why shapes can't be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShapeError {
    /// No input has that name.
    Unknown {
        /// The name.
        name: String,
    },
    /// Too few or too many dimensions.
    Rank {
        /// The input.
        input: String,
        /// How many dimensions it has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// A size that a dimension can't have.
    Extent {
        /// The input.
        input: String,
        /// The dimension.
        dimension: usize,
        /// What is asked of it: `3`, `1 <= N <= 512`.
        constraint: String,
        /// What was given.
        found: u64,
    },
    /// Two sizes for one symbol.
    Conflict {
        /// The input.
        input: String,
        /// The dimension.
        dimension: usize,
        /// The symbol.
        symbol: String,
        /// What was given here.
        found: u64,
        /// The input that says otherwise, its dimension, and the size there.
        other: (String, usize, u64),
    },
    /// No shape says a symbol's size.
    Unset {
        /// The first input with the symbol.
        input: String,
        /// The dimension.
        dimension: usize,
        /// The symbol.
        symbol: String,
    },
    /// The model can't be run at these sizes.
    Refused {
        /// The symbols with their sizes: `N = 3, H = 5`.
        sizes: String,
        /// Why.
        message: String,
    },
}

/// The inputs of a program with their symbols.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) inputs: Vec<InputSpec>,
}

/// The shapes that a caller has set; those of other inputs follow from the symbols.
#[derive(Debug)]
pub(crate) struct Shapes {
    /// For each input, whether its shape was set, and its dimensions.
    set: Vec<(bool, Vec<u64>)>,
}

impl Shapes {
    pub(crate) fn new(signature: &Signature) -> Shapes {
        Shapes { set: signature.inputs.iter().map(|input| (false, vec![0; input.extents.len()])).collect() }
    }

    /// Sets an input's shape. If that fails, the shape is what it was before.
    pub(crate) fn set(&mut self, signature: &Signature, name: &str, shape: &[u64]) -> Result<(), ShapeError> {
        let index = signature.inputs.iter().position(|input| input.name == name);
        let index = index.ok_or_else(|| ShapeError::Unknown { name: name.to_owned() })?;
        let input = &signature.inputs[index];
        let (expected, found) = (input.extents.len(), shape.len());
        if expected != found {
            return Err(ShapeError::Rank { input: name.to_owned(), expected, found });
        }
        for (dimension, (extent, size)) in input.extents.iter().zip(shape).enumerate() {
            if let Some(constraint) = signature.broken(*extent, *size) {
                let (input, found) = (name.to_owned(), *size);
                return Err(ShapeError::Extent { input, dimension, constraint, found });
            }
        }
        let (is_set, dimensions) = &mut self.set[index];
        *is_set = true;
        dimensions.copy_from_slice(shape);
        Ok(())
    }

    /// Forgets an input's shape, so that it follows from the symbols again.
    pub(crate) fn unset_all(&mut self) {
        self.set.iter_mut().for_each(|(is_set, _)| *is_set = false);
    }

    /// Finds the size of each symbol. Allocates only for errors.
    pub(crate) fn sizes(&self, signature: &Signature, sizes: &mut [u64]) -> Result<(), ShapeError> {
        for (index, symbol) in signature.symbols.iter().enumerate() {
            sizes[index] = match (self.first(signature, index), symbol.default) {
                (Some((_, _, size)), _) | (None, Some(size)) => size,
                (None, None) => return Err(signature.unset(index)),
            };
        }
        for (input, dimension, symbol, found) in self.uses(signature) {
            if found != sizes[symbol] {
                let (first, at, size) = self.first(signature, symbol).expect("the symbol has a size");
                let name = |input: usize| signature.inputs[input].name.clone();
                let symbol = signature.symbols[symbol].name.clone();
                let other = (name(first), at, size);
                return Err(ShapeError::Conflict { input: name(input), dimension, symbol, found, other });
            }
        }
        Ok(())
    }

    /// Where a symbol first has a size: input, dimension, size.
    fn first(&self, signature: &Signature, symbol: usize) -> Option<(usize, usize, u64)> {
        let mut uses = self.uses(signature);
        uses.find(|used| used.2 == symbol).map(|(input, dimension, _, size)| (input, dimension, size))
    }

    /// All sizes of symbols that are set: input, dimension, symbol, size.
    fn uses(&self, signature: &Signature) -> impl Iterator<Item = (usize, usize, usize, u64)> {
        let set = self.set.iter().enumerate().filter(|(_, shape)| shape.0);
        set.flat_map(|(input, (_, shape))| {
            let extents = signature.inputs[input].extents.iter().zip(shape).enumerate();
            extents.filter_map(move |(dimension, (extent, size))| match extent {
                Extent::Symbol(symbol) => Some((input, dimension, *symbol, *size)),
                Extent::Known(_) => None,
            })
        })
    }
}

impl Signature {
    pub(crate) fn new(symbols: Vec<Symbol>, inputs: Vec<InputSpec>) -> Signature {
        let extents = inputs.iter().flat_map(|input| &input.extents);
        let is_unknown = |extent: &Extent| matches!(extent, Extent::Symbol(index) if *index >= symbols.len());
        assert!(!extents.into_iter().any(is_unknown), "dimensions name symbols of the program");
        Signature { symbols, inputs }
    }

    /// Whether a shape is what follows for an input from the symbols' sizes.
    pub(crate) fn has_shape(&self, input: &InputSpec, sizes: &[u64], shape: &[u64]) -> bool {
        let wanted = input.extents.iter().map(|extent| match extent {
            Extent::Known(size) => *size,
            Extent::Symbol(symbol) => sizes[*symbol],
        });
        wanted.eq(shape.iter().copied())
    }

    /// What a size breaks: none if the dimension can have it.
    fn broken(&self, extent: Extent, size: u64) -> Option<String> {
        match extent {
            Extent::Known(known) => (known != size).then(|| known.to_string()),
            Extent::Symbol(index) => {
                let Symbol { name, least, most, .. } = &self.symbols[index];
                let fits = (*least..=*most).contains(&size);
                (!fits).then(|| match *most {
                    u64::MAX => format!("{name} >= {least}"),
                    most => format!("{least} <= {name} <= {most}"),
                })
            }
        }
    }

    fn unset(&self, symbol: usize) -> ShapeError {
        let wanted = Extent::Symbol(symbol);
        let place = |input: &InputSpec| input.extents.iter().position(|extent| *extent == wanted);
        let found = self.inputs.iter().find_map(|input| Some((input.name.clone(), place(input)?)));
        let (input, dimension) = found.unwrap_or_default();
        ShapeError::Unset { input, dimension, symbol: self.symbols[symbol].name.clone() }
    }

    pub(crate) fn refused(&self, sizes: &[u64], message: String) -> ShapeError {
        let sizes = self.symbols.iter().zip(sizes).map(|(symbol, size)| format!("{} = {size}", symbol.name));
        ShapeError::Refused { sizes: sizes.collect::<Vec<_>>().join(", "), message }
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::Unknown { name } => write!(f, "the program has no input `{name}`"),
            ShapeError::Rank { input, expected, found } => {
                write!(f, "input `{input}` has {expected} dimensions, and {found} were given")
            }
            ShapeError::Extent { input, dimension, constraint, found } => {
                write!(f, "dimension {dimension} of input `{input}` is {found}, expected {constraint}")
            }
            ShapeError::Conflict { input, dimension, symbol, found, other: (name, at, size) } => write!(
                f,
                "dimension {dimension} of input `{input}` is {found}, expected {symbol} = {size} as in \
                 dimension {at} of input `{name}`"
            ),
            ShapeError::Unset { input, dimension, symbol } => {
                write!(f, "dimension {dimension} of input `{input}`, {symbol}, has no size: set the shape")
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
    use super::*;

    /// `x: [N, 4]`, `y: [M, N]` with N in 1..=512 and M = 1 unless set.
    fn signature() -> Signature {
        let symbol = |name: &str, most, default| Symbol { name: name.to_owned(), least: 1, most, default };
        let input =
            |name: &str, extents| InputSpec { name: name.to_owned(), element: ElementKind::F32, extents };
        Signature {
            symbols: vec![symbol("N", 512, None), symbol("M", u64::MAX, Some(1))],
            inputs: vec![
                input("x", vec![Extent::Symbol(0), Extent::Known(4)]),
                input("y", vec![Extent::Symbol(1), Extent::Symbol(0)]),
            ],
        }
    }

    /// The sizes that follow from shapes set one after the other, or what is said of the first fault.
    fn check(set: &[(&str, &[u64])], expected: Result<[u64; 2], &str>) {
        let signature = signature();
        let mut shapes = Shapes::new(&signature);
        let mut sizes = [0; 2];
        let set = set.iter().try_for_each(|(name, shape)| shapes.set(&signature, name, shape));
        let found = set.and_then(|()| shapes.sizes(&signature, &mut sizes)).map(|()| sizes);
        assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn a_symbol_takes_its_size_from_the_input_that_was_set() {
        check(&[("x", &[3, 4])], Ok([3, 1]));
        check(&[("y", &[5, 3])], Ok([3, 5]));
        check(&[("x", &[2, 4]), ("y", &[1, 7]), ("x", &[7, 4])], Ok([7, 1]));
    }

    #[test]
    fn a_fault_names_input_dimension_and_constraint() {
        check(&[], Err("dimension 0 of input `x`, N, has no size: set the shape"));
        check(&[("z", &[1])], Err("the program has no input `z`"));
        check(&[("x", &[3])], Err("input `x` has 2 dimensions, and 1 were given"));
        check(&[("x", &[3, 5])], Err("dimension 1 of input `x` is 5, expected 4"));
        check(&[("x", &[513, 4])], Err("dimension 0 of input `x` is 513, expected 1 <= N <= 512"));
        check(&[("y", &[0, 4])], Err("dimension 0 of input `y` is 0, expected M >= 1"));
        let conflict = "dimension 1 of input `y` is 4, expected N = 3 as in dimension 0 of input `x`";
        check(&[("x", &[3, 4]), ("y", &[1, 4])], Err(conflict));
    }

    #[test]
    fn a_shape_that_is_refused_changes_nothing() {
        let signature = signature();
        let mut shapes = Shapes::new(&signature);
        let mut sizes = [0; 2];
        shapes.set(&signature, "x", &[3, 4]).unwrap();
        shapes.set(&signature, "x", &[513, 4]).unwrap_err();
        shapes.sizes(&signature, &mut sizes).unwrap();
        assert_eq!(sizes, [3, 1]);
        shapes.unset_all();
        shapes.sizes(&signature, &mut sizes).unwrap_err();
    }
}
