//! How convolutions are cut into parts for several threads.

use super::{Conv2d, Path};

/// The least work of a part, in cycles: about what it costs to hand one out.
pub(super) const LEAST_PART: f64 = 3000.0;
/// How much longer than expected a part may take because its core is busy elsewhere. Smaller parts shorten
/// the wait for the last one.
pub(super) const DISTURBANCE: f64 = 0.25;
/// Cycles of a call, without its work.
const CALL: f64 = 500.0;
/// Cycles for each float that parts with other panels copy too, and for each row of each block of K whose
/// outputs are next to another part's: two cores then fetch each other's cache lines. Fitted to
/// `examples/layers.rs` on two cores of an AMD EPYC (Zen 4).
const COPY_AGAIN: f64 = 2.0;
const BESIDE: f64 = 150.0;

/// The costs of a kernel's work, relative to those of [`Conv2d`].
#[derive(Clone, Copy)]
pub(crate) struct WorkCosts {
    /// Of products.
    pub(crate) product: f64,
    /// Of reading the weights of a block.
    pub(crate) weight: f64,
}

impl WorkCosts {
    /// Those of [`Conv2d`] itself.
    pub(crate) const OWN: WorkCosts = WorkCosts { product: 1.0, weight: 1.0 };
}

impl Conv2d {
    /// Cuts rows and panels so that the slowest worker finishes first, by a rough count of each part's work.
    pub(crate) fn choose_parts(&mut self, threads: usize) {
        self.choose_parts_at(threads, WorkCosts::OWN);
    }

    /// The same for a kernel with other costs of products and of reading weights.
    pub(crate) fn choose_parts_at(&mut self, threads: usize, costs: WorkCosts) {
        let rows = self.rows();
        let panels = self.panels().count();
        let lines = self.batch as usize * self.out_h as usize;
        let units = match self.path {
            Path::Lanes => lines,
            Path::Planes => lines * self.plane_blocks() as usize,
            _ => rows,
        };
        if units * panels == 0 {
            return;
        }
        // 64-bit divisions take twice as long as 32-bit ones, and each candidate cut needs one.
        let [units, panels, threads] =
            [units, panels, threads].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        let cost = self.cost(costs);
        let all = cost(units, panels);
        let beside = if threads > 1 { self.beside() } else { 0.0 };
        let most = ((all / LEAST_PART) as u32).clamp(1, threads * 8);
        let waiting = if threads > 1 { DISTURBANCE } else { 0.0 };
        let mut best = (f64::INFINITY, 1, 1);
        for row_parts in (1..=most.min(units)).rev() {
            let rows = units.div_ceil(row_parts);
            let mut rounds = 0;
            for panel_parts in 1..=panels.min(most / row_parts) {
                let parts = row_parts * panel_parts;
                while rounds * threads < parts {
                    rounds += 1;
                }
                let turns = f64::from(rounds) + waiting;
                let beside = if panel_parts > 1 { beside } else { 0.0 };
                // The work if all parts were equal.
                let evenly = all + beside * (f64::from(units) * f64::from(panel_parts));
                let least = evenly + CALL * f64::from(parts - 1);
                if least * turns > best.0 * f64::from(parts) {
                    continue;
                }
                let alone = cost(rows, panels.div_ceil(panel_parts)) + beside * f64::from(rows);
                let cut = (alone * turns, panel_parts, row_parts);
                if cut < best {
                    best = cut;
                }
            }
        }
        (self.row_parts, self.panel_parts) = (best.2, best.1);
    }

    /// Cycles, about, that a row (an output line, for lanes) takes longer if several parts have panels of it.
    pub(super) fn beside(&self) -> f64 {
        let blocks = self.depth().div_ceil(self.block_depth.max(1) as usize) as f64;
        match self.path {
            Path::Lanes | Path::Planes => f64::from(self.out_w) * BESIDE,
            Path::Lines => self.copied_floats() * COPY_AGAIN + BESIDE,
            Path::Gather => self.depth() as f64 * COPY_AGAIN + blocks * BESIDE,
            Path::Direct => blocks * BESIDE,
        }
    }

    /// Cycles, about, of a tile, by its rows (output lines, for lanes) and panels.
    pub(super) fn cost(&self, costs: WorkCosts) -> impl Fn(u32, u32) -> f64 + use<> {
        let depth = self.depth() as f64;
        let block_rows = self.block_rows.max(1);
        let [product, copy, weight] = match self.path {
            Path::Lanes => [depth * f64::from(self.out_w) * 2.0, 0.0, 0.0],
            Path::Gather => [depth, depth * 0.15, depth],
            Path::Direct => [depth, 0.0, depth],
            Path::Lines => [depth, self.copied_floats(), depth],
            Path::Planes => self.plane_costs(),
        };
        let [product, weight] = [product * costs.product, weight * costs.weight];
        move |rows, panels| {
            let passes = f64::from(rows.div_ceil(block_rows));
            let (rows, panels) = (f64::from(rows), f64::from(panels));
            rows * panels * product + rows * copy + passes * panels * weight + CALL
        }
    }
}
