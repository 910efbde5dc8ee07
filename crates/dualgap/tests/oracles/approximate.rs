//! Approximate oracles: what a certificate rests on is what the oracle said, the numbers follow from it, and a claim that
//! the run itself refutes is an error that names the example.

use super::weak::{DIM, Says, Weak, data, examples, task};
use dualgap::dual::{
    self, Algorithm, Engine, Joined, PrimalValue, Problem, Sampling, Settings, Step,
};
use dualgap::linalg::Measured;
use dualgap::run::{Basis, Budget, Certificate, InMemory, Quota, Solver, Stop};
use dualgap::structure::{Oracle, OracleBlocks, OwnStructure, Remark, RemarkKind};
use dualgap::task::{DualEvidence, DualMethod, Keep, Model, Plan, RawModel, Resume};
use dualgap::term::L2;
use dualgap::{Error, Result};

/// Large enough that the first steps do not put all weights beyond where a blind oracle sees.
const LAMBDA: f64 = 0.5;

fn train(oracle: &Weak, settings: &Settings, budget: &Budget) -> Result<Certificate> {
    let examples = examples(1, 20);
    let blocks = OracleBlocks::new(oracle, &examples)?;
    let settings = Settings { lambda: LAMBDA, threads: 1, ..settings.clone() };
    Ok(dual::train(&blocks, &settings, budget, &mut ())?.certificate)
}

/// The two sides of a certificate at the weights of a dual point, in the words of this oracle. The point is that of a run
/// with an exact one.
fn sides(says: Says, passes: u64) -> (PrimalValue, Measured) {
    let examples = examples(1, 20);
    let exact = Weak::honest(Says::Best);
    let blocks = OracleBlocks::new(&exact, &examples).unwrap();
    let settings = Settings { lambda: LAMBDA, threads: 1, ..Settings::plain() };
    let report = dual::train(&blocks, &settings, &Budget::passes(passes), &mut ()).unwrap();
    let points = report.model.points;
    let oracle = Weak::honest(says);
    let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
    let problem = Problem::new(&blocks, L2, LAMBDA, None).unwrap();
    let dual = problem.dual(&points).unwrap();
    (problem.primal_at(&dual.v, &points).unwrap(), dual.value)
}

#[test]
fn the_gap_of_a_promised_share_is_the_exact_gap_divided_by_it() {
    for passes in [0, 1, 2, 5] {
        let (exact, dual) = sides(Says::Best, passes);
        assert_eq!((exact.certified, exact.basis), (true, Basis::Exact));
        let gap = exact.value.value - dual.value;
        for nu in [1.0, 0.5, 0.1] {
            let (promised, _) = sides(Says::Share(nu), passes);
            assert_eq!((promised.certified, promised.basis), (true, Basis::Multiplicative(nu)));
            let (value, error) = (promised.value.value, promised.value.error);
            let off = (value - dual.value - gap / nu).abs();
            assert!(off <= error + (exact.value.error + dual.error) / nu, "{off:e} {promised:?}");
            assert!(error < 1e-12, "{promised:?}");
        }
    }
}

#[test]
fn a_promised_amount_is_added_to_the_primal_value() {
    let (exact, _) = sides(Says::Best, 2);
    for delta in [0.0, 0.25] {
        for (says, basis) in
            [(Says::Missing(delta), Basis::Additive(delta)), (Says::AtMost(delta), Basis::Bounds)]
        {
            let (found, _) = sides(says, 2);
            assert_eq!((found.certified, found.basis), (true, basis));
            let off = (found.value.value - exact.value.value - delta).abs();
            assert!(off <= 1e-12, "{found:?} {exact:?}");
        }
    }
    assert!(!sides(Says::Nothing, 2).0.certified);
}

/// Algorithm C.2 with predefined steps, written out over all outputs.
fn literal(nu: f64, n: usize, steps: usize, sampled: impl Fn(usize) -> Vec<usize>) -> Vec<f64> {
    let examples = &examples(1, 20)[..n];
    let oracle = Weak::honest(Says::Best);
    let psi = |i: usize, y: u8| {
        let mut psi = vec![0.0; DIM];
        let (x, truth) = &examples[i];
        oracle.features(x, truth, &mut psi);
        let mut phi = vec![0.0; DIM];
        oracle.features(x, &y, &mut phi);
        psi.iter().zip(phi).map(|(a, b)| (a - b) / (LAMBDA * n as f64)).collect::<Vec<f64>>()
    };
    let mut blocks = vec![vec![0.0; DIM]; n];
    for k in 0..steps {
        let w: Vec<f64> = (0..DIM).map(|j| blocks.iter().map(|w| w[j]).sum()).collect();
        let moved = sampled(k);
        // In batch Frank-Wolfe one step moves every block, and its n is one.
        let n = if moved.len() == n { 1.0 } else { n as f64 };
        let gamma = 2.0 * n / (nu * k as f64 + 2.0 * n);
        for i in moved {
            let (x, truth) = &examples[i];
            let y = oracle.decode(&w, x, Some(truth), &mut ()).unwrap().output;
            let corner = psi(i, y);
            blocks[i].iter_mut().zip(corner).for_each(|(w, s)| *w = (1.0 - gamma) * *w + gamma * s);
        }
    }
    (0..DIM).map(|j| blocks.iter().map(|w| w[j]).sum()).collect()
}

#[test]
fn predefined_steps_are_two_n_over_nu_k_plus_two_n() {
    for nu in [1.0, 0.6, 0.2] {
        let oracle = Weak::honest(Says::Share(nu));
        for (method, steps) in
            [(Algorithm::Bcfw, 20), (Algorithm::Bcfw, 80), (Algorithm::Fw, 1), (Algorithm::Fw, 7)]
        {
            let examples = examples(1, 20);
            let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
            let (step, sampling) = (Step::Predefined, Sampling::Cyclic);
            let settings = Settings {
                lambda: LAMBDA,
                method,
                step,
                sampling,
                threads: 1,
                ..Settings::plain()
            };
            // The best pair may be an older one, so the engine itself is asked.
            let sampled = |k: usize| match method {
                Algorithm::Bcfw => vec![k % 20],
                _ => (0..20).collect(),
            };
            let expected = literal(nu, 20, steps, sampled);
            let found = iterate(&blocks, &settings, steps);
            let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-12, "{off:e} after {steps} steps of {method:?} with {nu}");
        }
    }
}

/// The weights of the engine after so many steps, whatever their value is.
fn iterate(blocks: &OracleBlocks<'_, Weak>, settings: &Settings, steps: usize) -> Vec<f64> {
    fn quota(steps: usize) -> Quota<'static> {
        Quota { oracle_calls: u64::MAX, steps: steps as u64, pause: u64::MAX, halted: &|| false }
    }
    if settings.method == Algorithm::Bcfw {
        let problem = Problem::new(blocks, L2, settings.lambda, None).unwrap();
        let mut engine = Engine::new(problem, settings).unwrap();
        engine.advance(&quota(steps)).unwrap();
        return engine.weights();
    }
    let joined = Joined::new(blocks, None).unwrap();
    let problem = Problem::new(&joined, L2, settings.lambda, None).unwrap();
    let mut engine = Engine::new(problem, settings).unwrap();
    engine.advance(&quota(steps)).unwrap();
    engine.weights()
}

#[test]
fn promises_out_of_range_are_refused() {
    for says in [
        Says::Share(0.0),
        Says::Share(-1.0),
        Says::Share(1.1),
        Says::Share(f64::NAN),
        Says::Missing(-0.1),
        Says::Missing(f64::INFINITY),
    ] {
        let error = train(&Weak::honest(says), &Settings::default(), &Budget::passes(1));
        assert!(matches!(error, Err(Error::Setting { .. })), "{says:?}");
    }
}

/// What an oracle that has gone blind is accused of.
fn caught(says: Says, settings: &Settings) -> (usize, String) {
    match train(&Weak::blind(says), settings, &Budget::passes(40)) {
        Err(Error::Oracle { example, message }) => (example, message),
        other => panic!("{says:?}: {other:?}"),
    }
}

#[test]
fn an_oracle_that_calls_a_bad_output_the_best_is_caught_by_the_outputs_it_found_before() {
    for settings in [
        Settings::default(),
        Settings::plain(),
        Settings { method: Algorithm::Bcfw, batch: 4, ..Settings::plain() },
    ] {
        let (example, message) = caught(Says::Best, &settings);
        assert!(example < 20 && message.contains("called the best"), "{message}");
        let (_, message) = caught(Says::AtMost(0.01), &settings);
        assert!(message.contains("bound it gave"), "{message}");
        let (_, message) = caught(Says::Missing(0.01), &settings);
        assert!(message.contains("miss no more than 0.01"), "{message}");
        let (_, message) = caught(Says::Share(0.5), &settings);
        assert!(message.contains("0.5 of the largest gap"), "{message}");
    }
    // Who claims nothing cannot be wrong.
    let c = train(&Weak::blind(Says::Nothing), &Settings::default(), &Budget::passes(40)).unwrap();
    assert!(!c.certified);
    // Nor does anybody who promises little enough.
    train(&Weak::blind(Says::Missing(100.0)), &Settings::default(), &Budget::passes(5)).unwrap();
}

// Not only steps look: the weights of a model are compared with what its witness knows.
#[test]
fn certification_catches_what_steps_do_not_reach() {
    let data = data(2, 15);
    let honest = task(Weak::honest(Says::Best), LAMBDA);
    let model = honest.fit(&data, Plan::new(Budget::relative(1e-3))).unwrap().model;
    let mut lying = model.clone();
    lying.task = task(Weak::blind(Says::Best), LAMBDA);
    assert!(model.certify(&data).is_ok());
    assert!(matches!(lying.certify(&data), Err(Error::Oracle { .. })));
    // Batch Frank-Wolfe does not compare on its way; the model that it ends with is.
    let method = DualMethod { solver: Algorithm::Fw, ..DualMethod::plain() };
    let plan = Plan { method: method.into(), ..Plan::new(Budget::passes(10)) };
    assert!(task(Weak::blind(Says::Best), LAMBDA).fit(&data, plan).is_err());
}

fn fit(says: Says) -> Model<OwnStructure<Weak>> {
    task(Weak::honest(says), LAMBDA).fit(&data(3, 15), Plan::new(Budget::passes(30))).unwrap().model
}

#[test]
fn a_file_says_what_its_certificate_rests_on_and_is_held_to_it() {
    let data = data(3, 15);
    for (says, certified, basis) in [
        (Says::Best, true, Basis::Exact),
        (Says::AtMost(0.1), true, Basis::Bounds),
        (Says::Missing(0.1), true, Basis::Additive(0.1)),
        (Says::Share(0.5), true, Basis::Multiplicative(0.5)),
        (Says::Nothing, false, Basis::Exact),
    ] {
        let model = fit(says);
        assert_eq!((model.certificate.certified, model.certificate.basis), (certified, basis));
        let bytes = model.to_bytes().unwrap();
        let raw = RawModel::from_bytes(bytes.clone()).unwrap();
        assert_eq!((raw.certificate().certified, raw.certificate().basis), (certified, basis));
        let stored = Model::<OwnStructure<Weak>>::from_bytes(&bytes).unwrap();
        let verified = stored.certify(&data).unwrap();
        assert_eq!(
            (verified.certificate.certified, verified.certificate.basis),
            (certified, basis)
        );
        assert_eq!(verified.evidence, DualEvidence::Witness);
        let remark = Remark::on_basis(&verified.certificate).map(|remark| remark.kind);
        let expected = match says {
            Says::Best | Says::AtMost(_) => None,
            Says::Nothing => Some(RemarkKind::Uncertified),
            Says::Missing(_) | Says::Share(_) => Some(RemarkKind::Promise),
        };
        assert_eq!(remark, expected);
        for claimed in
            [Basis::Exact, Basis::Bounds, Basis::Additive(0.1), Basis::Multiplicative(0.5)]
        {
            for whether in [true, false] {
                let mut forged = stored.clone();
                (forged.certificate.basis, forged.certificate.certified) = (claimed, whether);
                let same = (claimed, whether) == (basis, certified);
                assert_eq!(forged.certify(&data).is_ok(), same, "{says:?} {claimed:?} {whether}");
            }
        }
        assert_eq!(model.reach(&data).unwrap().certified, certified);
        assert_eq!(model.reach(&data).unwrap().certificate(LAMBDA).unwrap().basis, basis);
    }
}

#[test]
fn without_its_witness_a_promised_share_proves_nothing() {
    let data = data(3, 15);
    let model = Model { witness: None, ..fit(Says::Share(0.5)) };
    let verified = model.certify(&data).unwrap();
    assert!(!verified.certificate.certified && verified.evidence == DualEvidence::Word);
    let mut forged = model.clone();
    forged.certificate.primal = 0.5 * verified.certificate.primal;
    assert!(forged.certify(&data).is_err(), "what was found is above this bound");
    let additive = Model { witness: None, ..fit(Says::Missing(0.1)) };
    assert!(additive.certify(&data).unwrap().certificate.certified);
}

#[test]
fn a_run_on_a_promise_resumes_bit_for_bit_and_reaches_its_tolerance() {
    let data = data(4, 15);
    let task = task(Weak::honest(Says::Share(0.5)), LAMBDA);
    let whole = task.fit(&data, Plan { threads: 1, ..Plan::new(Budget::passes(12)) }).unwrap();
    let mut memory = InMemory::default();
    let kept = Plan {
        threads: 1,
        checkpoints: Some(Keep::Sink(&mut memory)),
        ..Plan::new(Budget::passes(5))
    };
    task.fit(&data, kept).unwrap();
    let resume = memory.last.map(Resume::Checkpoint);
    let again = Plan { threads: 1, resume, ..Plan::new(Budget::passes(12)) };
    let resumed = task.fit(&data, again).unwrap();
    assert_eq!(resumed.model.weights, whole.model.weights);
    assert_eq!(resumed.certificate, whole.certificate);
    let tight = task.fit(&data, Plan::new(Budget::relative(1e-4))).unwrap();
    assert_eq!(tight.stop, Stop::GapReached);
    let exact = super::weak::task(Weak::honest(Says::Best), LAMBDA);
    let exact = exact.fit(&data, Plan::new(Budget::relative(1e-6))).unwrap().certificate;
    let c = tight.certificate;
    assert!(c.dual <= exact.primal + 1e-12 && exact.dual <= c.primal + 1e-12, "{c:?} {exact:?}");
}
