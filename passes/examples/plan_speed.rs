//! How long do `inplace` and `plan` take on long functions, and how does that grow?
//!
//! `cargo run --release -p optc-passes --example plan_speed`: chains of updates of one tensor (each
//! overwrites the one before), and functions in which every operation reads results of a few operations
//! before it. Medians of several runs, one thread.

use std::time::{Duration, Instant};

use ir::builder::OpSpec;
use ir::{Body, Builder, Context, Value};
use passes::inplace::inplace;
use passes::manager::{Changes, PlainTarget};
use passes::plan::plan;
use passes::tradeoff::Goal;

fn main() {
    let ctx = Context::new();
    for (name, make) in [("updates", updates as Make), ("mixed", mixed)] {
        for ops in [256, 1_000, 10_000, 100_000, 400_000] {
            let times = measure(&ctx, || make(&ctx, ops), if ops > 10_000 { 3 } else { 11 });
            let [tie, place] = times.map(|time| time.as_secs_f64() * 1e3);
            println!("{name:8} {ops:7} ops: inplace {tie:9.3} ms, plan {place:9.3} ms");
        }
    }
}

type Make = fn(&Context, usize) -> Body;

/// A chain of updates of two numbers of a tensor of a thousand.
fn updates(ctx: &Context, ops: usize) -> Body {
    function(ctx, |builder, x| {
        let patch = ctx.tensor(&[2], ctx.f32());
        let patch = builder.body.add_arg(builder.body.entry(builder.body.root()).expect("a block"), patch);
        let mut value = builder.value("nn.exp", &[x], &[]).expect("a type follows");
        for index in 0..ops {
            let at = [("starts", ctx.ints_attr(&[(index % 999) as i64]))];
            value = builder.value("nn.insert_slice", &[patch, value], &at).expect("the window is inside");
        }
        value
    })
}

/// Sums of the last result and of one up to thirteen operations before it.
fn mixed(ctx: &Context, ops: usize) -> Body {
    function(ctx, |builder, x| {
        let mut values = vec![builder.value("nn.exp", &[x], &[]).expect("a type follows")];
        for index in 0..ops {
            let other = values[values.len() - 1 - (index * 7 % 13).min(values.len() - 1)];
            let last = values[values.len() - 1];
            values.push(builder.value("nn.add", &[last, other], &[]).expect("a type follows"));
        }
        values[values.len() - 1]
    })
}

fn function(ctx: &Context, fill: impl FnOnce(&mut Builder<'_>, Value) -> Value) -> Body {
    let mut body = Body::new(1);
    let block = body.add_block(body.root());
    let x = body.add_arg(block, ctx.tensor(&[1000], ctx.f32()));
    let mut builder = Builder::at_end(ctx, &mut body, block);
    let result = fill(&mut builder, x);
    let returned = OpSpec { operands: &[result], ..OpSpec::default() };
    builder.build("func.return", returned).expect("a return has no results");
    body
}

/// Medians of the times of both passes, each time on a new function.
fn measure(ctx: &Context, make: impl Fn() -> Body, runs: usize) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..runs {
        let mut body = make();
        let start = Instant::now();
        inplace(ctx, &PlainTarget, &mut body, &Changes::unlimited());
        times[0].push(start.elapsed());
        let start = Instant::now();
        plan(ctx, &PlainTarget, &mut body, "auto", Goal::Balanced, &Changes::unlimited())
            .expect("the plan is right");
        times[1].push(start.elapsed());
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
}
