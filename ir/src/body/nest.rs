//! The nesting of regions, blocks and isolated operations in a body: tables created with the first block.
//!
//! A declaration is an isolated operation with an empty region, and a module may have a great many. So a body
//! stores only its number of regions until its first block is made.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use cranelift_entity::{EntityList, ListPool, PrimaryMap};

use super::{ArgIndex, ArgRecord, BlockRecord, Body, Extra, ExtraIndex, RegionRecord};
use crate::entities::{Block, Child, Location, Region, Value};

/// The tables of a body's nested regions, blocks and isolated operations.
#[derive(Clone, Default)]
pub(super) struct NestTables {
    roots: Vec<Region>,
    pub args: PrimaryMap<ArgIndex, ArgRecord>,
    pub blocks: PrimaryMap<Block, BlockRecord>,
    pub regions: PrimaryMap<Region, RegionRecord>,
    pub extras: PrimaryMap<ExtraIndex, Extra>,
    pub children: PrimaryMap<Child, Option<Box<Body>>>,
    pub value_lists: ListPool<Value>,
    pub region_lists: ListPool<Region>,
    pub block_lists: ListPool<Block>,
    /// The locations of arguments, if they were set.
    pub arg_locations: BTreeMap<Value, Location>,
}

impl NestTables {
    /// A nest of `count` root regions and nothing else.
    fn with_roots(count: u32) -> NestTables {
        let mut nest = NestTables::default();
        (0..count).for_each(|_| {
            nest.add_root();
        });
        nest
    }

    fn add_root(&mut self) -> Region {
        let region = self.regions.push(RegionRecord { owner: None.into(), blocks: EntityList::new() });
        self.roots.push(region);
        region
    }

    /// The blocks of a region.
    pub(super) fn blocks(&self, region: Region) -> &[Block] {
        self.regions[region].blocks.as_slice(&self.block_lists)
    }

    /// Sets the blocks of a region.
    pub(super) fn set_blocks(&mut self, region: Region, blocks: &[Block]) {
        let list = &mut self.regions[region].blocks;
        list.clear(&mut self.block_lists);
        list.extend(blocks.iter().copied(), &mut self.block_lists);
    }

    /// Releases unused capacity.
    pub(super) fn shrink_to_fit(&mut self) {
        self.roots.shrink_to_fit();
        self.args.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.regions.shrink_to_fit();
        self.extras.shrink_to_fit();
        self.children.shrink_to_fit();
    }
}

/// The tables, or none while they would hold only some of the first root regions.
#[derive(Clone)]
pub(super) struct Lazy {
    root_count: u32,
    tables: Option<Box<NestTables>>,
}

impl Lazy {
    /// The tables of a body with `roots` empty regions.
    pub(super) fn new(roots: usize) -> Lazy {
        let root_count = u32::try_from(roots).expect("fewer than 2^32 regions");
        let tables = (roots > Region::FIRST.len()).then(|| Box::new(NestTables::with_roots(root_count)));
        Lazy { root_count, tables }
    }

    /// The tables, if they exist.
    pub(super) fn get(&self) -> Option<&NestTables> {
        self.tables.as_deref()
    }

    /// The tables, if they exist.
    pub(super) fn get_mut(&mut self) -> Option<&mut NestTables> {
        self.tables.as_deref_mut()
    }

    /// The root regions.
    pub(super) fn roots(&self) -> &[Region] {
        match &self.tables {
            Some(nest) => &nest.roots,
            None => &Region::FIRST[..self.root_count as usize],
        }
    }

    /// Adds a root region.
    pub(super) fn add_root(&mut self) -> Region {
        let place = self.root_count as usize;
        if self.tables.is_some() || place == Region::FIRST.len() {
            self.deref_mut().add_root();
        }
        self.root_count += 1;
        self.roots()[place]
    }
}

impl Deref for Lazy {
    type Target = NestTables;

    #[inline(always)]
    fn deref(&self) -> &NestTables {
        self.tables.as_deref().expect("what has a handle stands in a table")
    }
}

impl DerefMut for Lazy {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut NestTables {
        let root_count = self.root_count;
        self.tables.get_or_insert_with(
            #[cold]
            || Box::new(NestTables::with_roots(root_count)),
        )
    }
}
