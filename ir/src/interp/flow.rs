//! Interpreter of control flow: conditions, loops and calls.
//!
//! An endless loop of the program does not end here either.

use super::element::{Elem, Extension, IntElem, read_all};
use super::run::CallFrame;
use super::tensor::{EvalError, Tensor};
use crate::attrs::AttrData;
use crate::body::OpRef;
use crate::diag::Diagnostic;
use crate::entities::Region;
use crate::opdef::RegionFlow;

impl CallFrame<'_> {
    /// The results of an operation that runs its regions, or a function.
    pub(super) fn flow(
        &mut self,
        op: OpRef<'_>,
        flow: RegionFlow,
        operands: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, Diagnostic> {
        match flow {
            RegionFlow::Call => self.called(op, &operands),
            RegionFlow::If => {
                let holds = self.holds(op, operands.first())?;
                let region = self.region(op, usize::from(!holds))?;
                self.run_region(region, Vec::new())
            }
            RegionFlow::For => self.counted(op, operands),
            RegionFlow::While => self.conditional(op, operands),
        }
    }

    fn region(&self, op: OpRef<'_>, index: usize) -> Result<Region, Diagnostic> {
        let region = op.body.regions(op.op).get(index).copied();
        region.ok_or_else(|| self.fault(op, format!("lacks region {index}").into()))
    }

    fn holds(&self, op: OpRef<'_>, condition: Option<&Tensor>) -> Result<bool, Diagnostic> {
        let byte = condition.and_then(|value| value.bytes.first());
        byte.map(|byte| byte & 1 == 1).ok_or_else(|| self.fault(op, "lacks a condition".into()))
    }

    /// A call of the function that an attribute or operand 0 names.
    fn called(&self, op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, Diagnostic> {
        let location = self.body.location(op.op);
        let Some(callee) = op.attr("callee") else {
            let (function, arguments) =
                operands.split_first().ok_or_else(|| self.fault(op, "lacks a function".into()))?;
            return self.call(location, &String::from_utf8_lossy(&function.bytes), arguments);
        };
        match self.ctx.attr_data(callee) {
            AttrData::SymbolRef { root, nested } if nested.is_empty() => {
                self.call(location, self.ctx.str(*root), operands)
            }
            _ => Err(self.fault(op, "calls a function of another module".into())),
        }
    }

    fn counted(&mut self, op: OpRef<'_>, mut operands: Vec<Tensor>) -> Result<Vec<Tensor>, Diagnostic> {
        if operands.len() < 3 {
            return Err(self.fault(op, "lacks a bound".into()));
        }
        let mut carried = operands.split_off(3);
        let ty = operands[0].ty;
        let region = self.region(op, 0)?;
        let counter = self.counter(op, &operands[0]).map_err(|error| self.fault(op, error))?;
        let [lower, upper, step] =
            [0, 1, 2].map(|at| counter.number(read_all::<i64>(Elem::Int(counter), &operands[at].bytes)[0]));
        if step <= 0 {
            let message = format!("the step of a loop is at least 1, found {step}");
            return Err(self.fault(op, message.into()));
        }
        let mut number = lower;
        while number < upper {
            let bytes = number.to_le_bytes()[..Elem::Int(counter).bytes()].to_vec();
            let mut args = vec![Tensor::new(self.ctx, ty, bytes)];
            args.append(&mut carried);
            carried = self.run_region(region, args)?;
            number += step;
        }
        Ok(carried)
    }

    /// The integer type of a loop's counter and bounds.
    fn counter(&self, op: OpRef<'_>, lower: &Tensor) -> Result<IntElem, EvalError> {
        match Elem::of(self.ctx, lower.ty)? {
            Elem::Int(int) => {
                let is_unsigned = op.attr("unsignedCmp").is_some();
                let extension = if is_unsigned { Extension::Zero } else { Extension::Sign };
                Ok(IntElem { extension, ..int })
            }
            other => Err(format!("counts integers, found `{other}`").into()),
        }
    }

    fn conditional(&mut self, op: OpRef<'_>, mut args: Vec<Tensor>) -> Result<Vec<Tensor>, Diagnostic> {
        let (before, after) = (self.region(op, 0)?, self.region(op, 1)?);
        loop {
            let mut values = self.run_region(before, args)?;
            if values.is_empty() {
                return Err(self.fault(op, "lacks a condition".into()));
            }
            let condition = values.remove(0);
            if !self.holds(op, Some(&condition))? {
                return Ok(values);
            }
            args = self.run_region(after, values)?;
        }
    }
}
