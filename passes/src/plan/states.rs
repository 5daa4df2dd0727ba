//! States: the next state is written to the bytes of the current one once nothing reads that any more.
//!
//! ```text
//! %1 = nn.add %state, %x                  %1 = nn.add %state, %x
//! %2 = nn.mul %state, %1           =>     %2 = nn.mul %state, %1
//!                                         %3 = optc.copy %1
//! return %2, %1                           return %2, %3           (%3 is the next state)
//! ```
//!
//! The next state is computed in place if its bytes are free by then. Otherwise it is copied there at the end
//! of the function; if states are exchanged, some are copied twice. Between the last read of the current
//! state and the first write of the next, the bytes may hold other values (`output_reuse`).

use cranelift_entity::{EntityRef, EntitySet, PrimaryMap};
use ir::alias::AliasSets;
use ir::memory_pools::{ARENA, wanted};
use ir::plan::storage::Storage;
use ir::states::{STATE, StateArgument, state_pool, states};
use ir::weights::WeightSet;
use ir::{Body, Builder, Context, Diagnostic, Location, Op, Value};

use super::{ArenaProblem, BufferContent, PoolProblem, entry_args, returns};
use crate::liveness::{AliasClasses, Steps};
use crate::place::{Buffer, BufferId, Problem, Step};

/// Copies each next state that can't be computed in place. Returns the alias sets after that.
pub(super) fn separate(
    ctx: &Context,
    body: &mut Body,
    mut aliases: AliasSets,
    states: &[StateArgument],
) -> AliasSets {
    loop {
        let late = late(ctx, body, &aliases, states);
        if late.is_empty() {
            return aliases;
        }
        for (end, index) in late {
            let value = body.operand(end, index);
            let copy = Builder::before(ctx, body, end).value("optc.copy", &[value], &[]);
            body.set_operand(end, index, copy.expect("a copy has the type of its operand"));
        }
        aliases = AliasSets::of(ctx, body);
    }
}

/// The operands of returns that are next states but can't have the bytes of their state.
fn late(ctx: &Context, body: &Body, aliases: &AliasSets, states: &[StateArgument]) -> Vec<(Op, usize)> {
    let weights = WeightSet::of(ctx, body);
    let steps = Steps::of(ctx, body, &weights);
    let classes = AliasClasses::of(ctx, body, &steps, &weights, aliases);
    let ends = returns(ctx, body);
    let mut taken = EntitySet::new();
    taken.extend(entry_args(body).iter().copied());
    for end in &ends {
        let outputs = body.operands(*end).enumerate().filter(|(index, _)| !is_next(states, *index));
        taken.extend(outputs.map(|(_, value)| aliases.root(value)));
    }
    let mut late = Vec::new();
    for &end in &ends {
        for (state, index) in states.iter().filter_map(|state| Some((state, state.result?))) {
            let value = body.operand(end, index);
            let root = aliases.root(value);
            let is_whole = aliases.size_bytes(value) == aliases.size_bytes(root);
            let is_kept = root == state.value;
            let is_made_there = !weights.contains(root)
                && wanted(ctx, body, root) == ARENA
                && !classes.conflict_in_steps(&steps, classes.class(root), classes.class(state.value))
                && taken.insert(root);
            if !(is_whole && (is_kept || is_made_there)) {
                late.push((end, index));
            }
        }
    }
    late
}

/// Whether result `result` of a function is a next state.
pub(super) fn is_next(states: &[StateArgument], result: usize) -> bool {
    states.iter().any(|state| state.result == Some(result))
}

impl ArenaProblem<'_> {
    /// Pins states to their places in the pool `state`.
    pub(super) fn pin_states(&mut self, ctx: &Context, body: &Body) -> Result<(), Vec<Diagnostic>> {
        let malformed = |fault| vec![Diagnostic::error(Location::UNKNOWN, fault)];
        let states = states(ctx, body).map_err(malformed)?;
        if states.is_empty() {
            return Ok(());
        }
        let pool = state_pool(ctx, body, &states).map_err(malformed)?;
        self.pools.retain(|other| other.pool.name != STATE);
        let (mut problem, mut contents) = (Problem::default(), PrimaryMap::new());
        for state in states {
            contents.push(BufferContent::Root(state.value));
            let StateArgument { offset, size_bytes, value, result, .. } = state;
            let (first, last) = (Step::new(0), self.steps.end());
            let id = problem.buffers.push(Buffer {
                first,
                last,
                size_bytes,
                align: pool.align,
                pin: Some(offset),
            });
            let home = Some(Storage::Pool(self.pools.len(), id));
            self.homes[value] = home;
            self.states.push(value);
            for end in returns(ctx, body) {
                let next = result.map(|index| self.aliases.root(body.operand(end, index)));
                next.into_iter().for_each(|next| self.homes[next] = home);
                self.states.extend(next);
            }
        }
        self.pools.push(PoolProblem { pool, problem, contents });
        Ok(())
    }

    /// Whether two classes may share a place with the states already there.
    pub(super) fn is_free_for(&self, home: Option<Storage<BufferId>>, classes: [Value; 2]) -> bool {
        let others = self.states.iter().map(|value| self.classes.class(*value));
        let mut others = others.filter(|other| self.homes[*other] == home && !classes.contains(other));
        home.is_none()
            || others.all(|other| {
                let conflicts = |class: Value| self.classes.conflict_in_steps(&self.steps, other, class);
                !classes.into_iter().any(conflicts)
            })
    }
}
