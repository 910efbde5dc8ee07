//! The check of an oracle finds every broken clause of its contract, and none in an oracle that keeps it.

use dualgap::dual::Quality;
use dualgap::linalg::Accumulate;
use dualgap::structure::{
    Bound, Checked, Clause, Decoded, Extent, Oracle, OracleCheck, OwnOracle, check_oracle,
    check_own_oracle,
};
use dualgap::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::atomic::{AtomicU32, Ordering};

/// What is wrong with an oracle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Flaw {
    None,
    TruthCosts,
    NegativeLoss,
    NotANumber,
    InfiniteFeature,
    IndexBeyond,
    Forgetful,
    FewerTerms,
    SmallerNorm,
    SmallerLoss,
    Fails,
    IgnoresTheLoss,
    SecondBest,
    Heuristic,
    LowBound,
    BoundIsNoNumber,
    KeepsTheLoss,
    Beyond,
    Refuses,
    LosesBytes,
    /// The second best, with promises that are kept and broken.
    Promises(Promise),
    /// Under slack rescaling: right, and without the loss.
    Slack,
    SlackForgetsTheLoss,
    ShortRadius,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Promise {
    Share(f64),
    Miss(f64),
}

/// Levels below 4 of a number: score y·x·u + b_y, loss |y − truth|; some rise or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Levels(Flaw);

/// A level. The hundreds are lost in its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Level(u32);

impl Level {
    fn value(self) -> u32 {
        self.0 % 100
    }
}

/// The calls of an oracle that has another answer each time.
static CALLS: AtomicU32 = AtomicU32::new(0);

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u32::deserialize(deserializer).map(Self)
    }
}

impl Oracle for Levels {
    type Input = f64;
    type Output = Level;
    type Scratch = ();

    fn dim(&self) -> usize {
        6 // one more than there are, for the level that is none
    }

    fn features(&self, x: &f64, y: &Level, out: &mut impl Accumulate) {
        out.add(0, f64::from(y.value()) * x);
        let beyond = self.0 == Flaw::IndexBeyond && y.0 == 3;
        out.add(if beyond { 7 } else { 1 + y.value() as usize }, 1.0);
        match self.0 {
            Flaw::InfiniteFeature if y.0 == 2 => out.add(1, f64::INFINITY),
            Flaw::Forgetful => out.add(1, f64::from(CALLS.fetch_add(1, Ordering::Relaxed))),
            _ => {}
        }
    }

    fn loss(&self, _: &f64, truth: &Level, y: &Level) -> f64 {
        match self.0 {
            Flaw::TruthCosts if truth == y => 0.5,
            Flaw::NegativeLoss if y.0 == 3 && truth.0 != 3 => -1.0,
            Flaw::NotANumber if y.0 == 3 && truth.0 != 3 => f64::NAN,
            _ => f64::from(truth.value().abs_diff(y.value())),
        }
    }

    fn extent(&self, x: &f64) -> Option<Extent> {
        let right = Extent { terms: 2, norm1: 3.0 * x.abs() + 1.0, loss: 3.0 };
        match self.0 {
            Flaw::FewerTerms => Some(Extent { terms: 1, ..right }),
            Flaw::SmallerNorm => Some(Extent { norm1: 2.9 * x.abs() + 1.0, ..right }),
            Flaw::SmallerLoss => Some(Extent { loss: 1.0, ..right }),
            Flaw::None => Some(right),
            _ => None,
        }
    }

    fn decode(
        &self,
        w: &[f64],
        x: &f64,
        against: Option<&Level>,
        (): &mut (),
    ) -> Result<Decoded<Level>> {
        let counted = match self.0 {
            Flaw::IgnoresTheLoss => None,
            Flaw::KeepsTheLoss => Some(against.copied().unwrap_or(Level(0))),
            _ => against.copied(),
        };
        let score = |y: &Level| {
            let loss = counted.map_or(0.0, |truth| self.loss(x, &truth, y));
            f64::from(y.value()) * x * w[0] + w[1 + y.value() as usize] + loss
        };
        let mut levels = [0, 1, 2, 3].map(Level);
        levels.sort_by(|a, b| score(b).total_cmp(&score(a)));
        let best = score(&levels[0]);
        let (output, bound) = match self.0 {
            Flaw::Fails if w[0] > 0.0 => return Err(Error::setting("no way out")),
            Flaw::SecondBest => (levels[1], Bound::Exact),
            Flaw::Heuristic | Flaw::Promises(_) => (levels[1], Bound::Unknown),
            Flaw::LowBound => (levels[0], Bound::AtMost(best - 0.1)),
            Flaw::BoundIsNoNumber => (levels[0], Bound::AtMost(f64::NAN)),
            Flaw::LosesBytes => (Level(100 + levels[0].0), Bound::Exact),
            Flaw::Beyond if w[0] > 0.5 => (Level(4), Bound::Unknown),
            _ => (levels[0], Bound::Exact),
        };
        Ok(Decoded { output, bound })
    }

    fn quality(&self) -> Quality {
        match self.0 {
            Flaw::Promises(Promise::Share(nu)) => Quality::Multiplicative(nu),
            Flaw::Promises(Promise::Miss(delta)) => Quality::Additive(delta),
            _ => Quality::Exact,
        }
    }

    fn radius(&self, x: &f64) -> Option<f64> {
        let longest = (9.0 * x * x + 1.0).sqrt();
        (self.0 == Flaw::ShortRadius).then_some(0.99 * longest)
    }

    fn decode_slack(
        &self,
        w: &[f64],
        x: &f64,
        truth: &Level,
        (): &mut (),
    ) -> Result<Decoded<Level>> {
        let score = |y: Level| f64::from(y.value()) * x * w[0] + w[1 + y.value() as usize];
        let loss = |y: Level| {
            let weight = match self.0 {
                Flaw::Slack => self.loss(x, truth, &y),
                _ => f64::from(u8::from(y != *truth)),
            };
            weight * (1.0 + score(y) - score(*truth))
        };
        if !matches!(self.0, Flaw::Slack | Flaw::SlackForgetsTheLoss) {
            return Err(Error::setting("there is none"));
        }
        let levels = [0, 1, 2, 3].map(Level);
        let best = levels.into_iter().max_by(|a, b| loss(*a).total_cmp(&loss(*b)));
        Ok(Decoded { output: best.unwrap_or(*truth), bound: Bound::Exact })
    }
}

impl OwnOracle for Levels {
    const NAME: &'static str = "levels";

    fn admits(&self, _: &f64, y: &Level) -> bool {
        y.value() < if self.0 == Flaw::Refuses { 3 } else { 4 }
    }
}

const EXAMPLES: [(f64, Level); 4] =
    [(0.5, Level(0)), (1.5, Level(1)), (-1.0, Level(2)), (2.0, Level(2))];

fn listed(flaw: Flaw) -> Checked {
    let all = |_: &f64| Some([0, 1, 2, 3].map(Level).to_vec());
    let check = OracleCheck { all: Some(&all), ..OracleCheck::default() };
    check_oracle(&Levels(flaw), &EXAMPLES, &check)
}

fn clauses(checked: &Checked) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = checked.breaches.iter().map(|breach| breach.clause).collect();
    clauses.dedup();
    clauses
}

#[test]
fn an_oracle_that_keeps_the_contract_passes() {
    for checked in [
        listed(Flaw::None),
        check_oracle(&Levels(Flaw::None), &EXAMPLES, &OracleCheck::default()),
        check_own_oracle(&Levels(Flaw::None), &EXAMPLES, &OracleCheck::default()),
    ] {
        checked.passed().unwrap();
        // At zero weights and 20 others, against the truth and without it.
        assert_eq!((checked.decoded, checked.best), (4 * 21 * 2, 4 * 21 * 2));
    }
    assert_eq!(listed(Flaw::None).pairs, 4 * 4);
}

#[test]
fn every_broken_clause_is_named() {
    for (flaw, clause) in [
        (Flaw::TruthCosts, Clause::TruthCostsNothing),
        (Flaw::NegativeLoss, Clause::Loss),
        (Flaw::NotANumber, Clause::Loss),
        (Flaw::InfiniteFeature, Clause::Features),
        (Flaw::IndexBeyond, Clause::Features),
        (Flaw::Forgetful, Clause::SameFeatures),
        (Flaw::FewerTerms, Clause::Extent),
        (Flaw::SmallerNorm, Clause::Extent),
        (Flaw::SmallerLoss, Clause::Extent),
        (Flaw::Fails, Clause::Decodes),
        (Flaw::IgnoresTheLoss, Clause::Bound),
        (Flaw::SecondBest, Clause::Bound),
        (Flaw::LowBound, Clause::Bound),
        (Flaw::BoundIsNoNumber, Clause::Bound),
        (Flaw::KeepsTheLoss, Clause::Prediction),
        (Flaw::Beyond, Clause::Output),
        (Flaw::Promises(Promise::Share(0.9)), Clause::Promise),
        (Flaw::Promises(Promise::Miss(0.01)), Clause::Promise),
        (Flaw::SlackForgetsTheLoss, Clause::Slack),
        (Flaw::ShortRadius, Clause::Extent),
    ] {
        let checked = listed(flaw);
        assert!(clauses(&checked).contains(&clause), "{flaw:?}: {checked}");
        let error = checked.passed().unwrap_err();
        assert!(matches!(error, Error::Oracle { example: 0, .. }), "{flaw:?}: {error}");
        assert!(error.remedy().is_some());
        // A single mistake is not reported as many, where it does not make others.
        let one = !matches!(
            flaw,
            Flaw::SecondBest
                | Flaw::LowBound
                | Flaw::BoundIsNoNumber
                | Flaw::Forgetful
                | Flaw::Beyond
        );
        if one {
            assert_eq!(clauses(&checked), [clause], "{flaw:?}: {checked}");
        }
    }
}

#[test]
fn what_is_not_admitted_or_loses_its_bytes_is_found_in_structures_of_ones_own() {
    let own = |flaw| check_own_oracle(&Levels(flaw), &EXAMPLES, &OracleCheck::default());
    assert_eq!(clauses(&own(Flaw::Refuses)), [Clause::Output]);
    assert!(own(Flaw::Beyond).breaches.iter().any(|breach| breach.clause == Clause::Output));
    assert_eq!(clauses(&own(Flaw::LosesBytes)), [Clause::ByteForm]);
}

#[test]
fn outputs_that_nobody_decodes_are_found_where_they_are_listed() {
    // Without a list the second best is only known where another draw has returned it; the list knows all of them.
    let some = |_: &f64| [0, 1, 2, 3].map(Level).to_vec();
    let check = OracleCheck { draws: 0, some: Some(&some), ..OracleCheck::default() };
    let checked = check_oracle(&Levels(Flaw::SecondBest), &EXAMPLES, &check);
    assert!(clauses(&checked).contains(&Clause::Bound), "{checked}");
    // The same draws give the same report.
    assert_eq!(checked, check_oracle(&Levels(Flaw::SecondBest), &EXAMPLES, &check));
    let text = checked.to_string();
    assert!(text.contains("8 outputs decoded") && text.contains("example 0: "), "{text}");
}

#[test]
fn a_heuristic_that_claims_nothing_breaks_nothing() {
    let checked = listed(Flaw::Heuristic);
    checked.passed().unwrap();
    assert!(checked.best < checked.decoded, "{checked}");
}

#[test]
fn promises_and_slack_rescaling_that_are_kept_break_nothing() {
    // Scores differ by at most 400 · 2 · 3 + 200 + 3; and a share that is next to nothing is nearly always found.
    for flaw in [Flaw::Promises(Promise::Miss(3000.0)), Flaw::Slack] {
        listed(flaw).passed().unwrap();
    }
}
