//! Conversion of sequences of tensors and of optionals: they are lists of values during the import, and do
//! not exist after it. Their lengths and positions must be known then, and whether an optional is empty.

use ir::dims;
use ir::{Dim, Location, Value};

use super::call::{NodeConversion, Refusal, Results};
use super::convert::{shape, split as parts};
use super::lower::GraphLowering;
use super::model::{AttributeValue, NodeProto};

/// An operator on sequences or optionals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceOperator {
    /// A sequence without elements.
    Empty,
    /// A sequence of the operands.
    Construct,
    /// A sequence with one more element.
    Insert,
    /// A sequence with one element less.
    Erase,
    /// An element.
    At,
    /// The number of elements.
    Length,
    /// The parts of a tensor along an axis.
    Split,
    /// All elements along an axis.
    Concat,
    /// The results of a graph for each element.
    Map,
    /// An optional: of the operand, or empty.
    Optional,
    /// The content of an optional.
    Get,
    /// Whether an optional is not empty.
    Has,
}

/// The meaning of a name. An optional that is not empty is represented by its content.
#[derive(Clone, Debug)]
pub(super) enum NamedItem {
    Tensor(Value),
    Sequence(Vec<Value>),
    /// A sequence with only the number of elements known, and the reason.
    Counted(usize, Refusal),
    /// An optional that is empty.
    Nothing,
}

impl NamedItem {
    /// The tensors in it.
    pub(super) fn values(&self) -> &[Value] {
        match self {
            NamedItem::Tensor(value) => std::slice::from_ref(value),
            NamedItem::Sequence(values) => values,
            NamedItem::Counted(..) | NamedItem::Nothing => &[],
        }
    }
}

/// The values of items, if all are tensors.
pub(super) fn tensors(items: Vec<NamedItem>) -> Results {
    let tensor = |item| match item {
        NamedItem::Tensor(value) => Ok(value),
        _ => Err("a graph makes a sequence, or nothing, in the place of a tensor".into()),
    };
    items.into_iter().map(tensor).collect()
}

/// The greatest number of elements of a sequence that a tensor is split into.
const MOST_PARTS: u64 = 1024;

impl<'m> GraphLowering<'m> {
    /// The results of an operator on sequences.
    pub(super) fn sequence(
        &mut self,
        operator: SequenceOperator,
        node: &'m NodeProto<'m>,
        operands: Vec<Option<Value>>,
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let one = |sequence: Vec<Value>| Ok(vec![NamedItem::Sequence(sequence)]);
        let tensor = |value: Value| Ok(vec![NamedItem::Tensor(value)]);
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
                let count = self.length(node)?;
                tensor(self.call(node, operands, at, |call| call.int64_constant(&[count], &[]))?)
            }
            SequenceOperator::Split => self.parts(node, operands, at),
            SequenceOperator::Concat => {
                let sequence = self.sequence_operand(node, 0)?;
                tensor(self.call(node, operands, at, |call| concat(call, sequence))?)
            }
            SequenceOperator::Map => self.map(node, &operands, at),
            SequenceOperator::Optional => Ok(vec![self.first(node).unwrap_or(NamedItem::Nothing)]),
            SequenceOperator::Get => match self.first(node) {
                None | Some(NamedItem::Nothing) => Err("an optional that is empty".into()),
                Some(item) => Ok(vec![item]),
            },
            SequenceOperator::Has => {
                let held = !matches!(self.first(node), None | Some(NamedItem::Nothing));
                tensor(self.call(node, operands, at, |call| shape::has_element(call, held.into()))?)
            }
        }
    }

    /// The first operand of a node, unless it is omitted.
    fn first(&mut self, node: &NodeProto<'m>) -> Option<NamedItem> {
        let name = node.inputs.first().copied().filter(|name| !name.is_empty())?;
        self.item(name)
    }

    /// The number of elements of the first operand of a node.
    fn length(&mut self, node: &NodeProto<'m>) -> Result<i64, Refusal> {
        match self.first(node) {
            Some(NamedItem::Counted(count, _)) => Ok(count as i64),
            _ => Ok(self.sequence_operand(node, 0)?.len() as i64),
        }
    }

    /// The parts of a tensor, or only their number if nothing else is known.
    fn parts(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: Vec<Option<Value>>,
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let count = self.call(node, operands.clone(), at, |call| number_of_parts(call))?;
        let item = match (self.call(node, operands, at, split), count) {
            (Ok(parts), _) => NamedItem::Sequence(parts),
            (Err(refusal), Some(count)) => NamedItem::Counted(count, refusal),
            (Err(refusal), None) => return Err(refusal),
        };
        Ok(vec![item])
    }

    /// An operand of the node that must be a sequence.
    fn sequence_operand(&self, node: &NodeProto<'m>, index: usize) -> Result<Vec<Value>, Refusal> {
        let name = node.inputs.get(index).ok_or_else(|| format!("input {index} is left out"))?;
        match self.items.get(name) {
            Some(NamedItem::Sequence(sequence)) => Ok(sequence.clone()),
            Some(NamedItem::Counted(_, refusal)) => Err(refusal.clone()),
            Some(_) => Err(format!("input {index} is an optional that is empty").into()),
            None => Err(format!("input {index} is a tensor, expected a sequence").into()),
        }
    }

    /// Inlines the graph for each element. Operands that are sequences pass their element, other operands
    /// their value.
    fn map(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: &[Option<Value>],
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let Some(AttributeValue::Graph(body)) = node.attribute("body").map(|attribute| &attribute.value)
        else {
            return Err("`body` is left out, or no graph".into());
        };
        let count = self.sequence_operand(node, 0)?.len();
        for item in node.inputs.iter().filter_map(|name| self.items.get(name)) {
            match item {
                NamedItem::Counted(_, refusal) => return Err(refusal.clone()),
                NamedItem::Sequence(values) if values.len() != count => {
                    return Err("sequences of different lengths".into());
                }
                _ => {}
            }
        }
        let mut made = vec![Vec::with_capacity(count); body.outputs.len()];
        for turn in 0..count {
            let mut arguments = Vec::new();
            for (index, name) in node.inputs.iter().enumerate() {
                arguments.push(NamedItem::Tensor(match self.items.get(name) {
                    Some(item) => *item.values().get(turn).ok_or("sequences of different lengths")?,
                    None => operands[index].ok_or_else(|| format!("input {index} is left out"))?,
                }));
            }
            let results = tensors(self.inline(body, &arguments, at)?)?;
            made.iter_mut().zip(results).for_each(|(sequence, result)| sequence.push(result));
        }
        Ok(made.into_iter().map(NamedItem::Sequence).collect())
    }
}

/// The position given by operand `index`, up to `last` of `count` elements; a negative one counts from the
/// end. If omitted, it is the last one.
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
    let are_slices = call.optional(1).is_none();
    let whole = || shape[axis].known().ok_or("parts of an axis whose size is not known");
    let sizes = match call.known_ints(1)? {
        None if are_slices => vec![1; bounded(whole()?)?],
        None => return Err("sizes of parts that are not known".into()),
        Some(sizes) if call.rank(call.operand(1)?)? == 0 => {
            let [size] = sizes[..] else { return Err("sizes of parts that are not known".into()) };
            let whole = whole()?;
            let size = u64::try_from(size).ok().filter(|size| *size > 0).ok_or("a part of no elements")?;
            let count = bounded(whole.div_ceil(size))? as u64;
            (0..count).map(|part| size.min(whole - part * size)).collect()
        }
        Some(sizes) => {
            let sizes = sizes.into_iter().map(|size| dims::constant(call.ctx(), size)).collect();
            let parts = parts::given_parts(call, shape[axis], sizes)?;
            let known = parts.iter().map(|part| part.known()).collect::<Option<Vec<u64>>>();
            known.ok_or("a part of less than no elements")?
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

/// The number of parts given by a list of sizes, for any sizes.
fn number_of_parts(call: &NodeConversion<'_, '_>) -> Result<Option<usize>, Refusal> {
    let Some(sizes) = call.optional(1) else { return Ok(None) };
    let count = match call.dims(sizes)?[..] {
        [size] => size.known(),
        _ => None,
    };
    count.map(bounded).transpose()
}

/// A number of parts that is small enough to be unrolled.
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
