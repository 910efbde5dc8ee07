//! The working set: which weights take steps until all are checked again.
//!
//! Few weights are not zero at the optimum. Those that are not zero now take part, and of the others as many as are not, in the
//! order of how much their slope exceeds what holds them at zero, or nearly does, in units of the column's length.

use super::data::Data;
use super::terms::Terms;

/// The set has room for at least this many weights besides those that are not zero.
const LEAST: usize = 64;

/// A weight takes part if its slope is at least this share of σ: it may be needed soon.
const NEAR: f64 = 0.95;

/// Returns the working set, in ascending order, given the slopes of the losses along all weights.
pub fn choose(
    data: &Data<'_>,
    terms: &Terms,
    w: &[f64],
    slopes: &[f64],
    dropped: &[bool],
) -> Vec<u32> {
    let mut set: Vec<u32> = Vec::new();
    let mut others: Vec<(f64, u32)> = Vec::new();
    for (c, (&w, &z)) in w.iter().zip(slopes).enumerate() {
        let length = data.length(c);
        if length <= 0.0 || dropped[c] {
            continue;
        }
        let pull = terms.pull(-z);
        if w != 0.0 || terms.is_free(c) {
            set.push(c as u32);
        } else if pull >= NEAR * terms.sigma {
            others.push(((pull - terms.sigma) / length, c as u32));
        }
    }
    let room = LEAST.max(set.len());
    if room < others.len() {
        let order = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        others.select_nth_unstable_by(room, order);
        others.truncate(room);
    }
    set.extend(others.iter().map(|&(_, c)| c));
    set.sort_unstable();
    set
}
