//! A profile of a run, step by step.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use cranelift_entity::EntityRef;
use ir::weights::WeightSet;
use ir::{Body, Context, Module, Op};
use passes::liveness::Steps;
use passes::plan::peak::main_op;
use runtime::{Stamp, stamped};
use serde_json::{Value, json};

use crate::arrays::Array;
use crate::failure::Failure;
use crate::machine_rates::MachineRates;
use crate::measure::repeat;
use crate::model::Model;
use crate::step_work::StepWork;

/// The time of each step of a program, and the rates of the machine.
pub(super) struct Profile {
    pub(super) rates: MachineRates,
    pub(super) timings: StepTimings,
}

/// The time of each step of a program.
pub(super) struct StepTimings {
    /// All steps that ran, by index.
    steps: Vec<StepProfile>,
    /// The steps of the last run, in order.
    last: Vec<StepEvent>,
}

/// The runs of a step.
struct StepProfile {
    /// As in `optc plan --json`.
    index: usize,
    op: String,
    /// The name of the model's node.
    node: String,
    /// The number of executions per run.
    count: usize,
    /// The median of its time per run.
    time: Duration,
    work: StepWork,
}

/// An executed step.
struct StepEvent {
    /// Its index among the steps.
    step: usize,
    /// The time since the beginning of the run.
    start: Duration,
    time: Duration,
}

/// The limit of rows in the table.
const MOST_ROWS: usize = 40;

impl StepTimings {
    /// Times the steps of a program whose code records them; `module` is its plan.
    pub(super) fn measure(
        (module, entry): (&Module, &str),
        model: &mut Model,
        inputs: &mut [Array],
        runs: u64,
    ) -> Result<StepTimings, Failure> {
        let body = module.function(entry).expect("the program was compiled from it");
        let known = KnownSteps::of(&module.ctx, body);
        let mut times: Vec<BTreeMap<usize, Duration>> = Vec::new();
        let mut last = Vec::new();
        repeat(model, inputs, |run| {
            (0..runs).try_for_each(|_| {
                let (span, stamps) = stamped(&mut *run);
                last = known.events(span?.start, &stamps);
                let mut of_run: BTreeMap<usize, Duration> = BTreeMap::new();
                last.iter()
                    .for_each(|event: &StepEvent| *of_run.entry(event.step).or_default() += event.time);
                times.push(of_run);
                Ok(())
            })
        })?;
        let mut steps = known.steps;
        for (number, step) in steps.iter_mut().enumerate() {
            let mut all: Vec<Duration> =
                times.iter().map(|run| run.get(&number).copied().unwrap_or_default()).collect();
            all.sort();
            step.time = all[all.len() / 2];
            step.count = last.iter().filter(|event| event.step == number).count();
        }
        Ok(StepTimings { steps, last })
    }
}

impl Profile {
    /// The longest steps as a table for people.
    pub(super) fn table(&self) -> String {
        let steps = &self.timings.steps;
        let total: Duration = steps.iter().map(|step| step.time).sum();
        let mut order: Vec<&StepProfile> = steps.iter().filter(|step| step.count > 0).collect();
        order.sort_by_key(|step| (std::cmp::Reverse(step.time), step.index));
        let mut text = format!(
            "\n{} steps, {:.3} ms; this machine reaches {:.0} GFLOP/s (a matrix product) and {:.1} GB/s (a \
             relu)\n\n{:>5} {:>9} {:>7} {:>9} {:>8} {:>6} {:>7} {:>6}  operation, node\n",
            order.len(),
            milliseconds(total),
            self.rates.flops / 1e9,
            self.rates.bytes / 1e9,
            "step",
            "ms",
            "share",
            "MB",
            "GFLOP/s",
            "peak",
            "GB/s",
            "peak",
        );
        let (shown, rest) = order.split_at(order.len().min(MOST_ROWS));
        shown.iter().for_each(|step| text += &self.row(step, total));
        let rest_time: Duration = rest.iter().map(|step| step.time).sum();
        if !rest.is_empty() {
            let share = share(rest_time, total);
            writeln!(text, "{:>5} {:9.4} {share:>7}", "rest", milliseconds(rest_time)).expect("a string");
        }
        text
    }

    fn row(&self, step: &StepProfile, total: Duration) -> String {
        let StepProfile { index, op, node, count, time, work } = step;
        let [flops, bytes] =
            [work.flops, work.bytes].map(|done| (done * *count as u64) as f64 / time.as_secs_f64());
        let percent = |rate: f64, most: f64| format!("{:.0} %", rate / most * 100.0);
        let often = if *count > 1 { format!(" ({count} times)") } else { String::new() };
        format!(
            "{index:>5} {:>9.4} {:>7} {:>9} {:>8.1} {:>6} {:>7.1} {:>6}  {op}{}{node}{often}\n",
            milliseconds(*time),
            share(*time, total),
            format!("{:.3}", work.bytes as f64 / 1e6),
            flops / 1e9,
            percent(flops, self.rates.flops),
            bytes / 1e9,
            percent(bytes, self.rates.bytes),
            if node.is_empty() { "" } else { " " },
        )
    }

    /// The last run as events for `chrome://tracing` and Perfetto.
    pub(super) fn trace(&self) -> String {
        let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
        let event = |event: &StepEvent| -> Value {
            let StepProfile { index, op, node, work, .. } = &self.timings.steps[event.step];
            let name = if node.is_empty() { op } else { node };
            json!({
                "name": name, "cat": op, "ph": "X", "pid": 1, "tid": 1,
                "ts": microseconds(event.start), "dur": microseconds(event.time),
                "args": { "step": index, "op": op, "bytes": work.bytes, "flops": work.flops },
            })
        };
        let events: Vec<Value> = self.timings.last.iter().map(event).collect();
        format!("{}\n", json!({ "displayTimeUnit": "ms", "traceEvents": events }))
    }
}

/// The steps of a function, indexed by the contents of stamps.
struct KnownSteps {
    steps: Vec<StepProfile>,
    /// For each operation's index, the index of its step.
    by_op: BTreeMap<u64, usize>,
}

impl KnownSteps {
    fn of(ctx: &Context, body: &Body) -> KnownSteps {
        let weights = WeightSet::of(ctx, body);
        let mut known = KnownSteps { steps: Vec::new(), by_op: BTreeMap::new() };
        for (step, op) in Steps::of(ctx, body, &weights).iter() {
            known.by_op.insert(op.index() as u64, known.steps.len());
            known.steps.push(StepProfile::of(ctx, body, (step.index(), op)));
        }
        known
    }

    /// The steps of a run that began at `start`, each from the end of the one before.
    fn events(&self, start: Instant, stamps: &[Stamp]) -> Vec<StepEvent> {
        let mut before = start;
        let mut events = Vec::with_capacity(stamps.len());
        for Stamp { step, at } in stamps {
            let step = *self.by_op.get(step).expect("only steps of the function have stamps");
            events.push(StepEvent { step, start: before - start, time: *at - before });
            before = *at;
        }
        events
    }
}

impl StepProfile {
    fn of(ctx: &Context, body: &Body, (index, op): (usize, Op)) -> StepProfile {
        StepProfile {
            index,
            op: body.at(ctx, main_op(ctx, body, op)).name().to_owned(),
            node: ctx.location_name(body.location(op)).unwrap_or("").to_owned(),
            count: 0,
            time: Duration::ZERO,
            work: StepWork::of(ctx, body, op),
        }
    }
}

fn share(time: Duration, total: Duration) -> String {
    format!("{:.1} %", time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE) * 100.0)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
