//! Runs that were interrupted go on, bit for bit, as if they never had been; and a memory of other bits is refused or
//! does no harm.

use crate::common::cases;
use crate::low_rank::Case;
use crate::low_rank::runs::{norm, phi};
use dualgap::Result;
use dualgap::ball::trace::Sampled;
use dualgap::ball::{
    BallMethod, BallProblem, BallSettings, PerOutput, TheoremConstants, train, train_from,
};
use dualgap::linalg::{LowRank, Random};
use dualgap::run::{Budget, Checkpoint, CheckpointSink, Report, Solution};
use dualgap::term::ScalarLoss;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// Keeps all that was put away, so many times a pass.
struct Drawer(u64, Vec<Checkpoint>);

impl CheckpointSink for Drawer {
    fn interval(&self, calls_per_pass: u64) -> u64 {
        calls_per_pass.div_ceil(self.0)
    }

    fn store(&mut self, checkpoint: Checkpoint) -> Result<()> {
        self.1.push(checkpoint);
        Ok(())
    }
}

/// What is solved, and how.
struct Variant {
    name: &'static str,
    data: Data,
    settings: BallSettings,
}

enum Data {
    Rows(Case, ScalarLoss),
    Classes(Case),
    /// Some entries of a matrix of this shape.
    Entries {
        shape: (usize, usize),
        places: Vec<(u32, u32)>,
        targets: Vec<f64>,
    },
}

const MU: f64 = 0.01;
const RADIUS: f64 = 3.0;

impl Variant {
    fn all() -> Vec<Self> {
        let search = BallSettings { seed: 5, ..BallSettings::default() };
        let constants = TheoremConstants { delta: Some(2.0), ..TheoremConstants::default() };
        let theorem = BallSettings { method: BallMethod::Pdbfw, constants, ..search };
        let few = |mu: f64| Case { mu, ..Case::random(1, 13, 5, 3) };
        let many = |mu: f64| Case { mu, ..Case::random(2, 350, 5, 3) };
        let of = |name, data, settings| Self { name, data, settings };
        vec![
            of("at once", Data::Rows(few(0.1), ScalarLoss::Squared), search),
            of("at once, without mu", Data::Rows(few(0.0), ScalarLoss::Logistic), search),
            of("blocks", Data::Rows(many(0.1), ScalarLoss::Squared), search),
            of("blocks, soon a centre", Data::Rows(many(1e-5), ScalarLoss::Logistic), search),
            of("blocks, a centre", Data::Rows(many(0.0), ScalarLoss::Squared), search),
            of("blocks of classes", Data::Classes(many(0.003)), search),
            of("theorem", Data::Rows(few(0.3), ScalarLoss::SmoothHinge { width: 0.5 }), theorem),
            of("entries", entries(7, 5, 20), search),
            of("entries of a large matrix", entries(70, 60, 900), search),
            of("entries by the theorem", entries(7, 5, 20), theorem),
        ]
    }

    fn run(
        &self,
        kept: Option<Checkpoint>,
        budget: &Budget,
        sink: Option<&mut dyn CheckpointSink>,
    ) -> Result<Report<Solution<f64, LowRank>>> {
        let settings = &self.settings;
        match &self.data {
            Data::Rows(case, loss) => {
                let rows = case.matrix();
                let problem = case.problem(&rows, *loss);
                train_from(&problem, settings, kept, budget, &mut (), sink)
            }
            Data::Classes(case) => {
                let rows = case.matrix();
                let problem = case.classes(&rows);
                train_from(&problem, settings, kept, budget, &mut (), sink)
            }
            Data::Entries { shape, places, targets } => {
                let map = Sampled::new(shape.0, shape.1, places.clone())?;
                let losses = PerOutput::new(ScalarLoss::Squared, targets.clone(), 1)?;
                let problem = BallProblem::new(map, losses, MU, RADIUS, None)?;
                train_from(&problem, settings, kept, budget, &mut (), sink)
            }
        }
    }

    /// μ and the radius.
    fn ball(&self) -> (f64, f64) {
        match &self.data {
            Data::Rows(case, _) | Data::Classes(case) => (case.mu, case.radius),
            Data::Entries { .. } => (MU, RADIUS),
        }
    }

    /// P by the formulas of the documentation, of the matrix written out.
    fn value(&self, x: &LowRank) -> f64 {
        let (entries, c) = (x.to_dense(), x.columns());
        let scores = |row: &[f64]| -> Vec<f64> {
            let score =
                |k: usize| row.iter().enumerate().map(|(j, a)| a * entries[j * c + k]).sum();
            (0..c).map(score).collect()
        };
        let mean = match &self.data {
            Data::Rows(case, loss) => {
                let targets = case.targets(*loss);
                let of = |(row, y): (&Vec<f64>, &[f64])| -> f64 {
                    scores(row).iter().zip(y).map(|(a, y)| phi(*loss, *a, *y).0).sum()
                };
                case.rows.iter().zip(targets.chunks(c)).map(of).sum::<f64>()
                    / case.rows.len() as f64
            }
            Data::Classes(case) => {
                let of = |(row, label): (&Vec<f64>, u32)| -> f64 {
                    let scores = scores(row);
                    let all = scores.iter().map(|a| a.exp()).sum::<f64>().ln();
                    all - scores[label as usize]
                };
                let n = case.rows.len() as f64;
                case.rows.iter().zip(case.labels()).map(of).sum::<f64>() / n
            }
            Data::Entries { places, targets, .. } => {
                let at = |&(i, j): &(u32, u32)| entries[i as usize * c + j as usize];
                let off = places.iter().zip(targets).map(|(place, y)| (at(place) - y).powi(2));
                off.sum::<f64>() / 2.0 / places.len() as f64
            }
        };
        mean + self.ball().0 / 2.0 * entries.iter().map(|x| x * x).sum::<f64>()
    }
}

/// Some places, one of them twice, and numbers that two directions explain in part.
fn entries(rows: usize, columns: usize, count: usize) -> Data {
    let mut random = Random::new(9);
    let mut places: Vec<(u32, u32)> =
        (0..count).map(|_| (random.below(rows) as u32, random.below(columns) as u32)).collect();
    places.push(places[0]);
    let number = |&(i, j): &(u32, u32)| {
        let sign = |k: u32| if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        2.0 * sign(i) * sign(j) + sign(i / 2)
    };
    let targets = places.iter().map(|place| number(place) + random.unit() - 0.5).collect();
    Data::Entries { shape: (rows, columns), places, targets }
}

fn assert_same(
    one: &Report<Solution<f64, LowRank>>,
    other: &Report<Solution<f64, LowRank>>,
    told: &str,
) {
    assert_eq!(one.model, other.model, "{told}");
    assert_eq!(one.certificate, other.certificate, "{told}");
    assert_eq!((one.work, &one.counters), (other.work, &other.counters), "{told}");
    assert_eq!(one.tactics, other.tactics, "{told}");
    let all = |report: &Report<_>| -> Vec<_> {
        report.history.iter().map(|p| (p.work, p.certificate, p.iterate_dual)).collect()
    };
    assert_eq!(all(one), all(other), "{told}");
}

#[test]
fn a_run_goes_on_from_any_checkpoint_bit_for_bit() {
    for variant in Variant::all() {
        let budget = Budget { passes: Some(60), ..Budget::relative(0.0) };
        let plain = variant.run(None, &budget, None).unwrap();
        let mut drawer = Drawer(2, Vec::new());
        let whole = variant.run(None, &budget, Some(&mut drawer)).unwrap();
        assert_same(&whole, &plain, variant.name);
        assert!(drawer.1.len() > 8, "{}: {}", variant.name, drawer.1.len());
        let step = drawer.1.len().div_ceil(25);
        for (k, kept) in drawer.1.into_iter().enumerate().filter(|(k, _)| k.is_multiple_of(step)) {
            let resumed = variant.run(Some(kept), &budget, None).unwrap();
            assert_same(&resumed, &plain, &format!("{} from {k}", variant.name));
        }
    }
}

#[test]
fn a_run_that_is_given_more_passes_again_and_again_is_the_run_that_had_them_from_the_start() {
    for variant in Variant::all() {
        let whole = variant.run(None, &Budget::passes(40), None).unwrap();
        let mut kept = None;
        for passes in [1, 2, 5, 9, 16, 40] {
            let mut drawer = Drawer(1, Vec::new());
            let report = variant.run(kept, &Budget::passes(passes), Some(&mut drawer)).unwrap();
            kept = drawer.1.pop();
            if passes == 40 {
                assert_same(&report, &whole, variant.name);
            }
        }
    }
}

#[test]
fn a_run_that_has_reached_its_gap_says_the_same_again_and_a_smaller_one_is_gone_on_to() {
    for variant in Variant::all() {
        let rough = Budget { passes: Some(2000), ..Budget::relative(0.05) };
        let fine = Budget { passes: Some(2000), ..Budget::relative(0.001) };
        let mut drawer = Drawer(1, Vec::new());
        let first = variant.run(None, &rough, Some(&mut drawer)).unwrap();
        let kept = drawer.1.pop();
        let again = variant.run(kept.clone(), &rough, None).unwrap();
        assert_same(&again, &first, variant.name);
        let whole = variant.run(None, &fine, None).unwrap();
        assert_same(&variant.run(kept, &fine, None).unwrap(), &whole, variant.name);
    }
}

/// A memory of one problem is none of another.
#[test]
fn a_memory_of_another_problem_is_refused() {
    let memory = |variant: &Variant| {
        let mut drawer = Drawer(1, Vec::new());
        variant.run(None, &Budget::passes(6), Some(&mut drawer)).unwrap();
        drawer.1.pop()
    };
    let all = Variant::all();
    for (k, one) in all.iter().enumerate() {
        let kept = memory(one);
        for (l, other) in all.iter().enumerate().filter(|(l, _)| *l != k) {
            // The same method on numbers of the same shape: whether it is the same run is for others to know.
            if matches!((k, l), (0 | 1, 0 | 1) | (2..=5, 2..=5)) {
                continue;
            }
            let run = other.run(kept.clone(), &Budget::passes(9), None);
            assert!(run.is_err(), "{} from {}", other.name, one.name);
        }
    }
}

#[test]
fn baselines_cannot_be_kept() {
    let case = Case::random(3, 12, 4, 3);
    let rows = case.matrix();
    let problem = case.problem(&rows, ScalarLoss::Squared);
    for method in BallMethod::LOW_RANK_BASELINES {
        let settings = BallSettings { method, ..BallSettings::default() };
        let (budget, mut drawer) = (Budget::passes(2), Drawer(1, Vec::new()));
        let run = train_from(&problem, &settings, None, &budget, &mut (), Some(&mut drawer));
        assert!(run.unwrap_err().to_string().contains("pdbfw"), "{method:?}");
        let kept = Some(Checkpoint::default());
        assert!(train_from(&problem, &settings, kept, &budget, &mut (), None).is_err());
        assert!(train(&problem, &settings, &budget, &mut ()).is_ok());
    }
}

/// The factors of a matrix as they are stored: rows, columns, U, s and V.
type Factors = (usize, usize, Vec<f64>, Vec<f64>, Vec<f64>);

/// What is stored of a run on all examples at once: one number or list after the other.
#[derive(Clone, Serialize, Deserialize)]
struct Memory {
    x: Factors,
    before: Factors,
    a: Vec<f64>,
    a_before: Vec<f64>,
    vectors: Option<Factors>,
    products: usize,
    tolerance: f64,
    t: f64,
    ell: f64,
    counts: (u64, u64, usize, (u64, u64)),
    best: (Factors, Vec<f64>),
    way: (f64, bool, usize, Option<Factors>),
    warm: Option<Factors>,
    owed: u64,
}

#[test]
fn a_memory_that_is_of_no_run_is_refused_and_counts_that_are_huge_do_no_harm() {
    let variant = &Variant::all()[0];
    let mut drawer = Drawer(1, Vec::new());
    variant.run(None, &Budget::passes(9), Some(&mut drawer)).unwrap();
    let Checkpoint { run: state, solver: bytes } = drawer.1.pop().unwrap();
    let memory: Memory = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(postcard::to_stdvec(&memory).unwrap(), bytes, "the mirror is another type");
    let run = |spoil: &dyn Fn(&mut Memory)| {
        let mut spoiled = memory.clone();
        spoil(&mut spoiled);
        let bytes = postcard::to_stdvec(&spoiled).unwrap();
        variant.run(
            Some(Checkpoint { run: state.clone(), solver: bytes }),
            &Budget::passes(15),
            None,
        )
    };
    assert!(run(&|_| {}).is_ok());
    let (turned, thin): (Factors, Factors) =
        ((3, 5, vec![], vec![], vec![]), (usize::MAX, 3, vec![], vec![], vec![]));
    // More terms than a matrix of 5 by 3 can have, all of them zero.
    let long: Factors = (5, 3, vec![0.0; 20], vec![0.0; 4], vec![0.0; 12]);
    let huge: Factors = (5, 3, vec![1e300; 5], vec![1e300], vec![1e300; 3]);
    for shape in [turned, thin, long] {
        assert!(run(&|memory| memory.x = shape.clone()).is_err());
        assert!(run(&|memory| memory.before = shape.clone()).is_err());
        assert!(run(&|memory| memory.vectors = Some(shape.clone())).is_err());
        assert!(run(&|memory| memory.best.0 = shape.clone()).is_err());
        assert!(run(&|memory| memory.way.3 = Some(shape.clone())).is_err());
        assert!(run(&|memory| memory.warm = Some(shape.clone())).is_err());
    }
    assert!(run(&|memory| memory.x = huge.clone()).is_err());
    assert!(run(&|memory| memory.best.0 = huge.clone()).is_err());
    for number in [f64::NAN, f64::INFINITY, -1.0, 0.0, 0.5] {
        assert!(run(&|memory| memory.tolerance = number).is_err());
        assert!(run(&|memory| memory.way.0 = number).is_err());
        assert!(run(&|memory| memory.t = number).is_err());
        assert!(number == 0.5 || run(&|memory| memory.ell = number).is_err());
        assert!(number.is_finite() || run(&|memory| memory.a[1] = number).is_err());
        assert!(number.is_finite() || run(&|memory| memory.best.1[1] = number).is_err());
    }
    assert!(run(&|memory| memory.t = 1e9).is_err());
    assert!(run(&|memory| memory.owed = u64::MAX).is_err());
    for shorten in [
        |memory: &mut Memory| memory.a.truncate(1),
        |memory: &mut Memory| memory.a_before.clear(),
        |memory: &mut Memory| memory.best.1.push(0.0),
    ] {
        assert!(run(&shorten).is_err());
    }
    // These may be anything; the last vectors may be those of nothing.
    let best = variant.value(&run(&|_| {}).unwrap().model.weights);
    let most = (u64::MAX, u64::MAX, usize::MAX, (u64::MAX, u64::MAX));
    let harmless: [&dyn Fn(&mut Memory); 6] = [
        &|memory| memory.counts = most,
        &|memory| memory.products = usize::MAX,
        &|memory| memory.way.2 = usize::MAX,
        &|memory| memory.warm = Some(huge.clone()),
        &|memory| memory.vectors = Some(huge.clone()),
        &|memory| memory.a.fill(f64::MAX),
    ];
    for spoil in harmless {
        if let Ok(report) = run(spoil) {
            assert_eq!(holds(variant, &report, best + 1e-3), Ok(()));
        }
    }
}

/// Whether a certificate holds, by the formulas: of the weights it is about, and beside the value of a better X.
fn holds(
    variant: &Variant,
    report: &Report<Solution<f64, LowRank>>,
    best: f64,
) -> Result<(), String> {
    let (c, value) = (report.certificate, variant.value(&report.model.weights));
    let inside = norm(&report.model.weights) <= variant.ball().1 * (1.0 + 1e-13);
    let fair = (value - c.primal).abs() <= c.rounding_error + 1e-12 * value.abs();
    let below = c.dual <= best + c.rounding_error + 1e-12;
    if inside && fair && below { Ok(()) } else { Err(format!("{value} {best} {c:?}")) }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn a_memory_of_other_bits_is_refused_or_does_no_harm(
        which in 0..Variant::all().len(),
        passes in 1..12_u64,
        flips in prop::collection::vec((0.0..1.0_f64, 0..8_u8), 1..4),
        cut in 0.0..1.0_f64,
    ) {
        let variant = &Variant::all()[which];
        let mut drawer = Drawer(1, Vec::new());
        let clean = variant.run(None, &Budget::passes(passes), Some(&mut drawer)).unwrap();
        let best = variant.value(&clean.model.weights);
        prop_assert_eq!(holds(variant, &clean, best), Ok(()));
        let Checkpoint { run: state, solver: mut bytes } = drawer.1.pop().unwrap();
        let part = bytes[..(cut * bytes.len() as f64) as usize].to_vec();
        let budget = Budget::passes(20);
        let at = |solver| Some(Checkpoint { run: state.clone(), solver });
        prop_assert!(variant.run(at(part), &budget, None).is_err(), "cut off");
        for (place, bit) in flips {
            let at = (place * bytes.len() as f64) as usize;
            bytes[at] ^= 1 << bit;
        }
        let Ok(report) = variant.run(at(bytes), &budget, None) else { return Ok(()) };
        prop_assert_eq!(holds(variant, &report, best), Ok(()), "{}", variant.name);
    }
}
