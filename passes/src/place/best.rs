//! The best placement so far, and the condition that ends the search for a better one.

use super::{BufferId, Placement, Problem, Watch, lower_bound};
use cranelift_entity::PrimaryMap;

/// The best placement so far, and the size that ends the search.
pub(super) struct Best {
    pub(super) offsets: PrimaryMap<BufferId, u64>,
    pub(super) size_bytes: u64,
    pub(super) lower_bound_bytes: u64,
    pub(super) planner: &'static str,
    target_bytes: u64,
    /// Called with each better placement and each better bound.
    watch: Option<Watch>,
}

impl Best {
    /// No placement yet.
    pub(super) fn new(problem: &Problem) -> Self {
        let lower_bound_bytes = lower_bound(problem);
        Self {
            offsets: PrimaryMap::new(),
            size_bytes: u64::MAX,
            lower_bound_bytes,
            planner: "",
            target_bytes: lower_bound_bytes.max(problem.capacity.unwrap_or(0)),
            watch: None,
        }
    }

    /// Calls `watch` with the current placement, and with each better one from now on.
    pub(super) fn watch(&mut self, watch: Watch) {
        self.watch = Some(watch);
        self.tell();
    }

    fn tell(&self) {
        if let Some(watch) = &self.watch {
            watch(self.size_bytes, self.lower_bound_bytes);
        }
    }

    /// Begins with a placement that was found before.
    pub(super) fn of(problem: &Problem, found: Placement) -> Self {
        let Placement { offsets, size_bytes, lower_bound_bytes, planner, .. } = found;
        let target_bytes = lower_bound_bytes.max(problem.capacity.unwrap_or(0));
        Self { offsets, size_bytes, lower_bound_bytes, planner, target_bytes, watch: None }
    }

    /// Whether a smaller placement is impossible or not wanted.
    pub(super) fn is_enough(&self) -> bool {
        self.size_bytes <= self.target_bytes
    }

    /// The size at which the search ends.
    pub(super) fn target(&self) -> u64 {
        self.target_bytes
    }

    /// Records that no placement has `size_bytes` or fewer, if all sizes are multiples of `grain`.
    pub(super) fn prove_above(&mut self, size_bytes: u64, grain: u64) {
        self.lower_bound_bytes = self.lower_bound_bytes.max((size_bytes / grain + 1) * grain);
        self.target_bytes = self.target_bytes.max(self.lower_bound_bytes);
        self.tell();
    }

    /// Takes a placement if it is smaller.
    pub(super) fn offer(&mut self, found: Option<(PrimaryMap<BufferId, u64>, u64)>, planner: &'static str) {
        if let Some((offsets, size_bytes)) = found.filter(|&(_, size_bytes)| size_bytes < self.size_bytes) {
            (self.offsets, self.size_bytes, self.planner) = (offsets, size_bytes, planner);
            self.tell();
        }
    }

    /// Like [`Best::offer`], but the placement is copied only if it is taken.
    pub(super) fn offer_ref(
        &mut self,
        offsets: &PrimaryMap<BufferId, u64>,
        size_bytes: u64,
        planner: &'static str,
    ) {
        if size_bytes < self.size_bytes {
            self.offer(Some((offsets.clone(), size_bytes)), planner);
        }
    }

    pub(super) fn has_placement(&self) -> bool {
        self.size_bytes < u64::MAX
    }

    pub(super) fn into_placement(self) -> Placement {
        let proved_best = self.size_bytes <= self.lower_bound_bytes;
        let Self { offsets, size_bytes, lower_bound_bytes, planner, .. } = self;
        Placement { offsets, size_bytes, lower_bound_bytes, proved_best, planner }
    }
}
