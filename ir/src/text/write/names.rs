//! Numbering of the values and blocks in the text.
//!
//! Values are numbered in the order in which MLIR's printer visits them (`SSANameState`): the operations of a
//! region, block by block, and then the regions in them, from a stack, so that the last one comes first. In
//! the generic form numbers are unique across the module. In the pretty form each region continues from the
//! end of the enclosing region's numbers, so functions begin at 0.

use rustc_hash::FxHashMap;

use super::buffer::TextBuffer;
use super::index_of;
use crate::body::Body;
use crate::entities::{Block, Op, Region, Value};
use crate::text::PrintForm;

/// The scope in which numbers are unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbering {
    /// The whole module.
    Unique,
    /// Each region continues the numbers of the enclosing region.
    PerScope,
}

impl Numbering {
    /// The numbering of a form.
    pub(super) fn of(form: PrintForm) -> Numbering {
        match form {
            PrintForm::Generic => Numbering::Unique,
            PrintForm::Pretty => Numbering::PerScope,
        }
    }
}

/// The numbers of all values and blocks.
#[derive(Default)]
pub(super) struct ValueNumbers {
    bodies: Vec<BodyNames>,
    children: FxHashMap<(u32, Op), u32>,
}

struct BodyNames {
    /// The number of each value. Arguments of entry blocks have the bit `ARGUMENT`, and values among several
    /// results the bit `PACK`.
    values: Vec<u32>,
    blocks: Vec<u32>,
}

const ARGUMENT: u32 = 1 << 31;
const PACK: u32 = 1 << 30;

/// Whether a name denotes one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// It does.
    Alone,
    /// It denotes all results of an operation.
    WithOthers,
}

/// The next free numbers.
#[derive(Clone, Copy)]
struct NextNumbers {
    value: u32,
    argument: u32,
}

/// A region to be visited.
struct Pending<'m> {
    body: &'m Body,
    number: u32,
    region: Region,
    next: NextNumbers,
}

impl ValueNumbers {
    /// Names for all values and blocks in `op`.
    pub(super) fn of_op(body: &Body, op: Op, numbering: Numbering) -> ValueNumbers {
        let mut names = ValueNumbers::default();
        names.add_body(body);
        let mut next = NextNumbers { value: 0, argument: 0 };
        let mut stack = Vec::new();
        names.number_op(body, 0, op, &mut next);
        names.push_regions(body, 0, op, next, &mut stack);
        names.run(stack, next, numbering);
        names
    }

    /// Names for all values and blocks in a body.
    pub(super) fn of_body(body: &Body, numbering: Numbering) -> ValueNumbers {
        let mut names = ValueNumbers::default();
        names.add_body(body);
        let next = NextNumbers { value: 0, argument: 0 };
        let stack = body.roots().iter().map(|&region| Pending { body, number: 0, region, next }).collect();
        names.run(stack, next, numbering);
        names
    }

    fn run(&mut self, mut stack: Vec<Pending<'_>>, mut next: NextNumbers, numbering: Numbering) {
        while let Some(Pending { body, number, region, next: around }) = stack.pop() {
            if numbering == Numbering::PerScope {
                next = around;
            }
            for (index, &block) in body.blocks(region).iter().enumerate() {
                self.number_block(body, number, block, index as u32, &mut next);
            }
            for &block in body.blocks(region) {
                for op in body.ops(block) {
                    self.push_regions(body, number, op, next, &mut stack);
                }
            }
        }
    }

    fn add_body(&mut self, body: &Body) -> u32 {
        let number = self.bodies.len() as u32;
        let values = vec![0; body.value_capacity()];
        self.bodies.push(BodyNames { values, blocks: vec![0; body.block_capacity()] });
        number
    }

    fn push_regions<'m>(
        &mut self,
        body: &'m Body,
        number: u32,
        op: Op,
        next: NextNumbers,
        stack: &mut Vec<Pending<'m>>,
    ) {
        if let Some(child) = body.child(op) {
            if child.block_capacity() == 0 {
                return;
            }
            let inner = self.add_body(child);
            self.children.insert((number, op), inner);
            stack.extend(child.roots().iter().map(|&region| Pending {
                body: child,
                number: inner,
                region,
                next,
            }));
            return;
        }
        stack.extend(body.regions(op).iter().map(|&region| Pending { body, number, region, next }));
    }

    fn number_block(&mut self, body: &Body, number: u32, block: Block, index: u32, next: &mut NextNumbers) {
        let names = &mut self.bodies[number as usize];
        names.blocks[index_of(block)] = index;
        for &arg in body.args(block) {
            let counter = if index == 0 { &mut next.argument } else { &mut next.value };
            names.values[index_of(arg)] = if index == 0 { *counter | ARGUMENT } else { *counter };
            *counter += 1;
        }
        for op in body.ops(block) {
            self.number_op(body, number, op, next);
        }
    }

    fn number_op(&mut self, body: &Body, number: u32, op: Op, next: &mut NextNumbers) {
        let names = &mut self.bodies[number as usize].values;
        match body.result_count(op) {
            0 => return,
            1 => names[index_of(body.result(op, 0))] = next.value,
            _ => body.results(op).for_each(|value| names[index_of(value)] = next.value | PACK),
        }
        next.value += 1;
    }

    /// The index of an operation's own body; a body without blocks has no names, and so no index of its own.
    pub(super) fn child(&self, number: u32, op: Op) -> u32 {
        self.children.get(&(number, op)).copied().unwrap_or(0)
    }

    /// The number of a block.
    pub(super) fn block(&self, number: u32, block: Block) -> u32 {
        self.bodies[number as usize].blocks[index_of(block)]
    }

    /// Writes the name of a value, alone or with the other results of its operation.
    pub(super) fn write_value(&self, number: u32, value: Value, out: &mut TextBuffer) -> Named {
        let code = self.bodies[number as usize].values[index_of(value)];
        if code < PACK {
            out.push_number(code);
            return Named::Alone;
        }
        if code & ARGUMENT != 0 {
            out.push_str("arg");
        }
        out.push_number(code & !(ARGUMENT | PACK));
        if code & PACK != 0 { Named::WithOthers } else { Named::Alone }
    }
}
