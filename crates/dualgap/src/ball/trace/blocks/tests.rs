//! The stored U, U'U and W agree with α, and no block lowers the dual.

use super::*;
use crate::ball::solver::Resumes;

use crate::ball::trace::{Features, Proving};
use crate::ball::{ClassLosses, PerOutput};
use crate::linalg::Random;
use crate::linalg::halt::never;
use crate::term::{MulticlassLoss, ScalarLoss};

/// Returns rows of which a few are much longer than the others, dense or sparse.
fn rows(n: usize, d: usize, sparse: bool) -> Rows {
    let mut random = Random::new(5);
    let row = |i: usize, random: &mut Random| -> Vec<f64> {
        let size = if i.is_multiple_of(17) { 6.0 } else { 1.0 };
        (0..d).map(|_| size * (random.unit() - 0.4)).collect()
    };
    let all: Vec<Vec<f64>> = (0..n).map(|i| row(i, &mut random)).collect();
    if !sparse {
        return Rows::dense(&all).unwrap();
    }
    let mut rows = Rows::sparse();
    for (i, row) in all.iter().enumerate() {
        let entries = row.iter().enumerate().filter(|(j, _)| !(i + j).is_multiple_of(3));
        rows.push_sparse(&entries.map(|(j, &x)| (j as u32, x)).collect::<Vec<_>>());
    }
    rows.fit_width(d);
    rows
}

fn largest(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    (a - b).norm_max()
}

/// Checks that U, U'U and W agree with α and the centre.
fn check<M: Map, L: Losses>(problem: &BallProblem<M, L>, blocks: &Blocks<L::Scratch>) {
    let (d, c) = problem.map().shape();
    let mut y = vec![0.0; problem.numbers()];
    problem.weigh(&blocks.at.alpha, &mut y);
    let mut u = problem.map().written(&y, true).0;
    blocks.at.centre.add_to(&mut u);
    let (kept, exact) = (by_rows(&blocks.at.u, d, c), by_rows(&u, d, c));
    assert!(largest(kept, exact) < 1e-12);
    assert!(largest(blocks.at.square.as_ref(), product(exact.transpose(), exact).as_ref()) < 1e-11);
    // The projection of U/(μ + κ) from all of its singular values.
    let strength = blocks.at.centre.strength();
    let (left, mut sizes, right) = thin_svd(exact.to_owned()).unwrap();
    sizes.iter_mut().for_each(|size| *size /= strength);
    let of = |theta: f64| sizes.iter().map(|size| (size - theta).max(0.0)).sum::<f64>();
    let (mut low, mut high) = (0.0, sizes[0]);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if of(middle) > problem.radius() { low = middle } else { high = middle }
    }
    let theta = if of(0.0) > problem.radius() { high } else { 0.0 };
    let mut left = left;
    for (j, size) in sizes.iter().enumerate() {
        let left = left.col_as_slice_mut(j).iter_mut();
        left.for_each(|x| *x *= (size - theta).max(0.0));
    }
    let projected = product(left.as_ref(), right.transpose());
    let x = blocks.written();
    assert!(largest(by_rows(&x, d, c), projected.as_ref()) < 1e-8 * problem.radius());
}

fn dual<M: Map, L: Losses>(problem: &BallProblem<M, L>, alpha: &[f64]) -> f64 {
    problem.dual(alpha, &Proving::default()).unwrap().value.value
}

/// Runs a few passes without a centre, and some with one.
fn walk<L: Losses>(rows: &Rows, losses: L, mu: f64, radius: f64) {
    let map = Features::new(rows, losses.outputs()).unwrap();
    let problem = BallProblem::new(map, losses, mu, radius, None).unwrap();
    let size = block_size(&problem).expect("as many rows as blocks need");
    let mut blocks = Blocks::<L::Scratch>::new(&problem, size, 1).unwrap();
    let mut before = dual(&problem, &blocks.at.alpha);
    while blocks.at.passes < 3 {
        blocks.step(&problem, &never).unwrap();
        let after = dual(&problem, &blocks.at.alpha);
        assert!(after >= before - 1e-9 * before.abs().max(1.0), "{before} fell to {after}");
        before = after;
    }
    check(&problem, &blocks);
    blocks.recentre(&problem, 0.1).unwrap();
    assert!(blocks.at.centre.is_set());
    check(&problem, &blocks);
    while blocks.at.passes < REFRESH + 2 {
        blocks.step(&problem, &never).unwrap();
    }
    check(&problem, &blocks);
    let x = blocks.iterate(&problem, None).unwrap();
    let (d, c) = problem.map().shape();
    let (made, written) = (x.to_dense(), blocks.written());
    assert!(largest(by_rows(&made, d, c), by_rows(&written, d, c)) < 1e-9 * radius);
}

#[test]
fn what_is_kept_is_what_alpha_makes_and_the_dual_rises() {
    for sparse in [false, true] {
        let rows = rows(300, 6, sparse);
        let mut random = Random::new(2);
        let targets: Vec<f64> = (0..900).map(|_| random.unit() - 0.3).collect();
        let signs: Vec<f64> = targets.iter().map(|y| 1_f64.copysign(*y)).collect();
        for radius in [0.3, 4.0, 1e3] {
            let squared = PerOutput::new(ScalarLoss::Squared, targets.clone(), 3).unwrap();
            walk(&rows, squared, 0.003, radius);
            let hinge = ScalarLoss::SmoothHinge { width: 0.5 };
            walk(&rows, PerOutput::new(hinge, signs.clone(), 3).unwrap(), 0.003, radius);
            let labels: Vec<u32> = (0..300).map(|i| (targets[i] * 4.0).abs() as u32).collect();
            let softmax =
                ClassLosses::new(MulticlassLoss::Softmax, &labels, 3, &crate::term::Costs::ZeroOne);
            walk(&rows, softmax.unwrap(), 0.003, radius);
        }
    }
}

// All rows are equal, so every example of a block asks for the same move, and their sum is too long by the block size.
// A few blocks are then enough for ς to adapt, and the dual falls by rounding only.
#[test]
fn a_step_that_goes_too_far_is_shortened_and_the_pull_is_learnt() {
    let rows = Rows::dense(&vec![vec![1.0, 2.0]; 400]).unwrap();
    let losses = PerOutput::new(ScalarLoss::Squared, [3.0, -1.0].repeat(400), 2).unwrap();
    let map = Features::new(&rows, 2).unwrap();
    let problem = BallProblem::new(map, losses, 1e-4, 1e3, None).unwrap();
    let mut blocks = Blocks::<()>::new(&problem, 20, 0).unwrap();
    let mut before = dual(&problem, &blocks.at.alpha);
    for _ in 0..5 {
        blocks.step(&problem, &never).unwrap();
        let after = dual(&problem, &blocks.at.alpha);
        assert!(after >= before - 1e-10, "{before} fell to {after}");
        before = after;
    }
    assert!(blocks.at.shortened > 0);
    assert!(blocks.at.pull > 10.0, "twenty pull as one, and are taken for {}", blocks.at.pull);
    check(&problem, &blocks);
}

#[test]
fn where_gaps_fall_slowly_it_goes_around_a_centre_and_where_the_dual_falls_for_longer() {
    let rows = rows(300, 6, false);
    let losses = PerOutput::new(ScalarLoss::Logistic, [1.0, -1.0].repeat(300), 2).unwrap();
    let map = Features::new(&rows, 2).unwrap();
    let problem = BallProblem::new(map, losses, 1e-6, 1e3, None).unwrap();
    let mut blocks = Blocks::<()>::new(&problem, 4, 0).unwrap();
    while blocks.at.passes < 3 {
        blocks.step(&problem, &never).unwrap();
    }
    let best = LowRank::zero(6, 2);
    let told =
        |gap| Told { gap, fell: true, best: (&best, &[]), x: &best, a: &[], alpha: &[], dual: &() };
    blocks.certified(&problem, told(1.0)).unwrap();
    blocks.certified(&problem, told(0.5 * SLOW)).unwrap();
    assert!(!blocks.at.centre.is_set() && blocks.at.round == 1);
    blocks.certified(&problem, told(0.4 * SLOW)).unwrap();
    assert!(blocks.at.centre.is_set() && blocks.at.round == 1);
    for _ in 0..9 {
        blocks.certified(&problem, told(0.1 * SLOW)).unwrap();
    }
    assert_eq!(blocks.at.round, LONGEST);
}

#[test]
fn what_a_step_touches_does_not_grow_with_the_number_of_features() {
    let touched = |d: usize| {
        let mut rows = Rows::sparse();
        for i in 0..400 {
            let at = |k: usize| ((i * 7 + k * (d / 4)) % d) as u32;
            let mut entries: Vec<(u32, f64)> = (0..4).map(|k| (at(k), 1.0 + k as f64)).collect();
            entries.sort_unstable_by_key(|entry| entry.0);
            rows.push_sparse(&entries);
        }
        rows.fit_width(d);
        let losses = PerOutput::new(ScalarLoss::Squared, [1.0, -1.0].repeat(400), 2).unwrap();
        let map = Features::new(&rows, 2).unwrap();
        let problem = BallProblem::new(map, losses, 0.1, 1e3, None).unwrap();
        let mut blocks = Blocks::<()>::new(&problem, 20, 0).unwrap();
        // All of the first pass, before shrinking skips an example.
        for _ in 0..20 {
            blocks.step(&problem, &never).unwrap();
        }
        assert_eq!(blocks.at.passes, 1);
        let pass = 3 * rows.stored() as u64;
        let block = 20 * 4;
        assert_eq!(blocks.at.touched.entries, pass + block * blocks.at.shortened);
        (blocks.at.touched.selected - d as u64 * 2, blocks.at.shortened)
    };
    // Each projection decomposes a two by two matrix: one at the start of the pass, one per step, and one per shortened
    // step.
    for d in [40, 400, 40_000] {
        let (selected, shortened) = touched(d);
        assert_eq!(selected, 4 * (1 + 20 + shortened));
    }
}

#[test]
fn blocks_are_for_many_rows_and_few_outputs() {
    let size = |n: usize, d: usize, c: usize, scale: f64| {
        let rows = Rows::dense(&vec![vec![scale; d]; n]).unwrap();
        let losses = PerOutput::new(ScalarLoss::Squared, vec![0.0; n * c], c).unwrap();
        let map = Features::new(&rows, c).unwrap();
        block_size(&BallProblem::new(map, losses, 0.1, 1.0, None).unwrap())
    };
    let small = size(4000, 8, 3, 1.0).unwrap();
    assert!(size(4000, 8, 12, 1.0).unwrap() > small, "more outputs, a dearer projection");
    assert_eq!(size(small * FEWEST_BLOCKS - 1, 8, 3, 1.0), None);
    assert_eq!(size(4000, 8, 200, 1.0), None);
    assert_eq!(size(4000, 8, 3, 1e80), None);
    assert_eq!(size(4000, 8, 3, 0.0), None);
}

#[test]
fn a_place_that_is_none_of_this_problem_is_refused_and_huge_counts_do_no_harm() {
    let rows = rows(300, 6, false);
    let problem = |mu: f64| {
        let losses = PerOutput::new(ScalarLoss::Squared, [1.0, -1.0].repeat(300), 2).unwrap();
        BallProblem::new(Features::new(&rows, 2).unwrap(), losses, mu, 3.0, None).unwrap()
    };
    let other = Blocks::<()>::new(&problem(0.02), 4, 0).unwrap().at;
    let problem = problem(0.0);
    let mut blocks = Blocks::<()>::new(&problem, 4, 0).unwrap();
    for _ in 0..100 {
        blocks.step(&problem, &never).unwrap();
    }
    let kept = postcard::to_stdvec(&blocks.at).unwrap();
    let mut resumes = |spoil: &dyn Fn(&mut Place)| {
        let mut place: Place = postcard::from_bytes(&kept).unwrap();
        spoil(&mut place);
        blocks.resume(&problem, place).unwrap()
    };
    let spoilers: [&dyn Fn(&mut Place); 13] = [
        &|at| at.alpha.truncate(9),
        &|at| at.alpha[3] = f64::NAN,
        &|at| at.u.push(0.0),
        &|at| at.u[0] = f64::INFINITY,
        &|at| at.square = dualgap_dense::Mat::zeros(3, 3),
        &|at| at.spread = dualgap_dense::Mat::zeros(1, 1),
        &|at| at.centre = other.centre.clone(),
        &|at| at.shrinking = crate::ball::shrinking::Shrinking::new(299, 0),
        &|at| at.round = 0,
        &|at| at.round = LONGEST + 1,
        &|at| at.pull = 0.0,
        &|at| at.pull = 4.5,
        &|at| at.pull = f64::NAN,
    ];
    for (k, spoil) in spoilers.into_iter().enumerate() {
        assert!(!resumes(spoil), "{k}");
    }
    assert!(resumes(&|at| {
        (at.passes, at.shortened, at.rank, at.gap) = (u64::MAX, u64::MAX, 9, f64::NAN);
        at.touched = Touched { entries: u64::MAX, selected: u64::MAX };
    }));
    for _ in 0..100 {
        blocks.step(&problem, &never).unwrap();
    }
    // Numbers whose squares overflow end the run with an error, and not with a panic.
    blocks.at.u.fill(1e200);
    assert!(blocks.begin_pass(&problem).is_err());
}
