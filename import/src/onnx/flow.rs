//! How operators with graphs (If, Loop, Scan) are converted: the graphs are written down in the place of the
//! node, once for each turn.
//!
//! What a graph reads from around it are names like others. A condition, and a number of turns, must be known
//! when the model is read; a plan then knows every turn.

use ir::{Dim, Location, Value};

use super::call::{NodeConversion, Refusal, Results};
use super::lower::GraphLowering;
use super::model::{AttributeValue, GraphProto, NodeProto};
use super::sequences::{NamedItem, tensors};

/// An operator with graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlOperator {
    /// One of two graphs.
    If,
    /// A graph until a condition does not hold, or as often as a number says.
    Loop,
    /// A graph for each slice of its inputs.
    Scan,
    /// The same for each element of a batch, as in version 8.
    BatchedScan,
}

/// Turns of a loop, at most.
const MOST_TURNS: u64 = 1024;

fn graph<'m>(node: &'m NodeProto<'m>, name: &str) -> Result<&'m GraphProto<'m>, Refusal> {
    match node.attribute(name).map(|attribute| &attribute.value) {
        Some(AttributeValue::Graph(graph)) => Ok(graph),
        _ => Err(format!("`{name}` is left out, or no graph").into()),
    }
}

/// An operand that must be there.
fn given(operands: &[Option<Value>], index: usize) -> Result<Value, Refusal> {
    operands.get(index).copied().flatten().ok_or_else(|| format!("input {index} is left out").into())
}

impl<'m> GraphLowering<'m> {
    /// The results of an operator with graphs.
    pub(super) fn flow(
        &mut self,
        flow: ControlOperator,
        node: &'m NodeProto<'m>,
        operands: Vec<Option<Value>>,
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        match flow {
            ControlOperator::If => self.branch(node, operands, at),
            ControlOperator::Loop => self.turns(node, &operands, at),
            ControlOperator::Scan => self.scan(node, &operands, at),
            ControlOperator::BatchedScan => self.batched_scan(node, &operands, at),
        }
    }

    fn branch(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: Vec<Option<Value>>,
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let condition = self.call(node, operands, at, |call| call.known_ints(0))?;
        let Some([condition]) = condition.as_deref() else {
            return Err("a condition that is not one truth value".into());
        };
        let taken = if *condition == 0 { "else_branch" } else { "then_branch" };
        self.inline(graph(node, taken)?, &[], at)
    }

    fn turns(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: &[Option<Value>],
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let body = graph(node, "body")?;
        let most = self.call(node, operands.to_vec(), at, |call| call.known_ints(0))?;
        let most = match most.as_deref() {
            None => None,
            Some([most]) => Some(u64::try_from(*most).unwrap_or(0)),
            Some(_) => return Err("a number of turns that is not one number".into()),
        };
        let mut condition = operands.get(1).copied().flatten();
        let state = |index: usize| match self.items.get(node.inputs[index]) {
            Some(item) => Ok(item.clone()),
            None => given(operands, index).map(NamedItem::Tensor),
        };
        let mut states = (2..operands.len()).map(state).collect::<Result<Vec<_>, _>>()?;
        let mut shown: Vec<Vec<Value>> = Vec::new();
        for turn in 0.. {
            if most.is_some_and(|most| turn >= most) {
                break;
            }
            let holds = self.call(node, vec![condition], at, |call| call.known_ints(0))?;
            if holds.is_some_and(|holds| holds == [0]) {
                break;
            }
            if turn == MOST_TURNS || (most.is_none() && condition.is_none()) {
                return Err(format!("a loop of more than {MOST_TURNS} turns").into());
            }
            let numbers = self.call(node, vec![], at, |call| {
                let number = call.int64_constant(&[turn.cast_signed()], &[])?;
                let one = call.scalar_like(1.0, number)?;
                Ok([number, call.two("nn.eq", one, one)?])
            })?;
            let numbers = [numbers[0], condition.unwrap_or(numbers[1])].map(NamedItem::Tensor);
            let arguments = [&numbers[..], &states[..]].concat();
            let mut results = self.inline(body, &arguments, at)?;
            if results.len() < 1 + states.len() {
                return Err("a body with fewer outputs than states".into());
            }
            let slices = results.split_off(1 + states.len());
            states = results.split_off(1);
            condition = tensors(results)?.first().copied();
            shown.push(tensors(slices)?);
        }
        let count = body.outputs.len().saturating_sub(1 + states.len());
        states.extend(self.stacked(node, at, (&shown, count), &[])?);
        Ok(states)
    }

    /// What each turn showed, one after the other along an axis.
    fn stacked(
        &mut self,
        node: &'m NodeProto<'m>,
        at: Location,
        (shown, count): (&[Vec<Value>], usize),
        axes: &[(i64, bool)],
    ) -> Result<Vec<NamedItem>, Refusal> {
        let mut all = Vec::with_capacity(count);
        for index in 0..count {
            let mut parts: Vec<Value> = shown.iter().map(|slices| slices[index]).collect();
            let (axis, is_backward) = axes.get(index).copied().unwrap_or((0, false));
            if is_backward {
                parts.reverse();
            }
            let stacked = self.call(node, vec![], at, |call| {
                let first = *parts.first().ok_or("a loop of no turns, which shows nothing")?;
                let rank = call.rank(first)?;
                let axis = call.axis(axis, rank + 1)?;
                for part in &mut parts {
                    *part = with_axis(call, *part, axis)?;
                }
                call.concatenated(&parts, axis)
            })?;
            all.push(NamedItem::Tensor(stacked));
        }
        Ok(all)
    }

    fn scan(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: &[Option<Value>],
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let body = graph(node, "body")?;
        let inputs = node.int("num_scan_inputs")?.and_then(|count| usize::try_from(count).ok());
        let inputs = inputs.filter(|count| (1..=operands.len()).contains(count));
        let inputs = inputs.ok_or("`num_scan_inputs` is no number of inputs")?;
        let operands =
            (0..operands.len()).map(|index| given(operands, index)).collect::<Result<Vec<_>, _>>()?;
        let (states, scanned) = operands.split_at(operands.len() - inputs);
        let states = states.to_vec();
        let shown =
            body.outputs.len().checked_sub(states.len()).ok_or("a body with fewer outputs than states")?;
        let axes = ways(node, ["scan_input_axes", "scan_input_directions"], inputs)?;
        let outward = ways(node, ["scan_output_axes", "scan_output_directions"], shown)?;
        let mut slices = Vec::new();
        let mut steps = None;
        for (x, (axis, is_backward)) in scanned.iter().zip(axes) {
            let all = self.call(node, vec![], at, |call| sliced(call, *x, axis))?;
            if *steps.get_or_insert(all.len()) != all.len() {
                return Err("inputs of different lengths".into());
            }
            slices.push(if is_backward { all.into_iter().rev().collect() } else { all });
        }
        let (states, all) = self.steps(body, states, &slices, at)?;
        let stacked = self.stacked(node, at, (&all, shown), &outward)?;
        Ok(states.into_iter().map(NamedItem::Tensor).chain(stacked).collect())
    }

    /// The states after a graph has run for each slice, and what it showed each time.
    fn steps(
        &mut self,
        body: &'m GraphProto<'m>,
        mut states: Vec<Value>,
        slices: &[Vec<Value>],
        at: Location,
    ) -> Result<(Vec<Value>, Vec<Vec<Value>>), Refusal> {
        let mut all = Vec::new();
        for step in 0..slices.first().map_or(0, Vec::len) {
            let arguments = states.iter().copied().chain(slices.iter().map(|all| all[step]));
            let arguments: Vec<NamedItem> = arguments.map(NamedItem::Tensor).collect();
            let mut results = tensors(self.inline(body, &arguments, at)?)?;
            all.push(results.split_off(states.len()));
            states = results;
        }
        Ok((states, all))
    }

    /// Scan of version 8: all operands have a batch as their first axis, and what is scanned the steps as
    /// their second.
    fn batched_scan(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: &[Option<Value>],
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let body = graph(node, "body")?;
        if operands[0].is_some() {
            return Err("sequences of different lengths, expected as many steps for all".into());
        }
        if node.ints("directions")?.is_some_and(|all| all.iter().any(|direction| *direction != 0)) {
            return Err("a scan from the last step on".into());
        }
        let inputs = node.int("num_scan_inputs")?.and_then(|count| usize::try_from(count).ok());
        let inputs = inputs.filter(|count| (1..operands.len()).contains(count));
        let inputs = inputs.ok_or("`num_scan_inputs` is no number of inputs")?;
        let operands =
            (1..operands.len()).map(|index| given(operands, index)).collect::<Result<Vec<_>, _>>()?;
        let count = operands.len() - inputs;
        let by_element = operands.iter().map(|x| self.call(node, vec![], at, |call| sliced(call, *x, 0)));
        let by_element = by_element.collect::<Result<Vec<Vec<Value>>, _>>()?;
        let batch = by_element[0].len();
        if by_element.iter().any(|elements| elements.len() != batch) || body.outputs.len() < count {
            return Err("inputs of different batches, or a body with fewer outputs than states".into());
        }
        let mut made = vec![Vec::new(); body.outputs.len()];
        for element in 0..batch {
            let of = |operand: &Vec<Value>| operand[element];
            let states = by_element[..count].iter().map(of).collect();
            let scanned = by_element[count..].iter().map(of);
            let slices = scanned.map(|x| self.call(node, vec![], at, |call| sliced(call, x, 0)));
            let slices = slices.collect::<Result<Vec<Vec<Value>>, _>>()?;
            if slices.iter().any(|all| all.len() != slices[0].len()) {
                return Err("inputs of different lengths".into());
            }
            let (states, all) = self.steps(body, states, &slices, at)?;
            let shown = self.stacked(node, at, (&all, body.outputs.len() - count), &[])?;
            let results = states.into_iter().chain(tensors(shown)?);
            made.iter_mut().zip(results).for_each(|(all, result)| all.push(result));
        }
        let joined = made.into_iter().map(|mut parts| {
            self.call(node, vec![], at, |call| {
                for part in &mut parts {
                    *part = with_axis(call, *part, 0)?;
                }
                call.concatenated(&parts, 0)
            })
        });
        joined.map(|result| result.map(NamedItem::Tensor)).collect()
    }
}

/// The value with another axis of one element.
fn with_axis(call: &mut NodeConversion<'_, '_>, x: Value, axis: usize) -> Result<Value, Refusal> {
    let shape = call.dims(x)?;
    let apart = [&shape[..axis], &[Dim::Known(1)], &shape[axis..]].concat();
    call.reshape_to(x, &apart)
}

/// For each scanned value its axis, and whether its last slice comes first.
fn ways(
    node: &NodeProto<'_>,
    [axes, directions]: [&str; 2],
    count: usize,
) -> Result<Vec<(i64, bool)>, Refusal> {
    let list = |name: &str| -> Result<Vec<i64>, Refusal> {
        let all = node.ints(name)?.map_or_else(|| vec![0; count], <[i64]>::to_vec);
        if all.len() == count { Ok(all) } else { Err(format!("`{name}` has not {count} numbers").into()) }
    };
    let directions = list(directions)?;
    Ok(list(axes)?.into_iter().zip(directions.into_iter().map(|direction| direction == 1)).collect())
}

/// The slices of a value along an axis, which is gone then.
fn sliced(call: &mut NodeConversion<'_, '_>, x: Value, axis: i64) -> Results {
    let shape = call.dims(x)?;
    let axis = call.axis(axis, shape.len())?;
    let Dim::Known(count) = shape[axis] else { return Err("a number of turns that is not known".into()) };
    if count > MOST_TURNS {
        return Err(format!("a loop of more than {MOST_TURNS} turns").into());
    }
    let rest = [&shape[..axis], &shape[axis + 1..]].concat();
    let slice = |index: u64| {
        let part = call.part(x, axis, Dim::Known(index), Dim::Known(1))?;
        call.reshape_to(part, &rest)
    };
    (0..count).map(slice).collect()
}
