//! Outputs with a data-dependent size, as the IR declares them.
//!
//! Such an output has the shape of its upper bound, and its attributes name the data-dependent axis and a
//! further output with the actual size (`optc.open` in `res_attrs`, see [`import::onnx`]). Elements beyond
//! that size are padding. [`runtime`] cuts the outputs of machine code; this module cuts those of the
//! interpreter.

use ir::Module;
use runtime::OpenOutput;

use crate::arrays::Array;
use crate::compile::signature;
use crate::failure::Failure;

/// The data-dependent outputs of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOutputs {
    open: Vec<OpenOutput>,
    /// The outputs that are sizes of other outputs.
    counts: Vec<usize>,
}

impl OpenOutputs {
    /// The data-dependent outputs of a function.
    ///
    /// # Errors
    /// If an axis, or the result with its size, is missing.
    pub fn of(module: &Module, entry: &str) -> Result<OpenOutputs, Failure> {
        let signature = signature(module, entry)?;
        let counts = signature.outputs().filter(|output| output.is_count).filter_map(|output| output.output);
        let counts = counts.collect();
        Ok(OpenOutputs { open: codegen::open_outputs(&module.ctx, &signature), counts })
    }

    /// Whether an output is only the size of another one.
    pub fn is_count(&self, output: usize) -> bool {
        self.counts.contains(&output)
    }

    /// Moves the valid elements together in outputs that [`runtime`] has not cut.
    ///
    /// # Panics
    /// If these are not the outputs of that function.
    pub fn cut(&self, outputs: &mut [Array]) {
        for open in &self.open {
            let count = OpenOutput::slices(&outputs[open.count].bytes);
            let Array { shape, bytes, .. } = &mut outputs[open.output];
            runtime::cut(bytes, &mut shape.clone(), open.axis, count);
        }
    }

    /// The actual outputs: without padding, and without outputs that are only sizes of others.
    ///
    /// # Panics
    /// If these are not the outputs of that function.
    pub fn exact(&self, mut outputs: Vec<Array>) -> Vec<Array> {
        for open in &self.open {
            let count = OpenOutput::slices(&outputs[open.count].bytes);
            let Array { shape, bytes, .. } = &mut outputs[open.output];
            let slices: u64 = shape[..=open.axis].iter().product();
            let slice = (bytes.len() as u64).checked_div(slices).unwrap_or(0);
            shape[open.axis] = count.min(shape[open.axis]);
            bytes.truncate((shape[..=open.axis].iter().product::<u64>() * slice) as usize);
        }
        let kept = outputs.into_iter().enumerate().filter(|(index, _)| !self.is_count(*index));
        kept.map(|(_, output)| output).collect()
    }
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
            let open = vec![OpenOutput { output: 0, rank: 3, axis: 1, count: 1 }];
            let open = OpenOutputs { open, counts: vec![1] };
            let mut outputs = vec![array(&[1, 2, 3, 4, 5, 6], &[2, 3, 1]), array(&count.to_le_bytes(), &[])];
            open.cut(&mut outputs);
            assert_eq!(open.exact(outputs), [array(expected, &[2, count as u64, 1])]);
        }
    }
}
