//! Labelings that a scheme forbids: both losses against the legal labelings one by one.

use dualgap::data::{Scheme, Sequences};
use dualgap::linalg::{Random, Rows};
use dualgap::run::Budget;
use dualgap::structure::{Beam, Chain, Hamming, Rescaling};
use dualgap::task::{Model, Plan, Task};
use dualgap::term::Penalty;

const NAMES: [&str; 5] = ["B-X", "I-X", "L-X", "O", "U-X"];
const FEATURES: usize = 3;

/// All labelings of this length.
fn labelings(length: usize) -> impl Iterator<Item = Vec<usize>> {
    let k = NAMES.len();
    (0..k.pow(length as u32))
        .map(move |code| (0..length).map(|t| code / k.pow(t as u32) % k).collect())
}

fn is_legal(y: &[usize]) -> bool {
    let names: Vec<&str> = y.iter().map(|&y| NAMES[y]).collect();
    Scheme::Bilou.first_mistake(&names).is_none()
}

/// Random sequences with random legal labels, with features of pairs if so. `size` is that of the features: large ones make
/// scores whose exponentials underflow.
fn sequences(seed: u64, pairs: bool, size: f64) -> Sequences {
    let mut random = Random::new(seed);
    let lengths = [3, 1, 4, 2, 3, 4];
    let positions: usize = lengths.iter().sum();
    let mut starts = vec![0];
    let mut labels = Vec::new();
    for length in lengths {
        let legal: Vec<Vec<usize>> = labelings(length).filter(|y| is_legal(y)).collect();
        labels.extend(legal[random.below(legal.len())].iter().map(|&y| y as u16));
        starts.push(labels.len());
    }
    let mut table = |width: usize| -> Rows {
        let mut row = || (0..width).map(|_| size * (2.0 * random.unit() - 0.7)).collect();
        Rows::dense(&(0..positions).map(|_| row()).collect::<Vec<Vec<f64>>>()).unwrap()
    };
    let (rows, edges) = (table(FEATURES), table(2));
    let names = NAMES.map(String::from).to_vec();
    let data = Sequences::new(rows, labels, starts, names.into()).unwrap();
    if pairs { data.with_edges(edges).unwrap() } else { data }
}

/// ⟨w, φ(x, y)⟩ by its definition.
fn score(w: &[f64], data: &Sequences, i: usize, y: &[usize]) -> f64 {
    let (k, x) = (NAMES.len(), data.sequence(i));
    let (start, end) = (FEATURES * k, (FEATURES + 1) * k);
    let (transitions, own) = ((FEATURES + 2) * k, (FEATURES + 2) * k + k * k);
    let mut sum = w[start + y[0]] + w[end + y[y.len() - 1]];
    for (t, &label) in y.iter().enumerate() {
        sum += x.row(t).iter().map(|(f, x)| x * w[f * k + label]).sum::<f64>();
        if t > 0 {
            let edge = y[t - 1] * k + label;
            sum += w[transitions + edge];
            sum += x.edge(t).iter().map(|(f, x)| x * w[own + f * k * k + edge]).sum::<f64>();
        }
    }
    sum
}

fn truth(data: &Sequences, i: usize) -> Vec<usize> {
    data.truth(i).iter().map(|&y| usize::from(y)).collect()
}

/// The objective over the legal labelings one by one.
fn objective(
    model: &Model<Chain>,
    data: &Sequences,
    loss: impl Fn(&[usize], &[usize], f64) -> f64,
    log: bool,
) -> f64 {
    let w = &model.weights;
    let of = |i: usize| {
        let right = truth(data, i);
        let base = score(w, data, i, &right);
        let all = labelings(right.len()).filter(|y| is_legal(y));
        let terms: Vec<f64> = all.map(|y| loss(&right, &y, score(w, data, i, &y) - base)).collect();
        let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if log { top + terms.iter().map(|term| (term - top).exp()).sum::<f64>().ln() } else { top }
    };
    let mean = (0..data.len()).map(of).sum::<f64>() / data.len() as f64;
    mean + 0.05 * w.iter().map(|w| w * w).sum::<f64>() / 2.0
}

fn wrong(right: &[usize], y: &[usize]) -> f64 {
    right.iter().zip(y).filter(|(a, b)| a != b).count() as f64
}

fn fit(chain: Chain, data: &Sequences, budget: Budget) -> Model<Chain> {
    let passes = if chain.beam.is_some() { 200 } else { 20_000 };
    let budget = Budget { passes: Some(passes), ..budget };
    let task = Task::new(chain.forbidding(Some(Scheme::Bilou)), Penalty::ridge(0.05));
    let report = task.fit(data, Plan { threads: 1, ..Plan::new(budget) }).unwrap();
    assert!(report.certificate.certified);
    let verified = report.model.certify(data).unwrap().certificate;
    // The bounds of a beam are wider than any gap that would end its run.
    let gap = if chain.beam.is_some() { 1.0 } else { 2e-3 };
    assert!(verified.certified && verified.relative_gap() <= gap, "{verified:?}");
    report.model
}

fn chains() -> [(Chain, &'static str); 4] {
    let plain = Chain::new(Hamming::Plain);
    [
        (plain, "margin"),
        (plain.searched(Some(Beam { width: 4, bound: true })), "beam"),
        (plain.rescaled(Rescaling::Slack), "slack"),
        (Chain::crf(), "log"),
    ]
}

// The primal value is that of the legal labelings, one by one; the dual value is below it and close, so that both are.
#[test]
fn certificates_are_those_of_the_legal_labelings() {
    for (seed, pairs, size) in [(1, false, 1.0), (2, true, 1.0), (3, false, 60.0), (4, true, 60.0)]
    {
        let data = sequences(seed, pairs, size);
        for (chain, name) in chains() {
            let budget = Budget::relative(1e-4);
            let model = fit(chain, &data, budget);
            let loss = |right: &[usize], y: &[usize], score: f64| match name {
                "slack" => wrong(right, y) * (1.0 + score),
                "log" => score,
                _ => wrong(right, y) + score,
            };
            let value = objective(&model, &data, loss, name == "log");
            let certificate = model.certificate;
            let bound = match name {
                // The search of a beam bounds the largest loss from above.
                "beam" => certificate.gap_bound(),
                _ => 1e-9 * (1.0 + value.abs()),
            };
            assert!((certificate.primal - value).abs() <= bound, "{name} {value} {certificate:?}");
            assert!(certificate.dual <= value + 1e-9, "{name} {value} {certificate:?}");
        }
    }
}

// Predictions are the best of the legal labelings, for inputs that were never seen, at weights that prefer others.
#[test]
fn predictions_are_the_best_legal_labelings() {
    let data = sequences(5, true, 1.0);
    for (chain, _) in chains() {
        let mut model = fit(chain, &data, Budget::relative(1e-3));
        let mut random = Random::new(7);
        model.weights.iter_mut().for_each(|w| *w = 4.0 * random.unit() - 2.0);
        let new = sequences(6, true, 1.0);
        let mut others = 0;
        for (i, y) in model.predict(&new).unwrap().iter().enumerate() {
            assert!(is_legal(y), "{y:?}");
            let of = |y: &Vec<usize>| score(&model.weights, &new, i, y);
            let best = labelings(y.len()).filter(|y| is_legal(y)).map(|y| of(&y));
            assert!(of(y) >= best.fold(f64::NEG_INFINITY, f64::max) - 1e-12);
            others += usize::from(labelings(y.len()).any(|other| of(&other) > of(y)));
        }
        assert!(others > 0, "without the rule other labelings would be better");
    }
}

// Marginals of a conditional random field, also where forbidden pairs leave sums that underflow.
#[test]
fn marginals_are_those_of_the_legal_labelings() {
    for (size, pairs) in [(1.0, false), (1.0, true), (1e3, false), (1e3, true)] {
        let data = sequences(8, pairs, size);
        let task = Task::new(Chain::crf().forbidding(Some(Scheme::Bilou)), Penalty::ridge(0.05));
        let mut model = task.fit(&data, Plan::new(Budget::passes(1))).unwrap().model;
        let mut random = Random::new(9);
        model.weights.iter_mut().for_each(|w| *w = 4.0 * random.unit() - 2.0);
        let table = model.probabilities(&data).unwrap();
        let losses = model.task.structure.sequence_losses(model.fitted(), &data).unwrap();
        let mut position = 0;
        for (i, loss) in losses.iter().enumerate() {
            let right = truth(&data, i);
            let all: Vec<(Vec<usize>, f64)> = labelings(right.len())
                .filter(|y| is_legal(y))
                .map(|y| (y.clone(), score(&model.weights, &data, i, &y)))
                .collect();
            let top = all.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = all.iter().map(|(_, score)| (score - top).exp()).sum();
            let expected = top + total.ln() - score(&model.weights, &data, i, &right);
            assert!((loss - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{loss} {expected}");
            for t in 0..right.len() {
                for label in 0..NAMES.len() {
                    let some = all.iter().filter(|(y, _)| y[t] == label);
                    let right = some.map(|(_, score)| (score - top).exp()).sum::<f64>() / total;
                    assert!((table.row(position)[label] - right).abs() < 1e-8);
                }
                position += 1;
            }
        }
    }
}

#[test]
fn what_is_illegal_itself_is_refused_with_its_place() {
    let names = NAMES.map(String::from);
    let data = Sequences::from_dense(&[vec![vec![1.0]; 2]], &[vec![3, 1]], &names).unwrap();
    for (chain, _) in chains() {
        let task = Task::new(chain.forbidding(Some(Scheme::Bilou)), Penalty::ridge(0.1));
        let error = task.fit(&data, Plan::new(Budget::passes(1))).unwrap_err().to_string();
        assert!(error.contains("sequence 1, position 2: I-X after O is not BILOU"), "{error}");
    }
}

// A dual point that uses a forbidden labeling would prove too much.
#[test]
fn a_witness_of_illegal_labelings_is_refused() {
    let data = sequences(11, false, 1.0);
    let free = Task::new(Chain::new(Hamming::Plain), Penalty::ridge(0.05));
    let model = free.fit(&data, Plan::new(Budget::relative(1e-3))).unwrap().model;
    let task =
        Task::new(Chain::new(Hamming::Plain).forbidding(Some(Scheme::Bilou)), Penalty::ridge(0.05));
    let mut own = task.fit(&data, Plan::new(Budget::relative(1e-3))).unwrap().model;
    assert!(own.certificate.primal < model.certificate.dual, "fewer labelings, a smaller optimum");
    own.witness = model.witness;
    let error = own.certify(&data).unwrap_err().to_string();
    assert!(error.contains("is forbidden"), "{error}");
}

#[test]
fn files_keep_what_is_forbidden() {
    let chain = Chain::crf().forbidding(Some(Scheme::Bilou));
    let text = serde_json::to_string(&chain).unwrap();
    assert!(text.contains("\"forbid\":\"bilou\""), "{text}");
    assert_eq!(serde_json::from_str::<Chain>(&text).unwrap(), chain);
    let old: Chain = serde_json::from_str("{\"hamming\":\"plain\"}").unwrap();
    assert_eq!(old, Chain::new(Hamming::Plain));
}
