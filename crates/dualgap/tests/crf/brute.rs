//! The judge adds up all labelings, with their features written out one by one.

use super::{FEATURES, LABELS, fit, sequences};
use dualgap::data::Sequences;
use dualgap::run::Budget;
use dualgap::structure::Chain;
use dualgap::task::Model;

/// The features of a labeling, dense, in the layout of the weights.
fn features(data: &Sequences, i: usize, y: &[usize], dim: usize) -> Vec<f64> {
    let (x, k) = (data.sequence(i), LABELS);
    let mut phi = vec![0.0; dim];
    let (start, end) = (FEATURES * k, FEATURES * k + k);
    let (transitions, pairs) = (end + k, end + k + k * k);
    for (t, &label) in y.iter().enumerate() {
        x.row(t).for_each(|f, x| phi[f * k + label] += x);
        if t > 0 {
            let edge = y[t - 1] * k + label;
            phi[transitions + edge] += 1.0;
            x.edge(t).for_each(|f, x| phi[pairs + f * k * k + edge] += x);
        }
    }
    if let (Some(first), Some(last)) = (y.first(), y.last()) {
        phi[start + first] += 1.0;
        phi[end + last] += 1.0;
    }
    phi
}

fn labelings(length: usize) -> Vec<Vec<usize>> {
    let label = |code: usize, t: u32| code / LABELS.pow(t) % LABELS;
    (0..LABELS.pow(length as u32))
        .map(|code| (0..length as u32).map(|t| label(code, t)).collect())
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The probabilities of all labelings of a sequence at w, and log Z.
pub fn probabilities(data: &Sequences, i: usize, w: &[f64]) -> (Vec<(Vec<usize>, f64)>, f64) {
    let all = labelings(data.truth(i).len());
    let scores: Vec<f64> = all.iter().map(|y| dot(w, &features(data, i, y, w.len()))).collect();
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|s| (s - top).exp()).sum();
    let log_z = top + sum.ln();
    let p = scores.iter().map(|s| (s - log_z).exp());
    (all.into_iter().zip(p).collect(), log_z)
}

fn truth(data: &Sequences, i: usize) -> Vec<usize> {
    data.truth(i).iter().map(|&y| usize::from(y)).collect()
}

/// P(w), and D at the probabilities of w, by the entropies of the labelings themselves.
pub fn values(data: &Sequences, w: &[f64], lambda: f64) -> (f64, f64) {
    elastic(data, w, lambda, 0.0)
}

/// The same under λ/2‖w‖² + σ‖w‖₁, whose conjugate at u is ‖u − its part within σ‖²/(2λ).
pub fn elastic(data: &Sequences, w: &[f64], lambda: f64, sigma: f64) -> (f64, f64) {
    let weights = data.weights().unwrap();
    let total: f64 = weights.iter().sum();
    let (mut loss, mut entropy, mut u) = (0.0, 0.0, vec![0.0; w.len()]);
    for (i, weight) in weights.iter().enumerate() {
        let mass = weight / total;
        let (all, log_z) = probabilities(data, i, w);
        let own = features(data, i, &truth(data, i), w.len());
        loss += mass * (log_z - dot(w, &own));
        for (y, p) in all {
            entropy -= if p > 0.0 { mass * p * p.ln() } else { 0.0 };
            let phi = features(data, i, &y, w.len());
            for ((u, own), phi) in u.iter_mut().zip(&own).zip(&phi) {
                *u += mass * p * (own - phi);
            }
        }
    }
    let one: f64 = w.iter().map(|w| w.abs()).sum();
    u.iter_mut().for_each(|u| *u -= u.clamp(-sigma, sigma));
    (loss + lambda / 2.0 * dot(w, w) + sigma * one, entropy - dot(&u, &u) / (2.0 * lambda))
}

#[test]
fn both_values_of_a_certificate_are_those_of_all_labelings() {
    for (seed, pairs) in [(1, false), (2, true), (3, false), (4, true)] {
        let data = sequences(seed, pairs);
        for (lambda, passes) in [(0.1, 1), (0.01, 4)] {
            let model = fit(&data, lambda, Budget::passes(passes));
            let certificate = model.certificate;
            let (primal, dual) = values(&data, &model.weights, lambda);
            assert!(
                (certificate.primal - primal).abs() < 1e-13 * primal,
                "{certificate:?} {primal}"
            );
            assert!((certificate.dual - dual).abs() < 1e-11, "{certificate:?} {dual}");
            assert!(certificate.rounding_error < 1e-9, "{certificate:?}");
            assert!(certificate.gap() > 0.0);
        }
    }
}

/// The model with these weights in the place of its own, and the primal value that they have.
fn with_weights(model: &Model<Chain>, w: Vec<f64>, primal: f64) -> Model<Chain> {
    let mut model = model.clone();
    (model.weights, model.witness) = (w, None);
    (model.certificate.primal, model.certificate.rounding_error) = (primal, 1e-9);
    model
}

// Scores so far apart that exponentials of pairs underflow: sums in logarithms take over.
#[test]
fn values_hold_where_exponentials_vanish() {
    for (seed, pairs, size) in [(5, false, 900.0), (6, true, 900.0), (7, false, 150.0)] {
        let data = sequences(seed, pairs);
        let model = fit(&data, 0.1, Budget::passes(1));
        let mut random = dualgap::linalg::Random::new(seed);
        let w: Vec<f64> =
            model.weights.iter().map(|_| size * (2.0 * random.unit() - 1.0)).collect();
        let (primal, dual) = values(&data, &w, 0.1);
        let proved = with_weights(&model, w, primal).certify(&data).unwrap().certificate;
        assert!((proved.primal - primal).abs() <= 1e-12 * primal + proved.rounding_error);
        assert!((proved.dual - dual).abs() <= 1e-9 * primal + proved.rounding_error);
        assert!(proved.rounding_error < 1e-6 * primal, "{proved:?}");
    }
}

#[test]
fn marginals_and_the_probabilities_of_sequences_are_those_of_all_labelings() {
    for (seed, pairs) in [(8, false), (9, true)] {
        let data = sequences(seed, pairs);
        let model = fit(&data, 0.01, Budget::relative(1e-3));
        let table = model.probabilities(&data).unwrap();
        let losses = model.task.structure.sequence_losses(model.fitted(), &data).unwrap();
        let (mut row, mut loss, mut weights) = (0, 0.0, 0.0);
        assert_eq!(losses.len(), data.len());
        for (i, loss_of) in losses.iter().enumerate() {
            let (all, _) = probabilities(&data, i, &model.weights);
            for t in 0..data.truth(i).len() {
                for label in 0..LABELS {
                    let some = all.iter().filter(|(y, _)| y[t] == label);
                    let marginal: f64 = some.map(|(_, p)| p).sum();
                    assert!((table.row(row)[label] - marginal).abs() < 1e-12);
                }
                row += 1;
            }
            let own = all.iter().find(|(y, _)| *y == truth(&data, i)).unwrap().1;
            assert!((loss_of + own.ln()).abs() < 1e-12);
            loss += data.weights().unwrap()[i] * loss_of;
            weights += data.weights().unwrap()[i] * data.truth(i).len() as f64;
        }
        assert_eq!(row, table.len());
        let dualgap::structure::evaluation::Evaluation::Labels(found) =
            model.evaluate(&data).unwrap()
        else {
            panic!("chains have labels")
        };
        assert!((found.figures().log_loss.unwrap() - loss / weights).abs() < 1e-12);
    }
}
