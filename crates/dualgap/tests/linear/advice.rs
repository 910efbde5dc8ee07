//! What a run suggests about its problem, beside brute force, and when it is silent.

use dualgap::data::{Classes, Examples, Numbers, Scaling};
use dualgap::linalg::{Random, Rows};
use dualgap::run::Budget;
use dualgap::structure::{Linear, Remark, RemarkKind};
use dualgap::task::{Model, Plan, Task};
use dualgap::term::{Free, Loss, Penalty, ScalarLoss};

/// Rare positive examples with a few binary features, which say little.
fn rare(n: usize) -> (Rows, Vec<f64>) {
    let mut random = Random::new(7);
    let mut rows = Rows::sparse();
    let mut signs = Vec::new();
    for i in 0..n {
        let sign = if i % 20 == 0 { 1.0 } else { -1.0 };
        let mut row: Vec<u32> = (0..3).map(|_| random.below(50) as u32).collect();
        row.extend((sign > 0.0 && random.unit() < 0.5).then_some(50));
        row.sort_unstable();
        row.dedup();
        rows.push_sparse(&row.iter().map(|&j| (j, 1.0)).collect::<Vec<_>>());
        signs.push(sign);
    }
    rows.fit_width(51);
    (rows, signs)
}

fn labelled(rows: Rows, signs: &[f64]) -> Examples {
    let names: Vec<&str> = signs.iter().map(|&y| if y > 0.0 { "1" } else { "-1" }).collect();
    Examples::new(rows, Classes::named(&names)).unwrap()
}

fn advice(task: &Task<Linear>, data: &Examples, budget: Budget) -> (Model<Linear>, Vec<Remark>) {
    let report = task.fit(data, Plan::new(budget)).unwrap();
    let advice = report.advice(data).unwrap();
    (report.model, advice)
}

fn kinds(advice: &[Remark]) -> Vec<RemarkKind> {
    advice.iter().map(|remark| remark.kind).collect()
}

/// Returns the number behind these words.
fn number_after(text: &str, words: &str) -> f64 {
    let rest = &text[text.find(words).unwrap() + words.len()..];
    let end =
        rest.find(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c))).unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().unwrap()
}

#[test]
fn an_intercept_that_would_gain_much_is_suggested_with_a_gain_that_is_true() {
    let (rows, signs) = rare(600);
    let data = labelled(rows.clone(), &signs);
    for (loss, fires) in
        [(ScalarLoss::Hinge, true), (ScalarLoss::Logistic, true), (ScalarLoss::SquaredHinge, true)]
    {
        let task = Task::new(Linear::new(loss), Penalty::ridge(0.1));
        let (model, advice) = advice(&task, &data, Budget::relative(1e-4));
        assert_eq!(kinds(&advice).contains(&RemarkKind::Intercept), fires, "{loss:?}");
        let text = &advice[0].text;
        assert!(text.starts_with("the setting `intercept` would lower"), "{text}");
        let (from, to) = (number_after(text, "from "), number_after(text, "to at most "));
        assert!((from - model.certificate.primal).abs() <= 1e-3 * from, "{text}");
        // Brute force, of both ways.
        let a = model.predict(&data).unwrap();
        let w2: f64 = model.weights.iter().map(|w| w * w).sum();
        let grid = (-4000..=4000).map(|k| f64::from(k) * 1e-3);
        let mean = |share: f64, b: f64| {
            let values = a.iter().zip(&signs).map(|(a, &y)| loss.value(share * a + b, y).value);
            values.sum::<f64>() / signs.len() as f64
        };
        let best = grid.fold(f64::INFINITY, |best: f64, b| {
            best.min(mean(1.0, b) + 0.05 * w2).min(mean(0.0, b))
        });
        assert!((to - best).abs() <= 2e-3 * best, "{loss:?}: {text}, and the best is {best}");
        // The optimum with an intercept is at most that.
        let free = Free::intercept(51, &signs);
        let with = Task::new(Linear::new(loss), Penalty::ridge(0.1).with_free(free).unwrap());
        let mut wider = rows.clone();
        wider.append_constant();
        let (better, silent) =
            self::advice(&with, &labelled(wider, &signs), Budget::relative(1e-4));
        assert!(better.certificate.dual <= to * (1.0 + 1e-3), "{text}");
        assert!(!kinds(&silent).contains(&RemarkKind::Intercept), "there is one");
    }
}

#[test]
fn an_intercept_is_not_suggested_where_it_gains_little_or_cannot_be() {
    let (rows, signs) = rare(300);
    let loss = Linear::new(ScalarLoss::Logistic);
    let silent = |task: &Task<Linear>, data: &Examples| {
        let (_, advice) = advice(task, data, Budget::relative(1e-3));
        assert!(!kinds(&advice).contains(&RemarkKind::Intercept), "{advice:?}");
    };
    // Half of the examples are positive.
    let even: Vec<f64> = (0..300).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    silent(&Task::new(loss, Penalty::ridge(0.1)), &labelled(rows.clone(), &even));
    // A constant column, penalised.
    let mut constant = rows.clone();
    constant.append_constant();
    silent(&Task::new(loss, Penalty::ridge(0.1)), &labelled(constant, &signs));
    // A ball and the q-norm have no weight outside.
    let data = labelled(rows, &signs);
    silent(&Task::new(loss, Penalty::l1_ball(0.5, 0.1)), &data);
    silent(&Task::new(loss, Penalty::QNorm { lambda: 0.1, l1: 0.0 }), &data);
    // Numbers around zero.
    let rows = Rows::dense(&[vec![1.0], vec![-1.0], vec![2.0], vec![-2.0]]).unwrap();
    let numbers = Examples::new(rows, Numbers::new(vec![1.1, -0.9, 1.9, -2.1]).unwrap()).unwrap();
    silent(&Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(1e-3)), &numbers);
}

#[test]
fn weights_of_examples_count_in_the_gain() {
    let rows = Rows::dense(&[vec![1.0], vec![-1.0], vec![1.0], vec![-1.0]]).unwrap();
    let numbers = Numbers::new(vec![3.0, 3.0, 9.0, 9.0]).unwrap();
    let data =
        Examples::new(rows, numbers).unwrap().with_weights(vec![1.0, 1.0, 0.0, 0.0]).unwrap();
    let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(0.1));
    let (_, advice) = advice(&task, &data, Budget::relative(1e-3));
    let text = &advice[0].text;
    // The weight is next to zero, so the constant is the same with and without it.
    let words = if text.contains("adding ") { "adding " } else { "the prediction " };
    assert!((number_after(text, words) - 3.0).abs() < 0.02, "{text}");
}

/// Columns whose sizes differ by a factor of 10,000.
fn uneven(n: usize) -> Examples {
    let mut random = Random::new(3);
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|_| vec![random.unit() - 0.5, 1e4 * (random.unit() - 0.5), random.unit()])
        .collect();
    let labels: Vec<&str> =
        rows.iter().map(|x| if x[0] + 0.3 * x[2] > 0.2 { "1" } else { "-1" }).collect();
    Examples::from_dense(&rows, &labels).unwrap()
}

#[test]
fn a_scale_is_suggested_to_slow_runs_over_uneven_columns() {
    let data = uneven(200);
    let task = Task::new(Linear::new(ScalarLoss::Hinge), Penalty::ridge(1e-3));
    let (_, slow) = advice(&task, &data, Budget { passes: Some(30), ..Budget::relative(1e-9) });
    let remark = slow.iter().find(|remark| remark.kind == RemarkKind::Scale).unwrap();
    assert!(remark.text.contains("the setting `scale`=rms"), "{remark:?}");
    // Not to a run that has just begun, one that is scaled, or one over even columns.
    let (_, early) = advice(&task, &data, Budget { passes: Some(2), ..Budget::relative(1e-9) });
    assert!(!kinds(&early).contains(&RemarkKind::Scale));
    let scaled = Task { scaling: Scaling::Rms, ..task.clone() };
    let (_, advice_scaled) =
        advice(&scaled, &data, Budget { passes: Some(30), ..Budget::relative(1e-9) });
    assert!(!kinds(&advice_scaled).contains(&RemarkKind::Scale));
    let (rows, signs) = rare(100);
    let (_, even) = advice(
        &task,
        &labelled(rows, &signs),
        Budget { passes: Some(30), ..Budget::relative(1e-12) },
    );
    assert!(!kinds(&even).contains(&RemarkKind::Scale));
}
