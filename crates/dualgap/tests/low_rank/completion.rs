//! Models of ratings: fitted, stored, verified from their ratings, and refused when anything in them was altered.

use crate::common::fits::{self, Fit};
use crate::low_rank::judge::Judge;
use dualgap::ball::{BallMethod, BallSettings};
use dualgap::data::{Dictionary, Ratings, Scaling, Source};
use dualgap::linalg::{LowRank, Random};
use dualgap::run::{Budget, Report, Stop};
use dualgap::structure::evaluation::Strangers;
use dualgap::structure::{Centre, Centring, Completion, Linear, Multiclass};
use dualgap::task::{DualEvidence, RawModel};
use dualgap::term::{Penalty, ScalarLoss};
use dualgap::{Error, Result};
use faer::Mat;

type Model = dualgap::task::Model<Completion>;

const USERS: usize = 8;
const ITEMS: usize = 6;
const HUBER: ScalarLoss = ScalarLoss::Huber { width: 0.3 };

/// User, item and rating: one to five points, of which two tastes explain a part. Some pairs are rated twice.
fn triples(seed: u64, count: usize) -> Vec<(usize, usize, f64)> {
    let mut random = Random::new(seed);
    let rating = |i: usize, j: usize, noise: f64| {
        let taste = if i.is_multiple_of(2) == j.is_multiple_of(3) { 1.3 } else { -0.7 };
        3.0 + taste + 0.1 * i as f64 + 2.0 * (noise - 0.5)
    };
    let mut all: Vec<(usize, usize, f64)> = (0..count)
        .map(|_| (random.below(USERS), random.below(ITEMS), random.unit()))
        .map(|(i, j, noise)| (i, j, rating(i, j, noise)))
        .collect();
    // Every name occurs, in order, so that numbers are those of the names.
    let corners = (0..USERS).map(|i| (i, i % ITEMS, rating(i, i % ITEMS, 0.25)));
    all.splice(0..0, corners);
    all
}

fn ratings(triples: &[(usize, usize, f64)]) -> Ratings {
    let names: Vec<(String, String)> =
        triples.iter().map(|(i, j, _)| (format!("u{i}"), format!("m{j}"))).collect();
    let triples: Vec<(&str, &str, f64)> =
        names.iter().zip(triples).map(|((u, m), t)| (&u[..], &m[..], t.2)).collect();
    Ratings::from_triples(&triples).unwrap()
}

fn data() -> Ratings {
    ratings(&triples(1, 22))
}

fn fit(
    data: &Ratings,
    loss: ScalarLoss,
    centring: Centring,
    ball: Penalty,
    budget: &Budget,
) -> Result<Report<Model>> {
    let completion = Completion::new(loss, centring);
    Fit::in_ball(completion, ball, BallSettings::default(), budget).run(data)
}

fn squared(centring: Centring, radius: f64, mu: f64, budget: &Budget) -> Report<Model> {
    let ball = Penalty::trace_ball(radius, mu);
    fit(&data(), ScalarLoss::Squared, centring, ball, budget).unwrap()
}

fn centre(model: &Model) -> &Centre {
    &model.task.structure.centre
}

/// The predictions of a model, and the names that it does not know.
fn pairs(model: &Model, data: &Ratings) -> (Vec<f64>, Strangers) {
    model.task.structure.predict_pairs(model.fitted(), data.pairs()).unwrap()
}

/// The rating that a model predicts for a pair of names.
fn rating(model: &Model, user: &str, item: &str) -> f64 {
    let pair = Ratings::from_triples(&[(user, item, 0.0)]).unwrap();
    model.predict(&pair).unwrap()[0]
}

fn reversed(names: &Dictionary) -> Dictionary {
    let names: Vec<&str> = names.names().collect();
    names.into_iter().rev().collect()
}

/// The mean loss of a whole matrix and its gradient.
fn mean_loss(triples: &[(usize, usize, f64)], huber: Option<f64>, x: &Mat<f64>) -> (f64, Mat<f64>) {
    let (mut value, mut gradient) = (0.0, Mat::zeros(USERS, ITEMS));
    let share = 1.0 / triples.len() as f64;
    for &(i, j, y) in triples {
        let off = x[(i, j)] - y;
        let width = huber.unwrap_or(f64::INFINITY);
        let inside = off.abs() <= width;
        value += share * if inside { off * off / 2.0 } else { width * (off.abs() - width / 2.0) };
        gradient[(i, j)] += share * if inside { off } else { width * off.signum() };
    }
    (value, gradient)
}

#[test]
fn a_fitted_model_is_at_the_optimum_of_the_whole_matrix_problem() {
    let mut triples = triples(1, 22);
    let mean = triples.iter().map(|t| t.2).sum::<f64>() / triples.len() as f64;
    let data = ratings(&triples);
    triples.iter_mut().for_each(|t| t.2 -= mean);
    let mu = 0.02;
    for (loss, huber) in [(ScalarLoss::Squared, None), (HUBER, Some(0.3))] {
        for radius in [1.0, 4.0, 100.0] {
            let (ball, budget) = (Penalty::trace_ball(radius, mu), Budget::relative(1e-9));
            let report = fit(&data, loss, Centring::Mean, ball, &budget).unwrap();
            assert_eq!(report.stop, Stop::GapReached);
            let smoothness = 4.0 / triples.len() as f64;
            let of = |x: &Mat<f64>| mean_loss(&triples, huber, x);
            let judge = Judge { loss: &of, smoothness, mu, radius, shape: (USERS, ITEMS) };
            let (best, x) = judge.optimum(3000);
            assert!((report.certificate.primal - best).abs() < 1e-7, "{loss:?} {radius}: {best}");
            for i in 0..USERS {
                for j in 0..ITEMS {
                    let own = rating(&report.model, &format!("u{i}"), &format!("m{j}"));
                    assert!((own - mean - x[(i, j)]).abs() < 1e-3, "{loss:?} {radius}");
                }
            }
        }
    }
}

// ½(x − 2)² and ½(x − 6)² in the mean, with μ = 1: x = 4/2, or the radius where that is smaller.
#[test]
fn one_entry_has_a_closed_form() {
    let data = Ratings::from_triples(&[("a", "b", 2.0), ("a", "b", 6.0)]).unwrap();
    for (radius, expected) in [(5.0, 2.0), (1.5, 1.5)] {
        let (ball, budget) = (Penalty::trace_ball(radius, 1.0), Budget::relative(1e-12));
        let report = fit(&data, ScalarLoss::Squared, Centring::None, ball, &budget).unwrap();
        assert!((rating(&report.model, "a", "b") - expected).abs() < 1e-6);
        assert!(rating(&report.model, "a", "c") == 0.0);
    }
    // Of the mean nothing is left to learn but noise.
    let ball = Penalty::trace_ball(1.0, 1.0);
    let report = fit(&data, ScalarLoss::Squared, Centring::Mean, ball, &Budget::default());
    assert!((rating(&report.unwrap().model, "a", "b") - 4.0).abs() < 1e-9);
}

#[test]
fn effects_are_those_of_ridge_regression() {
    let triples = triples(3, 40);
    let centre = Centre::of(Centring::Effects, &ratings(&triples)).unwrap();
    let n = triples.len() as f64;
    assert!((centre.mean - triples.iter().map(|t| t.2).sum::<f64>() / n).abs() < 1e-12);
    // Where Σ (y − m − b_u − c_i)² + 10 (Σ b² + Σ c²) is smallest, its gradient is zero.
    let left = |i: usize, j: usize, y: f64| y - centre.mean - centre.users[i] - centre.items[j];
    for u in 0..USERS {
        let sum: f64 = triples.iter().filter(|t| t.0 == u).map(|t| left(t.0, t.1, t.2)).sum();
        assert!((sum - 10.0 * centre.users[u]).abs() < 1e-6);
    }
    for m in 0..ITEMS {
        let sum: f64 = triples.iter().filter(|t| t.1 == m).map(|t| left(t.0, t.1, t.2)).sum();
        assert!((sum - 10.0 * centre.items[m]).abs() < 1e-4);
    }
    let at = centre.at(Some(2), Some(1));
    assert!((at - centre.mean - centre.users[2] - centre.items[1]).abs() < 1e-12);
    assert!((centre.at(Some(2), None) - centre.mean - centre.users[2]).abs() < 1e-12);
    assert_eq!(centre.at(None, None), centre.mean);
}

#[test]
fn a_model_is_verified_also_after_it_was_stored() {
    let data = data();
    for centring in [Centring::None, Centring::Mean, Centring::Effects] {
        for passes in [1, 30] {
            let model = squared(centring, 3.0, 0.01, &Budget::passes(passes)).model;
            let bytes = model.to_bytes().unwrap();
            let stored = fits::stored(&model);
            assert_eq!((&stored.task, &stored.low_rank), (&model.task, &model.low_rank));
            assert_eq!((stored.to_bytes().unwrap(), stored.dim()), (bytes, USERS * ITEMS));
            let verified = stored.certify(&data).unwrap();
            assert_eq!(verified.evidence, DualEvidence::Witness);
            assert_eq!(verified.certificate, model.certificate);
            let without = Model { witness: None, ..stored };
            let verified = without.certify(&data).unwrap();
            assert_eq!(verified.evidence, DualEvidence::Word);
        }
    }
}

#[test]
fn predictions_are_the_centre_and_the_matrix_written_out() {
    let data = data();
    for centring in [Centring::None, Centring::Mean, Centring::Effects] {
        let model = squared(centring, 3.0, 0.01, &Budget::relative(1e-6)).model;
        let x = model.low_rank.as_ref().unwrap().to_dense();
        let (predicted, strangers) = pairs(&model, &data);
        assert_eq!(strangers, Strangers::default());
        let mut square = 0.0;
        for ((&(i, j), &y), p) in data.pairs().places().iter().zip(data.values()).zip(predicted) {
            let entry = x[i as usize * ITEMS + j as usize];
            let own = centre(&model).at(Some(i), Some(j)) + entry;
            assert!((own - p).abs() < 1e-12);
            square += (y - own).powi(2);
        }
        let errors = model.evaluate(&data).unwrap();
        assert!(
            (errors.numbers().unwrap().rmse - (square / data.len() as f64).sqrt()).abs() < 1e-12
        );
    }
}

#[test]
fn names_that_are_not_known_get_what_is_known() {
    let model = squared(Centring::Effects, 3.0, 0.01, &Budget::relative(1e-3)).model;
    let others = [("u1", "new", 3.0), ("who", "m1", 3.0), ("who", "new", 3.0), ("u1", "m1", 3.0)];
    let others = Ratings::from_triples(&others).unwrap();
    let (predicted, strangers) = pairs(&model, &others);
    assert_eq!(strangers, Strangers { pairs: 3, users: 1, items: 1 });
    let centre = centre(&model);
    assert_eq!(predicted[0], centre.at(Some(1), None));
    assert_eq!(predicted[1], centre.at(None, Some(1)));
    assert_eq!(predicted[2], centre.mean);
    assert_eq!(predicted[3], rating(&model, "u1", "m1"));
    assert_ne!(predicted[3], centre.at(Some(1), Some(1)));
}

#[test]
fn a_weight_of_two_is_a_rating_that_is_there_twice() {
    let all = triples(5, 20);
    let twice: Vec<(usize, usize, f64)> =
        all.iter().enumerate().flat_map(|(k, &t)| vec![t; 1 + usize::from(k == 3)]).collect();
    let weights = (0..all.len()).map(|k| if k == 3 { 2.0 } else { 1.0 }).collect();
    let ball = Penalty::trace_ball(2.0, 0.05);
    let value = |data: &Ratings| {
        let report = fit(data, ScalarLoss::Squared, Centring::None, ball, &Budget::relative(1e-10));
        let report = report.unwrap();
        report.model.certify(data).unwrap();
        report.certificate.primal
    };
    let (a, b) = (value(&ratings(&all).with_weights(weights).unwrap()), value(&ratings(&twice)));
    assert!((a - b).abs() < 1e-8 * a, "{a} {b}");
}

#[test]
fn every_method_of_the_trace_ball_makes_a_model_that_holds() {
    let (data, ball) = (data(), Penalty::trace_ball(2.0, 0.05));
    for method in [BallMethod::Auto].into_iter().chain(BallMethod::LOW_RANK_BASELINES) {
        let (completion, budget) = (Completion::new(HUBER, Centring::Mean), Budget::passes(10));
        let settings = BallSettings { method, ..BallSettings::default() };
        let model = Fit::in_ball(completion, ball, settings, &budget).run(&data).unwrap().model;
        model.certify(&data).unwrap();
    }
}

#[test]
fn what_does_not_go_with_ratings_is_refused() {
    let (data, budget, trace) = (data(), Budget::passes(1), Penalty::trace_ball(1.0, 0.1));
    let fails = |loss, ball| assert!(fit(&data, loss, Centring::Mean, ball, &budget).is_err());
    for loss in [ScalarLoss::Logistic, ScalarLoss::Absolute, ScalarLoss::Huber { width: -1.0 }] {
        fails(loss, trace);
    }
    fails(ScalarLoss::Squared, Penalty::l1_ball(1.0, 0.1));
    fails(ScalarLoss::Squared, Penalty::ridge(0.1));
    fails(ScalarLoss::Squared, Penalty::trace_ball(f64::NAN, 0.1));
    let model = squared(Centring::Mean, 1.0, 0.1, &budget).model;
    let asked = |method| {
        let completion = Completion::new(ScalarLoss::Squared, Centring::Mean);
        Fit::in_ball(completion, trace, BallSettings { method, ..BallSettings::default() }, &budget)
    };
    assert!(asked(BallMethod::Auto).run(&data).is_ok());
    assert!(asked(BallMethod::Pairwise).run(&data).is_err());
    assert!(asked(BallMethod::Auto).scaled(Scaling::Max).run(&data).is_err());
    assert!(asked(BallMethod::Auto).warm(Some(&model)).run(&data).is_err());
    assert!(asked(BallMethod::Auto).watching(&data).run(&data).is_err());
    let huge = Ratings::from_triples(&[("a", "b", 1e308), ("a", "c", 1e308)]).unwrap();
    for centring in [Centring::None, Centring::Mean, Centring::Effects] {
        assert!(fit(&huge, ScalarLoss::Squared, centring, trace, &budget).is_err());
    }
    let none = Ratings::default();
    assert!(fit(&none, HUBER, Centring::Effects, trace, &budget).is_err());
    assert!(Ratings::from_triples(&[("a", "b", f64::NAN)]).is_err());
}

#[test]
fn whatever_is_altered_is_refused() {
    let data = data();
    for centring in [Centring::None, Centring::Mean, Centring::Effects] {
        let model = squared(centring, 2.0, 0.05, &Budget::passes(2)).model;
        model.certify(&data).unwrap();
        let refused = |change: &dyn Fn(&mut Model)| {
            let mut changed = model.clone();
            change(&mut changed);
            let found = changed.certify(&data);
            assert!(
                matches!(
                    found,
                    Err(Error::Refused { .. } | Error::Witness { .. } | Error::Unsound { .. })
                ),
                "{found:?}"
            );
        };
        let x = model.low_rank.as_ref().unwrap();
        let scaled = |by: f64| x.clone().scaled(by);
        refused(&|m| m.low_rank = Some(scaled(2.0)));
        refused(&|m| m.low_rank = Some(scaled(0.5)));
        refused(&|m| m.low_rank = Some(LowRank::zero(USERS, ITEMS)));
        refused(&|m| m.low_rank = None);
        refused(&|m| m.task.penalty = Penalty::trace_ball(1.0, 0.05));
        refused(&|m| m.task.penalty = Penalty::trace_ball(3.0, 0.05));
        refused(&|m| m.task.penalty = Penalty::l1_ball(2.0, 0.05));
        refused(&|m| m.task.penalty = Penalty::ridge(0.05));
        refused(&|m| m.task.penalty = Penalty::trace_ball(2.0, 0.1));
        refused(&|m| m.task.scaling = Scaling::Max);
        refused(&|m| m.certificate.primal *= 0.99);
        refused(&|m| m.certificate.dual *= 1.01);
        refused(&|m| m.witness.as_mut().unwrap().weights[0] += 1e-3);
        refused(&|m| m.witness.as_mut().unwrap().keys[0] = 1);
        let with = |change: &dyn Fn(&mut ScalarLoss, &mut Dictionary, &mut Centre)| {
            refused(&|m| {
                let Completion { loss, items, centre } = &mut m.task.structure;
                change(loss, items, centre);
            });
        };
        with(&|loss, _, _| *loss = HUBER);
        with(&|_, items, _| *items = items.first(ITEMS - 1));
        with(&|_, items, _| *items = reversed(items));
        with(&|_, _, centre| centre.mean += 1e-9);
        with(&|_, _, centre| {
            centre.centring =
                if centring == Centring::Mean { Centring::None } else { Centring::Mean };
        });
        if centring == Centring::Effects {
            with(&|_, _, centre| centre.users[0] += 1e-9);
            with(&|_, _, centre| centre.items[1] = 0.0);
        }
        refused(&|m| m.names.dictionary = reversed(&m.names.dictionary));
        refused(&|m| m.names.features -= 1);
        // Other ratings, other names, another order.
        let mut triples = triples(1, 22);
        triples[3].2 += 1e-9;
        assert!(model.certify(&ratings(&triples)).is_err());
        triples[3].2 -= 1e-9;
        triples.swap(0, 9);
        assert!(model.certify(&ratings(&triples)).is_err());
        let renamed = b"u0 m0 3\n";
        let renamed = Ratings::read(Source::from_bytes("other", renamed).unwrap()).unwrap();
        assert!(model.certify(&renamed).is_err());
        // And what is for others is not for it.
        let raw = RawModel::from_bytes(model.to_bytes().unwrap()).unwrap();
        assert!(raw.read::<Multiclass>().is_err() && raw.read::<Linear>().is_err());
        assert!(model.reach(&data).is_err());
    }
}

#[test]
fn broken_files_are_refused() {
    let model = squared(Centring::Effects, 2.0, 0.05, &Budget::passes(1)).model;
    let changed = |change: &dyn Fn(&mut Model)| {
        let mut changed = model.clone();
        change(&mut changed);
        Model::from_bytes(&changed.to_bytes().unwrap())
    };
    assert!(changed(&|_| {}).is_ok());
    assert!(changed(&|m| m.names.dictionary = Dictionary::default()).is_err());
    assert!(changed(&|m| m.names.dictionary = m.names.dictionary.first(2)).is_err());
    let without = Model { low_rank: None, ..model.clone() };
    assert!(without.to_bytes().is_err(), "there is nothing to write");
    assert!(changed(&|m| m.low_rank = Some(LowRank::zero(USERS, ITEMS + 1))).is_err());
    let centre = |change: &dyn Fn(&mut Centre)| {
        changed(&|m| {
            change(&mut m.task.structure.centre);
        })
    };
    assert!(centre(&|c| c.users.truncate(1)).is_err());
    assert!(centre(&|c| c.items[0] = f64::NAN).is_err());
    assert!(centre(&|c| c.mean = f64::INFINITY).is_err());
}
