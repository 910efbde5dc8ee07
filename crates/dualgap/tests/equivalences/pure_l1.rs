//! Structures under the l1 norm alone: the optimum is that of a linear program, or of a linear model of one output.

use crate::common::explicit::Explicit;
use crate::common::quadratic::l1_optimum;
use crate::common::{Kind, Small, with_blocks};
use dualgap::data::Examples;
use dualgap::dual::{Problem, Settings, Witness, Witnessed, train_around_centre};
use dualgap::run::{Budget, Checkpoint, CheckpointSink, InMemory, Report, Solution, Stop};
use dualgap::structure::{Linear, Multiclass};
use dualgap::task::{Model, Plan, Task};
use dualgap::term::{MulticlassLoss, Penalty, PureL1, Regulariser, ScalarLoss};

fn problems() -> Vec<Small> {
    let chain = |k: usize| Small::random(k as u64, Kind::all(3)[k % 2].clone(), 6, 3, 3);
    let classes = |k: usize| Small::random(k as u64, Kind::all(4)[2 + k % 2].clone(), 9, 4, 1);
    vec![chain(0), chain(1).with_pairs(2, 2), classes(2), classes(3)]
}

fn run<B: Witnessed>(
    blocks: &B,
    settings: &Settings,
    from: Option<Checkpoint>,
    budget: &Budget,
    sink: Option<&mut dyn CheckpointSink>,
) -> Report<Solution<B::Point>> {
    train_around_centre(blocks, 1.0, settings, from, budget, &mut (), sink).unwrap()
}

/// The points with all weight on the outputs that cost most.
fn far<B: Witnessed>(blocks: &B) -> Vec<B::Point> {
    let w = vec![0.0; blocks.dim()];
    let (mut corner, mut scratch) = (B::Corner::default(), blocks.scratch());
    let mut far = |i: usize| {
        let mut point = blocks.start(i);
        blocks.best_corner(i, &w, &mut corner, &mut scratch).unwrap();
        blocks.mix(i, 1.0, &mut point, &corner);
        point
    };
    (0..blocks.len()).map(&mut far).collect()
}

#[test]
fn structures_come_to_the_optimum_of_the_linear_program() {
    for (k, small) in problems().iter().enumerate() {
        let nonnegative = k % 2 == 1;
        let bracket = l1_optimum(&Explicit { nonnegative, ..small.explicit() }, SIGMA);
        assert!(bracket.is_within(1e-7), "{bracket:?}");
        let regulariser = Regulariser { l1: SIGMA, nonnegative, ..Regulariser::PLAIN };
        // Pairwise steps: those toward corners alone would zigzag.
        let settings = Settings { regulariser, threads: 1, ..Settings::default() };
        let budget = Budget { passes: Some(20_000), ..Budget::relative(1e-4) };
        with_blocks!(small, |blocks| {
            let report = run(&blocks, &settings, None, &budget, None);
            let c = report.certificate;
            assert_eq!(report.stop, Stop::GapReached, "{k}: {c:?}");
            assert!(c.dual - c.rounding_error <= bracket.upper, "{k}: {c:?} {bracket:?}");
            assert!(c.primal + c.rounding_error >= bracket.lower, "{k}: {c:?} {bracket:?}");
            // The certificate is that of these weights and points, and of the l1 norm alone.
            let weights = settings.sample_weights.as_deref();
            let problem = Problem::new(&blocks, PureL1 { nonnegative }, SIGMA, weights).unwrap();
            assert_eq!(problem.primal(&report.model.weights).unwrap().value.value, c.primal);
            assert_eq!(problem.dual(&report.model.points).unwrap().value.value, c.dual);
            // A point that is moved to other corners altogether is outside the box, and proves nothing.
            let far = far(&blocks);
            assert_eq!(problem.dual(&far).unwrap().value.value, f64::NEG_INFINITY);
            // A run in two parts ends as the run that went through.
            let mut memory = InMemory::default();
            run(&blocks, &settings, None, &Budget::passes(7), Some(&mut memory));
            let resumed = run(&blocks, &settings, memory.last, &Budget::passes(30), None);
            let whole = run(&blocks, &settings, None, &Budget::passes(30), None);
            assert_eq!(resumed.model.weights, whole.model.weights);
            assert_eq!(resumed.certificate, whole.certificate);
        });
    }
}

const SIGMA: f64 = 0.05;

/// With two classes a loss of scores is one of their difference u, and the least |w_1| + |w_2| for a difference is |u|.
#[test]
fn two_classes_are_a_linear_model_of_one_output() {
    let rows: Vec<Vec<f64>> = (0..30)
        .map(|i| {
            let t = f64::from(i);
            vec![(1.7 * t).sin(), (0.9 * t).cos(), (2.3 * t + 1.0).sin(), 1.0]
        })
        .collect();
    let labels: Vec<&str> =
        rows.iter().map(|x| if x[0] + 0.4 * x[1] > 0.3 * x[2] { "yes" } else { "no" }).collect();
    let data = Examples::from_dense(&rows, &labels).unwrap();
    let penalty = Penalty::lasso(0.02);
    for (classes, binary) in [
        (MulticlassLoss::Softmax, ScalarLoss::Logistic),
        (MulticlassLoss::Hinge, ScalarLoss::Hinge),
    ] {
        let budget = || Plan::new(Budget { passes: Some(50_000), ..Budget::relative(1e-5) });
        let one =
            Task::new(Linear::new(binary), penalty).fit(&data, Plan::new(Budget::relative(1e-7)));
        let task = Task::new(Multiclass::new(classes), penalty);
        let both = task.fit(&data, budget()).unwrap();
        let (one, c) = (one.unwrap().certificate, both.certificate);
        assert_eq!(both.stop, Stop::GapReached, "{classes:?} {c:?}");
        assert!(c.dual <= one.primal + 1e-9 && one.dual <= c.primal + 1e-9, "{one:?} {c:?}");
        let proved = both.model.certify(&data).unwrap().certificate;
        assert_eq!((proved.primal, proved.dual), (c.primal, c.dual));
        // All weight on the wrong class is a distribution, but outside the box: it proves nothing.
        let numbers = data.classes().unwrap().numbers();
        let witness = Witness {
            starts: (0..=data.len() as u64).collect(),
            keys: numbers.iter().map(|&class| u64::from(1 - class)).collect(),
            weights: vec![1.0; data.len()],
            outputs: Vec::new(),
        };
        let forged = Model { witness: Some(witness), ..both.model.clone() };
        assert!(forged.certify(&data).is_err());
        assert!(both.model.reach(&data).unwrap_err().to_string().contains("l1"));
    }
}
