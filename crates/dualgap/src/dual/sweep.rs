//! Runs of visits in one loop, for blocks whose visits take less time than what the engine does around them.
//!
//! A visit of a row with twenty entries takes about four hundred instructions, and twice as many through the general steps of the
//! engine. A sweep does the same steps under the identity link, with line search and without averages, and to the last bit.

use super::masses::Masses;
use super::outlook::{Bits, Outlook};
use super::sampling::Order;

/// What is noted of the visits of a sweep, besides what they change.
pub(crate) struct Noted<'e> {
    /// The sum of the dual gains of the steps, if they are counted.
    pub gained: Option<&'e mut f64>,
    /// What the visits tell of the next certificate, if anyone asks, ...
    outlook: Option<&'e mut Outlook>,
    /// ... and the blocks that it looks at now.
    seen: Bits,
}

impl<'e> Noted<'e> {
    pub(super) fn new(gained: Option<&'e mut f64>, outlook: Option<&'e mut Outlook>) -> Self {
        let seen = outlook.as_ref().map_or(Bits::NONE, |outlook| outlook.which());
        Self { gained, outlook, seen }
    }

    /// Returns the outlook, if it looks at this block.
    #[inline]
    pub fn outlook(&mut self, i: usize) -> Option<&mut Outlook> {
        if self.seen.has(i) { self.outlook.as_deref_mut() } else { None }
    }

    /// Counts visits, with which the round may be over.
    fn count(&mut self, visits: usize, blocks: usize, round_over: bool) {
        if let Some(outlook) = &mut self.outlook {
            outlook.count(visits, blocks, round_over);
            self.seen = outlook.which();
        }
    }
}

/// What the visits of a sweep change and need.
pub struct Sweep<'e, P> {
    pub(super) order: &'e mut Order,
    /// The points of all blocks.
    pub(crate) points: &'e mut [P],
    /// v, and w with it.
    pub(crate) v: &'e mut [f64],
    /// `mass_i / λ`.
    pub(crate) scales: &'e Masses,
    pub(crate) masses: &'e Masses,
    pub(super) noted: Noted<'e>,
    /// Whether blocks are asked for before their visit.
    pub(super) fetches: bool,
    /// How many visits there are.
    pub(super) visits: usize,
}

impl<P> Sweep<'_, P> {
    /// Calls `visit` with every block and what the visits change, in order; it returns whether the block moved, or an error.
    /// `fetch` asks for what a later visit needs.
    #[inline]
    pub(crate) fn each<E>(
        self,
        fetch: impl Fn(usize, &P),
        mut visit: impl FnMut(usize, &mut P, &mut [f64], &mut Noted<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let Self { order, points, v, scales, mut noted, fetches, visits, .. } = self;
        let mut left = visits;
        while left > 0 {
            let visited = order.visit_run(left, fetches, |i, upcoming| {
                if let Some(i) = upcoming {
                    scales.fetch(i);
                    fetch(i, &points[i]);
                }
                visit(i, &mut points[i], v, &mut noted)
            })?;
            left -= visited;
            noted.count(visited, points.len(), order.is_round_over());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::dual::{Engine, Problem, Settings};
    use crate::linalg::{Random, Rows};
    use crate::run::{Quota, Solver};
    use crate::structure::{Choice, LinearBlocks};
    use crate::term::{L2, ScalarLoss};

    /// The dual term of the hinge is linear, so that its gains are exact; those of a concave one are bounds from below.
    #[test]
    fn gains_add_up_to_the_rise_of_the_dual_value() {
        let mut random = Random::new(2);
        let rows: Vec<Vec<f64>> =
            (0..50).map(|_| (0..4).map(|_| random.unit() - 0.4).collect()).collect();
        let rows = Rows::dense(&rows).unwrap();
        let targets: Vec<f64> = (0..50).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
        for loss in [ScalarLoss::Hinge, ScalarLoss::Logistic] {
            let blocks = LinearBlocks::new(&rows, targets.clone(), loss, Choice::I).unwrap();
            let settings = Settings { threads: 1, ..Settings::plain() };
            let problem = Problem::new(&blocks, L2, 0.1, None).unwrap();
            let mut engine = Engine::new(problem, &settings).unwrap();
            engine.count_gains();
            let before = engine.certify().unwrap().iterate.dual;
            engine.count_onto(0.0);
            let quota = Quota { oracle_calls: 120, steps: u64::MAX, pause: 120, halted: &|| false };
            engine.advance(&quota).unwrap();
            let rise = engine.certify().unwrap().iterate.dual - before;
            let gained = engine.gained();
            assert!(gained > 0.0 && gained <= rise + 1e-14, "{gained} of {rise}");
            assert!(
                loss != ScalarLoss::Hinge || (gained - rise).abs() < 1e-14,
                "{gained} of {rise}"
            );
        }
    }
}
