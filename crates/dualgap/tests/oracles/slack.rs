//! Slack rescaling: its values are those of the definition, its optimum that of a solver which shares nothing with
//! ours, and where it is the same as margin rescaling, it comes to the same.

use super::rescaled;
use crate::common::quadratic::optimum;
use crate::common::{Kind, MOST_WEIGHTS, Small, cases, small, with_oracle};
use dualgap::dual::{self, Direction, PrimalValue, Problem, Settings};
use dualgap::linalg::Accumulate;
use dualgap::run::{Budget, Certificate, Stop};
use dualgap::structure::{Bound, Decoded, Hamming, Oracle, OracleBlocks, Rescaling};
use dualgap::term::{Costs, L2};
use dualgap::{Error, Result};
use proptest::prelude::*;

/// P(w) in this form, as certificates have it.
fn primal(small: &Small, rescaling: Rescaling, w: &[f64]) -> PrimalValue {
    with_oracle!(small, |oracle, examples| {
        let blocks = OracleBlocks::new(&oracle, &examples).unwrap().rescaled(rescaling);
        let weights = small.weights.as_deref();
        Problem::new(&blocks, L2, small.lambda, weights).unwrap().primal(w).unwrap()
    })
}

fn train(small: &Small, rescaling: Rescaling, settings: &Settings) -> (Stop, Certificate) {
    with_oracle!(small, |oracle, examples| {
        let blocks = OracleBlocks::new(&oracle, &examples).unwrap().rescaled(rescaling);
        let budget = Budget { passes: Some(3000), ..Budget::relative(1e-5) };
        let report = dual::train(&blocks, settings, &budget, &mut ()).unwrap();
        (report.stop, report.certificate)
    })
}

proptest! {
    #![proptest_config(cases(200))]

    // Every output in numbers of 32 digits against the oracle's search and the bound on its rounding.
    #[test]
    fn a_rescaled_primal_value_bounds_the_definition_and_is_near_it(
        small in small(),
        w in prop::collection::vec(-3.0..3.0_f64, MOST_WEIGHTS),
    ) {
        let w = &w[..small.dim()];
        let PrimalValue { value, certified, .. } = primal(&small, Rescaling::Slack, w);
        let exact = rescaled(&small).primal(w).float();
        // The value has what the oracle may have rounded away added to it already.
        prop_assert!(certified && value.value + value.error >= exact, "{value:?} {exact}");
        prop_assert!(value.value - value.error <= exact + 1e-12 * exact.max(1.0), "{value:?} {exact}");
        prop_assert!(value.error <= 1e-12 * exact.max(1.0), "{value:?} {exact}");
    }

    #[test]
    fn both_forms_are_the_same_at_weights_of_zero(small in small()) {
        let w = vec![0.0; small.dim()];
        let [a, b] = [Rescaling::Margin, Rescaling::Slack].map(|form| primal(&small, form, &w).value);
        prop_assert!((a.value - b.value).abs() <= a.error + b.error, "{a:?} {b:?}");
    }
}

fn problems() -> Vec<Small> {
    let chain = |k: u64| Small::random(k, Kind::all(3)[k as usize % 2].clone(), 6, 3, 3);
    let classes = |k: u64| Small::random(k, Kind::all(4)[3].clone(), 9, 4, 1);
    let mut problems = vec![chain(0), chain(1).with_pairs(2, 2), chain(4), classes(2), classes(3)];
    problems[2].weights = Some(vec![1.0, 2.0, 0.5, 1.0, 3.0, 1.0]);
    problems[4].weights = Some((0..9).map(|i| 0.5 + f64::from(i % 3)).collect());
    problems
}

#[test]
fn every_way_to_step_comes_to_the_optimum_of_the_rescaled_problem() {
    for small in problems() {
        let bracket = optimum(&rescaled(&small));
        assert!(bracket.is_within(1e-7), "{bracket:?}");
        let apart = optimum(&small.explicit());
        assert!(apart.lower > bracket.upper || apart.upper < bracket.lower, "another problem");
        for direction in [Direction::Auto, Direction::Toward, Direction::Away] {
            let settings = Settings { direction, ..small.settings() };
            let (stop, c) = train(&small, Rescaling::Slack, &settings);
            assert!(c.certified, "{c:?}");
            assert!(stop == Stop::GapReached || direction == Direction::Toward, "{stop:?} {c:?}");
            assert!(c.dual - c.rounding_error <= bracket.upper, "{c:?} {bracket:?}");
            assert!(c.primal + c.rounding_error >= bracket.lower, "{c:?} {bracket:?}");
        }
    }
}

#[test]
fn with_losses_of_zero_and_one_both_forms_have_the_same_optimum() {
    let classes = Small::random(5, Kind::Multiclass(Costs::ZeroOne), 12, 4, 1);
    // Of a sequence of one position, the fraction of wrong labels is zero or one.
    let short = Small::random(6, Kind::Chain(Hamming::Normalized), 12, 3, 1);
    for small in [classes, short] {
        let [a, b] = [Rescaling::Margin, Rescaling::Slack].map(|form| {
            train(&small, form, &Settings { direction: Direction::Auto, ..small.settings() })
        });
        assert_eq!((a.0, b.0), (Stop::GapReached, Stop::GapReached));
        let (a, b) = (a.1, b.1);
        let error = a.rounding_error + b.rounding_error;
        assert!(a.dual <= b.primal + error && b.dual <= a.primal + error, "{a:?} {b:?}");
    }
}

/// A sign that costs 3 to get wrong, with an oracle that lies as told.
struct Sign {
    bound: fn(f64) -> Bound,
    knows_slack: bool,
}

impl Oracle for Sign {
    type Input = f64;
    type Output = i8;
    type Scratch = ();

    fn dim(&self) -> usize {
        1
    }

    fn features(&self, x: &f64, y: &i8, out: &mut impl Accumulate) {
        out.add(0, 0.5 * f64::from(*y) * x);
    }

    fn loss(&self, _: &f64, truth: &i8, y: &i8) -> f64 {
        if truth == y { 0.0 } else { 3.0 }
    }

    fn decode(&self, w: &[f64], x: &f64, against: Option<&i8>, (): &mut ()) -> Result<Decoded<i8>> {
        let score =
            |y: i8| 0.5 * f64::from(y) * x * w[0] + against.map_or(0.0, |t| self.loss(x, t, &y));
        Ok(Decoded { output: if score(1) >= score(-1) { 1 } else { -1 }, bound: Bound::Exact })
    }

    fn decode_slack(&self, w: &[f64], x: &f64, truth: &i8, (): &mut ()) -> Result<Decoded<i8>> {
        if !self.knows_slack {
            return Err(Error::setting("this oracle has no slack-rescaled decoding"));
        }
        let loss = 3.0 * (1.0 - f64::from(*truth) * x * w[0]);
        let output = if loss > 0.0 { -truth } else { *truth };
        Ok(Decoded { output, bound: (self.bound)(loss.max(0.0)) })
    }
}

fn sign(bound: fn(f64) -> Bound, knows_slack: bool) -> Result<Certificate> {
    let examples = [(1.0, 1), (0.5, -1), (-2.0, -1)];
    let sign = Sign { bound, knows_slack };
    let blocks = OracleBlocks::new(&sign, &examples)?.rescaled(Rescaling::Slack);
    let settings = Settings { lambda: 0.5, ..Settings::default() };
    dual::train(&blocks, &settings, &Budget::relative(1e-9), &mut ())
        .map(|report| report.certificate)
}

/// P(w) = ¼w² + mean 3·max(0, 1 − y x w): three hinges, whose minimum a fine grid finds.
#[test]
fn a_user_s_oracle_is_rescaled_as_the_built_in_ones() {
    let value = |w: f64| {
        0.25 * w * w + ((1.0 - w).max(0.0) + (1.0 + 0.5 * w).max(0.0) + (1.0 - 2.0 * w).max(0.0))
    };
    let least = (-4000..4000).map(|k| value(f64::from(k) / 1000.0)).fold(f64::INFINITY, f64::min);
    for bound in
        [(|_| Bound::Exact) as fn(f64) -> Bound, |loss| Bound::AtMost(loss * (1.0 + 1e-15))]
    {
        let c = sign(bound, true).unwrap();
        assert!(c.certified && (c.primal - least).abs() < 1e-5, "{c:?} {least}");
    }
    let loose = sign(|loss| Bound::AtMost(loss + 0.25), true).unwrap();
    assert!(loose.certified && loose.gap() >= 0.25 && loose.primal >= least, "{loose:?}");
    assert!(!sign(|_| Bound::Unknown, true).unwrap().certified);
    assert!(matches!(sign(|loss| Bound::AtMost(0.5 * loss), true), Err(Error::Oracle { .. })));
}

#[test]
fn an_oracle_without_rescaled_decoding_says_so() {
    let error = sign(|_| Bound::Exact, false).unwrap_err().to_string();
    assert!(error.contains("no slack-rescaled decoding"), "{error}");
}
