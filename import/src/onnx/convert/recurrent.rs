//! Conversion of recurrent operators: RNN, GRU, LSTM.
//!
//! One product covers the inputs of all steps. Few steps are unrolled, so a plan knows when each state dies.
//! Many steps, or a named number of them, become a loop that carries the states and writes each into its
//! slice of the result.

use ir::{Dim, Value};

use crate::onnx::call::{NodeConversion, Refusal, Results};

/// The operator, with its number of gates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Rnn,
    Gru,
    Lstm,
}

impl Cell {
    fn gates(self) -> u64 {
        match self {
            Cell::Rnn => 1,
            Cell::Gru => 3,
            Cell::Lstm => 4,
        }
    }

    /// The default activations of a direction.
    fn activations(self) -> &'static [&'static str] {
        match self {
            Cell::Rnn => &["Tanh"],
            Cell::Gru => &["Sigmoid", "Tanh"],
            Cell::Lstm => &["Sigmoid", "Tanh", "Tanh"],
        }
    }
}

/// RNN.
pub(crate) fn rnn(call: &mut NodeConversion<'_, '_>) -> Results {
    recurrent(call, Cell::Rnn)
}

/// GRU.
pub(crate) fn gru(call: &mut NodeConversion<'_, '_>) -> Results {
    recurrent(call, Cell::Gru)
}

/// LSTM.
pub(crate) fn lstm(call: &mut NodeConversion<'_, '_>) -> Results {
    recurrent(call, Cell::Lstm)
}

/// One direction of a recurrent node.
struct RecurrentDirection {
    cell: Cell,
    activations: Vec<GateActivation>,
    batch: Dim,
    hidden: u64,
    /// `[hidden, gates * hidden]`.
    recurrence: Value,
    /// The bias of the recurrence, `[gates * hidden]`.
    bias: Option<Value>,
    /// The weights from the state of an LSTM to its gates, `[3 * hidden]`.
    peepholes: Option<Value>,
    clip: Option<f64>,
    is_linear_first: bool,
    couples_gates: bool,
}

/// A function of a gate.
#[derive(Clone)]
struct GateActivation {
    name: String,
    alpha: Option<f32>,
    beta: Option<f32>,
}

impl GateActivation {
    fn emit(&self, call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
        let with = |call: &NodeConversion<'_, '_>, names: &[(&'static str, Option<f32>)]| {
            let attrs =
                names.iter().filter_map(|(name, number)| Some((*name, call.ctx().f32_attr((*number)?))));
            attrs.collect::<Vec<_>>()
        };
        let plain = match self.name.to_ascii_lowercase().as_str() {
            "sigmoid" => "nn.sigmoid",
            "tanh" => "nn.tanh",
            "relu" => "nn.relu",
            "softplus" => "nn.softplus",
            "leakyrelu" => return call.emit("nn.leaky_relu", &[x], &with(call, &[("alpha", self.alpha)])),
            "elu" => return call.emit("nn.elu", &[x], &with(call, &[("alpha", self.alpha)])),
            "hardsigmoid" => {
                let attrs = with(call, &[("alpha", self.alpha), ("beta", self.beta)]);
                return call.emit("nn.hard_sigmoid", &[x], &attrs);
            }
            "affine" => {
                let scaled = call.with_number("nn.mul", x, self.alpha.unwrap_or(1.0).into())?;
                return call.with_number("nn.add", scaled, self.beta.unwrap_or(0.0).into());
            }
            "scaledtanh" => {
                let scaled = call.with_number("nn.mul", x, self.beta.unwrap_or(1.0).into())?;
                let bent = call.one("nn.tanh", scaled)?;
                return call.with_number("nn.mul", bent, self.alpha.unwrap_or(1.0).into());
            }
            "softsign" => {
                let size = call.one("nn.abs", x)?;
                let divisor = call.with_number("nn.add", size, 1.0)?;
                return call.two("nn.div", x, divisor);
            }
            other => return Err(format!("the activation {other:?}").into()),
        };
        call.one(plain, x)
    }
}

/// The activations of all directions.
fn activations(
    call: &NodeConversion<'_, '_>,
    cell: Cell,
    directions: usize,
) -> Result<Vec<Vec<GateActivation>>, Refusal> {
    let count = cell.activations().len();
    let default = || cell.activations().iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let names = match call.node.strings("activations")? {
        Some(names) if names.len() == count * directions => names.into_iter().map(str::to_owned).collect(),
        Some(names) => {
            return Err(format!("{} activations, expected {}", names.len(), count * directions).into());
        }
        None => vec![default(); directions].concat(),
    };
    let numbers = |attribute: &str| -> Result<_, Refusal> {
        let numbers = call.node.floats(attribute)?.unwrap_or_default();
        match numbers.len() > names.len() {
            true => Err(format!("more numbers in `{attribute}` than activations").into()),
            false => Ok(numbers.iter().copied()),
        }
    };
    let (mut alphas, mut betas) = (numbers("activation_alpha")?, numbers("activation_beta")?);
    // The parameters belong to the functions that have them, in order.
    let all = names.iter().map(|name| {
        let [takes_alpha, takes_beta] = match name.to_ascii_lowercase().as_str() {
            "leakyrelu" | "elu" | "thresholdedrelu" => [true, false],
            "hardsigmoid" | "affine" | "scaledtanh" => [true, true],
            _ => [false, false],
        };
        GateActivation {
            name: name.clone(),
            alpha: takes_alpha.then(|| alphas.next()).flatten(),
            beta: takes_beta.then(|| betas.next()).flatten(),
        }
    });
    let all: Vec<GateActivation> = all.collect();
    Ok(all.chunks(count).map(<[GateActivation]>::to_vec).collect())
}

/// Slice `index` of a value along its first axis, without that axis.
fn slice_of(call: &mut NodeConversion<'_, '_>, x: Value, index: u64) -> Result<Value, Refusal> {
    let shape = call.dims(x)?;
    let part = call.part(x, 0, Dim::Known(index), Dim::Known(1))?;
    call.reshape_to(part, &shape[1..])
}

fn recurrent(call: &mut NodeConversion<'_, '_>, cell: Cell) -> Results {
    let mut x = call.operand(0)?;
    let is_batch_first = call.node.truth("layout")?.unwrap_or(false);
    if is_batch_first {
        x = call.transposed(x, &[1, 0, 2])?;
    }
    let [steps, batch, _] = call.dims(x)?[..] else {
        return Err("an input that is not [steps, batch, numbers]".into());
    };
    if matches!(steps, Dim::Unknown | Dim::Known(0)) {
        return Err("a sequence of a number of steps that is 0, or not known".into());
    }
    let backwards: &[bool] = match call.node.text("direction")?.unwrap_or("forward") {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        other => return Err(format!("`direction` {other:?}").into()),
    };
    let hidden = hidden_size(call, cell, backwards.len() as u64)?;
    let lengths = match call.optional(4) {
        Some(lengths) => {
            let int64 = call.ctx().int(64);
            let lengths = call.cast(lengths, int64)?;
            Some(call.reshape_to(lengths, &[batch, Dim::Known(1)])?)
        }
        None => None,
    };
    let activations = activations(call, cell, backwards.len())?;
    let mut found: [Vec<Value>; 3] = Default::default();
    for (index, activations) in activations.into_iter().enumerate() {
        let number = index as u64;
        let along = Sequence { steps, lengths, is_backward: backwards[index] };
        let direction = RecurrentDirection::of(call, cell, number, activations, (batch, hidden))?;
        let inputs = direction.inputs(call, x, number)?;
        let initial = direction.initial(call, x, number)?;
        let (all, last) = direction.run(call, inputs, initial, &along)?;
        let [one, size] = [1, hidden].map(Dim::Known);
        found[0].push(call.reshape_to(all, &[steps, one, batch, size])?);
        for (index, state) in last.into_iter().enumerate() {
            found[1 + index].push(call.reshape_to(state, &[one, batch, size])?);
        }
    }
    let mut results = vec![call.concatenated(&found[0], 1)?];
    for states in &found[1..] {
        if !states.is_empty() {
            results.push(call.concatenated(states, 0)?);
        }
    }
    if is_batch_first {
        results[0] = call.transposed(results[0], &[2, 0, 1, 3])?;
        for state in &mut results[1..] {
            *state = call.transposed(*state, &[1, 0, 2])?;
        }
    }
    Ok(results)
}

/// The size of the state, from the recurrent weights.
fn hidden_size(call: &NodeConversion<'_, '_>, cell: Cell, directions: u64) -> Result<u64, Refusal> {
    let shape = call.shape(call.operand(2)?)?;
    match shape[..] {
        [count, rows, hidden] if count == directions && rows == cell.gates() * hidden => Ok(hidden),
        _ => Err(format!("recurrent weights {shape:?} for {directions} directions").into()),
    }
}

/// The number of steps from which a loop takes less time and memory than unrolled cells.
const MANY_STEPS: u64 = 64;

/// The steps of a sequence, and their number in each batch element.
struct Sequence {
    steps: Dim,
    lengths: Option<Value>,
    is_backward: bool,
}

impl Sequence {
    /// The new value if a step is part of the sequence, otherwise the old one.
    fn where_inside(
        &self,
        call: &mut NodeConversion<'_, '_>,
        step: Option<Value>,
        new: Value,
        other: Option<Value>,
    ) -> Result<Value, Refusal> {
        let (Some(lengths), Some(step)) = (self.lengths, step) else { return Ok(new) };
        let is_inside = call.two("nn.gt", lengths, step)?;
        match other {
            Some(other) => call.select(is_inside, new, other),
            None => call.where_or(is_inside, new, 0.0),
        }
    }
}

impl RecurrentDirection {
    fn of(
        call: &mut NodeConversion<'_, '_>,
        cell: Cell,
        index: u64,
        activations: Vec<GateActivation>,
        (batch, hidden): (Dim, u64),
    ) -> Result<RecurrentDirection, Refusal> {
        let both_directions = call.operand(2)?;
        let weights = slice_of(call, both_directions, index)?;
        let recurrence = call.transposed(weights, &[1, 0])?;
        let rows = cell.gates() * hidden;
        let bias = match call.optional(3) {
            Some(bias) => {
                let bias = slice_of(call, bias, index)?;
                Some(call.part(bias, 0, Dim::Known(rows), Dim::Known(rows))?)
            }
            None => None,
        };
        let peepholes = match call.optional(7) {
            Some(peepholes) => Some(slice_of(call, peepholes, index)?),
            None => None,
        };
        Ok(RecurrentDirection {
            cell,
            activations,
            batch,
            hidden,
            recurrence,
            bias,
            peepholes,
            clip: call.node.float("clip")?.map(f64::from),
            is_linear_first: call.node.truth("linear_before_reset")?.unwrap_or(false),
            couples_gates: call.node.truth("input_forget")?.unwrap_or(false),
        })
    }

    /// The states before the first step: zeros, if none are given.
    fn initial(&self, call: &mut NodeConversion<'_, '_>, x: Value, index: u64) -> Results {
        let is_batch_first = call.node.truth("layout")?.unwrap_or(false);
        let operands: &[usize] = if self.cell == Cell::Lstm { &[5, 6] } else { &[5] };
        let mut initial = Vec::new();
        for operand in operands {
            initial.push(match call.optional(*operand) {
                Some(state) => {
                    let state = if is_batch_first { call.transposed(state, &[1, 0, 2])? } else { state };
                    slice_of(call, state, index)?
                }
                None => call.filler(0.0, x, &[self.batch, Dim::Known(self.hidden)])?,
            });
        }
        Ok(initial)
    }

    /// The contribution of the inputs of all steps to all gates: `[steps, batch, gates * hidden]`.
    fn inputs(&self, call: &mut NodeConversion<'_, '_>, x: Value, index: u64) -> Result<Value, Refusal> {
        let both_directions = call.operand(1)?;
        let weights = slice_of(call, both_directions, index)?;
        let columns = call.transposed(weights, &[1, 0])?;
        let product = call.two("nn.matmul", x, columns)?;
        let Some(bias) = call.optional(3) else { return Ok(product) };
        let bias = slice_of(call, bias, index)?;
        let bias = call.part(bias, 0, Dim::Known(0), Dim::Known(self.cell.gates() * self.hidden))?;
        call.two("nn.add", product, bias)
    }

    /// The states after each step, in the order of the steps, and the last ones.
    fn run(
        &self,
        call: &mut NodeConversion<'_, '_>,
        inputs: Value,
        states: Vec<Value>,
        along: &Sequence,
    ) -> Result<(Value, Vec<Value>), Refusal> {
        match along.steps {
            Dim::Known(steps) if steps < MANY_STEPS => {
                self.run_in_a_row(call, inputs, states, (along, steps))
            }
            _ => self.run_as_loop(call, inputs, states, along),
        }
    }

    /// Unrolls the cells.
    fn run_in_a_row(
        &self,
        call: &mut NodeConversion<'_, '_>,
        inputs: Value,
        mut states: Vec<Value>,
        (along, steps): (&Sequence, u64),
    ) -> Result<(Value, Vec<Value>), Refusal> {
        let mut all = vec![None; steps as usize];
        for number in 0..steps {
            let step = if along.is_backward { steps - 1 - number } else { number };
            let input = slice_of(call, inputs, step)?;
            let at = match along.lengths {
                Some(_) => Some(call.int64_constant(&[step.cast_signed()], &[])?),
                None => None,
            };
            let (shown, new) = self.step(call, input, &states, (along, at))?;
            all[step as usize] =
                Some(call.reshape_to(shown, &[Dim::Known(1), self.batch, Dim::Known(self.hidden)])?);
            states = new;
        }
        let all: Vec<Value> = all.into_iter().flatten().collect();
        Ok((call.concatenated(&all, 0)?, states))
    }

    /// A loop that writes each state into its slice.
    fn run_as_loop(
        &self,
        call: &mut NodeConversion<'_, '_>,
        inputs: Value,
        states: Vec<Value>,
        along: &Sequence,
    ) -> Result<(Value, Vec<Value>), Refusal> {
        let elem = call.element(inputs);
        let whole = call.filled_later(&[along.steps, self.batch, Dim::Known(self.hidden)], elem)?;
        let initial = [&states[..], &[whole]].concat();
        let mut results = call.repeated(along.steps, &initial, |call, turn, carried| {
            let step = if along.is_backward { call.counted_back(turn, along.steps)? } else { turn };
            let input = call.slice_at(inputs, step, 0)?;
            let (whole, states) = carried.split_last().ok_or("a loop without states")?;
            let (shown, new) = self.step(call, input, states, (along, Some(step)))?;
            let written = call.with_slice(*whole, step, shown)?;
            Ok([&new[..], &[written]].concat())
        })?;
        let all = results.pop().ok_or("a loop without results")?;
        Ok((all, results))
    }

    /// The output of a step, and the states after it.
    fn step(
        &self,
        call: &mut NodeConversion<'_, '_>,
        input: Value,
        states: &[Value],
        (along, step): (&Sequence, Option<Value>),
    ) -> Result<(Value, Vec<Value>), Refusal> {
        let new = match self.cell {
            Cell::Rnn => vec![self.rnn_step(call, input, states[0])?],
            Cell::Gru => vec![self.gru_step(call, input, states[0])?],
            Cell::Lstm => self.lstm_step(call, input, [states[0], states[1]])?.to_vec(),
        };
        let shown = along.where_inside(call, step, new[0], None)?;
        let kept = new.into_iter().zip(states);
        let kept = kept.map(|(new, state)| along.where_inside(call, step, new, Some(*state)));
        Ok((shown, kept.collect::<Results>()?))
    }

    /// Columns of some gates.
    fn gates(
        &self,
        call: &mut NodeConversion<'_, '_>,
        x: Value,
        first: u64,
        count: u64,
    ) -> Result<Value, Refusal> {
        let axis = call.rank(x)?.checked_sub(1).ok_or("weights without axes")?;
        call.part(x, axis, Dim::Known(first * self.hidden), Dim::Known(count * self.hidden))
    }

    fn activated(
        &self,
        call: &mut NodeConversion<'_, '_>,
        number: usize,
        x: Value,
    ) -> Result<Value, Refusal> {
        let x = match self.clip {
            Some(most) => {
                let below = call.with_number("nn.min", x, most)?;
                call.with_number("nn.max", below, -most)?
            }
            None => x,
        };
        self.activations[number].emit(call, x)
    }

    /// A state times some columns of the recurrence, plus their bias.
    fn recurred(
        &self,
        call: &mut NodeConversion<'_, '_>,
        state: Value,
        first: u64,
        count: u64,
    ) -> Result<Value, Refusal> {
        let weights = self.gates(call, self.recurrence, first, count)?;
        let product = call.two("nn.matmul", state, weights)?;
        let Some(bias) = self.bias else { return Ok(product) };
        let bias = self.gates(call, bias, first, count)?;
        call.two("nn.add", product, bias)
    }

    fn rnn_step(
        &self,
        call: &mut NodeConversion<'_, '_>,
        input: Value,
        state: Value,
    ) -> Result<Value, Refusal> {
        let recurred = self.recurred(call, state, 0, 1)?;
        let sum = call.two("nn.add", input, recurred)?;
        self.activated(call, 0, sum)
    }

    /// Gates update, reset, hidden.
    fn gru_step(
        &self,
        call: &mut NodeConversion<'_, '_>,
        input: Value,
        state: Value,
    ) -> Result<Value, Refusal> {
        let recurred = self.recurred(call, state, 0, 2)?;
        let both = self.gates(call, input, 0, 2)?;
        let sum = call.two("nn.add", both, recurred)?;
        let both = self.activated(call, 0, sum)?;
        let (update, reset) = (self.gates(call, both, 0, 1)?, self.gates(call, both, 1, 1)?);
        let recurred = if self.is_linear_first {
            let linear = self.recurred(call, state, 2, 1)?;
            call.two("nn.mul", reset, linear)?
        } else {
            let rest = call.two("nn.mul", reset, state)?;
            self.recurred(call, rest, 2, 1)?
        };
        let own = self.gates(call, input, 2, 1)?;
        let sum = call.two("nn.add", own, recurred)?;
        let new = self.activated(call, 1, sum)?;
        let change = call.two("nn.sub", state, new)?;
        let kept = call.two("nn.mul", update, change)?;
        call.two("nn.add", new, kept)
    }

    /// Gates input, output, forget, cell; the new hidden state and the new cell.
    fn lstm_step(
        &self,
        call: &mut NodeConversion<'_, '_>,
        input: Value,
        [hidden, cell]: [Value; 2],
    ) -> Result<[Value; 2], Refusal> {
        let recurred = self.recurred(call, hidden, 0, 4)?;
        let sum = call.two("nn.add", input, recurred)?;
        let into = self.lstm_gate(call, sum, 0, Some((0, cell)))?;
        let forget = if self.couples_gates {
            let one = call.scalar_like(1.0, into)?;
            call.two("nn.sub", one, into)?
        } else {
            self.lstm_gate(call, sum, 2, Some((2, cell)))?
        };
        let new = self.gates(call, sum, 3, 1)?;
        let new = self.activated(call, 1, new)?;
        let kept = call.two("nn.mul", forget, cell)?;
        let added = call.two("nn.mul", into, new)?;
        let cell = call.two("nn.add", kept, added)?;
        let out = self.lstm_gate(call, sum, 1, Some((1, cell)))?;
        // The state itself is not clipped.
        let shown = self.activations[2].emit(call, cell)?;
        Ok([call.two("nn.mul", out, shown)?, cell])
    }

    fn lstm_gate(
        &self,
        call: &mut NodeConversion<'_, '_>,
        sum: Value,
        number: u64,
        peephole: Option<(u64, Value)>,
    ) -> Result<Value, Refusal> {
        let mut gate = self.gates(call, sum, number, 1)?;
        if let (Some(weights), Some((index, cell))) = (self.peepholes, peephole) {
            let weights = self.gates(call, weights, index, 1)?;
            let seen = call.two("nn.mul", weights, cell)?;
            gate = call.two("nn.add", gate, seen)?;
        }
        self.activated(call, 0, gate)
    }
}
