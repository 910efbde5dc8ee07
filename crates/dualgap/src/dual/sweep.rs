//! Runs of visits in one loop, for blocks whose visits take less time than what the engine does around them.
//!
//! A visit of a row with twenty entries takes about four hundred instructions, and twice as many through the general steps of the
//! engine. A sweep does the same steps under the identity link, with line search and without averages, and to the last bit.

use super::sampling::Order;

/// What the visits of a sweep change and need.
pub struct Sweep<'e, P> {
    pub(super) order: &'e mut Order,
    /// The points of all blocks.
    pub(crate) points: &'e mut [P],
    /// v, and w with it.
    pub(crate) v: &'e mut [f64],
    /// `mass_i / λ`.
    pub(crate) scales: &'e [f64],
    pub(crate) masses: &'e [f64],
    /// The sum of the dual gains of the steps, if they are counted.
    pub(crate) gained: Option<&'e mut f64>,
    /// Whether blocks are touched before their visit.
    pub(super) touches: bool,
    /// How many visits there are.
    pub(super) visits: usize,
}

impl<P> Sweep<'_, P> {
    /// Calls `visit` with every block and what the visits change, in order; it returns whether the block moved, or an error.
    /// `touch` reads what a later visit needs.
    #[inline]
    pub(crate) fn each<E>(
        self,
        touch: impl Fn(usize, &P) -> f64,
        mut visit: impl FnMut(usize, &mut P, &mut [f64], Option<&mut f64>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let Self { order, points, v, scales, mut gained, touches, visits, .. } = self;
        let mut left = visits;
        while left > 0 {
            left -= order.visit_run(left, |i, upcoming| {
                if touches {
                    let touch = |&i: &usize| scales[i] + touch(i, &points[i]);
                    // The compiler may not drop what it is told is used.
                    std::hint::black_box(upcoming.iter().map(touch).sum::<f64>());
                }
                visit(i, &mut points[i], v, gained.as_deref_mut())
            })?;
        }
        Ok(())
    }
}
