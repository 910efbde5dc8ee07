//! A structure of one's own: find the interval of a noisy signal in which something happens.
//!
//! The output is an interval of positions, φ(x, y) sums the features of the positions inside it, and the loss
//! is the fraction of positions on which two intervals disagree. Both add up over positions, so the best
//! interval is a maximum-sum run, and Kadane's algorithm is an exact oracle.

use dualgap::Result;
use dualgap::dual;
use dualgap::dual::Settings;
use dualgap::linalg::{Accumulate, Random};
use dualgap::run::Budget;
use dualgap::structure::{Bound, Decoded, Oracle, OracleBlocks};
use std::ops::Range;

/// One feature vector per position.
type Signal = Vec<[f64; 2]>;

struct Interval;

impl Interval {
    fn score(w: &[f64], at: [f64; 2]) -> f64 {
        w[0] * at[0] + w[1] * at[1]
    }
}

impl Oracle for Interval {
    type Input = Signal;
    type Output = Range<usize>;
    type Scratch = ();

    fn dim(&self) -> usize {
        2
    }

    fn features(&self, x: &Signal, y: &Range<usize>, out: &mut impl Accumulate) {
        for at in &x[y.clone()] {
            out.add(0, at[0]);
            out.add(1, at[1]);
        }
    }

    fn loss(&self, x: &Signal, truth: &Range<usize>, y: &Range<usize>) -> f64 {
        let wrong = (0..x.len()).filter(|t| truth.contains(t) != y.contains(t)).count();
        wrong as f64 / x.len() as f64
    }

    fn decode(
        &self,
        w: &[f64],
        x: &Signal,
        against: Option<&Range<usize>>,
        (): &mut (),
    ) -> Result<Decoded<Range<usize>>> {
        // What a position adds when it is inside: its score, and one more mistake or one less.
        let gain = |t: usize| {
            let mistake = against.map_or(0.0, |y| if y.contains(&t) { -1.0 } else { 1.0 });
            Self::score(w, x[t]) + mistake / x.len() as f64
        };
        let (mut best, mut best_sum) = (0..0, 0.0);
        let (mut start, mut sum) = (0, 0.0);
        for t in 0..x.len() {
            if sum <= 0.0 {
                (start, sum) = (t, 0.0);
            }
            sum += gain(t);
            if sum > best_sum {
                (best, best_sum) = (start..t + 1, sum);
            }
        }
        Ok(Decoded { output: best, bound: Bound::Exact })
    }
}

/// Noise, with a raised level inside the interval; the second feature is constant.
fn signal(random: &mut Random, length: usize) -> (Signal, Range<usize>) {
    let start = random.below(length / 2);
    let truth = start..start + 5 + random.below(length / 2 - 5);
    let noise = |random: &mut Random| (0..6).map(|_| random.unit() - 0.5).sum::<f64>();
    let signal = (0..length)
        .map(|t| [noise(random) + if truth.contains(&t) { 1.0 } else { 0.0 }, 1.0])
        .collect();
    (signal, truth)
}

fn main() -> Result<()> {
    let mut random = Random::new(1);
    let examples: Vec<_> = (0..200).map(|_| signal(&mut random, 50)).collect();
    let (train, test) = examples.split_at(100);

    let blocks = OracleBlocks::new(&Interval, train)?;
    let settings = Settings { lambda: 0.01, ..Settings::default() };
    let report = dual::train(&blocks, &settings, &Budget::relative(0.01), &mut ())?;

    let w = &report.model.weights;
    let mut error = 0.0;
    for (x, truth) in test {
        let found = Interval.decode(w, x, None, &mut ())?.output;
        error += Interval.loss(x, truth, &found) / test.len() as f64;
    }
    let certificate = report.certificate;
    println!("weights {w:?} after {} passes", report.passes);
    println!(
        "certified gap {:.2e} at a primal value of {:.6}",
        certificate.gap(),
        certificate.primal
    );
    println!("positions on the wrong side, on new signals: {:.1} %", 100.0 * error);
    // The level inside is 1, outside 0: what was learnt must put the threshold between them.
    assert!(w[0] > 0.0 && -w[1] / w[0] > 0.0 && -w[1] / w[0] < 1.0);
    assert!(certificate.relative_gap() <= 0.01 && error < 0.2);
    Ok(())
}
