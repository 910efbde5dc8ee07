//! Scores, probabilities and evaluations of models with weights that a hand can compute with, on one thread and on
//! several.

use crate::matchings::Case;
use dualgap::data::{DataSet, Examples, Outputs, Ratings, Sequences, Sets};
use dualgap::linalg::Rows;
use dualgap::linalg::on_threads;
use dualgap::run::Budget;
use dualgap::structure::evaluation::Evaluation;
use dualgap::structure::{
    Centring, Chain, Completion, Hamming, Linear, Matching, MultiLabel, MultiOutput, Multiclass,
    Structure, Table,
};
use dualgap::task::{Model, Plan, Task};
use dualgap::term::{MulticlassLoss, Penalty, ScalarLoss};

/// A model of these data with other weights: only training makes one.
fn with_weights<S: Structure>(task: &Task<S>, data: &S::Data, weights: &[f64]) -> Model<S> {
    let mut model = task.fit(data, Plan::new(Budget::passes(1))).unwrap().model;
    assert_eq!(model.weights.len(), weights.len());
    model.weights = weights.to_vec();
    model
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-14 * b.abs().max(1.0)
}

fn assert_table(table: &Table, expected: &[&[f64]]) {
    assert_eq!(table.len(), expected.len());
    for (i, expected) in expected.iter().enumerate() {
        assert!(table.row(i).iter().zip(*expected).all(|(&a, &b)| near(a, b)), "{table:?}");
        assert_eq!(table.row(i).len(), expected.len());
    }
}

fn log(x: f64) -> f64 {
    x.ln()
}

/// Three classes whose scores are logarithms of whole numbers.
fn classes() -> (Examples, Model<Multiclass>) {
    let rows = [vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0], vec![1.0, 0.0]];
    let data = Examples::from_dense(&rows, &["a", "a", "b", "c"]).unwrap();
    let task = Task::new(Multiclass::new(MulticlassLoss::Softmax), Penalty::ridge(0.1));
    let weights = [log(2.0), 0.0, 0.0, 0.0, log(3.0), 0.0]; // feature after feature
    let model = with_weights(&task, &data, &weights);
    assert_eq!(model.names.alphabet.names(), ["a", "b", "c"]);
    (data, model)
}

#[test]
fn softmax_is_what_a_hand_comes_to() {
    let (data, model) = classes();
    for threads in [1, 3] {
        let (predicted, scores, probabilities) = on_threads(threads, || {
            (model.predict_rows(data.rows()), model.scores(&data), model.probabilities(&data))
        })
        .unwrap();
        assert_eq!(predicted.unwrap(), [0, 1, 1, 0]);
        let (two, three) = (log(2.0), log(3.0));
        let expected = [[two, 0.0, 0.0], [0.0, three, 0.0], [two, three, 0.0], [two, 0.0, 0.0]];
        assert_table(&scores.unwrap(), &expected.each_ref().map(|row| &row[..]));
        let (half, third) = ([0.5, 0.25, 0.25], [1.0 / 3.0, 0.5, 1.0 / 6.0]);
        let expected = [half, [0.2, 0.6, 0.2], third, half];
        assert_table(&probabilities.unwrap(), &expected.each_ref().map(|row| &row[..]));
    }
    // A feature that the model does not know is ignored, and rows need no labels.
    let wide = Rows::dense(&[vec![1.0, 1.0, 100.0]]).unwrap();
    assert_eq!(model.predict_rows(&wide).unwrap(), [1]);
    // Scores that a plain exponential would not survive.
    let large = Examples::unlabelled(Rows::dense(&[vec![2000.0, 0.0]]).unwrap()).unwrap();
    assert_table(&model.probabilities(&large).unwrap(), &[&[1.0, 0.0, 0.0]]);
}

#[test]
fn errors_and_log_loss_count_the_weights_of_examples() {
    let (data, model) = classes();
    let plain = on_threads(3, || model.evaluate(&data)).unwrap().unwrap();
    let figures = plain.labels().unwrap().figures();
    assert_eq!((figures.error, figures.weighted_error), (0.5, None));
    let losses = [log(2.0), log(5.0), log(2.0), log(4.0)];
    assert!(near(figures.log_loss.unwrap(), losses.iter().sum::<f64>() / 4.0));
    let weights = [1.0, 2.0, 3.0, 4.0];
    let weighed = data.clone().with_weights(weights.to_vec()).unwrap();
    let sum: f64 = losses.iter().zip(weights).map(|(loss, weight)| loss * weight).sum();
    for threads in [1, 3] {
        let evaluation = on_threads(threads, || model.evaluate(&weighed)).unwrap().unwrap();
        let figures = evaluation.labels().unwrap().figures();
        assert_eq!((figures.error, figures.examples), (0.5, 4));
        assert!(near(figures.weighted_error.unwrap(), 0.6));
        assert!(near(figures.log_loss.unwrap(), sum / 10.0));
    }
    // Whoever has no probabilities has no log loss.
    let task = Task::new(Multiclass::default(), Penalty::ridge(0.1));
    let hinge = with_weights(&task, &data, &model.weights);
    assert!(hinge.probabilities(&data).is_err());
    let figures = hinge.evaluate(&weighed).unwrap().labels().unwrap().figures();
    assert!(near(figures.weighted_error.unwrap(), 0.6) && figures.log_loss.is_none());
}

#[test]
fn the_logistic_loss_gives_the_probability_of_the_second_class() {
    let data = Examples::from_dense(&[vec![1.0], vec![-1.0], vec![0.0]], &["no", "yes", "no"]);
    let data = data.unwrap().with_weights(vec![1.0, 1.0, 2.0]).unwrap();
    let task = Task::new(Linear::new(ScalarLoss::Logistic), Penalty::ridge(0.1));
    let model = with_weights(&task, &data, &[log(3.0)]);
    assert_eq!(model.names.alphabet.names(), ["no", "yes"]);
    for threads in [1, 3] {
        let p = on_threads(threads, || model.probabilities(&data)).unwrap().unwrap();
        assert_table(&p, &[&[0.75], &[0.25], &[0.5]]);
    }
    let scores = [log(3.0), -log(3.0), 0.0];
    assert_eq!(model.predict_rows(data.rows()).unwrap(), scores);
    // −log of ¼, ¼ and ½; a score of zero stands for the first class.
    let figures = model.evaluate(&data).unwrap().labels().unwrap().figures();
    assert!(near(figures.log_loss.unwrap(), (2.0 * log(4.0) + 2.0 * log(2.0)) / 4.0));
    assert!(near(figures.error, 2.0 / 3.0) && near(figures.weighted_error.unwrap(), 0.5));
    let squared = Task::new(Linear::new(ScalarLoss::SquaredHinge), Penalty::ridge(0.1));
    assert!(with_weights(&squared, &data, &[1.0]).probabilities(&data).is_err());
}

#[test]
fn errors_of_numbers_count_the_weights_of_examples() {
    let data = Examples::from_dense_numbers(&[vec![1.0], vec![2.0], vec![3.0]], &[2.0, 7.0, 5.0]);
    let data = data.unwrap().with_weights(vec![1.0, 0.0, 3.0]).unwrap();
    let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(0.1));
    let model = with_weights(&task, &data, &[2.0]);
    for threads in [1, 3] {
        let evaluation = on_threads(threads, || model.evaluate(&data)).unwrap().unwrap();
        let errors = evaluation.numbers().unwrap(); // 0, 3 and −1
        assert!(near(errors.rmse, (10.0_f64 / 3.0).sqrt()) && near(errors.mae, 4.0 / 3.0));
        assert!(near(errors.weighted_rmse.unwrap(), 0.75_f64.sqrt()));
    }
    assert_table(&model.scores(&data).unwrap(), &[&[2.0], &[4.0], &[6.0]]);
    assert!(model.probabilities(&data).is_err());
}

#[test]
fn errors_of_sets_and_of_several_numbers_count_the_weights_of_examples() {
    let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 1.0]]).unwrap();
    let sets = Sets::named(&[vec!["x"], vec!["x", "y"]]).unwrap();
    let plain = Examples::new(rows.clone(), sets).unwrap();
    let data = plain.clone().with_weights(vec![3.0, 1.0]).unwrap();
    let task = Task::new(MultiLabel::new(ScalarLoss::Logistic), Penalty::l1_ball(10.0, 0.1));
    let model = with_weights(&task, &data, &[1.0, -1.0, -1.0, 1.0]);
    // The first set is right; of the second, one of two labels is missing.
    let figures = model.evaluate(&data).unwrap().sets().unwrap().figures();
    assert_eq!((figures.subset_accuracy, figures.weighted_subset_accuracy), (0.5, Some(0.75)));
    assert_eq!((figures.hamming_loss, figures.weighted_hamming_loss), (0.25, Some(0.125)));
    let figures = model.evaluate(&plain).unwrap().sets().unwrap().figures();
    assert_eq!((figures.weighted_subset_accuracy, figures.weighted_hamming_loss), (None, None));

    let outputs = Outputs::new(vec!["u".into(), "v".into()], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let plain = Examples::new(rows, outputs).unwrap();
    let data = plain.clone().with_weights(vec![3.0, 1.0]).unwrap();
    let task = Task::new(MultiOutput::new(ScalarLoss::Squared), Penalty::l1_ball(20.0, 0.1));
    let model = with_weights(&task, &data, &[1.0, 2.0, 3.0, 5.0]);
    // Only the second number of the second example is off, by one.
    let evaluation = model.evaluate(&data).unwrap();
    let figures = evaluation.outputs().unwrap().figures();
    assert!(near(figures.rmse, 0.5) && near(figures.weighted_rmse.unwrap(), 0.125_f64.sqrt()));
    let weighted: Vec<f64> =
        evaluation.outputs().unwrap().by_output().map(|(_, e)| e.weighted_rmse.unwrap()).collect();
    assert_eq!(weighted, [0.0, 0.5]);
    let unweighted = model.evaluate(&plain).unwrap();
    assert!(unweighted.outputs().unwrap().figures().weighted_rmse.is_none());
}

#[test]
fn errors_of_ratings_count_their_weights() {
    let triples = [("u", "a", 1.0), ("u", "b", 3.0), ("v", "a", 2.5), ("v", "b", 7.0)];
    let (plain, weights) = (Ratings::from_triples(&triples).unwrap(), [3.0, 1.0, 0.5, 2.0]);
    let data = plain.clone().with_weights(weights.to_vec()).unwrap();
    let completion = Completion::new(ScalarLoss::Squared, Centring::Mean);
    let task = Task::new(completion, Penalty::trace_ball(1.0, 0.1));
    let model = task.fit(&data, Plan::new(Budget::passes(3))).unwrap().model;
    let expected = |predicted: &[f64]| {
        let off = predicted.iter().zip(data.values()).zip(&weights);
        let sum: f64 = off.map(|((p, t), weight)| weight * (p - t).powi(2)).sum();
        (sum / 6.5).sqrt()
    };
    let Evaluation::Ratings(errors) = model.evaluate(&data).unwrap() else { panic!("no ratings") };
    let predicted = model.predict(&data).unwrap();
    assert!(near(errors.errors.weighted_rmse.unwrap(), expected(&predicted)));
    let mean = vec![model.task.structure.centre.mean; 4];
    assert!(near(errors.of_mean.unwrap().weighted_rmse.unwrap(), expected(&mean)));
    let unweighted = model.evaluate(&plain).unwrap();
    assert!(unweighted.numbers().unwrap().weighted_rmse.is_none());
}

#[test]
fn losses_of_matchings_count_the_weights_of_examples() {
    let case = Case::random(3, 6, 4, 3);
    let (plain, weights) = (case.data(), [3.0, 1.0, 0.5, 2.0, 0.0, 1.0]);
    let data = plain.clone().with_weights(weights.to_vec()).unwrap();
    let task = Task::new(Matching::new(case.loss), Penalty::ridge(case.lambda));
    let model = task.fit(&data, Plan::new(Budget::passes(1))).unwrap().model;
    let figures = |data| model.evaluate(&data).unwrap().links().unwrap().figures();
    let each: Vec<f64> = (0..6).map(|i| figures(plain.subset(&[i])).mean_loss).collect();
    assert!(each.iter().any(|&loss| loss != each[0]), "{each:?}");
    let sum: f64 = each.iter().zip(&weights).map(|(loss, weight)| loss * weight).sum();
    assert!(near(figures(data.clone()).weighted_mean_loss.unwrap(), sum / 7.5));
    assert!(near(figures(data).mean_loss, each.iter().sum::<f64>() / 6.0));
    assert!(figures(plain).weighted_mean_loss.is_none());
}

#[test]
fn every_label_and_output_has_its_own_score() {
    let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 1.0]]).unwrap();
    let sets = Sets::named(&[vec!["x"], vec!["x", "y"]]).unwrap();
    let data = Examples::new(rows.clone(), sets).unwrap();
    let ball = Penalty::l1_ball(10.0, 0.1);
    let task = Task::new(MultiLabel::new(ScalarLoss::Logistic), ball);
    let weights = [log(3.0), -log(4.0), 0.0, log(9.0)];
    let model = with_weights(&task, &data, &weights);
    for threads in [1, 3] {
        let (p, sets) =
            on_threads(threads, || (model.probabilities(&data), model.predict(&data))).unwrap();
        assert_table(&p.unwrap(), &[&[0.75, 0.2], &[0.5, 0.9]]);
        assert_eq!(sets.unwrap(), [vec![0], vec![1]]);
    }
    let outputs = Outputs::new(vec!["u".into(), "v".into()], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let data = Examples::new(rows, outputs).unwrap();
    let model =
        with_weights(&Task::new(MultiOutput::new(ScalarLoss::Squared), ball), &data, &weights);
    assert_eq!(model.predict(&data).unwrap(), [weights[..2].to_vec(), weights[2..].to_vec()]);
    assert_table(&model.scores(&data).unwrap(), &[&weights[..2], &weights[2..]]);
}

// A wrong label counts what its sequence does.
#[test]
fn errors_of_sequences_count_their_weights() {
    let names = ["a", "b"].map(String::from);
    let rows = [vec![vec![1.0], vec![-1.0]], vec![vec![1.0], vec![1.0], vec![-1.0]]];
    let data = Sequences::from_dense(&rows, &[vec![0, 1], vec![1, 0, 0]], &names).unwrap();
    let data = data.with_weights(vec![5.0, 0.5]).unwrap();
    let task = Task::new(Chain::new(Hamming::Plain), Penalty::ridge(0.1));
    // The sign of the only feature decides; nothing else counts.
    let model = with_weights(&task, &data, &[1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    for threads in [1, 3] {
        let (predicted, evaluation) =
            on_threads(threads, || (model.predict(&data), model.evaluate(&data))).unwrap();
        assert_eq!(predicted.unwrap(), [vec![0, 1], vec![0, 0, 1]]);
        let figures = evaluation.unwrap().labels().unwrap().figures();
        assert!(near(figures.error, 0.4) && near(figures.weighted_error.unwrap(), 1.0 / 11.5));
    }
    assert!(model.scores(&data).is_err() && model.probabilities(&data).is_err());
}
