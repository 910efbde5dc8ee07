//! Subgradient methods: their steps and averages against dense references, and runs like any other.
//!
//! - `steps`: iterates and averages, by their definitions, for every structure.
//! - `optima`: all solvers come to the same optimum, within what they have certified.
//! - `runs`: checkpoints, threads, warm starts, and what is refused.

mod optima;
mod runs;
mod steps;

use dualgap::data::{Graph, Mark, Matchings};
use dualgap::dual::Blocks;
use dualgap::linalg::{Random, Rows};
use dualgap::methods::subgradient::{
    Subgradient, SubgradientAverage, SubgradientMethod, SubgradientSettings,
};
use dualgap::run::{Quota, Solver};

pub const METHODS: [SubgradientMethod; 2] =
    [SubgradientMethod::Stochastic, SubgradientMethod::Batch];

pub const AVERAGES: [SubgradientAverage; 6] = [
    SubgradientAverage::None,
    SubgradientAverage::Uniform,
    SubgradientAverage::Weighted,
    SubgradientAverage::Suffix { fraction: 0.5 },
    SubgradientAverage::Suffix { fraction: 0.2 },
    SubgradientAverage::Doubling,
];

/// One thread, and a seed of its own.
pub fn settings(method: SubgradientMethod, average: SubgradientAverage) -> SubgradientSettings {
    SubgradientSettings { method, average, seed: 7, threads: 1, ..SubgradientSettings::default() }
}

/// Takes one step.
pub fn step<B: Blocks>(method: &mut Subgradient<'_, B>) {
    let quota = Quota { oracle_calls: u64::MAX, steps: 1, pause: u64::MAX, halted: &|| false };
    assert_eq!(method.advance(&quota).unwrap().steps, 1);
}

/// Grids of three rows and four columns with links near the diagonal, and features that tell something of them.
pub fn grids(count: usize) -> Matchings {
    let mut random = Random::new(3);
    let graph = Graph::full(3, 4);
    let (mut features, mut marks) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let free = random.below(3) as u32;
        for &(row, column) in &graph.edges {
            let linked = row == column && row != free;
            let noise = [(); 3].map(|()| random.unit() - 0.5);
            features.push(vec![noise[0] + 0.6 * f64::from(u8::from(linked)), noise[1], noise[2]]);
            marks.push(if linked { Mark::Sure } else { Mark::None });
        }
    }
    Matchings::new(Rows::dense(&features).unwrap(), &vec![graph; count], marks).unwrap()
}
