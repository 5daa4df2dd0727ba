//! Operations of a body: how they are made, read, changed and erased.

use cranelift_entity::{EntityRef, ListPool};

use super::{Body, Extra, ExtraIndex, OpRecord, Successor, ValueOwner, ValueRecord};
use crate::context::Context;
use crate::entities::{Attr, Child, Ident, Location, Op, OpName, Region, Type, Value};

/// The parts of an operation, apart from operands and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpParts {
    /// Its name.
    pub name: OpName,
    /// Its inherent attributes: a dictionary.
    pub properties: Attr,
    /// Its other attributes: a dictionary.
    pub attrs: Attr,
    /// Its source location.
    pub location: Location,
}

impl Body {
    /// Makes a detached operation.
    pub fn make_op(&mut self, name: OpName, operands: &[Value], results: &[Type], location: Location) -> Op {
        let (properties, attrs) = (Attr::EMPTY, Attr::EMPTY);
        self.make(OpParts { name, properties, attrs, location }, operands, results)
    }

    /// Makes a detached operation with attributes.
    pub fn make(&mut self, parts: OpParts, operands: &[Value], results: &[Type]) -> Op {
        let use_count = u16::try_from(operands.len()).expect("at most 65535 operands");
        let result_count = u16::try_from(results.len()).expect("at most 65535 results");
        let op = self.ops.push(OpRecord {
            name: parts.name,
            properties: parts.properties,
            attrs: parts.attrs,
            location: parts.location,
            first_use: self.uses.len() as u32,
            first_result: self.values.len() as u32,
            use_count,
            result_count,
            extra: None.into(),
            block: None.into(),
            prev: None.into(),
            next: None.into(),
            seq: 0,
        });
        self.push_slots(op, operands);
        for &ty in results {
            self.values.push(ValueRecord { ty, owner: ValueOwner::op(op), first_use: None.into() });
        }
        op
    }

    /// The name of an operation.
    pub fn name(&self, op: Op) -> OpName {
        self.ops[op].name
    }

    /// Gives an operation another name; its operands and results stay.
    pub fn set_name(&mut self, op: Op, name: OpName) {
        self.touch();
        self.ops[op].name = name;
    }

    /// The source location of an operation.
    pub fn location(&self, op: Op) -> Location {
        self.ops[op].location
    }

    /// Sets the source location of an operation.
    pub fn set_location(&mut self, op: Op, location: Location) {
        self.ops[op].location = location;
    }

    /// Moves source locations: those in the `length` bytes from byte `from` on now start at byte `to`.
    pub(crate) fn move_locations(&mut self, from: u32, length: usize, to: u32) {
        let moved = |location: Location| {
            let place = location.source_offset().and_then(|at| at.checked_sub(from));
            let place = place.filter(|place| (*place as usize) < length);
            place.map_or(location, |place| Location::at_source(to + place))
        };
        self.ops.values_mut().for_each(|op| op.location = moved(op.location));
        self.arg_locations_mut().for_each(|location| *location = moved(*location));
        self.children_mut().for_each(|(_, child)| child.move_locations(from, length, to));
    }

    /// The number of results of an operation.
    pub fn result_count(&self, op: Op) -> usize {
        self.ops[op].result_count.into()
    }

    /// Result `index` of an operation.
    pub fn result(&self, op: Op, index: usize) -> Value {
        assert!(index < self.result_count(op), "result {index} of {op} does not exist");
        Value::new(self.ops[op].first_result as usize + index)
    }

    /// All results of an operation.
    pub fn results(
        &self,
        op: Op,
    ) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + Clone + use<> {
        let record = &self.ops[op];
        let first = record.first_result as usize;
        (first..first + record.result_count as usize).map(Value::new)
    }

    /// Inherent attributes: a dictionary.
    pub fn properties(&self, op: Op) -> Attr {
        self.child(op).map_or(self.ops[op].properties, |child| child.properties)
    }

    /// Other attributes: a dictionary.
    pub fn attrs(&self, op: Op) -> Attr {
        self.child(op).map_or(self.ops[op].attrs, |child| child.attrs)
    }

    /// Replaces the inherent attributes.
    pub fn set_properties(&mut self, op: Op, properties: Attr) {
        self.touch();
        match self.child_mut(op) {
            Some(child) => child.properties = properties,
            None => self.ops[op].properties = properties,
        }
    }

    /// Replaces the other attributes.
    pub fn set_attrs(&mut self, op: Op, attrs: Attr) {
        self.touch();
        match self.child_mut(op) {
            Some(child) => child.attrs = attrs,
            None => self.ops[op].attrs = attrs,
        }
    }

    /// An attribute of an operation, inherent or not.
    pub fn attr(&self, ctx: &Context, op: Op, name: Ident) -> Option<Attr> {
        ctx.dict_get(self.properties(op), name).or_else(|| ctx.dict_get(self.attrs(op), name))
    }

    /// Sets an attribute: inherent if the row has it, else among the others.
    pub fn set_attr(&mut self, ctx: &Context, op: Op, name: &str, value: Attr) {
        let inherent = ctx.def(self.name(op)).is_some_and(|def| def.attr(name).is_some());
        let name = ctx.ident(name);
        if inherent {
            self.set_properties(op, ctx.dict_set(self.properties(op), name, value));
        } else {
            self.set_attrs(op, ctx.dict_set(self.attrs(op), name, value));
        }
    }

    /// Removes an attribute, if it is there.
    pub fn remove_attr(&mut self, ctx: &Context, op: Op, name: &str) {
        let name = ctx.ident(name);
        self.set_properties(op, ctx.dict_remove(self.properties(op), name));
        self.set_attrs(op, ctx.dict_remove(self.attrs(op), name));
    }

    /// The regions of an operation in this body. The regions of an isolated operation are the roots of its
    /// child.
    pub fn regions(&self, op: Op) -> &[Region] {
        match self.ops[op].extra.expand() {
            None => &[],
            Some(extra) => self.regions_in(extra),
        }
    }

    #[inline(never)]
    fn regions_in(&self, extra: ExtraIndex) -> &[Region] {
        self.nest.extras[extra].regions.as_slice(&self.nest.region_lists)
    }

    /// Adds an empty region to an operation.
    pub fn add_op_region(&mut self, op: Op) -> Region {
        self.touch();
        let region = self.add_region(op);
        let (extra, region_lists) = self.extra_mut(op);
        extra.regions.push(region, region_lists);
        region
    }

    /// Whether an operation has no regions, no successors and no body of its own.
    pub fn is_plain(&self, op: Op) -> bool {
        self.extra(op).is_none_or(|extra| {
            extra.regions.is_empty() && extra.successors.is_empty() && extra.child.is_none()
        })
    }

    /// The possible target blocks of a terminator.
    pub fn successors(&self, op: Op) -> &[Successor] {
        self.extra(op).map_or(&[], |extra| &extra.successors)
    }

    /// Sets the possible target blocks of a terminator.
    pub fn set_successors(&mut self, op: Op, successors: Vec<Successor>) {
        self.touch();
        self.extra_mut(op).0.successors = successors.into();
    }

    /// The body that an isolated operation owns.
    #[inline]
    pub fn child(&self, op: Op) -> Option<&Body> {
        self.child_in(self.ops[op].extra.expand()?)
    }

    #[inline(never)]
    fn child_in(&self, extra: ExtraIndex) -> Option<&Body> {
        self.nest.children[self.nest.extras[extra].child.expand()?].as_deref()
    }

    /// The body that an isolated operation owns.
    pub fn child_mut(&mut self, op: Op) -> Option<&mut Body> {
        let child = self.extra(op)?.child.expand()?;
        self.nest.children[child].as_deref_mut()
    }

    /// Gives an operation a body of its own, which takes over the operation's attributes.
    pub fn set_child(&mut self, op: Op, mut child: Body) {
        self.touch();
        child.properties = self.properties(op);
        child.attrs = self.attrs(op);
        let index = self.nest.children.push(Some(Box::new(child)));
        self.extra_mut(op).0.child = index.into();
    }

    /// All bodies owned by operations of this one, at any depth of its regions, with these operations, in
    /// text order.
    pub fn children(&self) -> impl Iterator<Item = (Op, &Body)> + '_ {
        // The next operation of each open block, innermost last.
        let mut cursors = Vec::new();
        if self.nest.get().is_some_and(|nest| !nest.children.is_empty()) {
            self.push_first_ops(self.roots(), &mut cursors);
        }
        std::iter::from_fn(move || {
            while let Some(op) = cursors.pop() {
                cursors.extend(self.next_op(op));
                match self.child(op) {
                    Some(child) => return Some((op, child)),
                    None => self.push_first_ops(self.regions(op), &mut cursors),
                }
            }
            None
        })
    }

    fn push_first_ops(&self, regions: &[Region], cursors: &mut Vec<Op>) {
        let blocks = regions.iter().rev().flat_map(|region| self.blocks(*region).iter().rev());
        cursors.extend(blocks.filter_map(|block| self.first_op(*block)));
    }

    /// All bodies owned by operations of this one, in the order of creation, for parallel changes.
    pub fn children_mut(&mut self) -> impl Iterator<Item = (Child, &mut Body)> {
        let children = self.nest.get_mut().map(|nest| nest.children.iter_mut());
        children.into_iter().flatten().filter_map(|(index, child)| Some((index, child.as_deref_mut()?)))
    }

    /// Erases an operation with its regions; its results must be unused.
    pub fn erase(&mut self, op: Op) {
        let read = self.results(op).find(|result| self.is_used(*result));
        assert!(read.is_none(), "{op} is erased while {read:?} is read");
        self.detach(op);
        self.clear_operands(op);
        self.ops[op].use_count = 0;
        for region in self.regions(op).to_vec() {
            self.erase_blocks(region);
        }
        if let Some(child) = self.extra(op).and_then(|extra| extra.child.expand()) {
            self.nest.children[child] = None;
        }
    }

    /// Erases all blocks of a region with their operations, which may read each other's values.
    pub fn erase_blocks(&mut self, region: Region) {
        let blocks = self.blocks(region).to_vec();
        self.nest.set_blocks(region, &[]);
        for &block in &blocks {
            let ops: Vec<Op> = self.ops(block).collect();
            ops.iter().for_each(|op| self.drop_references(*op));
        }
        for block in blocks {
            let ops: Vec<Op> = self.ops(block).collect();
            ops.into_iter().rev().for_each(|op| self.erase(op));
            self.nest.blocks[block].region = None.into();
        }
    }

    fn drop_references(&mut self, op: Op) {
        self.clear_operands(op);
        self.ops[op].use_count = 0;
        for region in self.regions(op).to_vec() {
            let blocks = self.blocks(region).to_vec();
            let ops: Vec<Op> = blocks.iter().flat_map(|block| self.ops(*block)).collect();
            ops.into_iter().for_each(|op| self.drop_references(op));
        }
    }

    fn extra(&self, op: Op) -> Option<&Extra> {
        self.ops[op].extra.expand().map(|extra| &self.nest.extras[extra])
    }

    /// The rarely used fields of an operation, and the pool of their lists.
    fn extra_mut(&mut self, op: Op) -> (&mut Extra, &mut ListPool<Region>) {
        let nest = &mut *self.nest;
        let extra = match self.ops[op].extra.expand() {
            Some(extra) => extra,
            None => {
                let extra = nest.extras.push(Extra::default());
                self.ops[op].extra = extra.into();
                extra
            }
        };
        (&mut nest.extras[extra], &mut nest.region_lists)
    }

    /// The handle of the child that an operation owns.
    pub fn child_index(&self, op: Op) -> Option<Child> {
        self.extra(op)?.child.expand()
    }
}
