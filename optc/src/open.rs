//! How outputs are cut whose size is known only when a program has run.
//!
//! Such an output has the shape of its bound, and says which axis is open and which further output holds its size (`optc.open` in
//! `res_attrs`, see [`import::onnx`]). What is behind that size is no element.

use ir::Module;

use crate::arrays::Array;

/// The open axes of a program's outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOutputs {
    open: Vec<OpenOutput>,
    /// The outputs that are sizes of others.
    counts: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenOutput {
    output: usize,
    axis: usize,
    count: usize,
}

impl OpenOutputs {
    /// Those of a function.
    pub fn of(module: &Module, entry: &str) -> OpenOutputs {
        let ctx = &module.ctx;
        let body = module.function(entry);
        let attrs = body.and_then(|body| body.own_attr(ctx, ctx.ident("res_attrs")));
        let attrs = attrs.and_then(|attrs| ctx.array_value(attrs)).unwrap_or(&[]);
        let mut outputs = OpenOutputs::default();
        for (output, dict) in attrs.iter().enumerate() {
            if ctx.dict_get(*dict, ctx.ident("optc.count")).is_some() {
                outputs.counts.push(output);
            }
            let open = ctx.dict_get(*dict, ctx.ident("optc.open")).and_then(|open| ctx.ints_value(open));
            if let Some([axis, count]) = open.as_deref().and_then(|open| open.as_array()).copied() {
                let [axis, count] = [axis, count].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
                outputs.open.push(OpenOutput { output, axis, count });
            }
        }
        outputs
    }

    /// The outputs as they are: cut, and without those that only say where.
    ///
    /// # Panics
    /// If these are not the outputs of that function.
    pub fn exact(&self, mut outputs: Vec<Array>) -> Vec<Array> {
        for open in &self.open {
            let count = outputs[open.count].bytes.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes));
            cut(&mut outputs[open.output], open.axis, usize::try_from(count).unwrap_or(0));
        }
        let kept = outputs.into_iter().enumerate().filter(|(index, _)| !self.counts.contains(index));
        kept.map(|(_, output)| output).collect()
    }
}

/// Keeps the first `count` slices along an axis.
fn cut(array: &mut Array, axis: usize, count: usize) {
    let size = array.shape[axis] as usize;
    let outer: usize = array.shape[..axis].iter().map(|size| *size as usize).product();
    let rows = outer * size;
    let slice = array.bytes.len().checked_div(rows).unwrap_or(0);
    let count = count.min(size);
    for number in 0..outer {
        let from = number * size * slice;
        array.bytes.copy_within(from..from + count * slice, number * count * slice);
    }
    array.bytes.truncate(outer * count * slice);
    array.shape[axis] = count as u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_the_count_is_no_element() {
        let array = |bytes: &[u8], shape: &[u64]| Array {
            name: "y".to_owned(),
            element: runtime::ElementKind::U8,
            shape: shape.to_vec(),
            bytes: bytes.to_vec(),
        };
        for (count, expected) in [(0i64, &[][..]), (2, &[1, 2, 4, 5]), (3, &[1, 2, 3, 4, 5, 6])] {
            let open = vec![OpenOutput { output: 0, axis: 1, count: 1 }];
            let outputs = OpenOutputs { open, counts: vec![1] };
            let given = vec![array(&[1, 2, 3, 4, 5, 6], &[2, 3, 1]), array(&count.to_le_bytes(), &[])];
            assert_eq!(outputs.exact(given), [array(expected, &[2, count as u64, 1])]);
        }
    }
}
