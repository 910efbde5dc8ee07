//! A structure that is written outside of the library, without an oracle: which of two items is better. It has blocks of the library,
//! data of its own, and everything else from [`Task`] and [`Model`].

use dualgap::Result;
use dualgap::container::Digest;
use dualgap::data::{DataSet, Examples, Fingerprint};
use dualgap::linalg::{Random, Rows};
use dualgap::run::{Budget, Interval, Stop, Tolerance};
use dualgap::structure::evaluation::Evaluation;
use dualgap::structure::{Fitted, Linear, LinearBlocks, Names, Posed, Posing, Structure, Words};
use dualgap::task::{
    DualEvidence, Ending, Model, PathPlan, Piece, Plan, RawModel, Registry, Task, TrialPlan,
};
use dualgap::term::{Penalty, ScalarLoss};
use serde::{Deserialize, Serialize};

/// The better item less the worse one, row by row.
#[derive(Clone, Debug)]
struct Comparisons {
    differences: Rows,
    weights: Option<Vec<f64>>,
}

impl Fingerprint for Comparisons {
    fn digest(&self, digest: &mut Digest) {
        digest.bytes(b"comparisons");
        self.differences.digest(digest);
    }
}

impl DataSet for Comparisons {
    fn len(&self) -> usize {
        self.differences.len()
    }

    fn subset(&self, chosen: &[usize]) -> Self {
        let weights = self.weights.as_ref().map(|all| chosen.iter().map(|&i| all[i]).collect());
        Self { differences: self.differences.select(chosen.iter().copied()), weights }
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    fn weighted(self, weights: Vec<f64>) -> Result<Self> {
        Ok(Self { weights: Some(weights), ..self })
    }
}

/// The better item is to score more than the worse one: a loss of the difference of their scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Preference {
    loss: ScalarLoss,
}

impl Structure for Preference {
    const NAME: &'static str = "preference";
    type Data = Comparisons;
    /// By how much the better item scores more.
    type Output = f64;

    fn names(&self, data: &Comparisons) -> Result<Names> {
        Ok(Names::none(data.differences.width()))
    }

    fn pose<'d>(&'d self, data: &'d Comparisons, posing: &Posing<'_>) -> Result<Posed<'d>> {
        let (ones, choice) = (vec![1.0; data.len()], posing.choice.unwrap_or_default());
        let blocks = LinearBlocks::new(&data.differences, ones, self.loss, choice)?;
        Ok(Posed::linear(blocks, posing))
    }

    fn predict(&self, fitted: Fitted<'_>, data: &Comparisons) -> Result<Vec<f64>> {
        fitted.each(&data.differences, |row| fitted.score(row))
    }

    fn evaluate(&self, fitted: Fitted<'_>, data: &Comparisons) -> Result<Evaluation> {
        let wrong = self.predict(fitted, data)?.iter().filter(|&&margin| margin <= 0.0).count();
        let error = wrong as f64 / data.len() as f64;
        Ok(Evaluation::Own { error, figures: vec![("wrong".into(), error)] })
    }

    fn describe(&self, _: &Names) -> Words {
        Words { task: "preference", loss: format!("{:?}", self.loss), ..Words::default() }
    }

    fn spell(&self, _: &Names, margin: &f64) -> Vec<String> {
        vec![margin.to_string()]
    }
}

/// Two thirds of the items are better by their first feature; the rest is noise.
fn rows(seed: u64, n: usize) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let mut row = |i: usize| {
        let mut row: Vec<f64> = (0..4).map(|_| random.unit() - 0.5).collect();
        row[0] = if i.is_multiple_of(3) { row[0] } else { row[0].abs() };
        row
    };
    (0..n).map(&mut row).collect()
}

fn data(seed: u64, n: usize) -> Comparisons {
    Comparisons { differences: Rows::dense(&rows(seed, n)).unwrap(), weights: None }
}

fn task(lambda: f64) -> Task<Preference> {
    Task::new(Preference { loss: ScalarLoss::Hinge }, Penalty::ridge(lambda))
}

/// The same problem as classes: every other comparison is written the other way round.
fn built_in(lambda: f64, seed: u64, n: usize) -> (Task<Linear>, Examples) {
    let turned = |(i, row): (usize, Vec<f64>)| {
        let sign = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        row.iter().map(|x| sign * x).collect()
    };
    let rows: Vec<Vec<f64>> = rows(seed, n).into_iter().enumerate().map(turned).collect();
    let labels: Vec<&str> = (0..n).map(|i| ["yes", "no"][i % 2]).collect();
    let examples = Examples::from_dense(&rows, &labels).unwrap();
    (Task::new(Linear::new(ScalarLoss::Hinge), Penalty::ridge(lambda)), examples)
}

fn tight<'a, S: Structure>() -> Plan<'a, S> {
    let budget = Budget { passes: Some(20_000), ..Budget::relative(1e-7) };
    Plan { threads: 1, ..Plan::new(budget) }
}

#[test]
fn it_has_the_optimum_of_the_same_problem_as_classes() {
    for weighed in [false, true] {
        let (mut own, (linear, mut classes)) = (data(1, 40), built_in(0.05, 1, 40));
        if weighed {
            let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 5) / 2.0 + 0.1).collect();
            own = own.weighted(weights.clone()).unwrap();
            classes = classes.with_weights(weights).unwrap();
        }
        let a = task(0.05).fit(&own, tight()).unwrap();
        let b = linear.fit(&classes, tight()).unwrap();
        assert_eq!((a.stop, b.stop), (Stop::GapReached, Stop::GapReached));
        let (x, y) = (a.certificate, b.certificate);
        assert!(x.dual <= y.primal + 1e-12 && y.dual <= x.primal + 1e-12, "{x:?} {y:?}");
        assert!(a.model.evaluate(&own).unwrap().error() < 0.4);
    }
}

#[test]
fn its_models_are_stored_and_certified() {
    let own = data(2, 30);
    let model = task(0.1).fit(&own, Plan::new(Budget::relative(1e-3))).unwrap().model;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("preference.model");
    model.save(&file).unwrap();
    let stored = Model::<Preference>::load(&file).unwrap();
    assert_eq!((&stored.task, &stored.weights), (&model.task, &model.weights));
    assert_eq!((&stored.witness, &stored.names), (&model.witness, &model.names));
    let verified = stored.certify(&own).unwrap();
    assert_eq!(verified.evidence, DualEvidence::Witness);
    assert!(verified.certificate.relative_gap() <= 1e-3);
    assert_eq!(stored.predict(&own).unwrap(), model.predict(&own).unwrap());
    let mut altered = stored.clone();
    altered.weights[0] += 0.25;
    assert!(altered.certify(&own).is_err() && stored.certify(&data(3, 30)).is_err());
    // Who does not know the structure says so, and who does has the model behind the common interface.
    assert_eq!(RawModel::open(&file).unwrap().structure(), "preference");
    assert!(Registry::builtin().load(&file).is_err());
    let known = Registry::builtin().with::<Preference>().load(&file).unwrap();
    assert_eq!(known.dim(), 4);
}

#[test]
fn its_paths_are_as_good_as_promised() {
    let own = data(4, 24);
    let within = Interval::new(0.02, 1.0).unwrap();
    let wanted = PathPlan { threads: 1, ..PathPlan::new(within, Tolerance::Relative(0.05)) };
    let mut pieces = Vec::new();
    let keep = |piece: &Piece<Preference>| {
        pieces.push(piece.clone());
        Ok(())
    };
    let covered = task(7.0).path(&own, &wanted, |_| None, keep).unwrap();
    assert_eq!((covered.from, covered.ending), (Some(0.02), Ending::Whole));
    for lambda in [0.02, 0.1, 0.37, 1.0] {
        let piece = pieces.iter().find(|piece| piece.interval.contains(lambda)).unwrap();
        let claimed = piece.reach.certificate(lambda).unwrap();
        let (linear, classes) = built_in(lambda, 4, 24);
        let best = linear.fit(&classes, tight()).unwrap().certificate;
        assert!(claimed.primal - best.primal <= 0.05 * claimed.primal, "{lambda}");
        assert!(claimed.dual <= best.primal + 1e-12, "{lambda}");
    }
}

#[test]
fn it_is_cross_validated() {
    let own = data(5, 24);
    let folds = task(1.0).folds(&own, 3, 1).unwrap();
    let plan = TrialPlan { threads: 2, ..TrialPlan::new(Budget::relative(1e-4)) };
    let found = task(1.0).cross_validate(&own, &folds, &[1.0, 0.05], &plan, || ());
    for candidate in &found.unwrap().unwrap().candidates {
        assert!(candidate.is_reached() && candidate.trials.len() == 3);
    }
}
