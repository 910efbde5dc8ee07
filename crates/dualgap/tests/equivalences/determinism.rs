//! The seed and the batch size decide a run, bit for bit; the number of threads and the clock do not.

use crate::common::{Kind, Small, with_blocks};
use dualgap::data::{Graph, Mark, Matchings};
use dualgap::dual::{
    self, Acceleration, Algorithm, Average, Blocks, Cache, Mixture, Sampling, Settings, Step,
    Witness,
};
use dualgap::linalg::{Random, Row, Rows};
use dualgap::run::{Budget, Report, Solution};
use dualgap::structure::{Hamming, LinkLoss, MatchingBlocks, MulticlassOracle, OracleBlocks};
use dualgap::term::Costs;

const SEVERAL: [Average; 3] = [Average::None, Average::Weighted, Average::Suffix];

fn problems() -> [Small; 2] {
    let mut chains = Small::random(2, Kind::Chain(Hamming::Normalized), 40, 4, 5);
    chains.weights = Some((0..40).map(|i| 1.0 + f64::from(i % 3)).collect());
    let chains = chains.with_pairs(2, 3);
    let classes = Small::random(3, Kind::all(5)[3].clone(), 60, 5, 1);
    [chains, classes]
}

/// Everything of a run that must not depend on how it was computed, as bits.
#[derive(Debug, PartialEq)]
struct Trace {
    weights: Vec<u64>,
    witness: (Vec<u64>, Vec<u64>),
    steps: u64,
    certificates: Vec<[u64; 5]>,
}

impl Trace {
    fn of(small: &Small, settings: &Settings) -> Self {
        // Nine passes: two certifications on the way and one at the end.
        let Report { model, work, history, .. } = small.train(settings, &Budget::passes(9));
        let Solution { weights, points } = model;
        let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let Witness { keys, weights: masses, .. } = witness(small, &points);
        let certificates = history
            .iter()
            .map(|at| {
                let c = at.certificate;
                let numbers =
                    [c.primal, c.dual, c.rounding_error, at.iterate_primal, at.iterate_dual];
                numbers.map(f64::to_bits)
            })
            .collect();
        Self {
            weights: bits(weights),
            witness: (keys, bits(masses)),
            steps: work.steps,
            certificates,
        }
    }
}

fn witness(small: &Small, points: &[Mixture]) -> Witness {
    with_blocks!(small, |blocks| Witness::of(&blocks, points))
}

#[test]
fn a_run_is_the_same_bit_for_bit_whatever_the_number_of_threads() {
    for small in problems() {
        for method in [Algorithm::Bcfw, Algorithm::Fw] {
            for average in SEVERAL {
                for batch in [1, 7] {
                    let run = |threads| {
                        let base = Settings { method, average, batch, ..small.settings() };
                        Trace::of(&small, &Settings { threads, ..base })
                    };
                    let one = run(1);
                    assert_eq!(one.certificates.len(), 3);
                    for threads in [2, 3] {
                        assert_eq!(run(threads), one, "{method:?} {average:?} batch {batch}");
                    }
                }
            }
        }
    }
}

#[test]
fn threads_do_not_matter_for_predefined_steps_and_drawn_blocks_either() {
    for small in problems() {
        for sampling in [Sampling::Uniform, Sampling::Cyclic] {
            let run = |threads| {
                let base = Settings { sampling, step: Step::Predefined, ..small.settings() };
                Trace::of(&small, &Settings { batch: 7, threads, ..base })
            };
            assert_eq!(run(1), run(3), "{sampling:?}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    for small in problems() {
        for sampling in [Sampling::Permuted, Sampling::Uniform] {
            for average in SEVERAL {
                let run = |seed| {
                    let base = Settings { sampling, average, ..small.settings() };
                    Trace::of(&small, &Settings { seed, ..base })
                };
                assert_eq!(run(5), run(5));
                assert_ne!(run(5).weights, run(6).weights, "{sampling:?} {average:?}");
            }
        }
    }
}

// A batch looks for its corners at one w: it is another algorithm, not a faster form of the same.
#[test]
fn the_batch_size_is_part_of_what_decides_a_run() {
    for small in problems() {
        let run = |batch| Trace::of(&small, &Settings { batch, ..small.settings() });
        assert_ne!(run(1).weights, run(7).weights);
    }
}

#[test]
fn a_cyclic_order_needs_no_seed() {
    for small in problems() {
        let run = |seed| {
            let base = Settings { sampling: Sampling::Cyclic, ..small.settings() };
            Trace::of(&small, &Settings { seed, ..base })
        };
        assert_eq!(run(5), run(6));
    }
}

/// Enough examples for the sums of a certificate to be shared among threads.
const MANY: usize = 1100;

/// The weights and the certificates of a run over any blocks, as bits.
fn bits_of<B: Blocks>(blocks: &B, settings: &Settings) -> Vec<u64> {
    let Report { model, history, .. } =
        dual::train(blocks, settings, &Budget::passes(4), &mut ()).unwrap();
    let sides = history.iter().flat_map(|at| {
        let c = at.certificate;
        [c.primal, c.dual, c.rounding_error]
    });
    model.weights.iter().copied().chain(sides).map(f64::to_bits).collect()
}

fn same_on_all_threads<B: Blocks>(name: &str, blocks: &B) {
    let ways = [
        Settings::plain(),
        Settings { cache: Cache::Off, ..Settings::default() },
        Settings { cache: Cache::On, ..Settings::default() },
        Settings { average: Average::Weighted, ..Settings::default() },
    ];
    same_in_ways(name, blocks, &ways);
}

fn same_in_ways<B: Blocks>(name: &str, blocks: &B, ways: &[Settings]) {
    for way in ways {
        let run = |threads| bits_of(blocks, &Settings { lambda: 0.01, threads, ..way.clone() });
        let one = run(1);
        for threads in [2, 3, 4] {
            assert!(run(threads) == one, "{name}: {threads} threads, {way:?}");
        }
    }
}

// From some thousand examples on, threads add up v together, each its own coordinates.
#[test]
fn certificates_of_many_examples_are_the_same_on_any_number_of_threads() {
    for kind in [Kind::Chain(Hamming::Plain), Kind::all(5)[3].clone()] {
        let small = Small::random(4, kind, MANY, 5, 3);
        with_blocks!(&small, |blocks| same_on_all_threads("built in", &blocks));
    }
    let small = Small::random(4, Kind::Chain(Hamming::Plain), MANY, 5, 3);
    with_blocks!(&small, |blocks| same_in_ways("lanes", &blocks, &lanes()));

    let mut random = Random::new(8);
    let mut number = || 2.0 * random.unit() - 1.0;
    let inputs: Vec<[f64; 3]> = (0..MANY).map(|_| [number(), number(), number()]).collect();
    let examples: Vec<(Row<'_>, u32)> =
        inputs.iter().map(|x| (Row::Dense(x), u32::from(x[0] > 0.2))).collect();
    let oracle = MulticlassOracle::new(3, 2, &Costs::ZeroOne).unwrap();
    same_on_all_threads("an oracle", &OracleBlocks::new(&oracle, &examples).unwrap());

    let edges: Vec<Vec<f64>> = (0..4 * MANY).map(|_| vec![number(), number()]).collect();
    let marks = [Mark::Sure, Mark::None, Mark::None, Mark::Sure].repeat(MANY);
    let graphs = vec![Graph::full(2, 2); MANY];
    let data = Matchings::new(Rows::dense(&edges).unwrap(), &graphs, marks).unwrap();
    let blocks = MatchingBlocks::new(&data, LinkLoss::default()).unwrap();
    same_on_all_threads("matchings", &blocks);
    same_in_ways("lanes of matchings", &blocks, &lanes());
}

/// Ways to go in lanes.
fn lanes() -> [Settings; 3] {
    let lanes = Settings { lanes: true, ..Settings::default() };
    [
        Settings { cache: Cache::Off, ..lanes.clone() },
        Settings { cache: Cache::On, ..lanes.clone() },
        Settings { acceleration: Acceleration::On, ..lanes },
    ]
}

// Lanes are another algorithm, and prove the same optimum.
#[test]
fn lanes_have_the_same_optimum() {
    let small = Small::random(6, Kind::Chain(Hamming::Normalized), 60, 4, 4);
    let run = |lanes| {
        let lambda = small.settings().lambda;
        let settings = Settings { lambda, lanes, ..Settings::default() };
        small.train(&settings, &Budget { relative: Some(1e-6), ..Budget::default() })
    };
    let (one, two) = (run(false), run(true));
    assert_ne!(one.model.weights, two.model.weights);
    let [one, two] = [one, two].map(|report| report.certificate);
    assert!(one.dual <= two.primal && two.dual <= one.primal, "{one:?} {two:?}");
    assert!(two.primal - one.dual <= 3e-6 * one.primal, "{one:?} {two:?}");
}
