//! Every way to step, in every order, comes to the same optimum: the one that a solver finds that shares nothing with
//! ours.

use crate::common::explicit::Explicit;
use crate::common::quadratic::{Bracket, optimum};
use crate::common::{Kind, Small, with_blocks, with_oracle};
use dualgap::dual::{self, Acceleration, Cache, Direction, Sampling, Settings};
use dualgap::run::{Budget, Certificate, Stop};
use dualgap::structure::OracleBlocks;
use dualgap::term::Regulariser;

const DIRECTIONS: [Direction; 4] =
    [Direction::Auto, Direction::Toward, Direction::Away, Direction::Pairwise];
const CACHES: [Cache; 3] = [Cache::Auto, Cache::On, Cache::Off];
const SAMPLINGS: [Sampling; 5] =
    [Sampling::Permuted, Sampling::Uniform, Sampling::Cyclic, Sampling::Importance, Sampling::Gap];
const ACCELERATIONS: [Acceleration; 3] = [Acceleration::Auto, Acceleration::On, Acceleration::Off];

/// How near to the optimum runs are to come.
const TOLERANCE: f64 = 1e-4;

fn ways(small: &Small, regulariser: Regulariser) -> Vec<Settings> {
    let mut ways = Vec::new();
    for direction in DIRECTIONS {
        for cache in CACHES {
            for sampling in SAMPLINGS {
                for acceleration in ACCELERATIONS {
                    for batch in [1, 4] {
                        let base = Settings { regulariser, batch, ..small.settings() };
                        ways.push(Settings { direction, cache, sampling, acceleration, ..base });
                    }
                }
            }
        }
    }
    ways
}

fn judge(small: &Small, regulariser: Regulariser) -> Bracket {
    let Regulariser { l1, nonnegative, .. } = regulariser;
    let bracket = optimum(&Explicit { l1: l1 / small.lambda, nonnegative, ..small.explicit() });
    assert!(bracket.is_within(1e-7), "{bracket:?}");
    bracket
}

fn budget(direction: Direction) -> Budget {
    // Steps toward the best corner alone zigzag: their certificates are true, and that is all that is asked.
    let passes = match direction {
        Direction::Toward => 10,
        Direction::Away => 100,
        _ => 2000,
    };
    Budget { passes: Some(passes), ..Budget::relative(TOLERANCE) }
}

fn assert_optimal(settings: &Settings, bracket: Bracket, (stop, c): (Stop, Certificate)) {
    let pairwise = matches!(settings.direction, Direction::Auto | Direction::Pairwise);
    assert!(!pairwise || stop == Stop::GapReached, "{stop:?} {c:?} {settings:?}");
    assert!(c.dual - c.rounding_error <= bracket.upper, "{c:?} {bracket:?} {settings:?}");
    assert!(c.primal + c.rounding_error >= bracket.lower, "{c:?} {bracket:?} {settings:?}");
}

const REGULARISERS: [Regulariser; 3] = [
    Regulariser::PLAIN,
    Regulariser { l1: 0.01, ..Regulariser::PLAIN },
    Regulariser { nonnegative: true, ..Regulariser::PLAIN },
];

fn problems() -> Vec<Small> {
    let chain = |k: usize| Small::random(k as u64, Kind::all(3)[k % 2].clone(), 6, 3, 3);
    let classes = |k: usize| Small::random(k as u64, Kind::all(4)[2 + k % 2].clone(), 9, 4, 1);
    vec![chain(0), chain(1).with_pairs(2, 2), classes(2), classes(3)]
}

/// Every way is tried on one of the problems under each regulariser, another one each time.
fn some_ways(
    small: &Small,
    regulariser: Regulariser,
    (at, of): (usize, usize),
) -> impl Iterator<Item = Settings> {
    ways(small, regulariser)
        .into_iter()
        .enumerate()
        // Neighbours differ in the batch and then in the acceleration: six of them go together.
        .filter(move |(k, _)| (k / 6 + k) % of == at % of)
        .map(|(_, settings)| settings)
}

#[test]
fn every_way_to_step_comes_to_the_same_optimum() {
    let problems = problems();
    for (k, small) in problems.iter().enumerate() {
        for (r, regulariser) in REGULARISERS.into_iter().enumerate() {
            let part = (k + r, problems.len());
            let bracket = judge(small, regulariser);
            with_blocks!(small, |blocks| for settings in some_ways(small, regulariser, part) {
                let budget = budget(settings.direction);
                let report = dual::train(&blocks, &settings, &budget, &mut ()).unwrap();
                assert_optimal(&settings, bracket, (report.stop, report.certificate));
            });
        }
    }
}

#[test]
fn every_way_to_step_comes_to_the_same_optimum_over_an_oracle() {
    for (k, small) in problems().into_iter().skip(1).step_by(2).enumerate() {
        for (r, regulariser) in REGULARISERS.into_iter().enumerate() {
            let bracket = judge(&small, regulariser);
            with_oracle!(small, |oracle, examples| {
                let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
                for settings in some_ways(&small, regulariser, (k + r, 2)) {
                    let budget = budget(settings.direction);
                    let report = dual::train(&blocks, &settings, &budget, &mut ()).unwrap();
                    assert_optimal(&settings, bracket, (report.stop, report.certificate));
                }
            });
        }
    }
}
