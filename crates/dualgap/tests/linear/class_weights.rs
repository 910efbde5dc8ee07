//! A class that counts three times as much is one whose examples are there three times.

use crate::common::fits;
use crate::linear::case::{Case, LOSSES, is_binary};
use dualgap::data::{ClassWeights, Examples};
use dualgap::dual::Settings;
use dualgap::linalg::Random;
use dualgap::run::{Budget, Report};
use dualgap::structure::{Choice, Linear, Multiclass};
use dualgap::task::Model;
use dualgap::term::{MulticlassLoss, ScalarLoss};

const GAP: f64 = 1e-5;

/// Ends at a gap that no difference between two problems hides behind.
fn budget() -> Budget {
    Budget { absolute: Some(GAP), ..Budget::passes(100_000) }
}

/// Rows of three classes, which are not as frequent as each other.
fn three_classes(seed: u64) -> (Vec<Vec<f64>>, Vec<&'static str>) {
    let mut random = Random::new(seed);
    let mut signed = || 2.0 * random.unit() - 1.0;
    let rows: Vec<Vec<f64>> = (0..14).map(|_| (0..3).map(|_| signed()).collect()).collect();
    let name = |i: usize| ["rare", "often", "often", "some", "often", "some", "often"][i % 7];
    (rows, (0..14).map(name).collect())
}

fn settings() -> Settings {
    Settings { lambda: 0.1, threads: 1, ..Settings::default() }
}

fn fit_classes(
    data: &Examples,
    loss: MulticlassLoss,
    weights: Option<&ClassWeights>,
) -> Report<Model<Multiclass>> {
    let mut fit = fits::classes(Multiclass::new(loss), Choice::I, &settings(), &budget());
    fit.task.class_weights = weights.cloned();
    let report = fit.run(data).unwrap();
    report.model.certify(data).unwrap();
    report
}

fn fit_two(
    data: &Examples,
    loss: ScalarLoss,
    weights: Option<&ClassWeights>,
) -> Report<Model<Linear>> {
    let mut fit = fits::linear(loss, Choice::I, &settings(), &budget());
    fit.task.class_weights = weights.cloned();
    let report = fit.run(data).unwrap();
    report.model.certify(data).unwrap();
    report
}

/// Both are near one optimum, which is not that of `other`.
fn assert_same<M>(a: &Report<M>, b: &Report<M>, other: &Report<M>, what: &str) {
    let (p, q) = (a.certificate.primal, b.certificate.primal);
    assert!(a.certificate.gap() <= GAP && b.certificate.gap() <= GAP, "{what}");
    assert!((p - q).abs() <= GAP, "{what}: {p} {q}");
    assert!((p - other.certificate.primal).abs() > 100.0 * GAP, "{what}: the weights matter");
}

/// The examples of each class as often as that.
fn repeated<'a>(
    rows: &[Vec<f64>],
    labels: &[&'a str],
    often: impl Fn(&str) -> usize,
) -> (Vec<Vec<f64>>, Vec<&'a str>) {
    rows.iter()
        .zip(labels)
        .flat_map(|(x, &y)| std::iter::repeat_n((x.clone(), y), often(y)))
        .unzip()
}

#[test]
fn whole_weights_of_classes_are_duplicates() {
    let three = ClassWeights::Named(vec![("rare".into(), 3.0), ("some".into(), 2.0)]);
    let (rows, labels) = three_classes(1);
    let data = Examples::from_dense(&rows, &labels).unwrap();
    let often = |y: &str| match y {
        "rare" => 3,
        "some" => 2,
        _ => 1,
    };
    let (more, names) = repeated(&rows, &labels, often);
    let copies = Examples::from_dense(&more, &names).unwrap();
    for loss in
        [MulticlassLoss::Hinge, MulticlassLoss::SmoothHinge { width: 0.5 }, MulticlassLoss::Softmax]
    {
        let weighted = fit_classes(&data, loss, Some(&three));
        let copied = fit_classes(&copies, loss, None);
        assert_same(&weighted, &copied, &fit_classes(&data, loss, None), &format!("{loss:?}"));
    }
    let two = ClassWeights::Named(vec![("yes".into(), 4.0)]);
    for loss in LOSSES.into_iter().filter(|&loss| is_binary(loss)) {
        let case = Case::random(4, loss, 11, 3);
        let data = case.examples();
        let labels: Vec<&str> = (0..data.len()).map(|i| data.classes().unwrap().name(i)).collect();
        let (more, names) = repeated(&case.rows, &labels, |y| if y == "yes" { 4 } else { 1 });
        let copies = Examples::from_dense(&more, &names).unwrap();
        let weighted = fit_two(&data, loss, Some(&two));
        let copied = fit_two(&copies, loss, None);
        assert_same(&weighted, &copied, &fit_two(&data, loss, None), &format!("{loss:?}"));
    }
}

/// Classes of 2, 8 and 4 examples that all count a third of 14, and with sample weights what those leave them.
#[test]
fn balanced_is_what_a_hand_comes_to() {
    let (rows, labels) = three_classes(2);
    let data = Examples::from_dense(&rows, &labels).unwrap();
    let weights = ClassWeights::Balanced.examples(&data, None).unwrap();
    let by_hand = |y: &&str| match *y {
        "rare" => 14.0 / 6.0,
        "often" => 14.0 / 24.0,
        _ => 14.0 / 12.0,
    };
    for (found, by_hand) in weights.iter().zip(labels.iter().map(by_hand)) {
        assert!((found - by_hand).abs() < 1e-12, "{found} {by_hand}");
    }
    // One of the two rare examples counts five: 6 of 18, so that nothing is left to balance there.
    let mut counts = vec![1.0; 14];
    counts[0] = 5.0;
    let weights = ClassWeights::Balanced.examples(&data, Some(&counts)).unwrap();
    for ((found, y), count) in weights.iter().zip(&labels).zip(&counts) {
        let of_class = match *y {
            "rare" => 1.0,
            "often" => 0.75,
            _ => 1.5,
        };
        let by_hand = count * of_class;
        assert!((found - by_hand).abs() < 1e-12, "{found} {by_hand}");
    }
}
