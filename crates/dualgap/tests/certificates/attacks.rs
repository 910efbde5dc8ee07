//! Oracles that break their contract, and oracles that keep it but know little. What can be seen is an
//! error; what an oracle does not know is said in the report; a bound that is loose but true costs
//! tightness and nothing else.

use crate::common::explicit::{Corner, Explicit, dot};
use crate::common::quadratic::{Bracket, optimum};
use crate::common::wide::Wide;
use crate::common::{calls, cases};
use dualgap::dual::{self, Algorithm, Blocks, Settings};
use dualgap::linalg::{Accumulate, Random};
use dualgap::methods::{cutting_plane, subgradient};
use dualgap::run::{Budget, Report, Solution, Stop};
use dualgap::structure::{Bound, Decoded, Oracle, OracleBlocks};
use dualgap::term::Regulariser;
use dualgap::{Error, Result};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// What an example may be answered with: features and loss of every output. Output 0 is the truth.
type Menu = Vec<(Vec<f64>, f64)>;

/// Looks at the scores of the whole menu, and then says whatever it has been told to say. One type for all of them: the engine
/// is compiled for every type of oracle.
struct Listed<'a> {
    dim: usize,
    say: &'a (dyn Fn(&[f64]) -> Decoded<usize> + Sync),
}

impl Oracle for Listed<'_> {
    type Input = Menu;
    type Output = usize;
    type Scratch = ();

    fn dim(&self) -> usize {
        self.dim
    }

    fn features(&self, menu: &Menu, y: &usize, out: &mut impl Accumulate) {
        for (j, &x) in menu[*y].0.iter().enumerate() {
            out.add(j, x);
        }
    }

    fn loss(&self, menu: &Menu, truth: &usize, y: &usize) -> f64 {
        menu[*y].1 - menu[*truth].1
    }

    fn decode(
        &self,
        w: &[f64],
        menu: &Menu,
        against: Option<&usize>,
        (): &mut (),
    ) -> Result<Decoded<usize>> {
        let loss = |y| against.map_or(0.0, |truth| self.loss(menu, truth, &y));
        let scores: Vec<f64> =
            menu.iter().enumerate().map(|(y, (x, _))| dot(w, x) + loss(y)).collect();
        Ok((self.say)(&scores))
    }
}

const LAMBDA: f64 = 0.5;

/// Four examples with four outputs each, all of them losing something at the optimum.
fn menus(seed: u64) -> Vec<(Menu, usize)> {
    let mut random = Random::new(seed);
    let mut output = |loss: f64| ((0..3).map(|_| 2.0 * random.unit() - 1.0).collect(), loss);
    (0..4).map(|_| ([0.0, 1.0, 1.3, 0.7].map(&mut output).to_vec(), 0)).collect()
}

/// The problem of the first `outputs` outputs of every menu, written out.
fn explicit(menus: &[(Menu, usize)], outputs: usize) -> Explicit {
    let corner = |menu: &Menu, y: usize| {
        let psi: Vec<f64> = menu[0].0.iter().zip(&menu[y].0).map(|(a, b)| a - b).collect();
        let exact_psi = menu[0].0.iter().zip(&menu[y].0);
        Corner {
            output: vec![y as u16],
            exact_loss: menu[y].1.into(),
            exact_psi: exact_psi.map(|(&a, &b)| Wide::from(a) - b.into()).collect(),
            loss: menu[y].1,
            psi,
        }
    };
    Explicit {
        lambda: LAMBDA,
        l1: 0.0,
        nonnegative: false,
        dim: 3,
        masses: vec![Wide::ONE / Wide::from(menus.len() as f64); menus.len()],
        examples: menus
            .iter()
            .map(|(menu, _)| (0..outputs.min(menu.len())).map(|y| corner(menu, y)).collect())
            .collect(),
    }
}

/// The first of the largest.
fn best(scores: &[f64]) -> usize {
    (0..scores.len()).rev().max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap()
}

fn exact(output: usize) -> Decoded<usize> {
    Decoded { output, bound: Bound::Exact }
}

type Outcome = Result<Report<Solution<<OracleBlocks<'static, Listed<'static>> as Blocks>::Point>>>;

fn train(
    menus: &[(Menu, usize)],
    method: Algorithm,
    budget: &Budget,
    say: impl Fn(&[f64]) -> Decoded<usize> + Sync,
) -> Outcome {
    let oracle = Listed { dim: 3, say: &say };
    let blocks = OracleBlocks::new(&oracle, menus)?;
    let settings = Settings { lambda: LAMBDA, method, threads: 1, ..Settings::plain() };
    dual::train(&blocks, &settings, budget, &mut ())
}

const METHODS: [Algorithm; 2] = [Algorithm::Bcfw, Algorithm::Fw];

fn holds<M>(report: &Report<M>, bracket: Bracket) -> bool {
    let c = report.certificate;
    c.dual - c.rounding_error <= bracket.upper && c.primal + c.rounding_error >= bracket.lower
}

fn is_oracle_error(outcome: &Outcome) -> bool {
    matches!(outcome, Err(Error::Oracle { .. }))
}

#[test]
fn an_honest_oracle_gets_a_certificate() {
    for method in METHODS {
        let menus = menus(1);
        let report =
            train(&menus, method, &Budget::relative(1e-3), |scores| exact(best(scores))).unwrap();
        assert_eq!(report.stop, Stop::GapReached);
        assert!(holds(&report, optimum(&explicit(&menus, 4))));
    }
}

#[test]
fn a_bound_below_the_output_it_comes_with_is_an_error() {
    for method in METHODS {
        for short in [1e-9, 0.1, f64::INFINITY] {
            let outcome = train(&menus(2), method, &Budget::passes(20), |scores| {
                let output = best(scores);
                Decoded { output, bound: Bound::AtMost(scores[output] - short) }
            });
            assert!(is_oracle_error(&outcome), "short by {short}");
        }
    }
}

#[test]
fn a_bound_that_is_no_number_is_an_error() {
    for method in METHODS {
        let outcome = train(&menus(2), method, &Budget::passes(20), |scores| Decoded {
            output: best(scores),
            bound: Bound::AtMost(f64::NAN),
        });
        assert!(is_oracle_error(&outcome));
    }
}

// At w = 0 the worst output is the truth itself; as soon as one is worse, the truth gives the lie away.
#[test]
fn an_output_called_the_best_although_the_truth_is_better_is_an_error() {
    for method in METHODS {
        let outcome = train(&menus(3), method, &Budget::passes(20), |scores| {
            let wrong = 1 + best(&scores[1..].iter().map(|score| -score).collect::<Vec<_>>());
            exact(wrong)
        });
        assert!(is_oracle_error(&outcome));
    }
}

// The methods beside the engine compare an oracle's claims with what it has found before, too.
#[test]
fn subgradients_and_cutting_planes_catch_an_oracle_that_lies_to_the_certificate() {
    let ways = [subgradient::SubgradientMethod::Stochastic, subgradient::SubgradientMethod::Batch];
    let slacks = [cutting_plane::Slacks::One, cutting_plane::Slacks::Each];
    for seed in 0..12 {
        let menus = menus(seed);
        for way in 0..4 {
            let asked = AtomicU64::new(0);
            let say = |scores: &[f64]| {
                let honest = asked.fetch_add(1, Ordering::Relaxed) < 60;
                exact(if honest { best(scores) } else { 0 })
            };
            let oracle = Listed { dim: 3, say: &say };
            let blocks = OracleBlocks::new(&oracle, &menus).unwrap();
            let (plain, budget) = (Regulariser::PLAIN, calls(60));
            let outcome = if way < 2 {
                let settings = subgradient::SubgradientSettings {
                    method: ways[way],
                    threads: 1,
                    ..Default::default()
                };
                subgradient::train(&blocks, LAMBDA, plain, None, &settings, &budget, &mut ())
            } else {
                let settings = cutting_plane::CuttingPlaneSettings {
                    slacks: slacks[way - 2],
                    threads: 1,
                    ..Default::default()
                };
                cutting_plane::train(&blocks, LAMBDA, plain, None, &settings, &budget, &mut ())
            };
            let caught = matches!(outcome, Err(Error::Unsound { .. } | Error::Oracle { .. }));
            assert!(caught, "{seed} {way}: {:?}", outcome.map(|report| report.certificate));
        }
    }
}

proptest! {
    #![proptest_config(cases(32))]

    // Honest as long as it is stepped with, and then, for the certificate, the truth is called best.
    // The dual point knows better: its value is above the primal that is claimed.
    #[test]
    fn an_oracle_that_lies_to_the_certificate_about_what_the_steps_have_seen_is_caught(
        seed in 0..1000_u64,
        steps in 40_u64..80,
    ) {
        let menus = menus(seed);
        let asked = AtomicU64::new(0);
        let outcome = train(&menus, Algorithm::Bcfw, &calls(steps), |scores| {
            let honest = asked.fetch_add(1, Ordering::Relaxed) < steps;
            exact(if honest { best(scores) } else { 0 })
        });
        let caught = matches!(outcome, Err(Error::Unsound { .. } | Error::Oracle { .. }));
        prop_assert!(caught, "{:?}", outcome.map(|report| report.certificate));
    }

    #[test]
    fn a_loose_but_true_bound_gives_a_loose_but_true_certificate(
        seed in 0..1000_u64,
        looseness in 0.01..1.0_f64,
        fw in any::<bool>(),
    ) {
        let method = if fw { Algorithm::Fw } else { Algorithm::Bcfw };
        let menus = menus(seed);
        let budget = Budget { passes: Some(60), ..Budget::relative(1e-6) };
        let report = train(&menus, method, &budget, |scores| {
            let output = best(scores);
            Decoded { output, bound: Bound::AtMost(scores[output] + looseness) }
        }).unwrap();
        let problem = explicit(&menus, 4);
        prop_assert!(report.certificate.certified && holds(&report, optimum(&problem)));
        // Every loss is overstated by the same amount, and so is their mean.
        let primal = problem.primal(&report.model.weights).float();
        prop_assert!((report.certificate.primal - primal - looseness).abs() < 1e-9);
        prop_assert!(report.stop != Stop::GapReached);
    }

    // Any output with any true bound will do to step with: here one that is drawn by lot.
    #[test]
    fn an_oracle_that_finds_little_but_bounds_it_truly_is_certified(seed in 0..1000_u64) {
        let menus = menus(seed);
        let lot = AtomicU64::new(seed);
        let report = train(&menus, Algorithm::Bcfw, &Budget::passes(40), |scores| {
            let draw = lot.fetch_add(1, Ordering::Relaxed);
            let output = Random::new(draw).below(scores.len());
            Decoded { output, bound: Bound::AtMost(scores[best(scores)]) }
        }).unwrap();
        prop_assert!(report.certificate.certified && holds(&report, optimum(&explicit(&menus, 4))));
    }

    // Nobody can see an output that an oracle never mentions: the bound is the oracle's word, and what is
    // certified is the problem that it answers for.
    #[test]
    fn an_oracle_that_hides_an_output_has_the_problem_without_it_certified(seed in 0..1000_u64) {
        let menus = menus(seed);
        let report = train(&menus, Algorithm::Bcfw, &Budget::relative(1e-2), |scores| {
            exact(best(&scores[..3]))
        }).unwrap();
        prop_assert!(holds(&report, optimum(&explicit(&menus, 3))));
    }
}

#[test]
fn an_oracle_that_knows_no_bound_is_never_certified() {
    for bound in [Bound::Unknown, Bound::AtMost(f64::INFINITY)] {
        for method in METHODS {
            let budget = Budget { passes: Some(12), absolute: Some(1e9), ..Budget::relative(1e9) };
            let menus = menus(4);
            let say = |scores: &[f64]| Decoded { output: best(scores), bound };
            let report = train(&menus, method, &budget, say).unwrap();
            assert_eq!(report.stop, Stop::PassLimit);
            let c = report.certificate;
            assert!(!c.certified && c.gap() == f64::INFINITY && c.relative_gap() == f64::INFINITY);
            assert!(report.history.iter().all(|at| !at.certificate.certified && at.gap.is_none()));
            // The dual side needs no bound and stays true.
            assert!(c.dual - c.rounding_error <= optimum(&explicit(&menus, 4)).upper);
        }
    }
}

#[test]
fn one_example_without_a_bound_leaves_the_whole_run_uncertified() {
    let mut menus = menus(5);
    menus[2].0.truncate(2); // the menu by which the oracle knows the example
    for method in METHODS {
        let budget = Budget { passes: Some(12), ..Budget::relative(1e9) };
        let report = train(&menus, method, &budget, |scores| {
            let bound = if scores.len() == 2 { Bound::Unknown } else { Bound::Exact };
            Decoded { output: best(scores), bound }
        })
        .unwrap();
        assert!(!report.certificate.certified && report.stop == Stop::PassLimit);
    }
}

#[test]
fn features_and_losses_that_make_no_sense_are_errors() {
    let spoil: [fn(&mut Menu); 7] = [
        |menu| menu[1].0[0] = f64::NAN,
        |menu| menu[1].0[2] = f64::INFINITY,
        |menu| menu[0].0[1] = f64::NEG_INFINITY,
        |menu| menu[1].0.push(1.0), // beyond the dimension
        |menu| menu[1].1 = -0.5,
        |menu| menu[1].1 = f64::NAN,
        |menu| menu[0].1 = f64::INFINITY, // the loss of the truth is then ∞ − ∞
    ];
    for (k, spoil) in spoil.into_iter().enumerate() {
        for method in METHODS {
            let mut menus = menus(6);
            spoil(&mut menus[1].0);
            // Output 1 is always mentioned, so that whatever is wrong with it is met.
            let outcome = train(&menus, method, &Budget::passes(5), |_| Decoded {
                output: 1,
                bound: Bound::Unknown,
            });
            assert!(is_oracle_error(&outcome), "case {k}");
        }
    }
}

#[test]
fn a_loss_of_the_truth_is_an_error_before_anything_is_trained() {
    struct Biased;
    impl Oracle for Biased {
        type Input = ();
        type Output = u8;
        type Scratch = ();
        fn dim(&self) -> usize {
            1
        }
        fn features(&self, (): &(), y: &u8, out: &mut impl Accumulate) {
            out.add(0, f64::from(*y));
        }
        fn loss(&self, (): &(), _: &u8, _: &u8) -> f64 {
            1.0
        }
        fn decode(&self, _: &[f64], (): &(), _: Option<&u8>, (): &mut ()) -> Result<Decoded<u8>> {
            Ok(Decoded { output: 0, bound: Bound::Exact })
        }
    }
    assert!(matches!(
        OracleBlocks::new(&Biased, &[((), 0)]),
        Err(Error::Oracle { example: 0, .. })
    ));
}
