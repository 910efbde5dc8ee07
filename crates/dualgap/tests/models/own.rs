//! A structure of a user's own: an ordinal output, whose mistakes cost as much as they are far off. The built-in
//! multiclass structure solves the same problem by other blocks, given the costs as a matrix.

use dualgap::data::{ClassWeights, Examples, Folds, Format, Recipe, Scaling, Sink, Source};
use dualgap::dual::Witness;
use dualgap::linalg::{Accumulate, Random};
use dualgap::run::{Budget, InMemory, Interval, Report, Stop, Tolerance};
use dualgap::structure::evaluation::Evaluation;
use dualgap::structure::{
    Bound, Decoded, Extent, Multiclass, Oracle, OwnExamples, OwnOracle, OwnStructure, Structure,
};
use dualgap::task::{
    Checkpoints, DualEvidence, DualMethod, Ending, Keep, Model, PathPlan, Plan, RawModel, Registry,
    Request, Resume, Task, TrialPlan,
};
use dualgap::term::{Costs, Penalty};
use dualgap::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A place on a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Rank(u16);

/// So many features, and so many places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Ordinal {
    features: usize,
    ranks: u16,
}

impl Oracle for Ordinal {
    type Input = Vec<f64>;
    type Output = Rank;
    type Scratch = ();

    fn dim(&self) -> usize {
        self.features * usize::from(self.ranks)
    }

    fn features(&self, x: &Vec<f64>, y: &Rank, out: &mut impl Accumulate) {
        for (f, x) in x.iter().enumerate() {
            out.add(f * usize::from(self.ranks) + usize::from(y.0), *x);
        }
    }

    fn loss(&self, _: &Vec<f64>, truth: &Rank, y: &Rank) -> f64 {
        f64::from(truth.0.abs_diff(y.0))
    }

    fn extent(&self, x: &Vec<f64>) -> Option<Extent> {
        let norm1 = x.iter().map(|x| x.abs()).sum();
        Some(Extent { terms: x.len() + 1, norm1, loss: f64::from(self.ranks) })
    }

    fn decode(
        &self,
        w: &[f64],
        x: &Vec<f64>,
        against: Option<&Rank>,
        (): &mut (),
    ) -> Result<Decoded<Rank>> {
        let k = usize::from(self.ranks);
        let score = |y: u16| {
            let own: f64 = x.iter().enumerate().map(|(f, x)| w[f * k + usize::from(y)] * x).sum();
            own + against.map_or(0.0, |truth| self.loss(x, truth, &Rank(y)))
        };
        let (mut best, mut top) = (0, score(0));
        for y in 1..self.ranks {
            if score(y) > top {
                (best, top) = (y, score(y));
            }
        }
        Ok(Decoded { output: Rank(best), bound: Bound::Exact })
    }
}

impl OwnOracle for Ordinal {
    const NAME: &'static str = "ordinal";

    fn admits(&self, x: &Vec<f64>, y: &Rank) -> bool {
        x.len() == self.features && y.0 < self.ranks
    }

    fn spell(&self, y: &Rank) -> String {
        format!("rank {}", y.0)
    }

    /// A line has the rank, and then the features.
    fn read(&self, mut source: Source<'_>) -> Result<OwnExamples<Vec<f64>, Rank>> {
        let mut examples = Vec::new();
        while let Some(line) = source.next_line()? {
            let numbers: Option<Vec<f64>> = line.split(' ').map(|x| x.parse().ok()).collect();
            let Some((rank, x)) = numbers.as_ref().and_then(|all| all.split_first()) else {
                return Err(source.error("is no rank and features", "write numbers"));
            };
            examples.push((x.to_vec(), Rank(*rank as u16)));
        }
        Ok(OwnExamples::new(examples))
    }
}

type Data = OwnExamples<Vec<f64>, Rank>;
type Own = OwnStructure<Ordinal>;

const RANKS: u16 = 4;
const FEATURES: usize = 3;

fn task(lambda: f64) -> Task<Own> {
    let oracle = Ordinal { features: FEATURES, ranks: RANKS };
    Task::new(OwnStructure::new(oracle), Penalty::ridge(lambda))
}

/// The same problem with the costs in a matrix.
fn built_in(lambda: f64) -> Task<Multiclass> {
    let cost = |k: u16| f64::from((k / RANKS).abs_diff(k % RANKS));
    let costs = Costs::Matrix((0..RANKS * RANKS).map(cost).collect());
    Task::new(Multiclass::with_costs(costs), Penalty::ridge(lambda))
}

fn examples(seed: u64, n: usize) -> Vec<(Vec<f64>, Rank)> {
    let mut random = Random::new(seed);
    let mut signed = || 2.0 * random.unit() - 1.0;
    (0..n)
        .map(|i| {
            let x = vec![signed(), signed(), 1.0];
            let score = 2.0 + 1.5 * x[0] - 0.5 * x[1] + 0.6 * signed();
            // The first examples have every rank, in order: so the built-in alphabet has.
            let rank = if i < usize::from(RANKS) { i as u16 } else { score.clamp(0.0, 3.9) as u16 };
            (x, Rank(rank))
        })
        .collect()
}

fn data(seed: u64, n: usize) -> Data {
    OwnExamples::new(examples(seed, n))
}

/// The same data for the built-in structure.
fn classes(seed: u64, n: usize) -> Examples {
    let (rows, names): (Vec<Vec<f64>>, Vec<String>) =
        examples(seed, n).into_iter().map(|(x, y)| (x, y.0.to_string())).unzip();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Examples::from_dense(&rows, &names).unwrap()
}

fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 + (i % 3) as f64).collect()
}

fn tight() -> Budget {
    Budget { passes: Some(20_000), ..Budget::relative(1e-7) }
}

fn plan<'a, S: Structure>(budget: Budget) -> Plan<'a, S> {
    Plan { threads: 1, ..Plan::new(budget) }
}

fn bits(report: &Report<Model<Own>>) -> (Vec<u64>, Witness) {
    let c = report.certificate;
    let numbers = report.model.weights.iter().copied().chain([c.primal, c.dual, c.rounding_error]);
    (numbers.map(f64::to_bits).collect(), report.model.witness.clone().unwrap())
}

#[test]
fn an_own_structure_has_the_optimum_of_the_built_in_one() {
    for weighed in [false, true] {
        let (mut own, mut classes) = (data(1, 40), classes(1, 40));
        if weighed {
            own = own.with_weights(weights(40)).unwrap();
            classes = classes.with_weights(weights(40)).unwrap();
        }
        let a = task(0.05).fit(&own, plan(tight())).unwrap();
        let b = built_in(0.05).fit(&classes, plan(tight())).unwrap();
        assert_eq!((a.stop, b.stop), (Stop::GapReached, Stop::GapReached));
        let (x, y) = (a.certificate, b.certificate);
        assert!(x.certified && x.relative_gap() <= 1e-7, "{x:?}");
        assert!(x.dual <= y.primal + 1e-12 && y.dual <= x.primal + 1e-12, "{x:?} {y:?}");
        // λ/2‖w − w*‖² is at most the gap.
        let gap: f64 = [x, y].map(|c| c.gap_bound()).iter().sum();
        let off: f64 =
            a.model.weights.iter().zip(&b.model.weights).map(|(a, b)| (a - b).powi(2)).sum();
        assert!(off <= 4.0 * gap / 0.05, "{off:e} {gap:e}");
        // And the model predicts and counts as the other does.
        let predicted: Vec<usize> =
            a.model.predict(&own).unwrap().iter().map(|y| usize::from(y.0)).collect();
        assert_eq!(predicted, b.model.predict(&classes).unwrap());
        let evaluation = a.model.evaluate(&own).unwrap();
        let Evaluation::Own { error, figures } = &evaluation else { panic!("{evaluation:?}") };
        let counts = if weighed { weights(40) } else { vec![1.0; 40] };
        let mean = |of: &dyn Fn(usize, usize) -> f64| {
            let all = own.examples().iter().zip(&predicted).zip(&counts);
            let sum: f64 = all.map(|(((_, y), &p), c)| c * of(usize::from(y.0), p)).sum();
            sum / counts.iter().sum::<f64>()
        };
        let far = mean(&|y, p| y.abs_diff(p) as f64);
        let wrong = mean(&|y, p| f64::from(u8::from(y != p)));
        assert!((error - far).abs() < 1e-14 && (evaluation.error() - far).abs() < 1e-14);
        assert!(figures.iter().any(|(name, x)| name == "wrong" && (x - wrong).abs() < 1e-14));
    }
}

#[test]
fn a_model_is_stored_with_its_witness_and_certified() {
    let own = data(2, 25);
    let model = task(0.1).fit(&own, plan(Budget::relative(1e-3))).unwrap().model;
    assert!(!model.witness.as_ref().unwrap().outputs.is_empty());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ordinal.model");
    model.save(&file).unwrap();
    let stored = Model::<Own>::load(&file).unwrap();
    assert_eq!((&stored.task, &stored.weights), (&model.task, &model.weights));
    assert_eq!((&stored.witness, &stored.names), (&model.witness, &model.names));
    for model in [&model, &stored] {
        let verified = model.certify(&own).unwrap();
        assert_eq!(verified.evidence, DualEvidence::Witness);
        assert!(verified.certificate.relative_gap() <= 1e-3);
        let without = Model { witness: None, ..model.clone() };
        assert_eq!(without.certify(&own).unwrap().evidence, DualEvidence::Word);
        assert!(model.reach(&own).is_ok() && without.reach(&own).is_err());
    }
    assert_eq!(stored.predict(&own).unwrap(), model.predict(&own).unwrap());
    // Other data, another oracle, another file.
    assert!(model.certify(&data(3, 25)).is_err());
    let mut other = model.clone();
    other.task.structure.oracle.ranks += 1;
    assert!(other.certify(&own).is_err());
    let raw = RawModel::open(&file).unwrap();
    assert_eq!(raw.structure(), "ordinal");
    assert!(raw.read::<Multiclass>().is_err());
}

fn refused(model: &Model<Own>, own: &Data, change: impl FnOnce(&mut Model<Own>)) -> bool {
    let mut changed = model.clone();
    change(&mut changed);
    match changed.certify(own) {
        Ok(_) => false,
        Err(Error::Refused { .. } | Error::Witness { .. } | Error::Unsound { .. }) => true,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn altered_weights_and_witnesses_are_refused() {
    let own = data(4, 12);
    let model = task(0.1).fit(&own, plan(Budget::passes(4))).unwrap().model;
    let witness = model.witness.clone().unwrap();
    let with = |change: &dyn Fn(&mut Witness)| {
        refused(&model, &own, |model| change(model.witness.as_mut().unwrap()))
    };
    assert!(!with(&|_| ()));
    assert!(refused(&model, &own, |model| model.weights[1] += 1e-3));
    assert!(refused(&model, &own, |model| model.certificate.dual += 1e-4));
    assert!(refused(&model, &own, |model| model.task.penalty = Penalty::ridge(0.11)));
    for k in 0..witness.weights.len() {
        assert!(with(&|w| w.weights[k] += 1e-6), "weight {k}");
        assert!(with(&|w| w.weights[k] = -w.weights[k]), "weight {k}");
        assert!(with(&|w| w.weights[k] = f64::NAN), "weight {k}");
        assert!(with(&|w| w.keys[k] = u64::MAX), "key {k}");
        assert!(with(&|w| w.keys[k] = w.outputs.len() as u64), "key {k}");
    }
    assert!(with(&|w| w.outputs.clear()));
    assert!(with(&|w| w.outputs.truncate(w.outputs.len() - 1)));
    assert!(with(&|w| w.starts[1] = u64::MAX));
    // Any bit of the outputs: another output or none at all, or bytes behind an output that mean nothing.
    let honest = model.certify(&own).unwrap().certificate;
    for at in 0..witness.outputs.len() {
        for bit in 0..8 {
            let mut changed = model.clone();
            changed.witness.as_mut().unwrap().outputs[at] ^= 1 << bit;
            if let Ok(verified) = changed.certify(&own) {
                assert_eq!(verified.certificate, honest, "byte {at}, bit {bit}");
            }
        }
    }
}

/// The witness with one output for each example, as its bytes are documented: their number, and then they.
fn by_hand(outputs: impl Iterator<Item = Rank>) -> Witness {
    let mut witness = Witness { starts: vec![0], ..Witness::default() };
    for output in outputs {
        let bytes = postcard::to_stdvec(&output).unwrap();
        witness.keys.push(witness.outputs.len() as u64);
        witness.weights.push(1.0);
        witness.starts.push(witness.keys.len() as u64);
        witness.outputs.extend((bytes.len() as u64).to_le_bytes());
        witness.outputs.extend(bytes);
    }
    witness
}

#[test]
fn outputs_that_are_none_of_an_example_s_are_refused() {
    let own = data(5, 10);
    let mut model = task(0.1).fit(&own, plan(Budget::passes(2))).unwrap().model;
    let truths = || own.examples().iter().map(|(_, y)| *y);
    // All weight on the truth is feasible, and proves that no value is negative.
    model.witness = Some(by_hand(truths()));
    model.certificate.dual = 0.0;
    assert_eq!(model.certify(&own).unwrap().evidence, DualEvidence::Witness);
    for bad in [RANKS, 200, u16::MAX] {
        model.witness = Some(by_hand(truths().map(|y| if y.0 == 2 { Rank(bad) } else { y })));
        assert!(matches!(model.certify(&own), Err(Error::Witness { .. })), "{bad}");
    }
    // The same output twice, with half of the weight each.
    let mut twice = by_hand(truths());
    twice.keys.insert(0, twice.keys[0]);
    twice.weights.splice(0..1, [0.5, 0.5]);
    twice.starts.iter_mut().skip(1).for_each(|start| *start += 1);
    model.witness = Some(twice);
    assert!(matches!(model.certify(&own), Err(Error::Witness { example: 0, .. })));
    // Nor can such an output be trained on.
    let strange = OwnExamples::new(vec![(vec![0.0; FEATURES], Rank(RANKS))]);
    let result = task(0.1).fit(&strange, plan(Budget::passes(1)));
    assert!(matches!(result, Err(Error::Oracle { example: 0, .. })));
    let unlabelled: Data = OwnExamples::unlabelled(vec![vec![0.0; FEATURES]]);
    assert!(task(0.1).fit(&unlabelled, plan(Budget::passes(1))).is_err());
    assert!(model.evaluate(&unlabelled).is_err());
    assert_eq!(model.predict(&unlabelled).unwrap().len(), 1);
}

/// A run of so many passes by this method.
fn by<'a>(method: &DualMethod, passes: u64) -> Plan<'a, Own> {
    Plan { method: method.clone().into(), ..plan(Budget::passes(passes)) }
}

#[test]
fn a_resumed_run_is_bit_for_bit_the_run_that_went_through() {
    let own = data(6, 20).with_weights(weights(20)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    for method in [DualMethod::default(), DualMethod::plain()] {
        let whole = task(0.02).fit(&own, by(&method, 12)).unwrap();
        let mut memory = InMemory::default();
        let kept = Plan { checkpoints: Some(Keep::Sink(&mut memory)), ..by(&method, 5) };
        task(0.02).fit(&own, kept).unwrap();
        let resume = memory.last.map(Resume::Checkpoint);
        let resumed = task(0.02).fit(&own, Plan { resume, ..by(&method, 12) }).unwrap();
        assert_eq!(bits(&resumed), bits(&whole));

        let checkpoints = || Some(Keep::File(Checkpoints { file: file.clone(), every: 0.7 }));
        task(0.02).fit(&own, Plan { checkpoints: checkpoints(), ..by(&method, 5) }).unwrap();
        let from = || Some(Resume::File(&file));
        let resumed = task(0.02).fit(&own, Plan { resume: from(), ..by(&method, 12) }).unwrap();
        assert_eq!(bits(&resumed), bits(&whole));
        resumed.model.certify(&own).unwrap();
        // The checkpoint is of this run and no other.
        let refused = |task: &Task<Own>, own: &Data| {
            task.fit(own, Plan { resume: from(), ..by(&method, 12) }).unwrap_err().to_string()
        };
        let mut other = task(0.02);
        other.structure.oracle.ranks += 1;
        assert!(refused(&other, &own).contains("oracle"), "{}", refused(&other, &own));
        assert!(refused(&task(0.03), &own).contains("lambda"));
        assert!(refused(&task(0.02), &data(7, 20)).contains("data"));
    }
}

#[test]
fn a_warm_start_begins_where_the_other_run_ended() {
    let own = data(8, 20);
    let old = task(0.1).fit(&own, plan(Budget::relative(1e-6))).unwrap().model;
    let begin = |task: &Task<Own>, own: &Data, old| {
        let plan = Plan { warm_start: Some(old), ..plan(Budget::passes(0)) };
        task.fit(own, plan).unwrap()
    };
    let same = begin(&task(0.1), &own, &old).certificate;
    let error = same.rounding_error + old.certificate.rounding_error;
    assert!((same.dual - old.certificate.dual).abs() <= error, "{same:?}");
    let (near, cold) = (begin(&task(0.11), &own, &old), plan(Budget::passes(0)));
    let cold = task(0.11).fit(&own, cold).unwrap();
    assert!(near.certificate.gap() < cold.certificate.gap(), "closer from the start");
    // More examples, fewer, and others: whatever fits is taken, and the certificate holds.
    for other in [data(8, 26), data(8, 9), data(9, 20)] {
        let plan = Plan { warm_start: Some(&old), ..plan(tight()) };
        let report = task(0.1).fit(&other, plan).unwrap();
        assert_eq!(report.stop, Stop::GapReached);
        report.model.certify(&other).unwrap();
    }
    let bare = Model { witness: None, ..old };
    let plan = Plan { warm_start: Some(&bare), ..plan(Budget::passes(0)) };
    assert!(task(0.1).fit(&own, plan).unwrap_err().to_string().contains("witness"));
}

#[test]
fn a_path_is_as_good_as_promised() {
    let (own, classes) = (data(10, 20), classes(10, 20));
    let within = Interval::new(0.02, 1.0).unwrap();
    let wanted = PathPlan { threads: 1, ..PathPlan::new(within, Tolerance::Relative(0.05)) };
    let mut pieces = Vec::new();
    let keep = |piece: &dualgap::task::Piece<Own>| {
        pieces.push(piece.clone());
        Ok(())
    };
    let covered = task(7.0).path(&own, &wanted, |_| None, keep).unwrap();
    assert_eq!((covered.from, covered.ending), (Some(0.02), Ending::Whole));
    for lambda in [0.02, 0.033, 0.1, 0.37, 1.0] {
        let piece = pieces.iter().find(|piece| piece.interval.contains(lambda)).unwrap();
        let claimed = piece.reach.certificate(lambda).unwrap();
        let tight = built_in(lambda).fit(&classes, plan(tight())).unwrap().certificate;
        assert!(claimed.primal - tight.primal <= 0.05 * claimed.primal, "{lambda}");
        assert!(claimed.dual <= tight.primal + 1e-12, "{lambda}");
    }
}

#[test]
fn cross_validation_is_about_the_optima_of_the_built_in_structure() {
    let (own, classes) = (data(11, 24), classes(11, 24));
    let folds = task(1.0).folds(&own, 3, 1).unwrap();
    let plan = TrialPlan { threads: 2, ..TrialPlan::new(Budget::relative(1e-5)) };
    let lambdas = [1.0, 0.05];
    let found = task(1.0).cross_validate(&own, &folds, &lambdas, &plan, || ()).unwrap().unwrap();
    // The same folds, not those with every class in proportion.
    let folds = Folds::plain(24, 3, 1).unwrap();
    let other = built_in(1.0).cross_validate(&classes, &folds, &lambdas, &plan, || ());
    let other = other.unwrap().unwrap();
    for (a, b) in found.candidates.iter().zip(&other.candidates) {
        assert_eq!((a.value, a.trials.len()), (b.value, 3));
        assert!(a.is_reached() && a.worst_gap() <= 1e-5);
        for (a, b) in a.trials.iter().zip(&b.trials) {
            let (a, b) = (a.certificate, b.certificate);
            assert!(a.dual <= b.primal + 1e-12 && b.dual <= a.primal + 1e-12, "{a:?} {b:?}");
        }
    }
}

/// A program that knows the structure reads its files; one that does not says which it is.
#[test]
fn a_registry_opens_models_of_an_own_structure() {
    let lines: Vec<String> = examples(12, 15)
        .iter()
        .map(|(x, y)| format!("{} {} {} {}\n", y.0, x[0], x[1], x[2]))
        .collect();
    let text = lines.concat();
    let source = || Source::from_bytes("ranks.txt", text.as_bytes()).unwrap();
    let structure = task(0.1).structure;
    let own = structure.oracle.read(source()).unwrap();
    let mut model = task(0.1).fit(&own, plan(Budget::relative(1e-3))).unwrap().model;
    model.provenance.recipe = Some(Recipe::whole(Format::Own));
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("model"), folder.path().join("predictions"));
    model.save(&file).unwrap();
    let unknown = Registry::builtin().load(&file).err().unwrap();
    assert!(
        matches!(&unknown, Error::UnknownStructure { structure, .. } if structure == "ordinal")
    );
    let registry = Registry::builtin().with::<Own>();
    let mut any = registry.load(&file).unwrap();
    let (verified, description) = any.certify(source()).unwrap();
    assert_eq!(verified.evidence, DualEvidence::Witness);
    assert_eq!(description.json["task"], "ordinal");
    let (evaluation, _) = any.evaluate(source(), None).unwrap();
    assert_eq!(evaluation.error(), model.evaluate(&own).unwrap().error());
    let mut sink = Sink::create(&out).unwrap();
    any.predict(source(), &Request::default(), &mut sink).unwrap();
    sink.finish().unwrap();
    let expected: Vec<String> =
        model.predict(&own).unwrap().iter().map(|y| format!("rank {}\n", y.0)).collect();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), expected.concat());
    assert_eq!(any.as_any().downcast_ref::<Model<Own>>().unwrap().weights, model.weights);
    assert!(any.certify(Source::from_bytes("other", b"1 1 1 1\n").unwrap()).is_err());
    let missing = Path::new("no such file");
    assert!(registry.load(missing).is_err());
}

#[test]
fn what_an_own_structure_cannot_have_is_refused() {
    let own = data(13, 8);
    let fit = |task: Task<Own>| task.fit(&own, plan(Budget::passes(1)));
    assert!(fit(task(0.1)).is_ok());
    for penalty in
        [Penalty::lasso(0.1), Penalty::l1_ball(1.0, 0.1), Penalty::QNorm { lambda: 0.1, l1: 0.0 }]
    {
        assert!(fit(Task { penalty, ..task(0.1) }).is_err(), "{penalty:?}");
    }
    assert!(fit(Task { scaling: Scaling::Max, ..task(0.1) }).is_err());
    let class_weights = Some(ClassWeights::Balanced);
    assert!(fit(Task { class_weights, ..task(0.1) }).is_err());
    // The elastic net is for every structure.
    let net = Task { penalty: Penalty::elastic_net(0.1, 0.01), ..task(0.1) };
    fit(net).unwrap().model.certify(&own).unwrap();
}
