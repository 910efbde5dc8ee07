//! Slices of a compensated sum, by which several threads add up one vector.
//!
//! Every thread goes through all terms and adds those that fall among the coordinates of its slice. The terms of a
//! coordinate are then added by one thread and in their order, so the sum is the same to the last bit, whatever the
//! slices are. Parts of the terms with a sum each would need the memory of the vector once more for every part.

use super::accumulate::{Accumulate, CompensatedVec, add_each};
use super::sum::two_sum;
use super::{Row, parallel};
use multiversion::multiversion;

/// Neighbouring coordinates of a compensated sum.
#[derive(Debug)]
struct Slice<'a> {
    /// The first of them.
    first: usize,
    high: &'a mut [f64],
    low: &'a mut [f64],
}

impl<'a> Slice<'a> {
    /// Returns the slices of a sum between these bounds, which ascend from 0 to its dimension.
    fn of(sum: &'a mut CompensatedVec, bounds: &[usize]) -> Vec<Self> {
        let (mut high, mut low) = sum.halves();
        let mut slices = Vec::with_capacity(bounds.len());
        for pair in bounds.windows(2) {
            let width = pair[1] - pair[0];
            let (own_high, rest_high) = high.split_at_mut(width);
            let (own_low, rest_low) = low.split_at_mut(width);
            slices.push(Self { first: pair[0], high: own_high, low: own_low });
            (high, low) = (rest_high, rest_low);
        }
        slices
    }
}

impl Accumulate for Slice<'_> {
    #[inline]
    fn add(&mut self, index: usize, value: f64) {
        if let Some(k) = index.checked_sub(self.first)
            && k < self.high.len()
        {
            two_sum(&mut self.high[k], &mut self.low[k], value);
        }
    }

    fn add_run(&mut self, start: usize, values: &[f64], factor: f64) {
        add_run(start, values, factor, self);
    }

    fn add_row(&mut self, row: Row<'_>, factor: f64) {
        match row {
            Row::Dense(values) => self.add_run(0, values, factor),
            Row::Sparse { .. } | Row::Single { .. } | Row::Ones { .. } => {
                row.for_each(|j, x| self.add(j, factor * x));
            }
        }
    }

    fn add_outer(&mut self, row: Row<'_>, d: &[f64], factor: f64) {
        add_outer(row, d, factor, self);
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_run(start: usize, values: &[f64], factor: f64, slice: &mut Slice<'_>) {
    add_part(start, values, factor, slice);
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_outer(row: Row<'_>, d: &[f64], factor: f64, slice: &mut Slice<'_>) {
    let labels = d.len();
    match row {
        Row::Sparse { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                add_part(f as usize * labels, d, factor * x, slice);
            }
        }
        Row::Single { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                add_part(f as usize * labels, d, factor * f64::from(x), slice);
            }
        }
        Row::Ones { indices } => {
            for &f in indices {
                add_part(f as usize * labels, d, factor, slice);
            }
        }
        Row::Dense(values) => {
            for (f, &x) in values.iter().enumerate() {
                add_part(f * labels, d, factor * x, slice);
            }
        }
    }
}

/// Adds `factor · values` from `start` on, as far as it falls into the slice.
#[allow(clippy::inline_always)] // only what is inlined is compiled for the caller's instruction set
#[inline(always)]
fn add_part(start: usize, values: &[f64], factor: f64, slice: &mut Slice<'_>) {
    let Slice { first, high, low } = slice;
    let from = start.max(*first);
    let end = (start + values.len()).min(*first + high.len());
    if from < end {
        let own = from - *first..end - *first;
        let values = &values[from - start..end - start];
        add_each(values, factor, &mut high[own.clone()], &mut low[own]);
    }
}

/// How many terms fall among neighbouring coordinates.
struct Counts {
    /// The coordinates of a bucket.
    width: usize,
    buckets: Vec<u64>,
}

impl Accumulate for Counts {
    fn add(&mut self, index: usize, _: f64) {
        self.buckets[index / self.width] += 1;
    }

    fn add_run(&mut self, start: usize, values: &[f64], _: f64) {
        self.buckets[start / self.width] += values.len() as u64;
    }
}

/// Buckets in which terms are counted: the features that are met first are the most frequent ones, and a slice may begin
/// between any two buckets.
const BUCKETS: usize = 16_384;

/// One term in this many is counted.
const COUNTED: usize = 64;

/// From this number of terms on a sum is shared among threads: fewer vectors are added before a thread has been woken.
const MANY: usize = 1024;

/// Returns the bounds of as many slices as there are threads, with about the same number of terms in each.
fn bounds(dim: usize, threads: usize, count: impl FnOnce(&mut Counts)) -> Vec<usize> {
    let width = dim.div_ceil(BUCKETS).max(1);
    let mut counts = Counts { width, buckets: vec![0; dim.div_ceil(width)] };
    count(&mut counts);
    let total: u64 = counts.buckets.iter().sum();
    let mut bounds = vec![0];
    let mut met = 0;
    for (bucket, count) in counts.buckets.iter().enumerate() {
        if met * threads as u64 >= bounds.len() as u64 * total && bounds.len() < threads {
            bounds.push((bucket * width).max(bounds[bounds.len() - 1]));
        }
        met += count;
    }
    bounds.push(dim);
    bounds
}

/// Something that adds its terms to whatever it is given. `Slice` and the sum itself are of different types, so that this
/// cannot be a closure.
pub(crate) trait Terms: Sync {
    /// Adds the terms of these numbers, in their order.
    fn add_to(&self, terms: &mut dyn Iterator<Item = usize>, out: &mut impl Accumulate);
}

/// Whether the threads of the current pool share a sum of so many terms.
pub(crate) fn shares(count: usize) -> bool {
    count >= MANY && parallel::threads() > 1
}

/// Returns the sum of the terms below `count`, on the threads of the current pool. It does not depend on their number.
pub(crate) fn sum(dim: usize, count: usize, terms: &impl Terms) -> CompensatedVec {
    let mut all = CompensatedVec::zeros(dim);
    if !shares(count) || dim == 0 {
        terms.add_to(&mut (0..count), &mut all);
        return all;
    }
    let bounds = bounds(dim, parallel::threads(), |counts| {
        terms.add_to(&mut (0..count).step_by(COUNTED), counts);
    });
    let mut slices = Slice::of(&mut all, &bounds);
    let add = |(): &mut (), _: usize, slice: &mut Slice<'_>| {
        terms.add_to(&mut (0..count), slice);
        Ok(())
    };
    // The closure never returns an error.
    let _ = parallel::map_mut(&mut slices, || (), add);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Random;
    use crate::linalg::parallel::on_threads;

    /// Runs, single coordinates and outer products of sparse and dense rows.
    struct Mixed(Vec<Vec<(u32, f64)>>);

    impl Terms for Mixed {
        fn add_to(&self, terms: &mut dyn Iterator<Item = usize>, out: &mut impl Accumulate) {
            for i in terms {
                let indices: Vec<u32> = self.0[i].iter().map(|x| x.0).collect();
                let values: Vec<f64> = self.0[i].iter().map(|x| x.1).collect();
                let row = Row::Sparse { indices: &indices, values: &values };
                out.add_outer(row, &[1.0, -0.3, 1e-9], 0.1);
                out.add_row(row, -3.0);
                out.add_run(i % 7, &values, 1e8);
                out.add_row(Row::Dense(&values), 1.0 / 3.0);
                out.add_outer(Row::Dense(&values), &[0.5, 0.25], -1e-8);
                out.add(29, 1e12 / (i + 1) as f64);
            }
        }
    }

    #[test]
    fn a_sum_is_the_same_bit_for_bit_on_any_number_of_threads() {
        let mut random = Random::new(5);
        let mut entry = |f: u32| (f, random.unit() - 0.5);
        let rows = (0..MANY + 3).map(|i| (0..10).filter(move |f| !(i + f).is_multiple_of(3)));
        let terms = Mixed(rows.map(|row| row.map(|f| entry(f as u32)).collect()).collect());
        let on = |threads, count| {
            let sum = on_threads(threads, || sum(30, count, &terms)).unwrap();
            sum.round().into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        for count in [0, 5, MANY + 3] {
            let one = on(1, count);
            for threads in [2, 3, 4, 40] {
                assert_eq!(on(threads, count), one, "{threads} threads, {count} terms");
            }
        }
    }

    #[test]
    fn slices_cover_all_coordinates_once_and_share_the_terms() {
        for (dim, threads) in [(1, 2), (7, 3), (100_000, 5), (40_000, 2)] {
            let count = |counts: &mut Counts| (0..dim).for_each(|j| counts.add(j, 1.0));
            let bounds = bounds(dim, threads, count);
            assert!(bounds[0] == 0 && bounds[bounds.len() - 1] == dim && bounds.is_sorted());
            assert!(bounds.len() <= threads + 1);
            let widths = bounds.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(widths.max().unwrap() <= dim.div_ceil(threads) + 2 * dim.div_ceil(BUCKETS));
        }
    }
}
