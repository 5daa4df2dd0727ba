//! Matching of the operations of two functions.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::nodes::{FunctionNodes, Node, OperandSource};

/// The limit of rounds of following matches.
const ROUNDS: usize = 16;

/// The correspondence of nodes.
pub(super) struct Matching {
    /// For each node of the first, that of the second.
    pub(super) to_second: Vec<Option<usize>>,
    /// For each node of the second, that of the first.
    pub(super) to_first: Vec<Option<usize>>,
}

impl Matching {
    pub(super) fn of(a: &FunctionNodes, b: &FunctionNodes) -> Matching {
        let mut matching =
            Matching { to_second: vec![None; a.nodes.len()], to_first: vec![None; b.nodes.len()] };
        let [cones_a, cones_b] = [cones(a), cones(b)];
        matching.by_key(&cones_a, &cones_b);
        matching.follow(a, b);
        let located = |node: &Node| node.location.as_ref().map(|place| (node.name.clone(), place.clone()));
        matching.by_key(&keys(a, located), &keys(b, located));
        matching.follow(a, b);
        let typed = |node: &Node| Some((node.name.clone(), node.types.clone(), node.attrs.clone()));
        matching.by_key(&keys(a, typed), &keys(b, typed));
        matching.follow(a, b);
        let named = |node: &Node| Some((node.name.clone(), node.types.clone()));
        matching.by_key(&keys(a, named), &keys(b, named));
        matching
    }

    /// Whether two operands correspond.
    pub(super) fn corresponds(&self, a: &OperandSource, b: &OperandSource) -> bool {
        match (a, b) {
            (OperandSource::Result(a, i), OperandSource::Result(b, j)) => {
                self.to_second[*a] == Some(*b) && i == j
            }
            (OperandSource::Arg(a), OperandSource::Arg(b)) => a == b,
            _ => false,
        }
    }

    /// The number of corresponding nodes in another order: those outside of a longest increasing subsequence.
    pub(super) fn reordered(&self) -> usize {
        let mut tails: Vec<usize> = Vec::new();
        let matched: Vec<usize> = self.to_second.iter().flatten().copied().collect();
        for &index in &matched {
            let at = tails.partition_point(|tail| *tail < index);
            match tails.get_mut(at) {
                Some(tail) => *tail = index,
                None => tails.push(index),
            }
        }
        matched.len() - tails.len()
    }

    fn join(&mut self, a: usize, b: usize) {
        self.to_second[a] = Some(b);
        self.to_first[b] = Some(a);
    }

    /// Matches unmatched nodes with the same key, in text order.
    fn by_key<K: Ord>(&mut self, a: &[Option<K>], b: &[Option<K>]) {
        let mut free: BTreeMap<&K, Vec<usize>> = BTreeMap::new();
        for (index, key) in b.iter().enumerate().rev() {
            if let (Some(key), None) = (key, self.to_first[index]) {
                free.entry(key).or_default().push(index);
            }
        }
        for (index, key) in a.iter().enumerate() {
            let Some(key) = key.as_ref().filter(|_| self.to_second[index].is_none()) else { continue };
            if let Some(other) = free.get_mut(key).and_then(Vec::pop) {
                self.join(index, other);
            }
        }
    }

    /// Matches readers and operands of matched nodes until nothing more is found.
    fn follow(&mut self, a: &FunctionNodes, b: &FunctionNodes) {
        for _ in 0..ROUNDS {
            if !self.down(a, b) && !self.up(a, b) {
                break;
            }
        }
    }

    /// Matches nodes of the same name with corresponding operands.
    fn down(&mut self, a: &FunctionNodes, b: &FunctionNodes) -> bool {
        let mut by_reads: BTreeMap<(&str, Vec<OperandSource>), Vec<usize>> = BTreeMap::new();
        for (index, node) in b.nodes.iter().enumerate().rev() {
            if self.to_first[index].is_none() && !node.operands.is_empty() {
                by_reads.entry((&*node.name, node.operands.clone())).or_default().push(index);
            }
        }
        let mut has_found = false;
        for (index, node) in a.nodes.iter().enumerate() {
            if self.to_second[index].is_some() || node.operands.is_empty() {
                continue;
            }
            let translated = node.operands.iter().map(|source| match source {
                OperandSource::Result(node, result) => {
                    Some(OperandSource::Result(self.to_second[*node]?, *result))
                }
                OperandSource::Arg(name) => Some(OperandSource::Arg(name.clone())),
            });
            let Some(reads) = translated.collect::<Option<Vec<OperandSource>>>() else { continue };
            if let Some(other) = by_reads.get_mut(&(&*node.name, reads)).and_then(Vec::pop) {
                self.join(index, other);
                has_found = true;
            }
        }
        has_found
    }

    /// Matches nodes of the same name with corresponding readers.
    fn up(&mut self, a: &FunctionNodes, b: &FunctionNodes) -> bool {
        let mut has_found = false;
        for reader in (0..a.nodes.len()).rev() {
            let Some(other) = self.to_second[reader] else { continue };
            let pairs = a.nodes[reader].operands.iter().zip(&b.nodes[other].operands);
            for (old, new) in pairs {
                let (OperandSource::Result(old, i), OperandSource::Result(new, j)) = (old, new) else {
                    continue;
                };
                let is_free = self.to_second[*old].is_none() && self.to_first[*new].is_none();
                if i == j && is_free && a.nodes[*old].name == b.nodes[*new].name {
                    self.join(*old, *new);
                    has_found = true;
                }
            }
        }
        has_found
    }
}

/// A key of each node.
fn keys<K>(nodes: &FunctionNodes, key: impl Fn(&Node) -> Option<K>) -> Vec<Option<K>> {
    nodes.nodes.iter().map(key).collect()
}

/// A hash of each node with everything that it depends on and contains.
fn cones(nodes: &FunctionNodes) -> Vec<Option<u64>> {
    let mut hashes: Vec<Option<u64>> = Vec::with_capacity(nodes.nodes.len());
    for node in &nodes.nodes {
        let mut hasher = DefaultHasher::new();
        (&node.name, &node.attrs, &node.types).hash(&mut hasher);
        for source in &node.operands {
            match source {
                // A value of a later block has no hash yet.
                OperandSource::Result(node, result) => (hashes.get(*node), result).hash(&mut hasher),
                OperandSource::Arg(name) => name.hash(&mut hasher),
            }
        }
        node.inner.iter().for_each(|inner| hashes[*inner].hash(&mut hasher));
        hashes.push(Some(hasher.finish()));
    }
    hashes
}
