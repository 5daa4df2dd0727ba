//! Conversion of Einsum: operand by operand, as products of matrices; their rows, columns and summed axes are
//! axes with one label each.

use ir::dims::SizeArithmetic;
use ir::{Dim, Value};

use super::linear::product;
use super::pick::SliceWindow;
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// An operand, with a label for each axis.
#[derive(Clone)]
struct EinsumOperand {
    value: Value,
    labels: Vec<char>,
}

/// Labels of the axes covered by `...`, the last one first.
const UNNAMED: [char; 8] = ['0', '1', '2', '3', '4', '5', '6', '7'];

/// Labels for `count` axes; `...` covers the remaining ones.
fn labels(text: &str, count: Option<usize>) -> Result<Vec<char>, Refusal> {
    let named = text.chars().filter(|c| c.is_ascii_alphabetic()).count();
    let is_label = |c: char| c.is_ascii_alphabetic() || c == '.';
    if !text.chars().all(is_label) || text.matches('.').count() != 3 * text.matches("...").count() {
        return Err(format!("{text:?} in `equation`").into());
    }
    let Some((before, after)) = text.split_once("...") else {
        return match count {
            Some(count) if count != named => Err(format!("{text:?} for an operand of {count} axes").into()),
            _ => Ok(text.chars().collect()),
        };
    };
    let unnamed = count.unwrap_or(named).checked_sub(named).filter(|unnamed| *unnamed <= UNNAMED.len());
    let unnamed =
        unnamed.filter(|_| !after.contains('.')).ok_or_else(|| format!("{text:?} in `equation`"))?;
    Ok(before.chars().chain(UNNAMED[..unnamed].iter().rev().copied()).chain(after.chars()).collect())
}

/// Einsum.
pub(crate) fn einsum(call: &mut NodeConversion<'_, '_>) -> Results {
    let equation = call.node.text("equation")?.ok_or("`equation` is left out")?;
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (&equation[..], None),
    };
    let inputs: Vec<&str> = inputs.split(',').collect();
    if inputs.len() != call.operand_count() {
        return Err(
            format!("{} operands in `equation`, expected {}", inputs.len(), call.operand_count()).into()
        );
    }
    let mut terms = Vec::new();
    for (index, text) in inputs.iter().enumerate() {
        let value = call.operand(index)?;
        let labels = labels(text, Some(call.rank(value)?))?;
        terms.push(diagonal(call, EinsumOperand { value, labels })?);
    }
    let unnamed = terms.iter().flat_map(|term| &term.labels).filter(|label| UNNAMED.contains(label)).max();
    let unnamed = unnamed.map_or(0, |most| *most as usize - '0' as usize + 1);
    let wanted = match output {
        Some(text) => {
            let named = text.chars().filter(|c| c.is_ascii_alphabetic()).count();
            labels(text, Some(named + if text.contains("...") { unnamed } else { 0 }))?
        }
        None => {
            let all: Vec<char> = inputs.iter().flat_map(|text| text.chars()).collect();
            let mut once: Vec<char> = all
                .iter()
                .copied()
                .filter(|c| c.is_ascii_alphabetic() && all.iter().filter(|other| *other == c).count() == 1)
                .collect();
            once.sort_unstable();
            UNNAMED[..unnamed].iter().rev().copied().chain(once).collect()
        }
    };
    squeeze_stretched(call, &mut terms)?;
    let mut terms = terms.into_iter();
    let mut sum = terms.next().ok_or("no operands")?;
    let mut rest: Vec<EinsumOperand> = terms.collect();
    while !rest.is_empty() {
        let next = rest.remove(0);
        let needed: Vec<char> =
            rest.iter().flat_map(|term| term.labels.clone()).chain(wanted.clone()).collect();
        sum = contracted(call, sum, next, &needed)?;
    }
    let sum = summed(call, sum, &wanted)?;
    Ok(vec![arranged(call, &sum, &wanted)?])
}

/// The diagonal of axes with the same label.
fn diagonal(call: &mut NodeConversion<'_, '_>, mut term: EinsumOperand) -> Result<EinsumOperand, Refusal> {
    let twice = |labels: &[char]| {
        let second = (1..labels.len()).find(|at| labels[..*at].contains(&labels[*at]))?;
        Some((labels.iter().position(|label| *label == labels[second])?, second))
    };
    while let Some((first, second)) = twice(&term.labels) {
        let mut order: Vec<char> = term.labels.clone();
        let label = order.remove(second);
        order.remove(first);
        let others: Vec<i64> =
            (0..term.labels.len()).filter(|at| ![first, second].contains(at)).map(|at| at as i64).collect();
        let turned = call.transposed(term.value, &[&others[..], &[first as i64, second as i64]].concat())?;
        let shape = call.dims(turned)?;
        let [outer @ .., rows, columns] = &shape[..] else { return Err("no axes".into()) };
        let (Some(rows), Some(columns)) = (rows.known(), columns.known()) else {
            return Err("a diagonal of sizes that are not known".into());
        };
        if rows != columns {
            return Err(format!("a diagonal of {rows} x {columns} elements").into());
        }
        let line = call.reshape_to(turned, &[outer, &[Dim::Known(rows * columns)]].concat())?;
        let mut part = SliceWindow::whole(&call.dims(line)?);
        part.sizes[outer.len()] = Dim::Known(rows);
        part.strides[outer.len()] = (columns + 1).cast_signed();
        let value = call.emit("nn.slice", &[line], &part.attrs(call.ctx()))?;
        order.push(label);
        term = EinsumOperand { value, labels: order };
    }
    Ok(term)
}

/// Removes axes of size 1 from operands if others have more along the same label.
fn squeeze_stretched(call: &mut NodeConversion<'_, '_>, terms: &mut [EinsumOperand]) -> Result<(), Refusal> {
    let mut sizes = Vec::new();
    for term in terms.iter() {
        sizes.extend(term.labels.iter().copied().zip(call.dims(term.value)?));
    }
    let one = Dim::Known(1);
    // The size of a label is that of its first axis other than 1.
    let most = |label: char| {
        let mut own = sizes.iter().filter(|size| size.0 == label).map(|size| size.1);
        own.find(|size| *size != one).unwrap_or(one)
    };
    for term in terms {
        let shape = call.dims(term.value)?;
        let is_kept = |at: &usize| shape[*at] != one || most(term.labels[*at]) == one;
        let kept: Vec<usize> = (0..shape.len()).filter(is_kept).collect();
        for at in &kept {
            let own = shape[*at];
            let most = most(term.labels[*at]);
            if own.known().is_some() && most.known().is_some() && own != most {
                return Err("a label of two sizes".into());
            }
            call.require_equal(own, most);
        }
        term.value = call.reshape_to(term.value, &kept.iter().map(|at| shape[*at]).collect::<Vec<_>>())?;
        term.labels = kept.iter().map(|at| term.labels[*at]).collect();
    }
    Ok(())
}

/// The sum over labels without further readers.
fn summed(
    call: &mut NodeConversion<'_, '_>,
    term: EinsumOperand,
    needed: &[char],
) -> Result<EinsumOperand, Refusal> {
    let axes: Vec<i64> =
        (0..term.labels.len()).filter(|at| !needed.contains(&term.labels[*at])).map(|at| at as i64).collect();
    if axes.is_empty() {
        return Ok(term);
    }
    let axes = call.ctx().ints_attr(&axes);
    let value = call.emit("nn.reduce_sum", &[term.value], &[("axes", axes)])?;
    Ok(EinsumOperand {
        value,
        labels: term.labels.into_iter().filter(|label| needed.contains(label)).collect(),
    })
}

/// The value with its axes in this order.
fn arranged(
    call: &mut NodeConversion<'_, '_>,
    term: &EinsumOperand,
    order: &[char],
) -> Result<Value, Refusal> {
    let at = |label: &char| term.labels.iter().position(|own| own == label).map(|at| at as i64);
    let order: Option<Vec<i64>> = order.iter().map(at).collect();
    let order = order.ok_or("a label of the result that no operand has")?;
    if order.iter().enumerate().all(|(index, at)| index as i64 == *at) {
        return Ok(term.value);
    }
    call.transposed(term.value, &order)
}

/// The product of two operands, summed over labels without further readers.
fn contracted(
    call: &mut NodeConversion<'_, '_>,
    a: EinsumOperand,
    b: EinsumOperand,
    needed: &[char],
) -> Result<EinsumOperand, Refusal> {
    let needed_of = |other: &EinsumOperand| [needed, &other.labels].concat();
    let of_a = needed_of(&b);
    let of_b = needed_of(&a);
    let a = summed(call, a, &of_a)?;
    let b = summed(call, b, &of_b)?;
    let in_b = |label: &char| b.labels.contains(label);
    let (both, rows): (Vec<char>, Vec<char>) = a.labels.iter().partition(|label| in_b(label));
    let (batch, sums): (Vec<char>, Vec<char>) = both.into_iter().partition(|label| needed.contains(label));
    let columns: Vec<char> = b.labels.iter().copied().filter(|label| !a.labels.contains(label)).collect();
    let left = arranged(call, &a, &[&batch[..], &rows, &sums].concat())?;
    let right = arranged(call, &b, &[&batch[..], &sums, &columns].concat())?;
    let left_shape = call.dims(left)?;
    let right_shape = call.dims(right)?;
    let outer = batch.len();
    let inner = outer + rows.len();
    let arithmetic = SizeArithmetic(call.ctx());
    let count = |sizes: &[Dim]| arithmetic.product(sizes);
    let batches = count(&left_shape[..outer]);
    let folded = count(&left_shape[inner..]);
    let row_sizes = &left_shape[outer..inner];
    let column_sizes = &right_shape[outer + sums.len()..];
    let left = call.reshape_to(left, &[batches, count(row_sizes), folded])?;
    let right = call.reshape_to(right, &[batches, folded, count(column_sizes)])?;
    let value = product(call, left, right)?;
    let value = call.reshape_to(value, &[&left_shape[..outer], row_sizes, column_sizes].concat())?;
    Ok(EinsumOperand { value, labels: [batch, rows, columns].concat() })
}
