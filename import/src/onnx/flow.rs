//! Conversion of operators with graphs (If, Loop, Scan, FlexAttention).
//!
//! A graph reads values from outside by name, like other names. If the condition, or the number of
//! iterations, is known at import, the graph is inlined in place of the node (unrolled, once for each
//! iteration): a plan then knows every iteration, and sizes may change between them. Otherwise, and for many
//! iterations, the graph is a region of an operation of `scf` (see `super::rolled`).

use ir::dims::SizeArithmetic;
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
    /// Iterates a graph until a condition is false, or a number of times.
    Loop,
    /// Iterates a graph over the slices of its inputs.
    Scan,
    /// The same for each element of a batch, as in version 8.
    BatchedScan,
    /// An attention whose scores and weights are mapped by graphs.
    FlexAttention,
}

/// The greatest number of unrolled iterations.
const MOST_TURNS: u64 = 1024;

/// The limit of a loop's iterations.
#[derive(Clone, Copy)]
enum TripCount {
    /// None: only the condition ends the loop.
    Unlimited,
    /// A known number.
    Known(u64),
    /// A number that the program computes.
    Computed,
}

pub(super) fn graph<'m>(node: &'m NodeProto<'m>, name: &str) -> Result<&'m GraphProto<'m>, Refusal> {
    match node.attribute(name).map(|attribute| &attribute.value) {
        Some(AttributeValue::Graph(graph)) => Ok(graph),
        _ => Err(format!("`{name}` is left out, or no graph").into()),
    }
}

/// An operand that is required.
pub(super) fn given(operands: &[Option<Value>], index: usize) -> Result<Value, Refusal> {
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
            ControlOperator::FlexAttention => self.flex_attention(node, &operands, at),
        }
    }

    fn branch(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: Vec<Option<Value>>,
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let condition = self.call(node, operands.clone(), at, |call| Ok(call.known_ints(0).ok()))?;
        match condition.flatten().as_deref() {
            Some([0]) => self.inline(graph(node, "else_branch")?, &[], at),
            Some([_]) => self.inline(graph(node, "then_branch")?, &[], at),
            Some(_) => Err("a condition that is not one truth value".into()),
            None => self.choice(node, given(&operands, 0)?, at),
        }
    }

    /// Unrolls a loop with a known, small number of iterations, and makes a loop of others; if that is
    /// refused, the other way.
    fn turns(
        &mut self,
        node: &'m NodeProto<'m>,
        operands: &[Option<Value>],
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let most = self.call(node, operands.to_vec(), at, |call| Ok(call.known_ints(0)))?;
        let most = match most {
            Ok(None) => TripCount::Unlimited,
            Ok(Some(most)) => match most[..] {
                [most] => TripCount::Known(u64::try_from(most).unwrap_or(0)),
                _ => return Err("a number of iterations that is not one number".into()),
            },
            Err(_) => TripCount::Computed,
        };
        let state = |index: usize| match self.items.get(node.inputs[index]) {
            Some(item) => Ok(item.clone()),
            None => given(operands, index).map(NamedItem::Tensor),
        };
        let states = (2..operands.len()).map(state).collect::<Result<Vec<_>, _>>()?;
        let body = graph(node, "body")?;
        let is_short = matches!(most, TripCount::Known(most) if is_written_down(most));
        let attempt = self.attempt();
        let first = match is_short {
            true => self.turn_by_turn(node, (operands, most), states.clone(), at),
            false => self.rolled(node, body, operands, &states, at),
        };
        let Err(refusal) = first else { return first };
        self.take_back(attempt);
        let attempt = self.attempt();
        let second = match (is_short, most) {
            (true, _) => self.rolled(node, body, operands, &states, at),
            (false, TripCount::Computed) => return Err(refusal),
            (false, most) => self.turn_by_turn(node, (operands, most), states, at),
        };
        second.map_err(|other| {
            self.take_back(attempt);
            let [rolled, written] = if is_short { [&other, &refusal] } else { [&refusal, &other] };
            let message = format!("as a loop: {}; unrolled: {}", rolled.message, written.message);
            Refusal { message, help: rolled.help.clone().or_else(|| written.help.clone()) }
        })
    }

    fn turn_by_turn(
        &mut self,
        node: &'m NodeProto<'m>,
        (operands, most): (&[Option<Value>], TripCount),
        mut states: Vec<NamedItem>,
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let body = graph(node, "body")?;
        let mut condition = operands.get(1).copied().flatten();
        let mut shown: Vec<Vec<Value>> = Vec::new();
        for turn in 0.. {
            if matches!(most, TripCount::Known(most) if turn >= most) {
                break;
            }
            let holds = self.call(node, vec![condition], at, |call| call.known_ints(0))?;
            if holds.is_some_and(|holds| holds == [0]) {
                break;
            }
            if turn == MOST_TURNS {
                return Err(format!("a loop of more than {MOST_TURNS} iterations").into());
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

    /// Concatenates the scan outputs of all iterations along an axis.
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
                let first = *parts.first().ok_or("a loop without iterations, which has no scan outputs")?;
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
        let scan = Scanned::of(node, operands)?;
        let steps = self.steps_of(node, &scan, at)?;
        let is_short = steps.known().is_some_and(is_written_down);
        let attempt = self.attempt();
        let first = match is_short {
            true => self.scan_step_by_step(node, &scan, at),
            false => self.rolled_scan(node, &scan, steps, at),
        };
        let Err(refusal) = first else { return first };
        self.take_back(attempt);
        let attempt = self.attempt();
        let second = match is_short {
            true => self.rolled_scan(node, &scan, steps, at),
            false => self.scan_step_by_step(node, &scan, at),
        };
        second.map_err(|_| {
            self.take_back(attempt);
            refusal
        })
    }

    /// The number of slices of the scanned inputs.
    fn steps_of(
        &mut self,
        node: &'m NodeProto<'m>,
        scan: &Scanned<'m>,
        at: Location,
    ) -> Result<Dim, Refusal> {
        self.call(node, vec![], at, |call| {
            let mut steps = None;
            for (x, (axis, _)) in scan.scanned.iter().zip(&scan.inward) {
                let shape = call.dims(*x)?;
                let size = shape[call.axis(*axis, shape.len())?];
                if SizeArithmetic(call.ctx()).are_different(*steps.get_or_insert(size), size) {
                    return Err("inputs of different lengths".into());
                }
                call.require_equal(size, steps.unwrap_or(size));
            }
            steps.ok_or_else(|| "no input of which slices are taken".into())
        })
    }

    fn scan_step_by_step(
        &mut self,
        node: &'m NodeProto<'m>,
        scan: &Scanned<'m>,
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let mut slices = Vec::new();
        for (x, (axis, is_backward)) in scan.scanned.iter().zip(&scan.inward) {
            let all = self.call(node, vec![], at, |call| sliced(call, *x, *axis))?;
            slices.push(if *is_backward { all.into_iter().rev().collect() } else { all });
        }
        if slices.iter().any(|all| all.len() != slices[0].len()) {
            return Err("inputs of different lengths".into());
        }
        let (states, all) = self.steps(scan.body, scan.states.clone(), &slices, at)?;
        let stacked = self.stacked(node, at, (&all, scan.outward.len()), &scan.outward)?;
        Ok(states.into_iter().map(NamedItem::Tensor).chain(stacked).collect())
    }

    /// The states after the last iteration over slices, and the scan outputs of each.
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

    /// Scan of version 8: the first axis of all operands is a batch, and the second axis of scanned ones the
    /// steps.
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
        let inputs = scan_inputs(node, operands.len() - 1)?;
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

/// The scanned values of a Scan: for each its axis, and whether it is scanned backwards.
pub(super) struct Scanned<'m> {
    pub(super) body: &'m GraphProto<'m>,
    pub(super) states: Vec<Value>,
    pub(super) scanned: Vec<Value>,
    pub(super) inward: Vec<(i64, bool)>,
    pub(super) outward: Vec<(i64, bool)>,
}

/// The number of scan inputs of a Scan; at most `most` operands can be scan inputs.
fn scan_inputs(node: &NodeProto<'_>, most: usize) -> Result<usize, Refusal> {
    let count = node.int("num_scan_inputs")?.and_then(|count| usize::try_from(count).ok());
    let count = count.filter(|count| (1..=most).contains(count));
    Ok(count.ok_or("`num_scan_inputs` is no number of inputs")?)
}

impl<'m> Scanned<'m> {
    fn of(node: &'m NodeProto<'m>, operands: &[Option<Value>]) -> Result<Scanned<'m>, Refusal> {
        let body = graph(node, "body")?;
        let inputs = scan_inputs(node, operands.len())?;
        let operands =
            (0..operands.len()).map(|index| given(operands, index)).collect::<Result<Vec<_>, _>>()?;
        let (states, scanned) = operands.split_at(operands.len() - inputs);
        let shown =
            body.outputs.len().checked_sub(states.len()).ok_or("a body with fewer outputs than states")?;
        let inward = ways(node, ["scan_input_axes", "scan_input_directions"], inputs)?;
        let outward = ways(node, ["scan_output_axes", "scan_output_directions"], shown)?;
        Ok(Scanned { body, states: states.to_vec(), scanned: scanned.to_vec(), inward, outward })
    }
}

/// The number of iterations from which a loop takes less time and memory than unrolled graphs.
const MANY_TURNS: u64 = 64;

/// Whether this number of iterations is unrolled.
pub(super) fn is_written_down(turns: u64) -> bool {
    turns < MANY_TURNS
}

/// The value with another axis of size 1.
fn with_axis(call: &mut NodeConversion<'_, '_>, x: Value, axis: usize) -> Result<Value, Refusal> {
    let shape = call.dims(x)?;
    let apart = [&shape[..axis], &[Dim::Known(1)], &shape[axis..]].concat();
    call.reshape_to(x, &apart)
}

/// For each scanned value its axis, and whether it is scanned backwards.
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

/// The slices of a value along an axis, without that axis.
fn sliced(call: &mut NodeConversion<'_, '_>, x: Value, axis: i64) -> Results {
    let shape = call.dims(x)?;
    let axis = call.axis(axis, shape.len())?;
    let Dim::Known(count) = shape[axis] else {
        return Err("a number of iterations that is not known".into());
    };
    if count > MOST_TURNS {
        return Err(format!("a loop of more than {MOST_TURNS} iterations").into());
    }
    let rest = [&shape[..axis], &shape[axis + 1..]].concat();
    let slice = |index: u64| {
        let part = call.part(x, axis, Dim::Known(index), Dim::Known(1))?;
        call.reshape_to(part, &rest)
    };
    (0..count).map(slice).collect()
}
