//! What `optc plan` says of a program whose sizes are symbols: the recipe by which places are found at each size.

use std::fmt::Write;

use ir::dims::{self, Ranges};
use ir::{Attr, AttrData, Body, Context, flow};

use crate::compile::CompileOptions;
use crate::failure::Failure;
use crate::shaped::Variants;
use crate::symbolic::{Symbolic, SymbolicOptions};

/// A line for the symbols, one for each buffer, and one for the arena at nominal sizes.
pub(super) fn recipe_summary(module: &ir::Module, options: CompileOptions) -> Result<String, Failure> {
    let symbolic = Symbolic::decide(module, &SymbolicOptions::new(options))?;
    let planned = symbolic.recipe()?;
    let ctx = planned.ctx.clone();
    let body = planned.function(symbolic.entry()).expect("the entry was decided");
    let (symbols, ranges) = (dims::symbols_in(&ctx, body), Ranges::of_function(&ctx, body));
    let names = symbols.iter().map(|symbol| match ranges.of(*symbol) {
        (low, u64::MAX) => format!("{} >= {low}", ctx.str(*symbol)),
        (low, high) => format!("{low} <= {} <= {high}", ctx.str(*symbol)),
    });
    let names = names.collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "sizes {names}: offsets are found at each size; `--dim {}=4` plans for one\n",
        first(&symbolic)
    );
    let buffers = body.own_attr(&ctx, ctx.ident("optc.buffers"));
    let buffers = buffers.and_then(|buffers| ctx.array_value(buffers)).unwrap_or(&[]);
    let holders = holders(&ctx, body, buffers.len());
    for (index, buffer) in buffers.iter().enumerate() {
        writeln!(text, "buffer {index}: {}; {}", line(&ctx, *buffer), holders[index].join(" "))
            .expect("text is written to memory");
    }
    let nominal = symbolic.sample();
    let at = symbolic.at(nominal)?;
    let body = at.function(symbolic.entry()).expect("the entry was decided");
    let arena = body.own_attr(&ctx, ctx.ident("optc.arena")).and_then(|attr| ctx.int_value(attr));
    let sizes =
        symbolic.symbols().iter().zip(nominal).map(|(symbol, size)| format!("{} = {size}", symbol.name));
    let sizes = sizes.collect::<Vec<_>>().join(", ");
    writeln!(text, "at {sizes}: arena {} bytes", arena.unwrap_or(0)).expect("text is written to memory");
    Ok(text)
}

fn first(symbolic: &Symbolic) -> &str {
    symbolic.symbols().first().map_or("N", |symbol| &symbol.name)
}

/// `4 * N bytes, steps 0 to 2`.
fn line(ctx: &Context, buffer: Attr) -> String {
    let [first, last, bytes] = ctx.array_value(buffer).unwrap_or(&[]) else { return String::new() };
    let step = |attr: &Attr| ctx.int_value(*attr).unwrap_or(0);
    let bytes = match ctx.attr_data(*bytes) {
        AttrData::Dims(bytes) => dims::Sizes(ctx).text(bytes[0]),
        _ => "?".to_owned(),
    };
    format!("{bytes} bytes, steps {} to {}", step(first), step(last))
}

/// The values in each buffer.
fn holders(ctx: &Context, body: &Body, buffers: usize) -> Vec<Vec<String>> {
    let mut holders = vec![Vec::new(); buffers];
    flow::walk(ctx, body, |op| {
        let numbers = body.at(ctx, op).attr("mem.buffer").and_then(|numbers| ctx.array_value(numbers));
        for (result, number) in body.results(op).zip(numbers.unwrap_or(&[])) {
            let number = ctx.int_value(*number).and_then(|number| usize::try_from(number).ok());
            if let Some(holder) = number.and_then(|number| holders.get_mut(number)) {
                holder.push(result.to_string());
            }
        }
    });
    holders
}
