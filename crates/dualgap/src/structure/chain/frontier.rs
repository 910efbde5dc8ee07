//! The frontier of a beam: at every position the scores of prefixes, and which labels are followed further.

/// The prefixes that a beam follows, and bounds on all others.
#[derive(Clone, Debug, Default)]
pub struct Frontier {
    /// `T × K`: f.
    pub forward: Vec<f64>,
    /// u of this position, and of the one before.
    pub upper: Vec<f64>,
    before: Vec<f64>,
    /// `max_y transition[y, ·]`.
    pub columns: Vec<f64>,
    /// The kept labels of all positions, N each.
    pub kept: Vec<usize>,
    order: Vec<usize>,
}

impl Frontier {
    /// Follows the kept labels of position t − 1 to all labels of position t.
    pub fn follow(&mut self, t: usize, width: usize, dropped: f64, transitions: &[f64]) {
        let Self { forward, upper, before, columns, kept, .. } = self;
        std::mem::swap(upper, before);
        upper.clear();
        upper.extend(columns.iter().map(|best| dropped + best));
        let k = columns.len();
        let (done, rest) = forward.split_at_mut(t * k);
        let (from, to) = (&done[(t - 1) * k..], &mut rest[..k]);
        to.fill(f64::NEG_INFINITY);
        for &y in &kept[(t - 1) * width..] {
            let run = &transitions[y * k..(y + 1) * k];
            for ((to, upper), step) in to.iter_mut().zip(&mut *upper).zip(run) {
                *to = to.max(from[y] + step);
                *upper = upper.max(before[y] + step);
            }
        }
    }

    /// Chooses the labels of position t to keep; returns the largest bound of those that are dropped.
    pub fn choose(&mut self, t: usize, width: usize) -> f64 {
        let Self { forward, upper, kept, order, .. } = self;
        let k = upper.len();
        let score = |y: &usize| forward[t * k + y];
        order.clear();
        order.extend(0..k);
        // Of labels that tie, the first are kept.
        order
            .select_nth_unstable_by(width - 1, |a, b| score(b).total_cmp(&score(a)).then(a.cmp(b)));
        order[..width].sort_unstable();
        kept.extend_from_slice(&order[..width]);
        let bounds = order[width..].iter().map(|&y| upper[y]);
        bounds.fold(f64::NEG_INFINITY, f64::max)
    }
}
