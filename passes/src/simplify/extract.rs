//! Extraction: the node that the simplified program uses for each class.
//!
//! The goal is the cheapest *DAG*, in which a shared node is paid once. An exact solution is NP-hard; this is
//! the method of technology mapping for circuits (Manohararajah, Brown, Vranesic 2006; Mishchenko et al.
//! 2007). It begins with *area flow*, where a class's cost is shared among its readers. Then come passes of
//! *exact local area*: for each class in use, every alternative is tried at the cost of the nodes that only
//! it uses.
//!
//! Every class has a level, and a node may be chosen only if its children's levels are lower, so no choice
//! contains a cycle. The level of a class of the original program is its position in the text, so that a
//! choice never reads a value defined later. A class added by laws is as late as the classes that may read it
//! allow. One pass is O(nodes), plus the walks of exact area below an alternative.

use egg::Id;
use rustc_hash::FxHashMap;

use super::cost::cost;
use super::graph::LawGraph;
use super::nodes::ENode;

/// The number of passes for each of the two costs.
const PASSES: usize = 2;

/// The level of a class: a position in the text, then the number of added classes after it (before it if
/// negative).
type Level = (u32, i32);

const NOWHERE: Level = (u32::MAX, i32::MAX);
/// A level that still sinks after this number of rounds is part of a cycle.
const ROUNDS: usize = 64;

/// The chosen nodes.
pub(super) struct Choice {
    /// For each class, by its index in `index`.
    nodes: Vec<Option<ENode>>,
    index: FxHashMap<Id, usize>,
    refs: Vec<u32>,
}

impl Choice {
    /// The chosen node of a class in use.
    pub(super) fn node(&self, class: Id) -> &ENode {
        self.nodes[self.index[&class]].as_ref().expect("what is in use has a node")
    }

    /// Whether the program uses a class.
    pub(super) fn is_used(&self, class: Id) -> bool {
        self.refs[self.index[&class]] > 0
    }
}

/// Chooses nodes for all classes below `roots`.
///
/// `places` contains the text positions of the original program's classes; `originals` its own nodes, which
/// win if costs are equal.
pub(super) fn extract(
    graph: &LawGraph<'_>,
    roots: &[Id],
    places: &FxHashMap<Id, u32>,
    originals: &FxHashMap<ENode, ir::Op>,
) -> Choice {
    let mut extraction = Extraction::new(graph, places, originals);
    for root in roots {
        extraction.root_refs[extraction.index[root]] += 1;
    }
    extraction.choose_originals();
    extraction.count_refs();
    for _ in 0..PASSES {
        extraction.choose_by_flow();
        extraction.count_refs();
    }
    for _ in 0..PASSES {
        extraction.choose_by_area();
    }
    let chosen = extraction.classes.into_iter().map(|class| {
        let chosen = class.chosen?;
        class.options.into_iter().nth(chosen).map(|option| option.node)
    });
    Choice { nodes: chosen.collect(), index: extraction.index, refs: extraction.refs }
}

struct Class {
    level: Level,
    options: Vec<NodeOption>,
    chosen: Option<usize>,
    flow: f64,
}

/// A candidate node of a class.
struct NodeOption {
    node: ENode,
    cost: f64,
    children: Vec<usize>,
}

struct Extraction {
    classes: Vec<Class>,
    index: FxHashMap<Id, usize>,
    /// The classes in order of their levels.
    order: Vec<usize>,
    refs: Vec<u32>,
    root_refs: Vec<u32>,
}

impl Extraction {
    fn new(
        graph: &LawGraph<'_>,
        places: &FxHashMap<Id, u32>,
        originals: &FxHashMap<ENode, ir::Op>,
    ) -> Extraction {
        let mut ids: Vec<Id> = graph.classes().map(|class| class.id).collect();
        ids.sort_unstable();
        let index: FxHashMap<Id, usize> = ids.iter().enumerate().map(|(number, id)| (*id, number)).collect();
        let mut classes = Vec::with_capacity(ids.len());
        for id in &ids {
            let mut nodes: Vec<&ENode> = graph[*id].nodes.iter().collect();
            nodes.sort_by_key(|node| !originals.contains_key(*node));
            let option = |node: &ENode| NodeOption {
                node: node.clone(),
                cost: cost(graph, node),
                children: node.children.iter().map(|child| index[&graph.find(*child)]).collect(),
            };
            let level = places.get(id).map_or(NOWHERE, |place| (*place, 0));
            let options = nodes.into_iter().map(option).collect();
            classes.push(Class { level, options, chosen: None, flow: f64::INFINITY });
        }
        let count = classes.len();
        let mut extraction =
            Extraction { classes, index, order: Vec::new(), refs: vec![1; count], root_refs: vec![0; count] };
        extraction.find_levels();
        extraction
    }

    /// Assigns a level to each added class, drops nodes that no level allows, and sorts.
    fn find_levels(&mut self) {
        let earliest = self.earliest_levels();
        self.sink_levels(&earliest);
        let levels: Vec<Level> = self.classes.iter().map(|class| class.level).collect();
        for (number, class) in self.classes.iter_mut().enumerate() {
            class
                .options
                .retain(|option| option.children.iter().all(|child| levels[*child] < levels[number]));
        }
        self.order = (0..levels.len()).collect();
        self.order.sort_by_key(|class| levels[*class]);
    }

    /// The level of each class; for an added one, the lowest level above the operands of one of its nodes.
    fn earliest_levels(&self) -> Vec<Level> {
        let mut levels: Vec<Level> = self.classes.iter().map(|class| class.level).collect();
        let made: Vec<usize> = (0..levels.len()).filter(|class| levels[*class] == NOWHERE).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for &class in &made {
                let above = |option: &NodeOption| {
                    let below = option.children.iter().map(|child| levels[*child]).max();
                    let (place, step) = below.unwrap_or((0, 0));
                    (place, step.saturating_add(1))
                };
                let level = self.classes[class].options.iter().map(above).min().unwrap_or(NOWHERE);
                if level < levels[class] {
                    levels[class] = level;
                    changed = true;
                }
            }
        }
        levels
    }

    /// Sinks each added class below its possible readers, but not below its earliest level. Added classes
    /// that may read each other in a cycle end at their earliest levels, which are free of cycles.
    fn sink_levels(&mut self, earliest: &[Level]) {
        let is_made: Vec<bool> = self.classes.iter().map(|class| class.level == NOWHERE).collect();
        loop {
            let mut is_sinking = vec![false; is_made.len()];
            for _ in 0..ROUNDS {
                is_sinking.fill(false);
                (0..is_made.len())
                    .for_each(|class| self.sink_below(class, &is_made, earliest, &mut is_sinking));
                if !is_sinking.contains(&true) {
                    return;
                }
            }
            for class in (0..is_made.len()).filter(|class| is_sinking[*class]) {
                self.classes[class].level = earliest[class];
            }
        }
    }

    /// Sinks the added classes that a class may read below it, and records those that moved.
    fn sink_below(&mut self, class: usize, is_made: &[bool], earliest: &[Level], is_sinking: &mut [bool]) {
        let (place, step) = self.classes[class].level;
        let children = self.classes[class].options.iter().flat_map(|option| &option.children);
        let children: Vec<usize> = children.copied().filter(|child| is_made[*child]).collect();
        for child in children {
            let level = (place, step - 1).max(earliest[child]);
            if level < self.classes[child].level {
                self.classes[child].level = level;
                is_sinking[child] = true;
            }
        }
    }

    /// Chooses the original program's nodes, so that its shared values count as shared from the start.
    fn choose_originals(&mut self) {
        for class in &mut self.classes {
            let has_options = !class.options.is_empty();
            class.chosen = has_options.then_some(0);
        }
    }

    /// Chooses by the cost of everything below, with each part shared among its readers.
    fn choose_by_flow(&mut self) {
        for position in 0..self.order.len() {
            let class = self.order[position];
            let flow = |option: &NodeOption| {
                let share = |child: &usize| self.classes[*child].flow / f64::from(self.refs[*child].max(1));
                option.cost + option.children.iter().map(share).sum::<f64>()
            };
            let mut best = (f64::INFINITY, None);
            for (number, option) in self.classes[class].options.iter().enumerate() {
                let flow = flow(option);
                if flow < best.0 {
                    best = (flow, Some(number));
                }
            }
            (self.classes[class].flow, self.classes[class].chosen) = best;
        }
    }

    /// Counts the readers of each class under the current choice.
    fn count_refs(&mut self) {
        self.refs.clone_from(&self.root_refs);
        for position in (0..self.order.len()).rev() {
            let class = self.order[position];
            if let (true, Some(chosen)) = (self.refs[class] > 0, self.classes[class].chosen) {
                for child in &self.classes[class].options[chosen].children {
                    self.refs[*child] += 1;
                }
            }
        }
    }

    /// Tries every alternative of every class in use, at the cost of the nodes that only it uses.
    fn choose_by_area(&mut self) {
        for position in 0..self.order.len() {
            let class = self.order[position];
            if self.refs[class] == 0 || self.classes[class].options.len() < 2 {
                continue;
            }
            let present = self.classes[class].chosen.expect("a class in use has a node");
            let mut best = (self.release(class, present), present);
            for number in 0..self.classes[class].options.len() {
                if number != present {
                    let area = self.acquire(class, number);
                    self.release(class, number);
                    best = if area < best.0 { (area, number) } else { best };
                }
            }
            self.classes[class].chosen = Some(best.1);
            self.acquire(class, best.1);
        }
    }

    /// Counts a node's reads; returns its cost plus that of the nodes that become used by it.
    fn acquire(&mut self, class: usize, option: usize) -> f64 {
        let mut area = 0.0;
        let mut open = vec![(class, option)];
        while let Some((class, option)) = open.pop() {
            let option = &self.classes[class].options[option];
            area += option.cost;
            for child in &option.children {
                self.refs[*child] += 1;
                if self.refs[*child] == 1 {
                    open.push((*child, self.classes[*child].chosen.expect("a lower class has a node")));
                }
            }
        }
        area
    }

    /// Removes a node's reads; returns its cost plus that of the nodes that become unused.
    fn release(&mut self, class: usize, option: usize) -> f64 {
        let mut area = 0.0;
        let mut open = vec![(class, option)];
        while let Some((class, option)) = open.pop() {
            let option = &self.classes[class].options[option];
            area += option.cost;
            for child in &option.children {
                self.refs[*child] -= 1;
                if self.refs[*child] == 0 {
                    open.push((*child, self.classes[*child].chosen.expect("a lower class has a node")));
                }
            }
        }
        area
    }
}
