//! Both sides of a certificate from their definitions: every output of every example is gone through,
//! and nothing of the program is used but the numbers in its model file.
//!
//! ```text
//! P(w) = Σ mass_i max_y [L_i(y) + ⟨w, φ_i(y) − φ_i(y_i)⟩] + (λ/2)‖w‖²
//! D(α) = Σ mass_i Σ_y α_i(y) L_i(y) − (λ/2)‖v‖²,  v = (1/λ) Σ mass_i Σ_y α_i(y) [φ_i(y_i) − φ_i(y)]
//! ```

use super::forge::ModelFile;
use super::words::layout;
use super::{Table, Words};
use serde_json::Value;

type Features = Vec<(usize, f64)>;

/// An output, or a part of one that can carry dual weight: what it costs and its features.
struct Part {
    loss: f64,
    features: Features,
}

struct Example {
    /// Every output there is.
    outputs: Vec<Part>,
    truth: Features,
    /// What a key of the witness stands for.
    parts: Box<dyn Fn(u64) -> Part>,
}

pub struct Problem {
    examples: Vec<Example>,
    dim: usize,
    lambda: f64,
    masses: Vec<f64>,
}

fn masses(n: usize, weights: Option<&[f64]>) -> Vec<f64> {
    let weights = weights.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

impl Problem {
    /// `costs` is `K × K`, the truth first; 0/1 when absent.
    pub fn multiclass(
        data: &Table,
        costs: Option<&[f64]>,
        weights: Option<&[f64]>,
        lambda: f64,
    ) -> Self {
        let k = data.classes;
        let example = |i: usize| {
            let (row, truth) = (data.rows[i].clone(), data.labels[i]);
            let features = move |y: usize| -> Features {
                row.iter().enumerate().map(|(j, &x)| (j * k + y, x)).collect()
            };
            let zero_one: Vec<f64> = (0..k).map(|y| f64::from(u8::from(y != truth))).collect();
            let losses = costs.map_or(zero_one, |costs| costs[truth * k..(truth + 1) * k].to_vec());
            let own = features(truth);
            let part = move |y: usize| Part { loss: losses[y], features: features(y) };
            Example {
                outputs: (0..k).map(&part).collect(),
                truth: own,
                parts: Box::new(move |key| part(key as usize)),
            }
        };
        Self {
            examples: (0..data.len()).map(example).collect(),
            dim: k * data.features(),
            lambda,
            masses: masses(data.len(), weights),
        }
    }

    /// A wrong label costs one, or its share of the word's length if `normalized`.
    pub fn chain(data: &Words, normalized: bool, weights: Option<&[f64]>, lambda: f64) -> Self {
        let example = |word: &super::words::Word| {
            let (word, length) = (word.clone(), word.letters.len());
            let cost = if normalized { 1.0 / length as f64 } else { 1.0 };
            // The part of a labeling that lies at position t: its label, and the edge to the next.
            let parts = move |t: usize, y: usize, next: Option<usize>| {
                let emissions = word.row(t).into_iter().map(|(f, x)| (layout::emission(f, y), x));
                let mut features: Features = emissions.collect();
                if t == 0 {
                    features.push((layout::start(y), 1.0));
                }
                match next {
                    Some(next) => features.push((layout::transition(y, next), 1.0)),
                    None => features.push((layout::end(y), 1.0)),
                }
                Part { loss: if y == word.letters[t] { 0.0 } else { cost }, features }
            };
            let whole = |labeling: &[usize]| {
                let at = |t: usize| parts(t, labeling[t], labeling.get(t + 1).copied());
                let all: Vec<Part> = (0..labeling.len()).map(at).collect();
                Part {
                    loss: all.iter().map(|part| part.loss).sum(),
                    features: all.into_iter().flat_map(|part| part.features).collect(),
                }
            };
            (super::words::labelings(length).map(|y| whole(&y)).collect(), parts)
        };
        let examples = data.0.iter().map(|word| {
            let (outputs, parts): (Vec<Part>, _) = example(word);
            let own =
                |t: usize| parts(t, word.letters[t], word.letters.get(t + 1).copied()).features;
            let truth = (0..word.letters.len()).flat_map(own).collect();
            let parts = move |key: u64| {
                let next = (key & 0xffff) as usize;
                let next = (next != 0xffff).then_some(next);
                parts((key >> 32) as usize, (key >> 16 & 0xffff) as usize, next)
            };
            Example { outputs, truth, parts: Box::new(parts) }
        });
        Self {
            examples: examples.collect(),
            dim: layout::DIM,
            lambda,
            masses: masses(data.0.len(), weights),
        }
    }

    pub fn primal(&self, w: &[f64]) -> f64 {
        assert_eq!(w.len(), self.dim);
        let score = |features: &Features| features.iter().map(|&(j, x)| w[j] * x).sum::<f64>();
        let loss = |example: &Example| {
            let scores = example.outputs.iter().map(|y| y.loss + score(&y.features));
            scores.fold(f64::NEG_INFINITY, f64::max) - score(&example.truth)
        };
        let losses = self.examples.iter().zip(&self.masses).map(|(example, m)| m * loss(example));
        losses.sum::<f64>() + self.lambda / 2.0 * w.iter().map(|w| w * w).sum::<f64>()
    }

    /// The dual value of a witness. Whether it is feasible is for the caller to know.
    pub fn dual(&self, starts: &[u64], keys: &[u64], weights: &[f64]) -> f64 {
        let mut v = vec![0.0; self.dim];
        let mut losses = 0.0;
        for (i, (example, mass)) in self.examples.iter().zip(&self.masses).enumerate() {
            let scale = mass / self.lambda;
            example.truth.iter().for_each(|&(j, x)| v[j] += scale * x);
            for entry in starts[i] as usize..starts[i + 1] as usize {
                let part = (example.parts)(keys[entry]);
                losses += mass * weights[entry] * part.loss;
                part.features.iter().for_each(|&(j, x)| v[j] -= scale * weights[entry] * x);
            }
        }
        losses - self.lambda / 2.0 * v.iter().map(|v| v * v).sum::<f64>()
    }

    /// P at the weights of a model file, and D at its witness.
    pub fn values(&self, model: &ModelFile) -> (f64, f64) {
        let witness = |name: &str| model.words(&format!("witness.{name}"));
        let weights = model.floats("witness.weights");
        (self.primal(&model.weights()), self.dual(&witness("starts"), &witness("keys"), &weights))
    }

    /// Both numbers of a report are those of the definitions, up to rounding.
    #[track_caller]
    pub fn confirms(&self, json: &Value, model: &ModelFile) {
        let (primal, dual) = self.values(model);
        let close = |name: &str, value: f64| {
            let told = super::number(json, name);
            let allowed = 1e-12 * (1.0 + value.abs());
            assert!((told - value).abs() <= allowed, "{name} is {value}, not {told}: {json:#}");
        };
        close("primal", primal);
        close("dual", dual);
    }
}

/// The best labeling of a word without any losses.
pub fn decode(word: &super::words::Word, w: &[f64]) -> Vec<usize> {
    let score = |y: &[usize]| -> f64 {
        let emissions = (0..y.len())
            .flat_map(|t| word.row(t).into_iter().map(move |(f, x)| (f, t, x)))
            .map(|(f, t, x)| x * w[layout::emission(f, y[t])]);
        let edges = y.windows(2).map(|pair| w[layout::transition(pair[0], pair[1])]);
        let ends = w[layout::start(y[0])] + w[layout::end(y[y.len() - 1])];
        emissions.sum::<f64>() + edges.sum::<f64>() + ends
    };
    let all = super::words::labelings(word.letters.len());
    all.max_by(|a, b| score(a).total_cmp(&score(b))).unwrap()
}
