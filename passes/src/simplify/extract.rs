//! Which node of each class the simplified program uses.
//!
//! Wanted is the cheapest *DAG*: what several operations read is paid once. Exactly that is NP-hard; this is
//! the method by which circuits are mapped to gates (Manohararajah, Brown, Vranesic 2006; Mishchenko et al.
//! 2007): first by *area flow*, where a class's cost is shared among its readers, then passes of *exact local
//! area*, where for each class in use every alternative is tried and pays for just what nothing else uses.
//!
//! Every class has a level, and a node may be chosen only if its children's levels are lower, so that no
//! choice makes a cycle. The level of a value is its place in the text, so that a choice never reads what is
//! defined only later; a class that laws have made comes as late as the classes that may read it allow. One
//! pass is O(nodes), but for what exact area walks below an alternative.

use egg::Id;
use rustc_hash::FxHashMap;

use super::cost::cost;
use super::graph::LawGraph;
use super::nodes::ENode;

/// How often each of the two costs is brought up to date.
const PASSES: usize = 2;

/// Where a class stands: a place in the text, then how many made classes after it, or before it if negative.
type Level = (u32, i32);

const NOWHERE: Level = (u32::MAX, i32::MAX);
/// After this number of rounds, a level that still sinks is part of a cycle.
const ROUNDS: usize = 64;

/// The chosen nodes.
pub(super) struct Choice {
    /// Of each class, by the number that `index` gives it.
    nodes: Vec<Option<ENode>>,
    index: FxHashMap<Id, usize>,
    refs: Vec<u32>,
}

impl Choice {
    /// The node of a class that the program uses.
    pub(super) fn node(&self, class: Id) -> &ENode {
        self.nodes[self.index[&class]].as_ref().expect("what is in use has a node")
    }

    /// Whether the program uses a class.
    pub(super) fn is_used(&self, class: Id) -> bool {
        self.refs[self.index[&class]] > 0
    }
}

/// Chooses for all classes below `roots`.
///
/// `places` holds the places in the text of the classes that the program has; `originals` its own nodes,
/// which win where costs are equal.
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

/// A node that a class may use.
struct NodeOption {
    node: ENode,
    cost: f64,
    children: Vec<usize>,
}

struct Extraction {
    classes: Vec<Class>,
    index: FxHashMap<Id, usize>,
    /// Classes from the lowest level up.
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

    /// Gives each made class its level, drops what no level allows, and sorts.
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

    /// The level of each class; of a made one, the lowest that is above the operands of one of its nodes.
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

    /// Sinks each made class below those that may read it, but not below its earliest level. Where made
    /// classes may read each other in a cycle, they come to lie at their earliest levels, which have none.
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

    /// Sinks the made classes that a class may read below it, and notes which went deeper.
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

    /// Chooses what the program has, so that what it shares counts as shared from the first.
    fn choose_originals(&mut self) {
        for class in &mut self.classes {
            let has_options = !class.options.is_empty();
            class.chosen = has_options.then_some(0);
        }
    }

    /// Chooses by the cost of everything below, each part shared among its readers.
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

    /// Counts the readers of each class under the present choice.
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

    /// Tries every alternative of every class in use, each for the price of what nothing else uses.
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

    /// Counts a node's reads; gives its cost with what came into use by it.
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

    /// Takes a node's reads back; gives its cost with what went out of use by that.
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
