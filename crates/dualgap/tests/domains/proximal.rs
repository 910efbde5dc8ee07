//! Algorithm C.1: uniform coordinate descent with proximal steps.

use crate::domains::quadratics::Quadratic;
use dualgap::dual::{Algorithm, Sampling};
use dualgap::methods::product::{
    FrankWolfe, Objective, Point, Product, ProductSettings, Simplex, Target, minimise,
};
use dualgap::run::{Budget, Stop};

const SIZES: [usize; 4] = [3; 4];

fn proximal(sampling: Sampling) -> ProductSettings {
    ProductSettings { target: Target::Proximal, sampling, ..ProductSettings::default() }
}

/// The point of the simplex that is nearest to x: of all faces, the one whose affine projection is inside and nearest.
fn nearest(x: &[f64; 3]) -> [f64; 3] {
    let mut best = ([0.0; 3], f64::INFINITY);
    for face in 1_u8..8 {
        let is_in = |j: usize| face & 1 << j != 0;
        let (count, sum) = (0..3)
            .filter(|&j| is_in(j))
            .fold((0.0, 0.0), |(count, sum), j| (count + 1.0, sum + x[j]));
        let place = |j: usize| if is_in(j) { x[j] + (1.0 - sum) / count } else { 0.0 };
        let point = [place(0), place(1), place(2)];
        let distance: f64 = point.iter().zip(x).map(|(a, b)| (a - b) * (a - b)).sum();
        if point.iter().all(|&p| p >= 0.0) && distance < best.1 {
            best = (point, distance);
        }
    }
    best.0
}

// The lines of the algorithm, in the order of a cycle so that both take the same blocks.
#[test]
fn steps_are_those_of_a_transcription() {
    for seed in 0..4 {
        let quadratic = Quadratic::random(seed, 12, 5);
        let problem = quadratic.clone().over(&SIZES);
        let mut solver = FrankWolfe::new(&problem, &proximal(Sampling::Cyclic)).unwrap();
        let mut x = solver.point().coordinates().to_vec();
        for k in 0..40 {
            let i = k % SIZES.len();
            let lipschitz = quadratic.lipschitz(i).unwrap();
            let gradient = |j: usize| -> f64 {
                quadratic.q[j].iter().zip(&x).map(|(a, x)| a * x).sum::<f64>() + quadratic.linear[j]
            };
            let free = [0, 1, 2].map(|j| x[3 * i + j] - gradient(3 * i + j) / lipschitz);
            x[3 * i..3 * i + 3].copy_from_slice(&nearest(&free));
            let taken = solver.step().unwrap();
            assert_eq!(taken.gamma, 1.0);
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            assert!(x.iter().zip(solver.point().coordinates()).all(close), "step {k}");
        }
    }
}

// Frank-Wolfe zigzags where the optimum is on a face; proximal steps do not, so many digits are within reach.
#[test]
fn clarabel_s_optimum_is_certified_to_many_digits() {
    for seed in 0..4 {
        let quadratic = Quadratic::random(seed, 12, 12);
        let optimum = quadratic.minimum(&SIZES);
        let problem = quadratic.over(&SIZES);
        let budget = Budget { absolute: Some(1e-8), ..Budget::passes(20_000) };
        let report = minimise(&problem, &proximal(Sampling::Uniform), &budget, &mut ()).unwrap();
        assert_eq!(report.stop, Stop::GapReached, "{:?}", report.certificate);
        assert!((report.certificate.primal - optimum).abs() < 2e-8, "{:?}", report.certificate);
    }
}

#[test]
fn f_never_rises_and_a_constant_that_is_too_small_can_make_it_rise() {
    struct Bold<'q>(&'q Quadratic);
    impl Objective for Bold<'_> {
        fn value(&self, at: &Point) -> dualgap::linalg::Measured {
            self.0.value(at)
        }
        fn gradient(&self, at: &Point, block: usize, out: &mut [f64]) -> f64 {
            self.0.gradient(at, block, out)
        }
        fn lipschitz(&self, block: usize) -> Option<f64> {
            self.0.lipschitz(block).map(|l| l / 20.0)
        }
    }
    /// Whether f rises by a step, among a few.
    fn rises<F: Objective>(problem: &Product<F, Simplex>) -> bool {
        let mut solver = FrankWolfe::new(problem, &proximal(Sampling::Cyclic)).unwrap();
        let mut before = f64::INFINITY;
        (0..60).any(|_| {
            solver.step().unwrap();
            let value = problem.objective().value(solver.point()).value;
            value > std::mem::replace(&mut before, value) + 1e-12
        })
    }
    let mut bold_ones_rise = 0;
    for seed in 0..4 {
        let quadratic = Quadratic::random(seed, 12, 5);
        let simplices = vec![Simplex::new(3, 1.0).unwrap(); 4];
        assert!(!rises(&quadratic.clone().over(&SIZES)));
        let bold = Product::new(Bold(&quadratic), simplices).unwrap();
        bold_ones_rise += u32::from(rises(&bold));
    }
    assert!(bold_ones_rise > 0);
}

#[test]
fn what_a_proximal_step_lacks_is_refused() {
    struct Constant;
    impl Objective for Constant {
        fn value(&self, _: &Point) -> dualgap::linalg::Measured {
            dualgap::linalg::Measured::default()
        }
        fn gradient(&self, _: &Point, _: usize, out: &mut [f64]) -> f64 {
            out.fill(0.0);
            0.0
        }
    }
    let problem = Product::new(Constant, vec![Simplex::new(3, 1.0).unwrap()]).unwrap();
    let error = FrankWolfe::new(&problem, &proximal(Sampling::Uniform)).err().unwrap();
    assert!(error.to_string().contains("Lipschitz"), "{error}");
    let problem = Quadratic::random(1, 12, 3).over(&SIZES);
    let all = ProductSettings { method: Algorithm::Fw, ..proximal(Sampling::Uniform) };
    let error = FrankWolfe::new(&problem, &all).err().unwrap();
    assert!(error.to_string().contains("one block"), "{error}");
}
