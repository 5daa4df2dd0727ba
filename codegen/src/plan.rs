//! The place of each value of a planned function, for other code generators.

use cranelift_entity::SecondaryMap;
use ir::alias::AliasSets;
use ir::size::tensor_bytes;
use ir::weights::WeightSet;
use ir::{Body, Context, Diagnostic, Op, Value, flow};

use crate::address::{Address, Base};
use crate::place::{Place, Places};

/// The memory of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceMemory {
    /// The arena, with all pools.
    Arena,
    /// The buffer of an input, by its number among those that the caller passes.
    Input(usize),
    /// The buffer of an output, likewise.
    Output(usize),
}

/// A place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValuePlace {
    /// The memory.
    pub memory: PlaceMemory,
    /// The offset in bytes.
    pub offset: u64,
    /// The size in bytes; rows with gaps between them reach further.
    pub bytes: u64,
}

/// The plan of a function of known sizes, read from its attributes.
pub struct ReadPlan {
    /// The bytes of the arena, with all pools.
    pub arena_bytes: u64,
    values: SecondaryMap<Value, Option<ValuePlace>>,
    scratch: SecondaryMap<Op, Option<ValuePlace>>,
}

impl ReadPlan {
    /// Reads the plan of a function and checks that each place is within its memory and large enough.
    /// (Planning has checked that values with overlapping live ranges share no bytes.)
    ///
    /// # Errors
    /// For each operation whose places are missing, malformed, too small or outside their pool.
    ///
    /// ```
    /// use codegen::{Cpu, PlaceMemory, ReadPlan};
    /// let text = r#"
    /// func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {optc.arena = 64 : i64} {
    ///     %0 = nn.exp %x {mem.place = [["arena", 0, 16]]} : tensor<4xf32>
    ///     %1 = nn.relu %0 {mem.place = [["out", 0, 16]]} : tensor<4xf32>
    ///     return %1 : tensor<4xf32>
    /// }"#;
    /// let ctx = std::sync::Arc::new(ir::Context::new());
    /// let module = ir::text::parse(&ctx, "exp.mlir", text.to_owned()).expect("the text is right");
    /// let body = module.function("main").expect("it is there");
    /// let plan = ReadPlan::of(&ctx, body).expect("the plan is whole");
    /// let ops: Vec<ir::Op> = body.ops(body.entry(body.root()).expect("a body")).collect();
    /// let places = [0, 1].map(|op| plan.value(body.result(ops[op], 0)).expect("it has a place"));
    /// assert_eq!((places[0].memory, places[0].bytes), (PlaceMemory::Arena, 16));
    /// assert_eq!(places[1].memory, PlaceMemory::Output(0));
    /// ```
    pub fn of(ctx: &Context, body: &Body) -> Result<ReadPlan, Vec<Diagnostic>> {
        let weights = WeightSet::of(ctx, body);
        let places = Places::read(ctx, body, &weights, &AliasSets::of(ctx, body))?;
        let mut plan = ReadPlan {
            arena_bytes: places.arena_bytes,
            values: SecondaryMap::new(),
            scratch: SecondaryMap::new(),
        };
        let place = |Address { base, offset }: Address, bytes| {
            let memory = match base {
                Base::Arena => PlaceMemory::Arena,
                Base::Input(number) => PlaceMemory::Input(number),
                Base::Output(number) => PlaceMemory::Output(number),
            };
            ValuePlace { memory, offset, bytes }
        };
        let mut add = |value: Value| {
            let bytes = tensor_bytes(ctx, body.ty(value)).unwrap_or(0);
            plan.values[value] = places.of(value).map(|address| place(address, bytes));
        };
        body.all_blocks().flat_map(|block| body.args(block)).for_each(|arg| add(*arg));
        flow::walk(ctx, body, |op| {
            body.results(op).for_each(&mut add);
            plan.scratch[op] = places.scratch(op).map(|Place { address, bytes }| place(address, bytes));
        });
        Ok(plan)
    }

    /// The place of a value; none for weights, and for values inside one operation.
    pub fn value(&self, value: Value) -> Option<ValuePlace> {
        self.values[value]
    }

    /// The place of an operation's scratch, if it has some.
    pub fn scratch(&self, op: Op) -> Option<ValuePlace> {
        self.scratch[op]
    }
}
