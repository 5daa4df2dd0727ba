//! Random layouts of operands and results: in wider tensors with gaps between rows and batches, backwards,
//! with strides, with permuted axes, in a concatenation or a padding.

use std::sync::Arc;

use ir::{Attr, Context, Module, Type, Value};

use crate::programs::Program;
use crate::random::Random;

/// The content of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Multiples of 1/8 between -2 and 2, small integers, or truth values.
    Numbers,
    /// Indices into an axis of this size, including negative ones if the type is signed.
    Indices(u64),
}

/// A function of one operation under construction.
pub struct Anywhere {
    /// The function.
    pub program: Program,
    /// The source of random decisions.
    pub random: Random,
    /// The content of each argument.
    pub contents: Vec<Content>,
}

impl Anywhere {
    /// A function without arguments.
    pub fn new(seed: u64) -> Anywhere {
        let (program, _) = Program::new(Arc::new(Context::new()), &[]);
        Anywhere { program, random: Random::new(seed), contents: Vec::new() }
    }

    /// The context.
    pub fn ctx(&self) -> Arc<Context> {
        self.program.ctx.clone()
    }

    /// A list of numbers.
    pub fn ints(&self, numbers: &[i64]) -> Attr {
        self.program.ctx.ints_attr(numbers)
    }

    /// A size near that of a vector or a block of a kernel, at most `most`.
    pub fn size(&mut self, most: u64) -> u64 {
        const SIZES: [u64; 20] = [1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33];
        loop {
            let size = self.random.pick(&SIZES);
            if size <= most {
                return size;
            }
        }
    }

    /// A shape of this rank.
    pub fn shape(&mut self, rank: usize, most: u64) -> Vec<u64> {
        (0..rank).map(|_| self.size(most)).collect()
    }

    /// An argument, or a value computed from one.
    pub fn given(&mut self, shape: &[u64], elem: Type, content: Content) -> Value {
        let ty = self.program.ctx.tensor(shape, elem);
        let argument = self.program.argument(ty);
        self.contents.push(content);
        if elem == self.program.ctx.f32() && content == Content::Numbers && self.random.below(3) == 0 {
            return self.program.op("nn.neg", &[argument], &[]);
        }
        argument
    }

    /// A value of a shape in a random layout.
    pub fn operand(&mut self, shape: &[u64], elem: Type) -> Value {
        self.operand_of(shape, elem, Content::Numbers)
    }

    /// The same, of `f32`.
    pub fn floats(&mut self, shape: &[u64]) -> Value {
        let elem = self.program.ctx.f32();
        self.operand(shape, elem)
    }

    /// A value of a shape and some content in a random layout.
    pub fn operand_of(&mut self, shape: &[u64], elem: Type, content: Content) -> Value {
        match self.random.below(6) {
            0 => self.given(shape, elem, content),
            1 | 2 => self.window(shape, |this, shape| this.given(shape, elem, content)),
            3 => self.turned(shape, |this, shape| this.given(shape, elem, content)),
            4 => self.window(shape, |this, shape| {
                this.turned(shape, |this, shape| this.given(shape, elem, content))
            }),
            _ => self.turned(shape, |this, shape| {
                this.window(shape, |this, shape| this.given(shape, elem, content))
            }),
        }
    }

    /// A window of a larger value.
    fn window(&mut self, shape: &[u64], make: impl FnOnce(&mut Anywhere, &[u64]) -> Value) -> Value {
        let (mut starts, mut strides, mut large) = (Vec::new(), Vec::new(), Vec::new());
        for &size in shape {
            let stride: i64 = self.random.pick(&[1, 1, 1, 1, 2, -1, 3, -2]);
            let (before, after) = (self.random.below(3) as u64, self.random.below(3) as u64);
            let reach = size.saturating_sub(1) * stride.unsigned_abs();
            large.push(before + reach + 1 + after);
            starts.push((before + if stride < 0 { reach } else { 0 }) as i64);
            strides.push(stride);
        }
        let from = make(self, &large);
        let sizes: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
        let attrs =
            [("starts", self.ints(&starts)), ("sizes", self.ints(&sizes)), ("strides", self.ints(&strides))];
        self.program.op("nn.slice", &[from], &attrs)
    }

    /// A transpose of a value with permuted axes.
    fn turned(&mut self, shape: &[u64], make: impl FnOnce(&mut Anywhere, &[u64]) -> Value) -> Value {
        let order = self.order(shape.len());
        let mut from = vec![0; shape.len()];
        order.iter().zip(shape).for_each(|(axis, size)| from[*axis as usize] = *size);
        let from = make(self, &from);
        let attrs = [("permutation", self.ints(&order))];
        self.program.op("nn.transpose", &[from], &attrs)
    }

    /// All axes in any order.
    pub fn order(&mut self, rank: usize) -> Vec<i64> {
        let mut left: Vec<i64> = (0..rank as i64).collect();
        let mut order = Vec::new();
        while !left.is_empty() {
            order.push(left.swap_remove(self.random.below(left.len())));
        }
        order
    }

    /// Returns the result itself, or a value that contains it.
    pub fn finish(mut self, result: Value) -> (Module, Vec<Content>) {
        let shape = self.program.shape(result);
        let elem = self.program.elem(result);
        let is_plain = shape.is_empty() || elem != self.program.ctx.f32();
        let returned = match self.random.below(4) {
            0 | 1 if !is_plain => {
                let axis = self.random.below(shape.len());
                let other = self.given(&shape, elem, Content::Numbers);
                let parts = if self.random.below(2) == 0 { [result, other] } else { [other, result] };
                let attrs = [("axis", self.program.ctx.int_attr(axis as i64))];
                self.program.op("nn.concat", &parts, &attrs)
            }
            2 if !is_plain => {
                let mut counts = || shape.iter().map(|_| self.random.below(3) as i64).collect::<Vec<_>>();
                let (low, high) = (counts(), counts());
                let attrs = [("low", self.ints(&low)), ("high", self.ints(&high))];
                self.program.op("nn.pad", &[result], &attrs)
            }
            _ => result,
        };
        (self.program.finish(&[returned]), self.contents)
    }
}

/// The bytes of an argument.
pub fn bytes(ctx: &Context, ty: Type, content: Content, random: &mut Random) -> Vec<u8> {
    let elem = ctx.elem(ty);
    let count = ctx.static_shape(ty).expect("its sizes are known").iter().product::<u64>();
    if let ir::TypeData::Integer { width: 2..8, .. } = ctx.type_data(elem) {
        let packed = ir::size::tensor_bytes(ctx, ty).expect("its size is known");
        // The last byte may have more bits than there are elements.
        return (0..packed).map(|at| random.bits() as u8 & if at + 1 == packed { 1 } else { 255 }).collect();
    }
    let mut bytes = Vec::new();
    for _ in 0..count {
        let number = match content {
            Content::Numbers => random.below(33) as i64 - 16,
            Content::Indices(size) => random.below(2 * size as usize) as i64 - size as i64,
        };
        bytes.extend(element(ctx, elem, number, content));
    }
    bytes
}

fn element(ctx: &Context, elem: Type, number: i64, content: Content) -> Vec<u8> {
    use ir::{FloatKind, Signedness, TypeData};
    let eighths = number as f64 / 8.0;
    match ctx.type_data(elem) {
        TypeData::Float(FloatKind::F32) => (eighths as f32).to_le_bytes().to_vec(),
        TypeData::Float(FloatKind::F64) => eighths.to_le_bytes().to_vec(),
        TypeData::Float(FloatKind::Bf16) => (eighths as f32).to_le_bytes()[2..].to_vec(),
        TypeData::Float(_) => half(number),
        TypeData::Integer { width: 1, .. } => vec![u8::from(number > 0)],
        TypeData::Integer { width, signedness } => {
            let number = match (content, signedness) {
                (Content::Indices(size), Signedness::Unsigned) => number.rem_euclid(size as i64),
                (Content::Numbers, Signedness::Unsigned) => number + 16,
                _ => number,
            };
            number.to_le_bytes()[..*width as usize / 8].to_vec()
        }
        _ => number.to_le_bytes().to_vec(),
    }
}

/// A multiple of 1/8 as a float of 16 bits.
fn half(eighths: i64) -> Vec<u8> {
    let sign = if eighths < 0 { 0x8000u16 } else { 0 };
    let size = eighths.unsigned_abs() as u16;
    if size == 0 {
        return sign.to_le_bytes().to_vec();
    }
    let power = size.ilog2() as u16;
    let bits = sign | ((power + 12) << 10) | ((size << (10 - power)) & 0x3FF);
    bits.to_le_bytes().to_vec()
}
