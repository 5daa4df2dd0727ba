//! The frames of a program at all its sizes, in compact form.
//!
//! A frame is a list of numbers, and most of them are the same at all sizes. The others are mostly
//! polynomials of the sizes (rows of a product, bytes of a tensor), or jump (the offset of a buffer). So
//! frames of one form, a *layout*, are a template and a few *columns*: varying numbers, each with the words
//! that equal it at all sizes. A column is a polynomial if that gives each number exactly, else a table.
//! `Sizes` of the crate `standalone` reads this encoding.
//!
//! Nothing is guessed: each frame comes from the usual compilation, and each number is reproduced exactly.

use std::collections::{BTreeMap, HashMap};

use codegen::{FrameCallee, SizedFrame};

use crate::columns::{Column, Grid};
use crate::{Fault, HEADER_WORDS};

/// The most combinations of sizes in an object file.
pub const MOST_COMBINATIONS: u64 = 1 << 14;

/// The most bytes of tables.
const MOST_BYTES: usize = 1 << 26;

/// A named size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeRange {
    /// Its name.
    pub name: String,
    /// The least size.
    pub least: u64,
    /// The greatest size.
    pub most: u64,
}

/// The frames of a program at all its possible sizes.
pub struct SizedFrames {
    pub(crate) ranges: Vec<SizeRange>,
    /// The shapes of inputs and outputs, with their sizes as texts.
    pub(crate) shapes: [Vec<Vec<String>>; 2],
    /// The layout of each combination of sizes and the row in it; none if the program can't have the sizes.
    members: Vec<Option<(u32, u32)>>,
    layouts: Vec<Layout>,
    /// The functions that frames call: the image of the caller, and the function.
    pub(crate) callees: Vec<(usize, FrameCallee)>,
    known_callees: HashMap<(usize, FrameCallee), i64>,
}

/// Frames of one image with the same number of words, and functions in the same words.
struct Layout {
    image: usize,
    functions: Vec<u32>,
    template: Vec<i64>,
    /// The numbers of each word that differs in some frames so far.
    varying: BTreeMap<usize, Vec<i64>>,
    /// The combinations of sizes.
    members: Vec<u64>,
}

impl SizedFrames {
    /// An empty set of frames of a program with these named sizes, and these shapes of inputs and outputs.
    ///
    /// # Errors
    /// If there are too many combinations of sizes.
    pub fn new(ranges: Vec<SizeRange>, shapes: [Vec<Vec<String>>; 2]) -> Result<SizedFrames, Fault> {
        if let Some(range) = ranges.iter().find(|range| range.most == u64::MAX) {
            let name = &range.name;
            return Err(Fault(format!(
                "an object file has a frame for each of its sizes, and `{name}` has no greatest one: give it \
                 one with `--dim '{name}<=64'`, or a number with `--dim {name}=64`"
            )));
        }
        let sizes = ranges.iter().map(|range| range.most - range.least + 1);
        let combinations = sizes.fold(1u64, u64::saturating_mul);
        if combinations > MOST_COMBINATIONS {
            return Err(Fault(format!(
                "an object file has a frame for each combination of its sizes, at most {MOST_COMBINATIONS}, \
                 and there are {combinations}: give fewer with `--dim 'NAME<=MOST'`"
            )));
        }
        Ok(SizedFrames {
            ranges,
            shapes,
            members: vec![None; combinations as usize],
            layouts: Vec::new(),
            callees: Vec::new(),
            known_callees: HashMap::new(),
        })
    }

    /// All combinations of sizes, the greatest first.
    pub fn combinations(&self) -> impl Iterator<Item = Vec<u64>> + use<> {
        let ranges = self.ranges.clone();
        (0..self.members.len() as u64).rev().map(move |number| sizes_of(&ranges, number))
    }

    /// Adds the code and frame at some sizes, in this image. `statuses_before` is the number of other
    /// statuses before its own.
    pub fn add(&mut self, sizes: &[u64], made: &SizedFrame, image: usize, statuses_before: usize) {
        let (words, functions) = self.words(made, image, statuses_before);
        let combination = number_of(&self.ranges, sizes);
        let is_like = |layout: &Layout| {
            (layout.image, layout.template.len(), &layout.functions) == (image, words.len(), &functions)
        };
        let known = self.layouts.iter().position(is_like);
        let number = known.unwrap_or_else(|| {
            let (varying, members) = (BTreeMap::new(), Vec::new());
            self.layouts.push(Layout { image, functions, template: words.clone(), varying, members });
            self.layouts.len() - 1
        });
        let row = self.layouts[number].add(combination, &words);
        self.members[combination as usize] = Some((number as u32, row));
    }

    /// The words of a frame in an object file, with functions as indices in the list of callees, and the
    /// indices of these words.
    fn words(&mut self, made: &SizedFrame, image: usize, statuses_before: usize) -> (Vec<i64>, Vec<u32>) {
        let tensors = made.inputs.iter().chain(&made.outputs);
        let entry = self.callee(image, made.entry);
        let mut words = vec![0, entry, statuses_before as i64, made.arena_bytes as i64];
        assert_eq!(words.len(), HEADER_WORDS, "the header is as long as `standalone` has it");
        words.extend(tensors.map(|tensor| tensor.size_bytes as i64));
        let start = words.len();
        words.extend(&made.frame.words);
        let mut functions = vec![1];
        for (word, callee) in &made.frame.callees {
            words[start + word] = self.callee(image, *callee);
            functions.push((start + word) as u32);
        }
        (words, functions)
    }

    fn callee(&mut self, image: usize, callee: FrameCallee) -> i64 {
        let key = match callee {
            FrameCallee::Generated(_) => (image, callee),
            FrameCallee::Kernel(..) | FrameCallee::Unknown => (0, callee),
        };
        *self.known_callees.entry(key).or_insert_with(|| {
            self.callees.push(key);
            self.callees.len() as i64 - 1
        })
    }

    /// The number of combinations of sizes that the program can have, and of all combinations.
    pub fn count(&self) -> (usize, usize) {
        (self.members.iter().flatten().count(), self.members.len())
    }

    /// The bytes of the largest frame.
    pub fn frame_bytes(&self) -> usize {
        self.layouts.iter().map(|layout| 8 * layout.template.len()).max().unwrap_or(0)
    }

    /// The encoding of all frames for `Sizes` of `standalone`: distances are in bytes from its start.
    ///
    /// # Errors
    /// If the encoding exceeds the most bytes of tables.
    pub(crate) fn tables(&self) -> Result<Vec<u8>, Fault> {
        const HEAD_BYTES: usize = 32;
        let mut tables = Tables { bytes: vec![0; HEAD_BYTES] };
        let ranges = tables.words(self.ranges.iter().flat_map(|range| [range.least, range.most]));
        let none = (u32::MAX, 0);
        let member = |member: &Option<(u32, u32)>| <[u32; 2]>::from(member.unwrap_or(none));
        let members = tables.halves(self.members.iter().flat_map(member));
        let mut layouts = Vec::new();
        for layout in &self.layouts {
            layouts.extend(layout.write(&self.ranges, &mut tables)?);
        }
        let layouts = tables.words(layouts.into_iter());
        let head = [self.ranges.len() as u64, ranges, members, layouts];
        let head: Vec<u8> = head.into_iter().flat_map(u64::to_le_bytes).collect();
        tables.bytes[..HEAD_BYTES].copy_from_slice(&head);
        Ok(tables.bytes)
    }
}

impl Layout {
    /// Adds the frame of a combination, and returns its row.
    fn add(&mut self, combination: u64, words: &[i64]) -> u32 {
        let row = self.members.len();
        for (word, (found, first)) in words.iter().zip(&self.template).enumerate() {
            if found != first && !self.varying.contains_key(&word) {
                self.varying.insert(word, vec![*first; row]);
            }
        }
        self.varying.iter_mut().for_each(|(word, numbers)| numbers.push(words[*word]));
        self.members.push(combination);
        row as u32
    }

    /// Writes the parts of the layout; returns the fields of `Layout` of `standalone`.
    fn write(&self, ranges: &[SizeRange], tables: &mut Tables) -> Result<[u64; 8], Fault> {
        let mut columns: BTreeMap<&[i64], Vec<u32>> = BTreeMap::new();
        for (word, numbers) in &self.varying {
            columns.entry(numbers).or_default().push(*word as u32);
        }
        let sizes: Vec<Vec<u64>> = self.members.iter().map(|number| sizes_of(ranges, *number)).collect();
        let grid = Grid::of(ranges, &sizes);
        let (mut fields, mut targets) = (Vec::new(), Vec::new());
        for (numbers, words) in columns {
            let (first, count) = (targets.len() as u64, words.len() as u64);
            targets.extend(words);
            let Column { kind, base, scale, data } = Column::of(numbers, &sizes, grid.as_ref());
            fields.extend([kind, base as u64, scale as u64, tables.bytes(&data), first, count]);
            if tables.bytes.len() > MOST_BYTES {
                return Err(Fault(format!(
                    "what sizes decide of the program takes more than {MOST_BYTES} bytes: give fewer sizes \
                     with `--dim 'NAME<=MOST'`"
                )));
            }
        }
        let origin = grid.map_or_else(|| vec![0; ranges.len()], |grid| grid.origin);
        let column_count = fields.len() as u64 / 6;
        Ok([
            self.template.len() as u64,
            tables.words(self.template.iter().map(|word| *word as u64)),
            tables.halves(self.functions.iter().copied()),
            self.functions.len() as u64,
            tables.words(fields.into_iter()),
            column_count,
            tables.halves(targets.into_iter()),
            tables.words(origin.into_iter()),
        ])
    }
}

/// Bytes to which lists are appended, each aligned to words.
struct Tables {
    bytes: Vec<u8>,
}

impl Tables {
    fn bytes(&mut self, bytes: &[u8]) -> u64 {
        let start = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(start, 0);
        self.bytes.extend(bytes);
        start as u64
    }

    fn words(&mut self, words: impl Iterator<Item = u64>) -> u64 {
        self.bytes(&words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
    }

    fn halves(&mut self, halves: impl Iterator<Item = u32>) -> u64 {
        self.bytes(&halves.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
    }
}

/// The sizes of a combination: digits of a mixed-radix number, with the last size as the last digit.
fn sizes_of(ranges: &[SizeRange], mut number: u64) -> Vec<u64> {
    let mut sizes = vec![0; ranges.len()];
    for (size, SizeRange { least, most, .. }) in sizes.iter_mut().zip(ranges).rev() {
        let count = most - least + 1;
        *size = least + number % count;
        number /= count;
    }
    sizes
}

fn number_of(ranges: &[SizeRange], sizes: &[u64]) -> u64 {
    let digits = ranges.iter().zip(sizes);
    digits
        .fold(0, |number, (SizeRange { least, most, .. }, size)| number * (most - least + 1) + (size - least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_combination_has_a_number() {
        let range = |name: &str, least, most| SizeRange { name: name.to_owned(), least, most };
        let ranges = [range("a", 1, 3), range("b", 5, 6)];
        let all: Vec<Vec<u64>> = (0..6).map(|number| sizes_of(&ranges, number)).collect();
        assert_eq!(all[..3], [[1, 5], [1, 6], [2, 5]]);
        assert!((0..6).all(|number| number_of(&ranges, &all[number as usize]) == number));
    }
}
