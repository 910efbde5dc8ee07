//! An ordinal oracle that looks at all its outputs and then claims, promises or hides what it is told to.

use dualgap::Result;
use dualgap::dual::Quality;
use dualgap::linalg::{Accumulate, Random};
use dualgap::structure::{Bound, Decoded, Extent, Oracle, OwnExamples, OwnOracle, OwnStructure};
use dualgap::task::Task;
use dualgap::term::Penalty;
use serde::{Deserialize, Serialize};

pub const RANKS: usize = 4;
pub const FEATURES: usize = 3;
pub const DIM: usize = RANKS * FEATURES;

/// What the oracle says of what it found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Says {
    /// That it is the best.
    Best,
    /// That no output scores higher by more than this.
    AtMost(f64),
    /// Nothing.
    Nothing,
    /// Nothing of this output, but that all its outputs have this share of the largest gap.
    Share(f64),
    /// Nothing of this output, but that none of its outputs misses more than this.
    Missing(f64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weak {
    pub says: Says,
    /// Whether it finds the truth, and nothing else, as soon as a weight is larger than this.
    pub blind: Option<f64>,
}

impl Weak {
    pub fn honest(says: Says) -> Self {
        Self { says, blind: None }
    }

    pub fn blind(says: Says) -> Self {
        Self { says, blind: Some(0.15) }
    }
}

impl Oracle for Weak {
    type Input = Vec<f64>;
    type Output = u8;
    type Scratch = ();

    fn dim(&self) -> usize {
        DIM
    }

    fn features(&self, x: &Vec<f64>, y: &u8, out: &mut impl Accumulate) {
        x.iter().enumerate().for_each(|(f, x)| out.add(f * RANKS + usize::from(*y), *x));
    }

    fn loss(&self, _: &Vec<f64>, truth: &u8, y: &u8) -> f64 {
        f64::from(truth.abs_diff(*y))
    }

    fn extent(&self, x: &Vec<f64>) -> Option<Extent> {
        let norm1 = x.iter().map(|x| x.abs()).sum();
        Some(Extent { terms: FEATURES, norm1, loss: RANKS as f64 })
    }

    fn quality(&self) -> Quality {
        match self.says {
            Says::Share(nu) => Quality::Multiplicative(nu),
            Says::Missing(delta) => Quality::Additive(delta),
            _ => Quality::Exact,
        }
    }

    fn decode(
        &self,
        w: &[f64],
        x: &Vec<f64>,
        against: Option<&u8>,
        (): &mut (),
    ) -> Result<Decoded<u8>> {
        let score = |y: u8| {
            let own: f64 =
                x.iter().enumerate().map(|(f, x)| w[f * RANKS + usize::from(y)] * x).sum();
            own + against.map_or(0.0, |truth| self.loss(x, truth, &y))
        };
        let mut output = 0;
        (1..RANKS as u8).for_each(|y| {
            if score(y) > score(output) {
                output = y;
            }
        });
        if let (Some(limit), Some(truth)) = (self.blind, against)
            && w.iter().any(|w| w.abs() > limit)
        {
            output = *truth;
        }
        let bound = match self.says {
            Says::Best => Bound::Exact,
            Says::AtMost(more) => Bound::AtMost(score(output) + more),
            Says::Nothing | Says::Share(_) | Says::Missing(_) => Bound::Unknown,
        };
        Ok(Decoded { output, bound })
    }
}

impl OwnOracle for Weak {
    const NAME: &'static str = "weak";

    fn admits(&self, x: &Vec<f64>, y: &u8) -> bool {
        x.len() == FEATURES && usize::from(*y) < RANKS
    }
}

pub fn examples(seed: u64, n: usize) -> Vec<(Vec<f64>, u8)> {
    let mut random = Random::new(seed);
    let mut signed = || 2.0 * random.unit() - 1.0;
    let example = |_| {
        let x = vec![signed(), signed(), 1.0];
        let score = 2.0 + 1.5 * x[0] - 0.5 * x[1] + 0.6 * signed();
        (x, score.clamp(0.0, 3.9) as u8)
    };
    (0..n).map(example).collect()
}

pub fn data(seed: u64, n: usize) -> OwnExamples<Vec<f64>, u8> {
    OwnExamples::new(examples(seed, n))
}

pub fn task(oracle: Weak, lambda: f64) -> Task<OwnStructure<Weak>> {
    Task::new(OwnStructure::new(oracle), Penalty::ridge(lambda))
}
