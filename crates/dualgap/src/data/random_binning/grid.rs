//! One random grid, and the name of the bin that a row falls into.
//!
//! In dimension j a grid divides the line into intervals of width w_j, one of which contains 0 at a random place:
//!
//! ```text
//! bin_j(x) = ⌊x_j/w_j + s_j⌋,   w_j ~ Gamma(2, σ),   s_j ~ uniform in [0, 1)
//! ```
//!
//! So 0 is always in interval 0: a bin is identified by its other intervals, and entries that a row does not store
//! cost nothing.

use crate::linalg::{Random, Row};

/// Beyond this, neighbouring integers are no longer distinct as floats.
const FARTHEST: f64 = 9_007_199_254_740_992.0; // 2⁵³

/// One dimension of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Side {
    /// 1/w.
    pub rate: f64,
    /// s.
    pub shift: f64,
}

/// A side for every dimension.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid(pub Vec<Side>);

/// Why a row has no bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Misfit {
    /// It has a feature, counted from zero, that is beyond the dimension of the grid.
    Beyond(usize),
    /// A value is so far from 0 that its interval has no exact number.
    Far(f64),
}

impl Side {
    /// Draws a side. Gamma(2, σ) is the sum of two exponentials, that is, minus the logarithm of a product.
    fn draw(random: &mut Random, bandwidth: f64) -> Self {
        let product = (1.0 - random.unit()) * (1.0 - random.unit());
        // Two zeros from the generator would give a width of zero.
        let width = bandwidth * (-product.ln()).max(f64::EPSILON);
        Self { rate: 1.0 / width, shift: random.unit() }
    }

    /// Returns the interval of a value.
    #[inline]
    fn interval(self, x: f64) -> Option<i64> {
        let place = x * self.rate + self.shift;
        if place.abs() >= FARTHEST {
            return None;
        }
        let towards_zero = place as i64;
        Some(towards_zero - i64::from(place < towards_zero as f64))
    }
}

impl Grid {
    pub fn draw(random: &mut Random, dimension: usize, bandwidth: f64) -> Self {
        Self((0..dimension).map(|_| Side::draw(random, bandwidth)).collect())
    }

    /// Returns a bin's name: a 128-bit digest of the dimensions in which its interval is not 0, and of these
    /// intervals. The probability that two of a billion bins have the same name is below 10⁻²⁰.
    #[inline]
    pub fn name(&self, row: Row<'_>) -> Result<u128, Misfit> {
        let mut name = 0_u128;
        let mut misfit = None;
        row.for_each(|j, x| {
            if x == 0.0 {
                return;
            }
            match self.0.get(j).map(|side| side.interval(x)) {
                Some(Some(0)) => {}
                Some(Some(interval)) => name = absorb(name, j, interval),
                Some(None) => misfit = Some(Misfit::Far(x)),
                None => misfit = Some(Misfit::Beyond(j)),
            }
        });
        misfit.map_or(Ok(name), Err)
    }
}

/// Mixes an interval into a name. Multiplications by odd numbers and xor-shifts are invertible, so names can only
/// agree by chance.
#[inline]
fn absorb(name: u128, j: usize, interval: i64) -> u128 {
    const ONE: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
    const TWO: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let word = ((j as u128 + 1) << 64) | u128::from(interval.cast_unsigned());
    let mut mixed = (name ^ word).wrapping_mul(ONE);
    mixed ^= mixed >> 64;
    mixed = mixed.wrapping_mul(TWO);
    mixed ^ (mixed >> 61)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn an_interval_is_the_floor_also_below_zero() {
        let side = Side { rate: 2.0, shift: 0.25 };
        let places = [(0.0, 0), (0.374, 0), (0.375, 1), (-0.125, 0), (-0.126, -1), (-0.7, -2)];
        for (x, interval) in places {
            assert_eq!(side.interval(x), Some(interval), "{x}");
        }
        for far in [1e16, -1e16, f64::MAX, f64::MIN] {
            assert_eq!(side.interval(far), None);
        }
    }

    // A Gamma(2, σ) has the mean 2σ and the variance 2σ²; its tail beyond w is (1 + w/σ)·exp(−w/σ).
    #[test]
    fn widths_have_the_distribution_that_they_should() {
        let (mut random, sigma, n) = (Random::new(3), 0.5, 100_000);
        let sides: Vec<Side> = (0..n).map(|_| Side::draw(&mut random, sigma)).collect();
        let widths: Vec<f64> = sides.iter().map(|side| 1.0 / side.rate).collect();
        let mean = widths.iter().sum::<f64>() / f64::from(n);
        let error = sigma * (2.0 / f64::from(n)).sqrt(); // of the mean, one standard deviation
        assert!((mean - 2.0 * sigma).abs() < 6.0 * error, "{mean}");
        for w in [0.1, 0.5, 1.0, 2.0, 4.0_f64] {
            let tail = (1.0 + w / sigma) * (-w / sigma).exp();
            let share = widths.iter().filter(|&&width| width > w).count() as f64 / f64::from(n);
            // Hoeffding: the probability of a larger deviation is below 2·exp(−2·5²).
            assert!((share - tail).abs() < 5.0 / f64::from(n).sqrt(), "{w}: {share}, not {tail}");
        }
        assert!(sides.iter().all(|side| (0.0..1.0).contains(&side.shift)));
    }

    #[test]
    fn rows_have_the_same_name_exactly_when_they_are_in_the_same_bin() {
        let mut random = Random::new(1);
        let grid = Grid::draw(&mut random, 3, 0.4);
        let mut bins: HashMap<Vec<i64>, u128> = HashMap::new();
        let mut names: HashMap<u128, Vec<i64>> = HashMap::new();
        for _ in 0..20_000 {
            let row: Vec<f64> = (0..3).map(|_| 4.0 * random.unit() - 2.0).collect();
            let floor = |(x, side): (&f64, &Side)| (x * side.rate + side.shift).floor() as i64;
            let bin: Vec<i64> = row.iter().zip(&grid.0).map(floor).collect();
            let name = grid.name(Row::Dense(&row)).unwrap();
            assert_eq!(*bins.entry(bin.clone()).or_insert(name), name);
            assert_eq!(*names.entry(name).or_insert(bin.clone()), bin);
        }
        assert!(bins.len() > 20, "{} bins say little", bins.len());
    }

    #[test]
    fn what_is_not_stored_is_zero() {
        let grid = Grid::draw(&mut Random::new(5), 4, 0.1);
        let sparse = Row::Sparse { indices: &[1, 3], values: &[0.7, -2.0] };
        let dense = Row::Dense(&[0.0, 0.7, -0.0, -2.0]);
        assert_eq!(grid.name(sparse), grid.name(dense));
        assert_eq!(grid.name(Row::Dense(&[0.0; 4])), grid.name(Row::Dense(&[])));
    }

    #[test]
    fn rows_that_do_not_fit_say_why() {
        let grid = Grid::draw(&mut Random::new(5), 2, 1.0);
        assert_eq!(grid.name(Row::Dense(&[0.0, 0.0, 1.0])), Err(Misfit::Beyond(2)));
        assert_eq!(grid.name(Row::Dense(&[1e300])), Err(Misfit::Far(1e300)));
    }
}
