//! σ_max beside its formula, paths over grids beside single runs, and choices beside a search by hand.

use dualgap::data::{ClassWeights, DataSet, Examples, Folds, Ratings, Scaling};
use dualgap::run::{Budget, Stop, Tolerance};
use dualgap::structure::{Centring, Completion, Linear, Multiclass, Structure};
use dualgap::task::{
    Candidate, Chosen, Grid, Model, Over, PenaltySpec, Plan, Score, Strength, Task, TaskSpec,
    TrialPlan,
};
use dualgap::term::{MulticlassLoss, Penalty, ScalarLoss};

/// Numbers between −1 and 1, the same in every run.
fn numbers(count: usize, mut seed: u64) -> Vec<f64> {
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Rows of four entries and a constant, and a target of each: a number, or a class that is more often positive.
fn table(n: usize, binary: bool) -> (Vec<Vec<f64>>, Vec<f64>) {
    let entries = numbers(5 * n, 7);
    let rows: Vec<Vec<f64>> = entries
        .chunks(5)
        .map(|row| vec![row[0], 3.0 * row[1], row[2] + 0.5, row[3], 1.0])
        .collect();
    let target = |(row, noise): (&Vec<f64>, &[f64])| {
        let a = row[0] - row[1] + 0.4 + 0.5 * noise[4];
        if binary { if a > 0.0 { 1.0 } else { -1.0 } } else { a }
    };
    let targets = rows.iter().zip(entries.chunks(5)).map(target).collect();
    (rows, targets)
}

fn data(rows: &[Vec<f64>], targets: &[f64], binary: bool) -> Examples {
    if !binary {
        return Examples::from_dense_numbers(rows, targets).unwrap();
    }
    let names: Vec<&str> = targets.iter().map(|&y| if y > 0.0 { "yes" } else { "no" }).collect();
    Examples::from_dense(rows, &names).unwrap()
}

/// The derivative of a smooth loss.
fn slope(loss: ScalarLoss, a: f64, y: f64) -> f64 {
    match loss {
        ScalarLoss::Squared => a - y,
        ScalarLoss::Huber { width } => (a - y).clamp(-width, width),
        ScalarLoss::Logistic => -y / (1.0 + (y * a).exp()),
        ScalarLoss::SquaredHinge => -2.0 * y * (1.0 - y * a).max(0.0),
        ScalarLoss::SmoothHinge { width } => -y * ((1.0 - y * a) / width).clamp(0.0, 1.0),
        other => panic!("{other:?} has corners"),
    }
}

/// σ_max by its formula; with an intercept, the derivative by it is brought to zero first.
fn by_formula(
    loss: ScalarLoss,
    rows: &[Vec<f64>],
    y: &[f64],
    weights: &[f64],
    free: bool,
    nonnegative: bool,
) -> f64 {
    let total: f64 = weights.iter().sum();
    let gradient = |b: f64, j: usize| -> f64 {
        let terms = rows.iter().zip(y).zip(weights);
        terms.map(|((row, y), c)| c / total * slope(loss, b, *y) * row[j]).sum()
    };
    let (mut low, mut high) = if free { (-50.0, 50.0) } else { (0.0, 0.0) };
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        *(if gradient(middle, 4) < 0.0 { &mut low } else { &mut high }) = middle;
    }
    let penalised = if free { 4 } else { 5 };
    let size = |j| if nonnegative { -gradient(low, j) } else { gradient(low, j).abs() };
    (0..penalised).map(size).fold(0.0, f64::max)
}

fn lasso(loss: ScalarLoss, l1: Strength, nonnegative: bool, free: bool) -> TaskSpec<Linear> {
    let penalty = PenaltySpec::Ridge { lambda: Strength::NONE, l1, nonnegative };
    TaskSpec { free_intercept: free, ..TaskSpec::new(Linear::new(loss), penalty) }
}

fn fit<S: Structure>(spec: &TaskSpec<S>, data: &S::Data, gap: f64) -> Model<S> {
    let budget = Budget { passes: Some(20_000), ..Budget::relative(gap) };
    let report = spec.resolve(data).unwrap().fit(data, Plan::new(budget)).unwrap();
    // A free intercept has a rounding of its own, which may be all that is left of the gap.
    let near = report.certificate.relative_gap() <= gap && report.stop == Stop::Stalled;
    assert!(report.stop == Stop::GapReached || near, "{:?}", report.certificate);
    report.model
}

const SMOOTH: [ScalarLoss; 5] = [
    ScalarLoss::Squared,
    ScalarLoss::Huber { width: 0.3 },
    ScalarLoss::Logistic,
    ScalarLoss::SquaredHinge,
    ScalarLoss::SmoothHinge { width: 0.7 },
];

#[test]
fn the_largest_l1_is_that_of_the_formula_and_just_enough() {
    for loss in SMOOTH {
        let (rows, y) = table(24, loss.is_binary());
        let weights: Vec<f64> = numbers(24, 3).iter().map(|x| 1.5 + x).collect();
        for (free, nonnegative, weighted) in [
            (false, false, false),
            (true, false, false),
            (true, false, true),
            (false, true, true),
            (true, true, false),
        ] {
            let mut data = data(&rows, &y, loss.is_binary());
            let ones = vec![1.0; 24];
            let counts = if weighted { &weights } else { &ones };
            if weighted {
                data = data.with_weights(weights.clone()).unwrap();
            }
            let case = format!("{loss:?} {free} {nonnegative} {weighted}");
            let spec = lasso(loss, Strength::FractionOfMax(1.0), nonnegative, free);
            let most = spec.l1_max(&data).unwrap();
            let formula = by_formula(loss, &rows, &y, counts, free, nonnegative);
            assert!((most - formula).abs() <= 1e-12 * formula, "{case}: {most} {formula}");
            for (sigma, zero) in [(most * (1.0 + 1e-9), true), (most * (1.0 - 1e-3), false)] {
                let model = fit(&spec.at(Over::L1, sigma).unwrap(), &data, 1e-8);
                let penalised = if free { &model.weights[..4] } else { &model.weights[..] };
                // A free intercept is best to rounding only, and so are the others.
                assert_eq!(penalised.iter().all(|w| w.abs() < 1e-5), zero, "{case}: {penalised:?}");
            }
            let tenth = lasso(loss, Strength::FractionOfMax(0.1), nonnegative, free);
            let (settled, told) = tenth.settled(&data).unwrap();
            assert_eq!(told, Some(most));
            let task = settled.resolve(&data).unwrap();
            assert_eq!(Over::L1.of(task.penalty), Some(0.1 * most), "{case}");
            assert_eq!(task, tenth.resolve(&data).unwrap());
        }
    }
}

// Under an elastic net the gradient of the square is zero at zero; scaled columns have the σ of the scaled problem; class
// weights are weights.
#[test]
fn lambda_does_not_matter_and_scaling_and_class_weights_do() {
    let (rows, y) = table(24, true);
    let data = data(&rows, &y, true);
    let plain = lasso(ScalarLoss::Logistic, Strength::FractionOfMax(0.5), false, true);
    let most = plain.l1_max(&data).unwrap();
    let net = PenaltySpec::Ridge {
        lambda: Strength::TimesL1(0.1),
        l1: Strength::FractionOfMax(0.5),
        nonnegative: false,
    };
    let task = TaskSpec { penalty: net, ..plain.clone() }.resolve(&data).unwrap();
    assert_eq!(task.penalty.lambda(), Some(0.1 * (0.5 * most)));
    assert_eq!(Over::L1.of(task.penalty), Some(0.5 * most));

    let largest = |j: usize| rows.iter().map(|row| row[j].abs()).fold(0.0, f64::max);
    let scaled: Vec<Vec<f64>> =
        rows.iter().map(|row| (0..5).map(|j| row[j] / largest(j)).collect()).collect();
    let spec = TaskSpec { scaling: Scaling::Max, ..plain.clone() };
    let formula = by_formula(ScalarLoss::Logistic, &scaled, &y, &[1.0; 24], true, false);
    assert!((spec.l1_max(&data).unwrap() / formula - 1.0).abs() < 1e-12);

    let yes = y.iter().filter(|y| **y > 0.0).count() as f64;
    let weigh = |y: &f64| if *y > 0.0 { 12.0 / yes } else { 12.0 / (24.0 - yes) };
    let counts: Vec<f64> = y.iter().map(weigh).collect();
    let spec = TaskSpec { class_weights: Some(ClassWeights::Balanced), ..plain };
    let formula = by_formula(ScalarLoss::Logistic, &rows, &y, &counts, true, false);
    assert!((spec.l1_max(&data).unwrap() / formula - 1.0).abs() < 1e-12);
}

#[test]
fn of_losses_with_corners_it_is_enough() {
    for loss in
        [ScalarLoss::Hinge, ScalarLoss::Absolute, ScalarLoss::EpsilonInsensitive { epsilon: 0.2 }]
    {
        let (rows, y) = table(25, loss.is_binary());
        let data = data(&rows, &y, loss.is_binary());
        for free in [false, true] {
            let spec = lasso(loss, Strength::FractionOfMax(1.0), false, free);
            let most = spec.l1_max(&data).unwrap();
            let penalised = if free { 4 } else { 5 };
            let at = |times: f64| fit(&spec.at(Over::L1, times * most).unwrap(), &data, 1e-7);
            // Such a loss is flat at zero weights until its next corner, so that only a larger σ makes them the only ones.
            let size = |model: &Model<Linear>| {
                model.weights[..penalised].iter().map(|w| w.abs()).fold(0.0, f64::max)
            };
            assert!(size(&at(1.05)) < 1e-3, "{loss:?} {free}");
            assert!(size(&at(0.2)) > 1e-3, "{loss:?} {free}");
        }
    }
}

#[test]
fn several_classes_have_one_too() {
    let (rows, numbers) = table(30, false);
    let class = |y: &f64| {
        if *y < -0.3 {
            "low"
        } else if *y < 0.8 {
            "mid"
        } else {
            "high"
        }
    };
    let names: Vec<&str> = numbers.iter().map(class).collect();
    let data = Examples::from_dense(&rows, &names).unwrap();
    let penalty = PenaltySpec::Ridge {
        lambda: Strength::NONE,
        l1: Strength::FractionOfMax(1.0),
        nonnegative: false,
    };
    let softmax = TaskSpec::new(Multiclass::new(MulticlassLoss::Softmax), penalty);
    let most = softmax.l1_max(&data).unwrap();
    let alphabet = ["low", "mid", "high"];
    let entry = |j: usize, class: &str| {
        let terms = rows.iter().zip(&names);
        let one = |(row, name): (&Vec<f64>, &&str)| {
            (f64::from(u8::from(*name == class)) - 1.0 / 3.0) * row[j] / 30.0
        };
        terms.map(one).sum::<f64>().abs()
    };
    let all = (0..5).flat_map(|j| alphabet.map(|class| entry(j, class)));
    let formula = all.fold(0.0, f64::max);
    assert!((most - formula).abs() <= 1e-12 * formula, "{most} {formula}");
    for (sigma, zero) in [(most * (1.0 + 1e-9), true), (most * 0.97, false)] {
        let model = fit(&softmax.at(Over::L1, sigma).unwrap(), &data, 1e-7);
        let size = model.weights.iter().map(|w| w.abs()).fold(0.0, f64::max);
        assert_eq!(size < 1e-4, zero, "{size}");
    }
    // The hinge has corners at zero weights: there is a σ_max, and it is enough.
    let hinge = TaskSpec::new(Multiclass::default(), penalty);
    let most = hinge.l1_max(&data).unwrap();
    let model = fit(&hinge.at(Over::L1, most * (1.0 + 1e-9)).unwrap(), &data, 1e-6);
    assert!(model.weights.iter().all(|w| w.abs() < 1e-3), "{:?}", model.weights);
}

#[test]
fn where_no_weight_helps_there_is_no_largest_l1() {
    let rows = vec![vec![1.0, 1.0]; 4];
    let data = Examples::from_dense_numbers(&rows, &[2.0; 4]).unwrap();
    let spec = lasso(ScalarLoss::Squared, Strength::FractionOfMax(0.1), false, true);
    // The intercept alone predicts every number.
    assert!(spec.resolve(&data).is_err());
    let ball =
        TaskSpec::from(Task::new(Linear::new(ScalarLoss::Squared), Penalty::l1_ball(1.0, 0.0)));
    assert!(ball.l1_max(&data).is_err());
}

/// Whether the intervals of two certificates overlap.
fn agree<S>(one: &Model<S>, other: &Model<S>) -> bool {
    let ends = |model: &Model<S>| {
        let c = model.certificate;
        (c.dual - c.rounding_error, c.primal + c.rounding_error)
    };
    let ((a, b), (c, d)) = (ends(one), ends(other));
    a <= d && c <= b
}

#[test]
fn the_models_of_a_grid_are_those_of_single_runs() {
    let (rows, y) = table(40, false);
    let data = data(&rows, &y, false);
    let squared = ScalarLoss::Squared;
    let lasso = lasso(squared, Strength::FractionOfMax(1.0), false, true);
    let ratio = PenaltySpec::Ridge {
        lambda: Strength::TimesL1(0.1),
        l1: Strength::FractionOfMax(1.0),
        nonnegative: false,
    };
    let net = TaskSpec { penalty: ratio, ..lasso.clone() };
    let ball = TaskSpec::from(Task::new(Linear::new(squared), Penalty::l1_ball(1.0, 1e-3)));
    for (spec, over) in [(lasso, Over::L1), (net, Over::L1), (ball, Over::Radius)] {
        let grid = spec.default_grid(&data, over).unwrap();
        let mut models = Vec::new();
        let plan = TrialPlan::new(Budget::relative(1e-5));
        let stop = spec.grid_path(
            &data,
            grid.clone(),
            &plan,
            |_| None,
            |report| {
                models.push(report.model.clone());
                Ok(())
            },
        );
        assert_eq!((stop.unwrap(), models.len()), (None, grid.values.len()));
        for (model, &value) in models.iter().zip(&grid.values) {
            assert_eq!(over.of(model.task.penalty), Some(value));
            let cold = fit(&spec.at(over, value).unwrap(), &data, 1e-6);
            assert!(agree(model, &cold), "{over:?} {value}");
        }
        if over == Over::L1 {
            let nonzero =
                |model: &Model<Linear>| model.weights[..4].iter().filter(|w| **w != 0.0).count();
            assert!(nonzero(&models[0]) == 0 && nonzero(&models[models.len() - 1]) > 1);
        }
        // The path is verified, and one with a foreign model or a wrong number is not.
        let claims = |change: f64| {
            let claim =
                move |(model, value): (&Model<Linear>, &f64)| Ok((model.clone(), value * change));
            models.iter().zip(&grid.values).map(claim).collect::<Vec<_>>()
        };
        let check = |claims, share| over.check_path(&data, claims, Tolerance::Relative(share));
        assert_eq!(check(claims(1.0), 1e-5).unwrap(), 0);
        assert!(check(claims(1.1), 1e-5).is_err());
        let tight = models.iter().any(|model| model.certificate.relative_gap_bound() > 1e-12);
        assert_eq!(check(claims(1.0), 1e-12).is_err(), tight);
        let mut mixed = claims(1.0);
        let other = fit(&TaskSpec { scaling: Scaling::Max, ..spec.clone() }, &data, 1e-5);
        let value = over.of(other.task.penalty).unwrap();
        mixed.push(Ok((other, value)));
        assert!(check(mixed, 1e-5).is_err());
    }
}

#[test]
fn a_choice_is_that_of_a_search_by_hand() {
    let (rows, y) = table(60, false);
    let data = data(&rows, &y, false);
    let squared = ScalarLoss::Squared;
    let lasso = lasso(squared, Strength::FractionOfMax(1.0), false, true);
    let ridge = PenaltySpec::Ridge {
        lambda: Strength::PerExample(1.0),
        l1: Strength::NONE,
        nonnegative: false,
    };
    let ridge = TaskSpec { penalty: ridge, ..lasso.clone() };
    let ball = TaskSpec::from(Task::new(Linear::new(squared), Penalty::l1_ball(1.0, 1e-3)));
    let plan = TrialPlan::new(Budget::relative(0.001));
    let seed = 3;
    for (spec, over) in [(ridge, Over::Lambda), (lasso, Over::L1), (ball, Over::Radius)] {
        let chosen = spec.choose(&data, over, &plan, seed, || ()).unwrap().unwrap();
        let again = spec.choose(&data, over, &plan, seed, || ()).unwrap().unwrap();
        let scores = |chosen: &Chosen| -> Vec<Score> {
            let candidates = chosen.found.candidates.iter();
            candidates.flat_map(|candidate| candidate.trials.iter().map(|t| t.score)).collect()
        };
        assert_eq!((again.value, scores(&again)), (chosen.value, scores(&chosen)));
        let grid = spec.default_grid(&data, over).unwrap();
        let folds = Folds::plain(data.len(), 5, seed).unwrap();
        let held_out = if over == Over::Radius { 1 } else { 5 };
        let error = |value: f64| -> f64 {
            let of_fold = |fold: usize| {
                let (train, test) =
                    (data.subset(&folds.outside(fold)), data.subset(&folds.inside(fold)));
                let model = fit(&spec.at(over, value).unwrap(), &train, 1e-9);
                model.evaluate(&test).unwrap().error()
            };
            (0..held_out).map(of_fold).sum::<f64>() / held_out as f64
        };
        // The trials have gaps of 1 %, so that errors are near those of tight runs, and the choice near the best.
        let tried = &chosen.found.candidates;
        assert!(over == Over::Radius || tried.len() == grid.values.len());
        for (candidate, value) in tried.iter().zip(&grid.values) {
            assert_eq!(candidate.value, *value);
            assert!((candidate.error() - error(*value)).abs() < 0.05, "{over:?} {value}");
        }
        let least = grid.values.iter().map(|&value| error(value)).fold(f64::INFINITY, f64::min);
        assert!(error(chosen.value) <= least + 0.05, "{over:?} {}", chosen.value);
        let best = tried.iter().map(Candidate::error).fold(f64::INFINITY, f64::min);
        assert_eq!(tried[chosen.found.best()].error(), best);
        assert_eq!(tried[chosen.found.best()].value, chosen.value);
    }
}

#[test]
fn there_must_be_something_to_choose_by() {
    let (rows, y) = table(8, false);
    let few = data(&rows, &y, false);
    let spec = lasso(ScalarLoss::Squared, Strength::FractionOfMax(1.0), false, false);
    let plan = TrialPlan::new(Budget::relative(0.01));
    let error = spec.choose(&few, Over::L1, &plan, 0, || ()).unwrap_err();
    assert!(error.to_string().contains("too few"), "{error}");
    assert!(spec.choose(&few, Over::Radius, &plan, 0, || ()).is_err(), "there is no ball");
    // A class with a single example cannot be held out and trained on.
    let rows = vec![vec![1.0]; 12];
    let labels: Vec<&str> = (0..12).map(|i| if i == 0 { "rare" } else { "often" }).collect();
    let lonely = Examples::from_dense(&rows, &labels).unwrap();
    let hinge = TaskSpec::from(Task::new(Linear::new(ScalarLoss::Hinge), Penalty::ridge(1.0)));
    assert!(hinge.choose(&lonely, Over::Lambda, &plan, 0, || ()).is_err());
}

// Ratings of rank one around effects of users and items: a radius that is far too small predicts no better than the centre.
#[test]
fn the_radius_of_ratings_chooses_itself() {
    let noise = numbers(30 * 20, 5);
    let (users, items) = (numbers(30, 1), numbers(20, 2));
    let mut triples = Vec::new();
    for (u, user) in users.iter().enumerate() {
        for (i, item) in items.iter().enumerate() {
            let draw = noise[u * 20 + i];
            if draw > -0.4 {
                let rating = 3.0 + user + item + 2.0 * user * item + 0.1 * draw;
                triples.push((format!("u{u}"), format!("i{i}"), rating));
            }
        }
    }
    let named: Vec<(&str, &str, f64)> =
        triples.iter().map(|(user, item, rating)| (&user[..], &item[..], *rating)).collect();
    let data = Ratings::from_triples(&named).unwrap();
    let structure = Completion::new(ScalarLoss::Squared, Centring::default());
    assert_eq!(Centring::default(), Centring::Effects);
    let spec = TaskSpec::from(Task::new(structure, Penalty::trace_ball(1.0, 1e-5)));
    let plan = TrialPlan::new(Budget::relative(0.01));
    let chosen = spec.choose(&data, Over::Radius, &plan, 0, || ()).unwrap().unwrap();
    let tried = &chosen.found.candidates;
    let best = &tried[chosen.found.best()];
    assert!(best.error() < 0.7 * tried[0].error(), "{} {}", best.error(), tried[0].error());
    let grid = Grid { over: Over::Radius, values: vec![chosen.value] };
    let folds = Folds::plain(data.len(), 5, 0).unwrap();
    let found = spec.cross_validate(&data, &folds, grid, &plan, || ()).unwrap().unwrap();
    assert_eq!(found.candidates[0].trials[0].score, best.trials[0].score, "the first fold");
}
