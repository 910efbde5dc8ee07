//! Conditional random fields: chains under the log-loss.
//!
//! - `brute`: both values of a certificate and the marginals, against sums over all labelings one by one.
//! - `legal`: labelings that a scheme forbids, of this loss and of the hinge.
//! - `runs`: the optimum, threads, checkpoints, warm starts, other λ.
//! - `elastic`: the l1 norm beside the ridge.
//! - `attacks`: files that lie, and what is refused.

mod attacks;
mod brute;
mod elastic;
mod legal;
mod runs;

use dualgap::data::{Examples, Sequences};
use dualgap::linalg::{Random, Rows};
use dualgap::run::Budget;
use dualgap::structure::Chain;
use dualgap::task::{Model, Plan, Task};
use dualgap::term::Penalty;

const LABELS: usize = 3;
const FEATURES: usize = 4;

/// Random sequences of at most four positions, with features of pairs if so, and with weights.
fn sequences(seed: u64, pairs: bool) -> Sequences {
    let mut random = Random::new(seed);
    let lengths = [3, 1, 4, 2, 3, 0, 2];
    let positions: usize = lengths.iter().sum();
    let mut starts = vec![0];
    starts.extend(lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    }));
    let mut table = |width: usize| -> Rows {
        let number = |random: &mut Random| 2.0 * random.unit() - 0.7;
        let row = |random: &mut Random| (0..width).map(|_| number(random)).collect();
        Rows::dense(&(0..positions).map(|_| row(&mut random)).collect::<Vec<Vec<f64>>>()).unwrap()
    };
    let (rows, edges) = (table(FEATURES), table(2));
    let labels = (0..positions).map(|_| random.below(LABELS) as u16).collect();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let data = Sequences::new(rows, labels, starts, names.into()).unwrap();
    let data = if pairs { data.with_edges(edges).unwrap() } else { data };
    data.with_weights((0..lengths.len()).map(|i| 1.0 + i as f64 / 4.0).collect()).unwrap()
}

fn task(lambda: f64) -> Task<Chain> {
    Task::new(Chain::crf(), Penalty::ridge(lambda))
}

fn fit(data: &Sequences, lambda: f64, budget: Budget) -> Model<Chain> {
    task(lambda).fit(data, Plan { threads: 1, ..Plan::new(budget) }).unwrap().model
}

/// Chains of one position, and the same examples for softmax with two constant features: a chain has weights of its first and of its
/// last label.
fn of_one_position() -> (Sequences, Examples) {
    let x = [[0.5, -1.0], [1.5, 0.3], [-0.2, 0.8], [0.9, 0.9], [-1.0, 0.1]];
    let y = [0_u16, 1, 2, 1, 0];
    let names = ["a", "b", "c"].map(String::from);
    let rows: Vec<Vec<Vec<f64>>> = x.iter().map(|x| vec![x.to_vec()]).collect();
    let labels: Vec<Vec<u16>> = y.iter().map(|&y| vec![y]).collect();
    let chains = Sequences::from_dense(&rows, &labels, &names).unwrap();
    let rows: Vec<Vec<f64>> = x.iter().map(|x| vec![x[0], x[1], 1.0, 1.0]).collect();
    let labels: Vec<&str> = y.iter().map(|&y| &*names[usize::from(y)]).collect();
    let classes = Examples::from_dense(&rows, &labels).unwrap();
    (chains, classes)
}
