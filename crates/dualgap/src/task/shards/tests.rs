//! Shards in one process, judged by runs on all examples at once and by what `certify` says of the joined model.

use super::Outcome;
use crate::data::{DataSet, Examples, Graph, Mark, Matchings, PrintParts, Sequences, joined_print};
use crate::dual::shard::{Change, Course, DualPart, LossPart, Move, Position, Rounds};
use crate::dual::{Settings, Witness};
use crate::linalg::{Random, Rows};
use crate::run::{Budget, Certificate, Stop};
use crate::structure::posed::Posing;
use crate::structure::{Chain, Linear, Matching, Multiclass, Structure};
use crate::task::{Method, Model, Plan, Task};
use crate::term::{MulticlassLoss, Penalty, ScalarLoss};

/// Adds parts by a tree, as processes do, after a journey as bytes.
fn tree<T: Clone>(parts: &[T], add: &impl Fn(&mut T, &T)) -> T {
    let Some((first, rest)) = parts.split_first() else { unreachable!() };
    if rest.is_empty() {
        return first.clone();
    }
    let (left, right) = parts.split_at(parts.len().div_ceil(2));
    let (mut left, right) = (tree(left, add), tree(right, add));
    add(&mut left, &right);
    left
}

/// Runs rounds on shards of these sizes until the relative gap is within the tolerance, and returns the joined model and the
/// dual value after every round. In round `lost` the first shard starts again from its state of round 2.
fn rounds<S: Structure<Data: PrintParts>>(
    task: &Task<S>,
    data: &S::Data,
    sizes: &[usize],
    tolerance: f64,
    lost: Option<usize>,
) -> (Model<S>, Vec<f64>) {
    rounds_with(task, data, sizes, tolerance, lost, true)
}

/// The same, around a centre that moves or without one.
fn rounds_with<S: Structure<Data: PrintParts>>(
    task: &Task<S>,
    data: &S::Data,
    sizes: &[usize],
    tolerance: f64,
    lost: Option<usize>,
    centred: bool,
) -> (Model<S>, Vec<f64>) {
    let mut places = 0..data.len();
    let parts: Vec<S::Data> =
        sizes.iter().map(|&n| data.subset(&places.by_ref().take(n).collect::<Vec<_>>())).collect();
    assert!(places.is_empty(), "the shards have all examples");
    let total = data.weights().map_or(data.len() as f64, |weights| weights.iter().sum());
    let lambda = task.penalty.lambda().unwrap();
    let weights: Vec<_> =
        parts.iter().map(|part| task.weigh(part, part.weights()).unwrap()).collect();
    let posed: Vec<_> = parts
        .iter()
        .zip(&weights)
        .map(|(part, weights)| {
            let posing =
                Posing { penalty: task.penalty, weights: weights.as_deref(), choice: None };
            task.structure.pose(part, &posing).unwrap()
        })
        .collect();
    let mut shards: Vec<Box<dyn Rounds + '_>> = posed
        .iter()
        .zip(&weights)
        .map(|(posed, weights)| {
            let settings = Settings {
                lambda,
                sample_weights: weights.clone(),
                threads: 1,
                ..Settings::default()
            };
            posed.solvable().shard(&settings, total).unwrap()
        })
        .collect();
    let whole = task.whole().unwrap();
    let (mut course, mut at) = (Course::new(shards.len()), None::<Position>);
    let (mut duals, mut state, mut before) = (Vec::new(), Vec::new(), f64::INFINITY);
    for round in 0..2000 {
        let sums: Vec<DualPart> = shards
            .iter_mut()
            .map(|shard| DualPart::from_bytes(&shard.dual().unwrap().to_bytes()).unwrap())
            .collect();
        let dual = whole.dual(tree(&sums, &|a: &mut DualPart, b| a.add(b).unwrap()));
        duals.push(dual.value.value);
        let at = at.get_or_insert_with(|| Position::new(&whole, dual.v.clone()));
        at.settle(dual.v.clone()).unwrap();
        let w = at.weights().to_vec();
        let losses: Vec<LossPart> = shards
            .iter_mut()
            .map(|shard| LossPart::from_bytes(&shard.losses(&w).unwrap().to_bytes()).unwrap())
            .collect();
        let primal = whole.primal(&w, tree(&losses, &|a: &mut LossPart, b| a.add(b)));
        if primal.value.value > before {
            at.rest();
        }
        before = primal.value.value;
        let certificate = primal.certificate(dual.value).unwrap();
        if certificate.relative_gap() <= tolerance {
            let model = joined(task, data, &parts, &mut shards, w, certificate);
            return (model, duals);
        }
        if round == 2 {
            state = shards[0].state();
        }
        if Some(round) == lost {
            // Its v has changed, so that the next certification comes before the next round.
            shards[0].restore(&state).unwrap();
            continue;
        }
        let (share, sigma) =
            if centred { (course.share(), course.sigma()) } else { (1.0, sizes.len() as f64) };
        let start = at.start(share);
        let changes: Vec<Change> = shards
            .iter_mut()
            .map(|shard| shard.round(&start, share, sigma, 2).unwrap())
            .map(|change| Change::from_bytes(&change.to_bytes()).unwrap())
            .collect();
        let change = tree(&changes, &|a: &mut Change, b| a.add(b).unwrap());
        let gamma = if centred {
            course.step(&whole, at, &change).unwrap().gamma
        } else {
            let gamma = whole.step(at.v(), &change);
            at.go(&whole, &change, &Move { gamma, share, next: share }).unwrap();
            gamma
        };
        shards.iter_mut().for_each(|shard| shard.apply(gamma).unwrap());
    }
    panic!("the rounds do not end: {duals:?}");
}

fn joined<S: Structure<Data: PrintParts>>(
    task: &Task<S>,
    data: &S::Data,
    parts: &[S::Data],
    shards: &mut [Box<dyn Rounds + '_>],
    weights: Vec<f64>,
    certificate: Certificate,
) -> Model<S> {
    let total = data.sizes();
    let mut before = vec![0; total.len()];
    let prints: Vec<Vec<u8>> = parts
        .iter()
        .map(|part| {
            let print = part.print_part(&before, &total).unwrap();
            before.iter_mut().zip(part.sizes()).for_each(|(before, size)| *before += size);
            print
        })
        .collect();
    let mut witness = Witness { starts: vec![0], ..Witness::default() };
    shards.iter_mut().for_each(|shard| witness.append(&shard.witness()));
    let outcome = Outcome {
        weights,
        witness: Some(witness),
        certificate,
        method: Method::Auto,
        stop: Stop::GapReached,
        passes: 1.0,
        examples: data.len(),
        fingerprint: joined_print(&prints).unwrap(),
        sample_weights: data.weights().map(<[f64]>::to_vec),
    };
    task.assemble(&parts[0], outcome).unwrap()
}

/// The joined model is certified like any other, with the same numbers up to rounding, and so is a file of it; and its bracket
/// has the optimum of one machine in it.
fn agrees<S: Structure<Data: PrintParts>>(task: &Task<S>, data: &S::Data, sizes: &[usize]) {
    let (model, _) = rounds(task, data, sizes, 1e-4, None);
    let (_, duals) = rounds_with(task, data, sizes, 1e-2, None, false);
    assert!(
        duals.is_sorted_by(|a, b| *b >= a - 1e-12 * a.abs()),
        "a round without a centre lowers the dual: {duals:?}"
    );
    let (ours, verified) = (model.certificate, model.certify(data).unwrap().certificate);
    let rounding = ours.rounding_error + verified.rounding_error;
    assert!((ours.primal - verified.primal).abs() <= rounding);
    assert!((ours.dual - verified.dual).abs() <= rounding);
    assert!(rounding < 1e-10);
    let tight = task.fit(data, Plan::new(Budget::relative(1e-7))).unwrap().certificate;
    assert!(ours.dual <= tight.primal + rounding && tight.dual <= ours.primal + rounding);
    // A shard that starts again from an older point costs progress only.
    let (again, _) = rounds(task, data, sizes, 1e-4, Some(4));
    assert!(again.certify(data).unwrap().certificate.relative_gap() <= 1e-4);
}

fn rows(n: usize, d: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    (0..n).map(|_| (0..d).map(|_| random.unit() - 0.4).collect()).collect()
}

fn two_classes(n: usize) -> Examples {
    let rows = rows(n, 6, 7);
    let label = |row: &Vec<f64>| if row[0] + 0.5 * row[1] > row[5] { "yes" } else { "no" };
    let labels: Vec<&str> = rows.iter().map(label).collect();
    Examples::from_dense(&rows, &labels).unwrap()
}

const UNEQUAL: [usize; 4] = [1, 2, 30, 7];

#[test]
fn linear_models_on_shards_are_those_of_one_machine() {
    let data = two_classes(40);
    for loss in [ScalarLoss::Hinge, ScalarLoss::SquaredHinge, ScalarLoss::Logistic] {
        agrees(&Task::new(Linear::new(loss), Penalty::ridge(0.05)), &data, &UNEQUAL);
    }
    let inputs = rows(40, 6, 11);
    let numbers: Vec<f64> =
        inputs.iter().map(|row| row[0] - 2.0 * row[3] + row[1] * row[2]).collect();
    let numbered = Examples::from_dense_numbers(&inputs, &numbers).unwrap();
    agrees(&Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(0.05)), &numbered, &UNEQUAL);
    let elastic = Penalty::Ridge { lambda: 0.05, l1: 0.01, nonnegative: false, free: None };
    agrees(&Task::new(Linear::new(ScalarLoss::Hinge), elastic), &data, &[20, 20]);
    let weighted = data.with_weights((0..40).map(|i| f64::from(1 + i % 3)).collect()).unwrap();
    agrees(
        &Task::new(Linear::new(ScalarLoss::Logistic), Penalty::ridge(0.05)),
        &weighted,
        &UNEQUAL,
    );
}

#[test]
fn classes_and_chains_on_shards_are_those_of_one_machine() {
    let inputs = rows(40, 5, 3);
    let labels: Vec<&str> = (0..40).map(|i| ["a", "b", "c"][(i * i + i / 7) % 3]).collect();
    let data = Examples::from_dense(&inputs, &labels).unwrap();
    for loss in [MulticlassLoss::Hinge, MulticlassLoss::Softmax] {
        agrees(&Task::new(Multiclass::new(loss), Penalty::ridge(0.05)), &data, &UNEQUAL);
    }
    let sequences: Vec<Vec<Vec<f64>>> = (0..12).map(|i| rows(2 + i % 4, 4, i as u64)).collect();
    let labels: Vec<Vec<u16>> = sequences
        .iter()
        .map(|x| x.iter().map(|row| u16::from(row[0] > row[1])).collect())
        .collect();
    let data = Sequences::from_dense(&sequences, &labels, &["n", "v"].map(String::from)).unwrap();
    agrees(&Task::new(Chain::default(), Penalty::ridge(0.1)), &data, &[1, 8, 3]);
}

#[test]
fn matchings_on_shards_are_those_of_one_machine() {
    // Links on the diagonal, which the first feature knows of in most cases.
    let graphs: Vec<Graph> = (0..12).map(|i| Graph::full(1 + i % 3, 2 + i % 2)).collect();
    let links =
        graphs.iter().flat_map(|graph| graph.edges.iter().map(|(row, column)| row == column));
    let links: Vec<bool> = links.collect();
    let mut features = rows(links.len(), 4, 13);
    features.iter_mut().zip(&links).for_each(|(row, &link)| row[0] += f64::from(u8::from(link)));
    let marks = links.iter().map(|&link| if link { Mark::Sure } else { Mark::None }).collect();
    let data = Matchings::new(Rows::dense(&features).unwrap(), &graphs, marks).unwrap();
    agrees(&Task::new(Matching::default(), Penalty::ridge(0.1)), &data, &[1, 8, 3]);
}

/// Shards of examples with the same columns disagree about them, and without a centre for long.
#[test]
fn the_centre_saves_most_of_the_rounds() {
    // Columns of variance one, and labels that another one, which the examples do not have, makes noisy.
    let all: Vec<Vec<f64>> = rows(240, 8, 5)
        .into_iter()
        .map(|row| row.into_iter().map(|x| 12f64.sqrt() * (x - 0.1)).collect())
        .collect();
    let noisy = |row: &Vec<f64>| row[0] + 0.5 * row[1] + 0.3 * row[7] > 0.0;
    let labels: Vec<&str> = all.iter().map(|row| if noisy(row) { "yes" } else { "no" }).collect();
    let inputs: Vec<Vec<f64>> = all.iter().map(|row| row[..7].to_vec()).collect();
    let data = Examples::from_dense(&inputs, &labels).unwrap();
    for loss in [ScalarLoss::Logistic, ScalarLoss::Hinge] {
        let task = Task::new(Linear::new(loss), Penalty::ridge(1e-3));
        let count = |centred| rounds_with(&task, &data, &[80; 3], 1e-2, None, centred).1.len();
        let (with, without) = (count(true), count(false));
        assert!(2 * with < without, "{loss:?}: {with} rounds around a centre, {without} without");
    }
}

#[test]
fn the_optimum_of_a_tiny_problem_is_that_of_a_grid() {
    let data = Examples::from_dense_numbers(&[vec![1.0], vec![-2.0], vec![0.5]], &[1.0, 1.0, -1.0])
        .unwrap();
    let lambda = 0.3;
    let task = Task::new(Linear::new(ScalarLoss::Absolute), Penalty::ridge(lambda));
    let (model, _) = rounds(&task, &data, &[1, 1, 1], 1e-9, None);
    let value = |w: f64| {
        let losses = (w - 1.0).abs() + (-2.0 * w - 1.0).abs() + (0.5 * w + 1.0).abs();
        losses / 3.0 + lambda / 2.0 * w * w
    };
    let best = (-20_000..20_000).map(|k| value(f64::from(k) * 1e-4)).fold(f64::INFINITY, f64::min);
    assert!((model.certificate.dual - best).abs() < 1e-6 && model.certificate.dual <= best + 1e-12);
}

#[test]
fn what_shards_cannot_do_is_refused() {
    let data = two_classes(6);
    let try_it = |task: &Task<Linear>, data: &Examples, total: f64| {
        task.with_shard(data, total, &Method::Auto, 1, |shard| Ok(shard.len()))
    };
    let task = Task::new(Linear::new(ScalarLoss::Hinge), Penalty::ridge(0.1));
    assert_eq!(try_it(&task, &data, 6.0).unwrap(), 6);
    assert!(try_it(&task, &data.subset(&[]), 6.0).is_err(), "no examples");
    assert!(try_it(&task, &data, 3.0).is_err(), "less than the shard's own");
    let lasso = Task::new(Linear::new(ScalarLoss::Squared), Penalty::lasso(0.1));
    assert!(try_it(&lasso, &data, 6.0).is_err(), "no λ");
    // A state of other examples, or of another λ.
    let state = task.with_shard(&data, 6.0, &Method::Auto, 1, |shard| Ok(shard.state())).unwrap();
    let restored = |task: &Task<Linear>, data: &Examples, state: &[u8]| {
        task.with_shard(data, 6.0, &Method::Auto, 1, |shard| shard.restore(state)).is_ok()
    };
    assert!(restored(&task, &data, &state));
    assert!(!restored(&task, &data.subset(&[0, 1, 2]), &state));
    assert!(!restored(&task.at_lambda(0.2).unwrap(), &data, &state));
    assert!(!restored(&task, &data, &state[..state.len() / 2]));
    let wrong =
        task.with_shard(&data, 6.0, &Method::Auto, 1, |shard| shard.round(&[0.0], 1.0, 1.0, 1));
    assert!(wrong.is_err(), "another number of weights");
}

#[test]
fn a_shard_goes_on_from_its_state_with_the_same_bits() {
    let data = two_classes(30);
    let task = Task::new(Multiclass::new(MulticlassLoss::Hinge), Penalty::ridge(0.05));
    let dim = 12;
    let run = |resumes: bool| {
        let work = |shard: &mut dyn Rounds| {
            let mut v = vec![0.0; dim];
            for round in 0..6 {
                let change = shard.round(&v, 1.0, 1.0, 1)?;
                shard.apply(1.0)?;
                v.iter_mut().zip(&change.v).for_each(|(v, change)| *v += change);
                shard.dual()?;
                if resumes && round == 3 {
                    let state = shard.state();
                    shard.restore(&state)?;
                }
            }
            Ok(v.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
        };
        task.with_shard(&data, 30.0, &Method::Auto, 1, work).unwrap()
    };
    assert_eq!(run(false), run(true));
}
