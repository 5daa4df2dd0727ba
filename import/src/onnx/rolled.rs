//! If, Loop and Scan as operations that decide at run time; their graphs are regions.
//!
//! If only the number of iterations ends a Loop, it is counted (`scf.for`). Other Loops test their condition
//! before each iteration (`scf.while`), with the iteration's index and the condition among the carried
//! values. The scan output of an iteration is written into its slice of a further carried value, with as many
//! slices as there may be iterations: that number must be known, or follow from named sizes. If the condition
//! may end the loop earlier, the size of the scan outputs depends on data (see [`super::open`]).
//!
//! States keep their types in all iterations, and the branches of an If return the same types.

use ir::builder::InsertPoint;
use ir::dims;
use ir::{Dim, Location, OpSpec, Type, Value};

use super::call::{NodeConversion, Refusal, Results};
use super::flow::{Scanned, graph};
use super::lower::GraphLowering;
use super::model::{GraphProto, NodeProto};
use super::open::OpenAxis;
use super::sequences::{NamedItem, tensors};

/// A loop under construction.
struct LoopParts<'m, 'a> {
    node: &'m NodeProto<'m>,
    body: &'m GraphProto<'m>,
    at: Location,
    /// The states before the first iteration.
    initial: &'a [Value],
    /// The number of iterations, as a value of rank 0, if one is given.
    most: Option<Value>,
    /// The greatest number of iterations.
    bound: Option<Dim>,
}

/// The greatest number of slices of scan outputs; a limit above it counts as none.
const MOST_SHOWN: u64 = 1 << 24;

/// Scan outputs, written into carried values: before the loop and after an iteration.
#[derive(Default)]
struct ShownSlices {
    initial: Vec<Value>,
    written: Vec<Value>,
}

impl<'m> GraphLowering<'m> {
    /// An If whose condition is computed at run time.
    pub(super) fn choice(
        &mut self,
        node: &'m NodeProto<'m>,
        condition: Value,
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let condition = self.call(node, vec![], at, |call| {
            call.number_of(condition).map_err(|_| "a condition that is not one truth value".into())
        })?;
        let (open, blocks) = self.open_op("scf.if", 2, at);
        let mut made: Vec<Vec<Type>> = Vec::new();
        for (name, block) in ["then_branch", "else_branch"].into_iter().zip(blocks) {
            let branch = graph(node, name)?;
            made.push(self.fill((open, block), |lowering| {
                let values = tensors(lowering.inline(branch, &[], at)?)?;
                lowering.call(node, vec![], at, |call| call.end_region(&values, None))?;
                Ok(lowering.types(&values))
            })?);
        }
        if made[0] != made[1] {
            let [then, otherwise] = [0, 1].map(|index| self.type_list(&made[index]));
            return Err(format!("branches that make {then} and {otherwise}, expected the same types").into());
        }
        let op = self.close_op(open, &[condition], &made[0])?;
        Ok(self.body.results(op).map(NamedItem::Tensor).collect())
    }

    fn types(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|value| self.body.ty(*value)).collect()
    }

    fn type_list(&self, types: &[Type]) -> String {
        let texts: Vec<String> =
            types.iter().map(|ty| format!("`{}`", ir::text::type_text(self.ctx, *ty))).collect();
        texts.join(", ")
    }

    /// A Loop as an operation.
    pub(super) fn rolled(
        &mut self,
        node: &'m NodeProto<'m>,
        body: &'m GraphProto<'m>,
        operands: &[Option<Value>],
        states: &[NamedItem],
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let initial = tensors(states.to_vec())
            .map_err(|_| Refusal::from("a state that is a sequence or an empty optional"))?;
        let ctx = self.ctx;
        let given = operands.iter().take(2).copied().collect();
        let (most, bound, condition, is_counted) = self.call(node, given, at, |call| {
            let bound = call.known_sizes(0).ok().flatten().filter(|sizes| sizes.len() == 1);
            let bound = bound.map(|sizes| match ctx.dim_expr(sizes[0]).constant() {
                Some(most) => Dim::Known(most.max(0).cast_unsigned()),
                None => dims::size(ctx, sizes[0]),
            });
            let most = match (bound, call.optional(0)) {
                (Some(Dim::Known(most)), _) => {
                    Some(call.int64_constant(&[i64::try_from(most).unwrap_or(i64::MAX)], &[])?)
                }
                (_, Some(most)) => {
                    let int64 = ctx.int(64);
                    let most = call.cast(most, int64)?;
                    Some(call.reshape_to(most, &[])?)
                }
                (_, None) => None,
            };
            let condition = match call.optional(1) {
                Some(condition) => call.reshape_to(condition, &[])?,
                None => call.always()?,
            };
            Ok((most, bound, condition, most.is_some() && call.is_true(condition)))
        })?;
        let parts = LoopParts { node, body, at, initial: &initial, most, bound };
        if is_counted {
            let attempt = self.attempt();
            if let Some(results) = self.counted(&parts)? {
                return Ok(results);
            }
            self.take_back(attempt);
        }
        self.asked(&parts, condition)
    }

    /// A Loop whose condition is always true; none if its body does not show that.
    fn counted(&mut self, parts: &LoopParts<'m, '_>) -> Result<Option<Vec<NamedItem>>, Refusal> {
        let &LoopParts { node, at, initial, .. } = parts;
        let most = parts.most.ok_or("a loop without a number of iterations or a condition")?;
        let (bounds, truth) = self.call(node, vec![], at, |call| {
            let bounds = [call.index(0), call.number_of(most)?, call.index(1)];
            Ok((bounds, call.always()?))
        })?;
        let (open, blocks) = self.open_op("scf.for", 1, at);
        let index = self.body.add_arg(blocks[0], self.ctx.int(64));
        let types = self.types(initial);
        let states: Vec<Value> = types.iter().map(|ty| self.body.add_arg(blocks[0], *ty)).collect();
        let shown = self.fill((open, blocks[0]), |lowering| {
            let number = lowering.call(node, vec![], at, |call| call.value_of_number(index))?;
            let mut results = lowering.turn(parts, [number, truth], &states)?;
            let condition = results.remove(0);
            if !lowering.call(node, vec![], at, |call| Ok(call.is_true(condition)))? {
                return Ok(None);
            }
            let slices = results.split_off(states.len());
            let shown = lowering.show(parts, (open, &[blocks[0]]), number, &slices)?;
            let values = [results, shown.written].concat();
            let types = [types, lowering.types(&shown.initial)].concat();
            lowering.call(node, vec![], at, |call| call.end_region(&values, Some(&types)))?;
            Ok(Some(shown.initial))
        })?;
        let Some(shown) = shown else { return Ok(None) };
        let operands = [&bounds[..], initial, &shown].concat();
        let results = self.types(&operands[3..]);
        let op = self.close_op(open, &operands, &results)?;
        Ok(Some(self.body.results(op).map(NamedItem::Tensor).collect()))
    }

    /// A Loop whose condition is tested before each iteration.
    fn asked(&mut self, parts: &LoopParts<'m, '_>, condition: Value) -> Result<Vec<NamedItem>, Refusal> {
        let &LoopParts { node, at, initial, most, .. } = parts;
        let zero = self.call(node, vec![], at, |call| call.int64_constant(&[0], &[]))?;
        let mut initial = [&[zero, condition], initial].concat();
        let (open, blocks) = self.open_op("scf.while", 2, at);
        let arguments = |lowering: &mut Self, block: usize, values: &[Value]| -> Vec<Value> {
            let types = lowering.types(values);
            types.into_iter().map(|ty| lowering.body.add_arg(blocks[block], ty)).collect()
        };
        let carried = arguments(self, 1, &initial);
        let shown = self.fill((open, blocks[1]), |lowering| {
            let mut results = lowering.turn(parts, [carried[0], carried[1]], &carried[2..])?;
            let slices = results.split_off(carried.len() - 1);
            let shown = lowering.show(parts, (open, &[blocks[1]]), carried[0], &slices)?;
            let (next, holds) = lowering.call(node, vec![], at, |call| {
                let next = call.with_number("nn.add", carried[0], 1.0)?;
                Ok((next, call.reshape_to(results[0], &[])?))
            })?;
            let values = [&[next, holds], &results[1..], &shown.written].concat();
            let types = [lowering.types(&carried), lowering.types(&shown.initial)].concat();
            lowering.call(node, vec![], at, |call| call.end_region(&values, Some(&types)))?;
            Ok(shown.initial)
        })?;
        initial.extend(&shown);
        let asked = arguments(self, 0, &initial);
        self.fill((open, blocks[0]), |lowering| {
            lowering.call(node, vec![], at, |call| {
                let goes_on = match most {
                    Some(most) => {
                        let is_left = call.two("nn.lt", asked[0], most)?;
                        call.two("nn.and", asked[1], is_left)?
                    }
                    None => asked[1],
                };
                let operands = [&[call.number_of(goes_on)?], &asked[..]].concat();
                let spec = OpSpec { operands: &operands, ..OpSpec::default() };
                call.builder.build("scf.condition", spec)?;
                Ok(())
            })
        })?;
        let types = self.types(&initial);
        let op = self.close_op(open, &initial, &types)?;
        let results: Vec<Value> = self.body.results(op).collect();
        for value in &results[initial.len() - shown.len()..] {
            let bound = parts.bound.unwrap_or(Dim::Unknown);
            self.open.say_counted(self.ctx, *value, OpenAxis { axis: 0, count: results[0] }, bound);
        }
        Ok(results.into_iter().skip(2).map(NamedItem::Tensor).collect())
    }

    /// The results of an iteration: the condition, the states, and the scan outputs.
    fn turn(&mut self, parts: &LoopParts<'m, '_>, numbers: [Value; 2], states: &[Value]) -> Results {
        let arguments: Vec<NamedItem> =
            numbers.iter().chain(states).copied().map(NamedItem::Tensor).collect();
        let results = tensors(self.inline(parts.body, &arguments, parts.at)?)?;
        if results.len() < 1 + states.len() {
            return Err("a body with fewer outputs than states".into());
        }
        Ok(results)
    }

    /// Writes the scan outputs of an iteration into carried values; the block of an open operation gets
    /// arguments for them.
    fn show(
        &mut self,
        parts: &LoopParts<'m, '_>,
        (open, blocks): (ir::Op, &[ir::Block]),
        number: Value,
        slices: &[Value],
    ) -> Result<ShownSlices, Refusal> {
        let mut shown = ShownSlices::default();
        for slice in slices {
            let is_limit = |bound: &Dim| match bound {
                Dim::Known(most) => *most <= MOST_SHOWN,
                Dim::Symbolic(_) => true,
                Dim::Unknown => false,
            };
            let bound = parts.bound.filter(is_limit);
            let bound =
                bound.ok_or("scan outputs of a loop whose number of iterations has no known limit")?;
            let written = self.shown_slice(parts, (open, blocks[0]), [number, *slice], bound)?;
            shown.initial.push(written[0]);
            shown.written.push(written[1]);
        }
        Ok(shown)
    }

    /// A carried value for all slices of this type, and the same with the slice at this index written.
    fn shown_slice(
        &mut self,
        &LoopParts { node, at, .. }: &LoopParts<'m, '_>,
        (open, block): (ir::Op, ir::Block),
        [number, slice]: [Value; 2],
        count: Dim,
    ) -> Result<[Value; 2], Refusal> {
        let (shape, elem) = self.call(node, vec![], at, |call| {
            Ok(([&[count], &call.dims(slice)?[..]].concat(), call.element(slice)))
        })?;
        let before = InsertPoint::Before(open);
        let initial = self.call_at(before, node, vec![], at, |call| call.filled_later(&shape, elem))?;
        let whole = self.body.add_arg(block, self.body.ty(initial));
        Ok([initial, self.call(node, vec![], at, |call| call.with_slice(whole, number, slice))?])
    }

    /// A Scan as a counted loop.
    pub(super) fn rolled_scan(
        &mut self,
        node: &'m NodeProto<'m>,
        scan: &Scanned<'m>,
        steps: Dim,
        at: Location,
    ) -> Result<Vec<NamedItem>, Refusal> {
        let parts =
            LoopParts { node, body: scan.body, at, initial: &scan.states, most: None, bound: Some(steps) };
        let bounds =
            self.call(node, vec![], at, |call| Ok([call.index(0), call.turns(steps)?, call.index(1)]))?;
        let (open, blocks) = self.open_op("scf.for", 1, at);
        let index = self.body.add_arg(blocks[0], self.ctx.int(64));
        let types = self.types(&scan.states);
        let states: Vec<Value> = types.iter().map(|ty| self.body.add_arg(blocks[0], *ty)).collect();
        let shown = self.fill((open, blocks[0]), |lowering| {
            let (numbers, slices) = lowering.call(node, vec![], at, |call| {
                let number = call.value_of_number(index)?;
                let numbers = [number, call.counted_back(number, steps)?];
                let mut slices = Vec::new();
                for (x, (axis, is_backward)) in scan.scanned.iter().zip(&scan.inward) {
                    let axis = call.axis(*axis, call.rank(*x)?)?;
                    slices.push(call.slice_at(*x, numbers[usize::from(*is_backward)], axis)?);
                }
                Ok((numbers, slices))
            })?;
            let arguments: Vec<NamedItem> =
                states.iter().chain(&slices).copied().map(NamedItem::Tensor).collect();
            let mut results = tensors(lowering.inline(scan.body, &arguments, at)?)?;
            let slices = results.split_off(states.len());
            let mut values = results;
            let mut types = types;
            let mut initial = Vec::new();
            for (slice, (_, is_backward)) in slices.iter().zip(&scan.outward) {
                let number = numbers[usize::from(*is_backward)];
                let [whole, written] =
                    lowering.shown_slice(&parts, (open, blocks[0]), [number, *slice], steps)?;
                values.push(written);
                types.push(lowering.body.ty(whole));
                initial.push(whole);
            }
            lowering.call(node, vec![], at, |call| call.end_region(&values, Some(&types)))?;
            Ok(initial)
        })?;
        let operands = [&bounds[..], &scan.states, &shown].concat();
        let types = self.types(&operands[3..]);
        let op = self.close_op(open, &operands, &types)?;
        let mut results: Vec<Value> = self.body.results(op).collect();
        let count = scan.states.len();
        for (result, (axis, _)) in results[count..].iter_mut().zip(&scan.outward) {
            *result = self.call(node, vec![], at, |call| moved_to(call, *result, *axis))?;
        }
        Ok(results.into_iter().map(NamedItem::Tensor).collect())
    }
}

/// The value with its first axis in another place.
fn moved_to(call: &mut NodeConversion<'_, '_>, x: Value, axis: i64) -> Result<Value, Refusal> {
    let rank = call.rank(x)?;
    let axis = call.axis(axis, rank)?;
    if axis == 0 {
        return Ok(x);
    }
    let mut order: Vec<i64> = (1..rank as i64).collect();
    order.insert(axis, 0);
    call.transposed(x, &order)
}
