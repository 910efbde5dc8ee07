//! Runs that are stopped in the middle of a step, judged by counted products with vectors and never by a clock.

use dualgap::ball::trace::{Map, Proving, Sampled};
use dualgap::ball::{
    BallMethod, BallProblem, BallSettings, PerOutput, TheoremConstants, train, train_from,
};
use dualgap::linalg::{LowRank, Operator, Random};
use dualgap::run::{Budget, InMemory, Interrupt, Stop};
use dualgap::term::ScalarLoss;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Entries of a matrix that count the products of steps, and raise a flag after so many of them.
struct Counting {
    map: Sampled,
    products: AtomicUsize,
    most: usize,
    interrupt: Interrupt,
}

impl Counting {
    fn new(map: Sampled, most: usize) -> Self {
        Self { map, products: AtomicUsize::new(0), most, interrupt: Interrupt::default() }
    }

    fn count(&self, width: usize) {
        if self.products.fetch_add(width, Ordering::Relaxed) + width >= self.most {
            self.interrupt.raise();
        }
    }
}

struct Counted<'a>(Box<dyn Operator + 'a>, &'a Counting);

impl Operator for Counted<'_> {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn columns(&self) -> usize {
        self.0.columns()
    }

    fn add_apply(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        self.1.count(width);
        self.0.add_apply(factor, x, width, out);
    }

    fn add_transposed(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        self.1.count(width);
        self.0.add_transposed(factor, x, width, out);
    }
}

impl Map for Counting {
    fn shape(&self) -> (usize, usize) {
        self.map.shape()
    }

    fn len(&self) -> usize {
        self.map.len()
    }

    fn outputs(&self) -> usize {
        1
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.map.squared_norm(i)
    }

    fn steepness(&self, masses: &[f64]) -> Option<f64> {
        self.map.steepness(masses)
    }

    fn products_per_certificate(&self) -> u64 {
        self.map.products_per_certificate()
    }

    fn predict(&self, x: &LowRank, a: &mut [f64]) {
        self.map.predict(x, a);
    }

    fn rounding(&self, x: &LowRank, off: &mut [f64]) {
        self.map.rounding(x, off);
    }

    fn image<'a>(&'a self, y: &'a [f64], products: usize) -> Box<dyn Operator + 'a> {
        Box::new(Counted(self.map.image(y, products), self))
    }

    fn predict_at(&self, x: &LowRank, i: usize, a: &mut [f64], buffer: &mut Vec<f64>) {
        self.map.predict_at(x, i, a, buffer);
    }

    fn image_at<'a>(&'a self, which: &'a [u32], y: &'a [f64]) -> Box<dyn Operator + 'a> {
        Box::new(Counted(self.map.image_at(which, y), self))
    }

    fn written(&self, y: &[f64], tight: bool) -> (Vec<f64>, f64) {
        self.map.written(y, tight)
    }

    fn bound(&self, y: &[f64]) -> f64 {
        self.map.bound(y)
    }
}

type Counts = BallProblem<Counting, PerOutput<ScalarLoss>>;

/// All entries of a matrix of this side with noise, whose many singular values fall slowly.
fn noisy(side: usize, most: usize) -> Counts {
    let mut random = Random::new(3);
    let places: Vec<(u32, u32)> =
        (0..side * side).map(|k| ((k / side) as u32, (k % side) as u32)).collect();
    let targets: Vec<f64> = places.iter().map(|_| 2.0 * random.unit() - 1.0).collect();
    let losses = PerOutput::new(ScalarLoss::Squared, targets, 1).unwrap();
    let map = Counting::new(Sampled::new(side, side, places).unwrap(), most);
    BallProblem::new(map, losses, 1e-6, side as f64 / 2.0, None).unwrap()
}

/// Five values on the diagonal, and nothing else: singular values in five clusters.
fn diagonal(side: usize) -> Counts {
    let places: Vec<(u32, u32)> = (0..side as u32).map(|i| (i, i)).collect();
    let targets: Vec<f64> = (0..side).map(|i| (i % 5) as f64 - 2.0).collect();
    let losses = PerOutput::new(ScalarLoss::Squared, targets, 1).unwrap();
    let map = Counting::new(Sampled::new(side, side, places).unwrap(), usize::MAX);
    BallProblem::new(map, losses, 0.01 / side as f64, 10.0, None).unwrap()
}

fn settings(method: BallMethod) -> BallSettings {
    BallSettings { method, ..BallSettings::default() }
}

fn ways() -> Vec<BallSettings> {
    let constants = TheoremConstants { s: Some(8), ..TheoremConstants::default() };
    let theorem = BallSettings { method: BallMethod::Pdbfw, constants, ..BallSettings::default() };
    let mut ways = vec![settings(BallMethod::Auto), theorem];
    ways.extend(BallMethod::LOW_RANK_BASELINES.map(settings));
    ways
}

#[test]
fn every_method_ends_soon_after_it_is_asked_to_within_a_step() {
    const SIDE: usize = 60;
    for way in ways() {
        // A round of a search: its block, there and back, and what it begins with.
        let round = 4 * SIDE;
        for most in [1, 40, 150] {
            let problem = noisy(SIDE, most);
            let interrupt = problem.map().interrupt.clone();
            let budget = Budget { relative: Some(0.0), interrupt, ..Budget::default() };
            let report = train(&problem, &way, &budget, &mut ()).unwrap();
            let products = problem.map().products.load(Ordering::Relaxed);
            assert_eq!(report.stop, Stop::Interrupted, "{way:?}");
            assert!(products >= most && products <= most + round, "{way:?}: {most} {products}");
            assert!(report.certificate.gap() >= -report.certificate.rounding_error);
        }
    }
}

#[test]
fn a_step_that_was_halted_leaves_no_mark_on_the_run_that_goes_on() {
    let passes = Budget { relative: Some(0.0), ..Budget::passes(6) };
    for way in &ways()[..2] {
        let problem = noisy(40, usize::MAX);
        let through = train(&problem, way, &passes, &mut ()).unwrap();
        let all = problem.map().products.load(Ordering::Relaxed);
        for most in [all / 20, all / 4, all / 2] {
            let (problem, mut memory) = (noisy(40, most), InMemory::default());
            let interrupt = problem.map().interrupt.clone();
            let budget = Budget { interrupt, ..passes.clone() };
            let cut = train_from(&problem, way, None, &budget, &mut (), Some(&mut memory));
            assert_eq!(cut.unwrap().stop, Stop::Interrupted);
            let problem = noisy(40, usize::MAX);
            let more = train_from(&problem, way, memory.last, &passes, &mut (), None).unwrap();
            assert_eq!(more.model, through.model, "{way:?} after {most}");
            assert_eq!(more.work, through.work);
        }
    }
}

#[test]
fn a_dual_value_that_is_cut_short_is_a_bound_all_the_same() {
    let problem = noisy(50, usize::MAX);
    let report =
        train(&problem, &BallSettings::default(), &Budget::relative(1e-6), &mut ()).unwrap();
    let alpha = &report.model.points;
    let whole = problem.dual(alpha, &Proving::default()).unwrap().value;
    for after in [0, 1, 2, 3, 5, 8, 13, 21, 34] {
        let looks = AtomicUsize::new(0);
        let halted = || looks.fetch_add(1, Ordering::Relaxed) >= after;
        let cut = problem.dual_until(alpha, &Proving::default(), &halted).unwrap().value;
        assert!(cut.value - cut.error <= whole.value + whole.error, "{after}: {cut:?} {whole:?}");
        assert!(cut.value.is_finite());
        let further = looks.load(Ordering::Relaxed).saturating_sub(after);
        assert!(further <= 16, "{further} looks after {after}");
    }
}

#[test]
fn all_of_many_equal_singular_values_are_proved() {
    let problem = diagonal(200);
    let y: Vec<f64> = (0..200).map(|i| f64::from(i % 5) - 2.0).collect();
    let proved = problem.dual(&y, &Proving::default()).unwrap().ball.unwrap();
    assert_eq!(proved.top.beyond().rank(), 80);
}

#[test]
fn a_few_steps_of_equal_singular_values_are_certified_before_many_are_taken() {
    let problem = diagonal(200);
    let report =
        train(&problem, &BallSettings::default(), &Budget::relative(0.01), &mut ()).unwrap();
    assert_eq!(report.stop, Stop::GapReached);
    // A step decomposes the whole matrix, as a certification does; counted by entries alone there would be ten steps.
    assert!(report.work.steps <= 2, "{:?}", report.work);
    let products = problem.map().products.load(Ordering::Relaxed);
    assert!(products <= 1500, "{products}");
}
