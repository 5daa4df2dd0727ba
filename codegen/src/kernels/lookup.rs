//! How table lookups of single bytes are lowered.

use ir::body::OpRef;
use ir::window::Arrangement;
use kernels::Lookup;

use crate::call::{Lowered, LoweredCall, Pointer};
use crate::pointwise::nest::LoopNest;
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::known_layout;

/// `nn.lookup`.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "lookup",
    doc: "Bytes of a table, picked by bytes.",
    runs: Runs::Kernel("lookup"),
    reads: |_, operand| if operand == 0 { Arrangement::Rows } else { Arrangement::Plain },
    writes: Arrangement::Rows,
    lower,
    ..KernelRow::PLAIN
};

/// The most axes of the kernel.
const MOST_AXES: usize = 8;

fn lower(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let (from, to) = (known_layout(op, op.operand(0))?, known_layout(op, op.result(0))?);
    let mut nest = LoopNest::collapse(&to.shape, &[from.strides, to.strides]);
    nest.end_side_by_side(0);
    nest.end_side_by_side(1);
    if nest.sizes.len() > MOST_AXES {
        return Err(CodeRefusal::new(format!("it takes more than {MOST_AXES} loops")));
    }
    let sizes: Vec<usize> = nest.sizes.iter().map(|size| *size as usize).collect();
    let kernel = Lookup::new(&sizes, [&nest.strides[0], &nest.strides[1]], machine.isa, machine.threads);
    let operands = vec![Pointer::Result(0, 0), Pointer::Operand(0, 0), Pointer::Operand(1, 0)];
    Ok(Lowered::new("lookup", vec![LoweredCall::kernel(&kernel, operands)]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::attrs::Splat;
    use ir::plan::attrs;
    use ir::{AttrData, Builder, Context, DenseData, Signedness, Type, TypeData, Value};

    use crate::testing::{Net, check_bytes};

    fn byte(ctx: &Context, signedness: Signedness) -> Type {
        ctx.ty(TypeData::Integer { width: 8, signedness })
    }

    fn bytes(count: u64, factor: u64) -> Vec<u8> {
        (0..count).map(|at| (at * factor + at / 256) as u8).collect()
    }

    /// Adds a table as a constant.
    fn weight(net: &mut Net, elem: Type) -> Value {
        let ctx = net.ctx.clone();
        let ty = ctx.tensor(&[256], elem);
        let data = DenseData::Bytes { splat: Splat::All, bytes: bytes(256, 167).into() };
        let value = ctx.attr(AttrData::Dense { ty, data });
        let block = net.body.entry(net.body.root()).unwrap();
        Builder::at_end(&ctx, &mut net.body, block).constant(value, ty)
    }

    #[test]
    fn bytes_are_looked_up_as_the_interpreter_says() {
        let signs = [Signedness::Signless, Signedness::Unsigned];
        for shape in [&[][..], &[1], &[3, 67], &[2, 3, 64], &[0, 5], &[5, 40_001]] {
            for (of_x, of_table) in signs.into_iter().flat_map(|x| signs.map(|table| (x, table))) {
                let ctx = Arc::new(Context::new());
                let [x, elem] = [of_x, of_table].map(|signedness| byte(&ctx, signedness));
                let mut net = Net::new(&[(shape, x), (&[256], elem)], ctx.clone());
                let table = weight(&mut net, elem);
                let y = net.op("nn.lookup", &[net.arg(0), table], &[]);
                let z = net.op("nn.lookup", &[y, net.arg(1)], &[]);
                let count = shape.iter().product();
                check_bytes(net, &[y, z], &[&bytes(count, 89), &bytes(256, 3)]);
            }
        }
    }

    #[test]
    fn a_result_may_overwrite_what_is_looked_up() {
        for count in [1, 63, 64, 100_003] {
            let ctx = Arc::new(Context::new());
            let elem = byte(&ctx, Signedness::Signless);
            let mut net = Net::new(&[(&[count], elem), (&[256], elem)], ctx.clone());
            let first = net.op("nn.lookup", &[net.arg(0), net.arg(1)], &[]);
            let table = weight(&mut net, elem);
            let tied = [(attrs::MEM_TIE, ctx.ints_attr(&[0]))];
            let y = net.op("nn.lookup", &[first, table], &tied);
            check_bytes(net, &[y], &[&bytes(count, 89), &bytes(256, 3)]);
        }
    }

    #[test]
    fn windows_are_looked_up_where_they_lie() {
        for (starts, sizes) in [([0, 2], [3, 5]), ([1, 0], [2, 8]), ([0, 3], [3, 1])] {
            let ctx = Arc::new(Context::new());
            let elem = byte(&ctx, Signedness::Unsigned);
            let mut net = Net::new(&[(&[3, 8], elem)], ctx.clone());
            let table = weight(&mut net, elem);
            let window = [
                ("starts", ctx.ints_attr(&starts)),
                ("sizes", ctx.ints_attr(&sizes)),
                (attrs::MEM_VIEW, ctx.unit_attr()),
            ];
            let x = net.op("nn.slice", &[net.arg(0)], &window);
            let y = net.op("nn.lookup", &[x, table], &[]);
            check_bytes(net, &[y], &[&bytes(24, 89)]);
        }
    }
}
