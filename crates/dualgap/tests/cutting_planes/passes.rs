//! What a pass gains: at least as much as batch Frank-Wolfe with the same searches, and no search is made twice.

use super::{BOTH, Brute, of, train};
use crate::common::explicit::{Explicit, dot};
use crate::common::{Kind, Small};
use dualgap::methods::cutting_plane::Slacks;
use dualgap::run::Budget;
use dualgap::structure::Rescaling;

/// One certification, after the last pass.
fn passes(passes: u64) -> Budget {
    Budget { certify_share: 1e-12, ..Budget::passes(passes) }
}

/// A certification after every pass.
fn after_each(passes: u64) -> Budget {
    Budget { certify_share: 1e6, ..Budget::passes(passes) }
}

/// The dual value of batch Frank-Wolfe with line search after each of these passes, which the corners of all examples
/// are told of; `(1/λ)Σ mass ψ` and `Σ mass L` are all it needs.
fn frank_wolfe(problem: &Explicit, calls: &[(usize, usize)]) -> Vec<f64> {
    let (mut w, mut loss) = (vec![0.0; problem.dim], 0.0);
    calls
        .chunks(problem.examples.len())
        .map(|pass| {
            let (mut to, mut to_loss) = (vec![0.0; problem.dim], 0.0);
            for &(i, y) in pass {
                let (corner, mass) = (&problem.examples[i][y], problem.masses[i].float());
                to.iter_mut().zip(&corner.psi).for_each(|(t, p)| *t += mass * p / problem.lambda);
                to_loss += mass * corner.loss;
            }
            let change: Vec<f64> = to.iter().zip(&w).map(|(to, w)| to - w).collect();
            let gap = to_loss - loss - problem.lambda * dot(&w, &change);
            let curvature = problem.lambda * dot(&change, &change);
            let gamma = if curvature > 0.0 { (gap / curvature).clamp(0.0, 1.0) } else { 1.0 };
            w.iter_mut().zip(&change).for_each(|(w, d)| *w += gamma * d);
            loss += gamma * (to_loss - loss);
            loss - problem.lambda / 2.0 * dot(&w, &w)
        })
        .collect()
}

fn problems() -> [Small; 3] {
    let kinds = Kind::all(3);
    let mut problems = [
        Small::random(11, kinds[1].clone(), 9, 3, 3),
        Small::random(12, kinds[3].clone(), 15, 3, 1),
        Small::random(13, kinds[0].clone(), 8, 3, 2),
    ];
    problems[1].lambda = 0.005;
    problems[2].weights = Some((0..8).map(|i| 0.25 + f64::from(i % 3)).collect());
    problems
}

#[test]
fn no_pass_is_behind_frank_wolfe_on_the_same_corners() {
    for small in problems() {
        let problem = small.explicit();
        for slacks in BOTH {
            let mut ahead = 0.0_f64;
            for k in 1..=12 {
                let brute = Brute::new(&problem);
                let dual = brute.train(Rescaling::Margin, &of(slacks), &passes(k)).certificate.dual;
                let mut calls = brute.calls.into_inner().unwrap();
                // The last are those of the certification.
                calls.truncate(k as usize * problem.examples.len());
                let theirs = *frank_wolfe(&problem, &calls).last().unwrap();
                assert!(dual >= theirs - 1e-14, "{slacks:?}, pass {k}: {dual} below {theirs}");
                ahead = ahead.max(dual - theirs);
            }
            assert!(ahead > 1e-3, "{slacks:?}: never far ahead of Frank-Wolfe, only {ahead}");
        }
    }
}

#[test]
fn the_dual_never_falls() {
    for small in problems() {
        for slacks in BOTH {
            let report = train(&small, &of(slacks), &after_each(40));
            let duals: Vec<f64> =
                report.history.iter().map(|progress| progress.iterate_dual).collect();
            assert!(duals.len() > 5, "{} certifications", duals.len());
            for pair in duals.windows(2) {
                assert!(pair[1] >= pair[0] - 1e-14, "{slacks:?}: {pair:?}");
            }
        }
    }
}

// One pass, and then a certification after each, whose corners are the next plane: no search is made twice. The count
// of passes has them all the same.
#[test]
fn the_corners_of_a_certification_are_those_of_the_next_plane() {
    let problem = problems()[0].explicit();
    let n = problem.examples.len();
    let one = Brute::new(&problem);
    let report = one.train(Rescaling::Margin, &of(Slacks::One), &after_each(6));
    assert_eq!((report.passes, report.history.len()), (6.0, 6));
    assert_eq!(one.calls.into_inner().unwrap().len(), 7 * n);
    // And that changes nothing: a run with one certification ends with the same weights.
    let again = Brute::new(&problem).train(Rescaling::Margin, &of(Slacks::One), &passes(6));
    assert_eq!(again.certificate.dual, report.certificate.dual);
    assert_eq!(again.history[0].iterate_primal, report.history[5].iterate_primal);
}
