//! How sequences of tensors are converted: they are lists of values while the model is read, and no more
//! after it. Their lengths and positions must be known then.

use ir::{Dim, Location, Value};

use super::call::{NodeConversion, Refusal, Results};
use super::lower::GraphLowering;
use super::model::{AttributeValue, NodeProto};

/// An operator that takes or makes sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceOperator {
    /// A sequence without elements.
    Empty,
    /// A sequence of the operands.
    Construct,
    /// A sequence with one more element.
    Insert,
    /// A sequence with one less.
    Erase,
    /// An element.
    At,
    /// The number of elements.
    Length,
    /// The parts of a tensor along an axis.
    Split,
    /// All elements along an axis.
    Concat,
    /// What a graph makes of each element.
    Map,
}

/// What a node makes: tensors, or sequences.
pub(super) enum NodeResults {
    Tensors(Vec<Value>),
    Sequences(Vec<Vec<Value>>),
}

/// Elements of a sequence that a tensor is split into, at most.
const MOST_PARTS: u64 = 1024;

impl<'m> GraphLowering<'m> {
    /// What an operator makes of sequences.
    pub(super) fn sequence(
        &mut self,
        operator: SequenceOperator,
        node: &'m NodeProto<'m>,
        operands: Vec<Option<Value>>,
        at: Location,
    ) -> Result<NodeResults, Refusal> {
        let one = |sequence: Vec<Value>| Ok(NodeResults::Sequences(vec![sequence]));
        let tensor = |value: Value| Ok(NodeResults::Tensors(vec![value]));
        match operator {
            SequenceOperator::Empty => one(Vec::new()),
            SequenceOperator::Construct => {
                let all = operands.into_iter().collect::<Option<Vec<Value>>>();
                one(all.ok_or("an element that is left out, or a sequence itself")?)
            }
            SequenceOperator::Insert => {
                let mut sequence = self.sequence_operand(node, 0)?;
                let element = operands.get(1).copied().flatten().ok_or("the element is left out")?;
                let end = sequence.len();
                let index = self.call(node, operands, at, |call| position(call, 2, end, end))?;
                sequence.insert(index, element);
                one(sequence)
            }
            SequenceOperator::Erase => {
                let mut sequence = self.sequence_operand(node, 0)?;
                let count = sequence.len();
                let last = count.checked_sub(1).ok_or("a sequence without elements")?;
                let index = self.call(node, operands, at, |call| position(call, 1, count, last))?;
                sequence.remove(index);
                one(sequence)
            }
            SequenceOperator::At => {
                let sequence = self.sequence_operand(node, 0)?;
                let count = sequence.len();
                let last = count.checked_sub(1).ok_or("a sequence without elements")?;
                let index = self.call(node, operands, at, |call| position(call, 1, count, last))?;
                tensor(sequence[index])
            }
            SequenceOperator::Length => {
                let count = self.sequence_operand(node, 0)?.len() as i64;
                tensor(self.call(node, operands, at, |call| call.int64_constant(&[count], &[]))?)
            }
            SequenceOperator::Split => one(self.call(node, operands, at, split)?),
            SequenceOperator::Concat => {
                let sequence = self.sequence_operand(node, 0)?;
                tensor(self.call(node, operands, at, |call| concat(call, sequence))?)
            }
            SequenceOperator::Map => self.map(node, &operands, at),
        }
    }

    /// The sequence that is an operand of a node.
    fn sequence_operand(&self, node: &NodeProto<'m>, index: usize) -> Result<Vec<Value>, Refusal> {
        let name = node.inputs.get(index).ok_or_else(|| format!("input {index} is left out"))?;
        let sequence = self.sequences.get(name).cloned();
        sequence.ok_or_else(|| format!("input {index} is a tensor, expected a sequence").into())
    }

    /// The graph is written down for each element; operands that are sequences give it their element, others
    /// the whole of themselves.
    fn map(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: &[Option<Value>],
        at: Location,
    ) -> Result<NodeResults, Refusal> {
        let Some(AttributeValue::Graph(body)) = node.attribute("body").map(|attribute| &attribute.value)
        else {
            return Err("`body` is left out, or no graph".into());
        };
        let count = self.sequence_operand(node, 0)?.len();
        let mut made = vec![Vec::with_capacity(count); body.outputs.len()];
        for turn in 0..count {
            let mut arguments = Vec::new();
            for (index, name) in node.inputs.iter().enumerate() {
                arguments.push(match self.sequences.get(name) {
                    Some(sequence) => *sequence.get(turn).ok_or("sequences of different lengths")?,
                    None => operands[index].ok_or_else(|| format!("input {index} is left out"))?,
                });
            }
            let results = self.inline(body, &arguments, at)?;
            made.iter_mut().zip(results).for_each(|(sequence, result)| sequence.push(result));
        }
        Ok(NodeResults::Sequences(made))
    }
}

/// The position that operand `index` says, up to `last` of `count` elements: from their end where negative.
/// The last one if it is left out.
fn position(
    call: &mut NodeConversion<'_, '_>,
    index: usize,
    count: usize,
    last: usize,
) -> Result<usize, Refusal> {
    if call.optional(index).is_none() {
        return Ok(last);
    }
    let known = call.known_ints(index)?;
    let Some([position]) = known.as_deref() else {
        return Err("a position that is not one known number".into());
    };
    let from_start = if *position < 0 { position + count as i64 } else { *position };
    let found = usize::try_from(from_start).ok().filter(|found| *found <= last);
    found.ok_or_else(|| format!("position {position} of {count}").into())
}

/// The parts of a tensor: of one size, of the given sizes, or its slices.
fn split(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    let axis = call.axis(call.node.int("axis")?.unwrap_or(0), shape.len())?;
    let Dim::Known(whole) = shape[axis] else { return Err("parts of an axis of unknown size".into()) };
    let are_slices = call.optional(1).is_none();
    let sizes = match call.known_ints(1)? {
        None if are_slices => vec![1; bounded(whole)?],
        None => return Err("sizes of parts that are not known".into()),
        Some(sizes) if call.rank(call.operand(1)?)? == 0 => {
            let [size] = sizes[..] else { return Err("sizes of parts that are not known".into()) };
            let size = u64::try_from(size).ok().filter(|size| *size > 0).ok_or("a part of no elements")?;
            let count = bounded(whole.div_ceil(size))? as u64;
            (0..count).map(|part| size.min(whole - part * size)).collect()
        }
        Some(sizes) => {
            let sizes = sizes.iter().map(|size| u64::try_from(*size).ok()).collect::<Option<Vec<u64>>>();
            sizes
                .filter(|sizes| {
                    sizes.iter().try_fold(0u64, |sum, size| sum.checked_add(*size)) == Some(whole)
                })
                .ok_or_else(|| format!("parts that are not {whole} elements together"))?
        }
    };
    let keeps = !are_slices || call.node.int("keepdims")?.unwrap_or(1) != 0;
    let rest = [&shape[..axis], &shape[axis + 1..]].concat();
    let mut start = 0;
    let mut parts = Vec::new();
    for size in sizes {
        let part = call.part(x, axis, Dim::Known(start), Dim::Known(size))?;
        parts.push(if keeps { part } else { call.reshape_to(part, &rest)? });
        start += size;
    }
    Ok(parts)
}

/// A number of parts that may be written down.
fn bounded(count: u64) -> Result<usize, Refusal> {
    match count {
        ..=MOST_PARTS => Ok(count as usize),
        _ => Err(format!("a sequence of more than {MOST_PARTS} parts").into()),
    }
}

fn concat(call: &mut NodeConversion<'_, '_>, mut parts: Vec<Value>) -> Result<Value, Refusal> {
    let first = *parts.first().ok_or("a sequence without elements")?;
    let is_new = call.node.int("new_axis")?.unwrap_or(0) != 0;
    let axis = call.node.int("axis")?.ok_or("`axis` is left out")?;
    let rank = call.rank(first)?;
    let axis = call.axis(axis, rank + usize::from(is_new))?;
    if is_new {
        for part in &mut parts {
            let shape = call.dims(*part)?;
            if shape.len() != rank {
                return Err("elements of different ranks".into());
            }
            let apart = [&shape[..axis], &[Dim::Known(1)], &shape[axis..]].concat();
            *part = call.reshape_to(*part, &apart)?;
        }
    }
    call.concatenated(&parts, axis)
}
