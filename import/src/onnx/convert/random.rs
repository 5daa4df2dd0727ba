//! Conversion of random numbers: a function of the seed and of the element's index, so that they are the same
//! on every machine, at any number of threads, and in every run.
//!
//! Bits are those of SplitMix64 (Steele, Lea and Flood, 2014), which computes the n-th number of a sequence
//! from n alone. For a node without `seed`, its result's name is the seed.

use ir::dims::SizeArithmetic;
use ir::{Dim, FloatKind, Type, TypeData, Value};

use super::composed::{computed_type, numbered_type};
use crate::onnx::call::{NodeConversion, Refusal, Results};

/// A sequence of random bits.
struct RandomBits {
    seed: u64,
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The last step of SplitMix64.
fn mixed(mut bits: u64) -> u64 {
    for (shift, factor) in MIXING {
        bits = (bits ^ (bits >> shift)).wrapping_mul(factor);
    }
    bits ^ (bits >> 31)
}

const MIXING: [(u32, u64); 2] = [(30, 0xBF58_476D_1CE4_E5B9), (27, 0x94D0_49BB_1331_11EB)];

impl RandomBits {
    /// The sequence of a node.
    fn of(call: &NodeConversion<'_, '_>) -> Result<RandomBits, Refusal> {
        let seed = match call.node.float("seed")? {
            Some(seed) => u64::from(seed.to_bits()),
            None => {
                // FNV-1a
                let name = call.node.outputs.first().copied().unwrap_or_default();
                let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
                name.bytes().fold(0xCBF2_9CE4_8422_2325, step)
            }
        };
        Ok(RandomBits { seed: mixed(seed) })
    }

    /// `count` numbers of 64 bits of the `stream`-th sequence.
    fn emit(&self, call: &mut NodeConversion<'_, '_>, count: Dim, stream: u64) -> Result<Value, Refusal> {
        let numbers = call.emit("nn.iota", &[], &[("size", call.ctx().dims_attr(&[count]))])?;
        let numbers = unsigned(call, numbers)?;
        let step = word(call, STEP)?;
        let steps = call.two("nn.mul", numbers, step)?;
        let start = word(call, mixed(self.seed.wrapping_add(stream)).wrapping_add(STEP))?;
        let mut bits = call.two("nn.add", steps, start)?;
        for (shift, factor) in MIXING {
            bits = call.shifted_onto(bits, shift)?;
            let factor = word(call, factor)?;
            bits = call.two("nn.mul", bits, factor)?;
        }
        call.shifted_onto(bits, 31)
    }

    /// Numbers of `elem`, f32 or f64, in this shape, uniformly distributed over 0 to 1, excluding 1.
    fn fractions(
        &self,
        call: &mut NodeConversion<'_, '_>,
        shape: &[Dim],
        elem: Type,
        (stream, zero): (u64, Zero),
    ) -> Result<Value, Refusal> {
        let count = SizeArithmetic(call.ctx()).product(shape);
        let bits = self.emit(call, count, stream)?;
        // The precision of numbers below 1, minus one bit for the midpoint between two numbers.
        let precision = match call.ctx().type_data(elem) {
            TypeData::Float(FloatKind::F64) => 52,
            _ => 23,
        };
        let distance = word(call, 64 - precision)?;
        let bits = call.two("nn.shr", bits, distance)?;
        let mut number = call.cast(bits, elem)?;
        if zero == Zero::Excluded {
            number = call.with_number("nn.add", number, 0.5)?;
        }
        let fraction = call.with_number("nn.mul", number, 0.5f64.powi(precision as i32))?;
        call.reshape_to(fraction, shape)
    }
}

/// Whether 0 is among the numbers from 0 to 1.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zero {
    Included,
    Excluded,
}

impl NodeConversion<'_, '_> {
    /// `x ^ (x >> bits)`.
    fn shifted_onto(&mut self, x: Value, bits: u32) -> Result<Value, Refusal> {
        let bits = word(self, u64::from(bits))?;
        let shifted = self.two("nn.shr", x, bits)?;
        self.two("nn.xor", x, shifted)
    }
}

fn unsigned(call: &mut NodeConversion<'_, '_>, x: Value) -> Result<Value, Refusal> {
    let ctx = call.ctx();
    let uint64 = ctx.ty(TypeData::Integer { width: 64, signedness: ir::Signedness::Unsigned });
    call.emit("nn.bitcast", &[x], &[("to", ctx.type_attr(uint64))])
}

fn word(call: &mut NodeConversion<'_, '_>, word: u64) -> Result<Value, Refusal> {
    let word = call.int(word.cast_signed())?;
    unsigned(call, word)
}

/// The type in which results of a type are computed.
fn computed(call: &NodeConversion<'_, '_>, elem: Type) -> Result<Type, Refusal> {
    computed_type(call.ctx(), elem).ok_or_else(|| "random numbers that are no floats".into())
}

/// The shape and the element type of a result: given by attributes, or the operand's.
fn wanted(call: &NodeConversion<'_, '_>) -> Result<(Vec<Dim>, Type), Refusal> {
    let dtype = call.node.int("dtype")?.map(|number| numbered_type(call, "dtype", number)).transpose()?;
    if let Some(like) = call.optional(0) {
        let own = call.element(like);
        return Ok((call.dims(like)?, dtype.unwrap_or(own)));
    }
    let shape = call.node.ints("shape")?.ok_or("`shape` is left out")?;
    let shape: Option<Vec<Dim>> =
        shape.iter().map(|size| u64::try_from(*size).ok().map(Dim::Known)).collect();
    Ok((shape.ok_or("`shape` has a size below 0")?, dtype.unwrap_or(call.ctx().f32())))
}

/// RandomUniform and RandomUniformLike.
pub(crate) fn uniform(call: &mut NodeConversion<'_, '_>) -> Results {
    let (shape, elem) = wanted(call)?;
    let (low, high) = (call.number("low", 0.0)?, call.number("high", 1.0)?);
    let wide = computed(call, elem)?;
    let fractions = RandomBits::of(call)?.fractions(call, &shape, wide, (0, Zero::Included))?;
    let part = call.with_number("nn.mul", fractions, high - low)?;
    let number = call.with_number("nn.add", part, low)?;
    Ok(vec![call.cast(number, elem)?])
}

/// RandomNormal and RandomNormalLike, by the transform of Box and Muller (1958).
pub(crate) fn normal(call: &mut NodeConversion<'_, '_>) -> Results {
    let (shape, elem) = wanted(call)?;
    let (mean, scale) = (call.number("mean", 0.0)?, call.number("scale", 1.0)?);
    let wide = computed(call, elem)?;
    let bits = RandomBits::of(call)?;
    let fraction = bits.fractions(call, &shape, wide, (0, Zero::Excluded))?;
    let logarithm = call.one("nn.log", fraction)?;
    let square = call.with_number("nn.mul", logarithm, -2.0)?;
    let radius = call.one("nn.sqrt", square)?;
    let turn = bits.fractions(call, &shape, wide, (1, Zero::Included))?;
    let angle = call.with_number("nn.mul", turn, std::f64::consts::TAU)?;
    let cosine = call.one("nn.cos", angle)?;
    let standard = call.two("nn.mul", radius, cosine)?;
    let scaled = call.with_number("nn.mul", standard, scale)?;
    let shifted = call.with_number("nn.add", scaled, mean)?;
    Ok(vec![call.cast(shifted, elem)?])
}

/// Bernoulli: 1 with the probability given by an element, else 0.
pub(crate) fn bernoulli(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let (shape, elem) = wanted(call)?;
    let wide = computed(call, call.element(x))?;
    let fractions = RandomBits::of(call)?.fractions(call, &shape, wide, (0, Zero::Included))?;
    let probability = call.cast(x, wide)?;
    let is_one = call.two("nn.lt", fractions, probability)?;
    Ok(vec![call.cast(is_one, elem)?])
}

/// Multinomial: numbers of classes, drawn by logarithms of their probabilities that are not normalised: the
/// class whose logarithm and a Gumbel variate are the largest sum (Gumbel, 1954).
pub(crate) fn multinomial(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let &[rows, classes] = &call.dims(x)?[..] else { return Err("an input of other than two axes".into()) };
    let samples = call.node.int("sample_size")?.unwrap_or(1);
    let samples = u64::try_from(samples).map_err(|_| Refusal::from("`sample_size` is below 0"))?;
    let elem = numbered_type(call, "dtype", call.node.int("dtype")?.unwrap_or(6))?;
    let wide = computed(call, call.element(x))?;
    let shape = [rows, Dim::Known(samples), classes];
    let mut variate = RandomBits::of(call)?.fractions(call, &shape, wide, (0, Zero::Excluded))?;
    for _ in 0..2 {
        let logarithm = call.one("nn.log", variate)?;
        variate = call.one("nn.neg", logarithm)?;
    }
    let x = call.cast(x, wide)?;
    let x = call.reshape_to(x, &[rows, Dim::Known(1), classes])?;
    let sum = call.two("nn.add", x, variate)?;
    let drawn = call.emit("nn.arg_max", &[sum], &[("axis", call.ctx().int_attr(2))])?;
    Ok(vec![call.cast(drawn, elem)?])
}
