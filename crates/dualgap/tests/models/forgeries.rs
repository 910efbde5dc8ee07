//! A checkpoint of another run is refused by name, a damaged one is refused, and whatever a forged one claims, a run
//! that goes on from it ends with a certificate that holds.

use crate::common::memory::{Averages, Recall, State};
use crate::common::{Kind, Small, cases, of, small, ways};
use crate::models::fitting::{Fit, assert_true, refusal};
use dualgap::container::Digest;
use dualgap::dual::{Acceleration, Algorithm, Average, Cache, Direction, Sampling, Settings, Step};
use dualgap::linalg::{Measured, Random};
use dualgap::run::Budget;
use dualgap::structure::Hamming;
use dualgap::term::Costs;
use proptest::prelude::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;

/// A point as it is stored: a scale, and ascending keys with their weights.
type Point = (f64, Vec<(u64, f64)>);

/// The header and the engine's memory of a checkpoint.
fn read(file: &Path) -> (Value, Vec<u8>) {
    let bytes = std::fs::read(file).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    let sealed = &metadata.metadata().as_ref().unwrap()["dualgap.checkpoint"];
    let sealed: Value = serde_json::from_str(sealed).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    (sealed["header"].clone(), tensors.tensor("solver").unwrap().data().to_vec())
}

/// Writes a checkpoint whose seal and digest fit.
fn write(file: &Path, mut header: Value, engine: &[u8]) {
    header["digests"]["solver"] = Digest::of(engine).into();
    std::fs::write(file, sealed(&header, engine)).unwrap();
}

/// A checkpoint whose seal fits, whatever its digest is.
fn sealed(header: &Value, engine: &[u8]) -> Vec<u8> {
    let header = header.to_string();
    let seal = Digest::of(header.as_bytes());
    let sealed = format!("{{\"seal\":\"{seal}\",\"header\":{header}}}");
    let view = TensorView::new(Dtype::U8, vec![engine.len()], engine).unwrap();
    let metadata = Some([("dualgap.checkpoint".to_string(), sealed)].into());
    safetensors::serialize([("solver", view)], metadata).unwrap()
}

/// The same checkpoint with another memory of the engine.
fn forge<P: Serialize + DeserializeOwned>(file: &Path, spoil: impl FnOnce(&mut State<P>)) {
    let (header, engine) = read(file);
    let mut state: State<P> = postcard::from_bytes(&engine).unwrap();
    assert_eq!(postcard::to_stdvec(&state).unwrap(), engine, "the mirror is another type");
    spoil(&mut state);
    write(file, header, &postcard::to_stdvec(&state).unwrap());
}

/// Settings under which the memory is that of the engine, without rounds around it.
fn engine_alone(method: Algorithm, way: &Settings, small: &Small) -> Settings {
    let way = Settings { method, acceleration: Acceleration::Off, ..of(way, small) };
    match method {
        Algorithm::Bcfw => way,
        _ => Settings { direction: Direction::Toward, cache: Cache::Off, ..way },
    }
}

/// A run of six passes, kept in a file.
fn keep(small: &Small, settings: &Settings, file: &Path) {
    Fit::new(settings, Budget::passes(6)).kept(file, 1e9).run(small).unwrap();
}

/// What a run that goes on from the file comes to: refused, or a certificate that holds.
fn is_refused(small: &Small, settings: &Settings, file: &Path) -> bool {
    let mut refused = false;
    for passes in [6, 15] {
        match Fit::new(settings, Budget::passes(passes)).resumed(file).run(small) {
            Ok(report) => assert_true(small, &report.model),
            Err(_) => refused = true,
        }
    }
    refused
}

#[test]
fn a_checkpoint_of_another_run_is_refused_by_what_differs() {
    for kind in Kind::all(3) {
        let mut small = Small::random(1, kind.clone(), 6, 3, 3);
        small.weights = Some(vec![1.0, 2.0, 1.0, 2.0, 1.0, 3.0]);
        let settings = small.settings();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        keep(&small, &settings, &file);
        let told = |small: &Small, settings: &Settings| {
            refusal(Fit::new(settings, Budget::passes(9)).resumed(&file).run(small))
        };
        let differs = |name: &str, settings: Settings| {
            let message = told(&small, &settings);
            assert!(message.contains(&format!("its {name} is")), "{name}: {message}");
        };
        let base = || settings.clone();
        differs("lambda", Settings { lambda: settings.lambda * (1.0 + f64::EPSILON), ..base() });
        differs("solver", Settings { method: Algorithm::Fw, ..base() });
        differs("step", Settings { step: Step::Predefined, ..base() });
        differs("sampling", Settings { sampling: Sampling::Uniform, ..base() });
        differs("average", Settings { average: Average::Suffix, ..base() });
        differs("batch", Settings { batch: 2, ..base() });
        differs("seed", Settings { seed: 1, ..base() });
        differs("sample weights", Settings { sample_weights: None, ..base() });
        differs("sample weights", Settings { sample_weights: Some(vec![1.0; 6]), ..base() });

        let mut other = small.clone();
        other.inputs[2][0][1] += 0.5;
        assert!(told(&other, &settings).contains("its data is"));
        let mut other = small.clone();
        other.truths[3][0] = (other.truths[3][0] + 1) % 3;
        assert!(told(&other, &settings).contains("its data is"));
        let other = match kind {
            Kind::Chain(Hamming::Plain) => Kind::Chain(Hamming::Normalized),
            Kind::Chain(_) => Kind::Chain(Hamming::Plain),
            Kind::Multiclass(Costs::ZeroOne) => {
                Kind::Multiclass(Costs::Matrix(vec![0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0]))
            }
            Kind::Multiclass(Costs::Matrix(_)) => Kind::Multiclass(Costs::ZeroOne),
        };
        let other = Small { kind: other, ..small.clone() };
        let loss = match kind {
            Kind::Chain(_) => "its hamming is",
            Kind::Multiclass(_) => "its costs is",
        };
        assert!(told(&other, &settings).contains(loss), "{}", told(&other, &settings));
        if let Kind::Chain(_) = kind {
            let other = small.clone().with_pairs(1, 2);
            assert!(told(&other, &settings).contains("its data is"));
        }
        // Threads and limits may differ.
        let threads = Settings { threads: 2, ..base() };
        assert!(Fit::new(&threads, Budget::passes(9)).resumed(&file).run(&small).is_ok());
    }
}

#[test]
fn a_checkpoint_that_is_cut_off_or_has_another_bit_anywhere_is_refused() {
    let small = Small::random(2, Kind::Chain(Hamming::Normalized), 3, 2, 3);
    let folder = tempfile::tempdir().unwrap();
    let (file, spoilt) = (folder.path().join("run"), folder.path().join("spoilt"));
    keep(&small, &small.settings(), &file);
    let bytes = std::fs::read(&file).unwrap();
    let fit = Fit::new(&small.settings(), Budget::passes(7)).resumed(&spoilt);
    let mut random = Random::new(2);
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 1 << random.below(8);
        std::fs::write(&spoilt, &altered).unwrap();
        refusal(fit.run(&small));
        std::fs::write(&spoilt, &bytes[..at]).unwrap();
        refusal(fit.run(&small));
    }
    std::fs::write(&spoilt, [&bytes[..], b"more"].concat()).unwrap();
    refusal(fit.run(&small));
    for other in [&b""[..], b"\n\n", b"dualgap checkpoint 2\n{}\n", b"dualgap checkpoint 1\n{}\n"] {
        std::fs::write(&spoilt, other).unwrap();
        refusal(fit.run(&small));
    }
    std::fs::remove_file(&spoilt).unwrap();
    refusal(fit.run(&small));
    std::fs::create_dir(&spoilt).unwrap();
    refusal(fit.run(&small));
}

#[test]
fn a_checkpoint_of_another_version_is_called_that() {
    let small = Small::random(3, Kind::Multiclass(Costs::ZeroOne), 4, 3, 1);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    let fit = Fit::new(&small.settings(), Budget::passes(7)).resumed(&file);
    let told = || refusal(fit.run(&small));
    // The first version began with a line.
    std::fs::write(&file, b"dualgap checkpoint 1\n{\"seal\":\"\",\"header\":{}}\nstate").unwrap();
    assert!(told().contains("format version 1") && told().contains("earlier"), "{}", told());
    keep(&small, &small.settings(), &file);
    let (mut header, engine) = read(&file);
    assert_eq!(header["format_version"], 7);
    for (version, word) in [(6, "earlier"), (8, "newer")] {
        header["format_version"] = version.into();
        write(&file, header.clone(), &engine);
        let told = told();
        assert!(told.contains(&format!("format version {version}")), "{told}");
        assert!(told.contains(word), "{told}");
    }
}

#[test]
fn a_header_with_another_digest_or_without_its_parts_is_refused() {
    let small = Small::random(3, Kind::Multiclass(Costs::ZeroOne), 4, 3, 1);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    keep(&small, &small.settings(), &file);
    let (header, engine) = read(&file);
    let fit = Fit::new(&small.settings(), Budget::passes(7)).resumed(&file);
    // The seal fits, and the digest is of something else.
    let mut other = header.clone();
    other["digests"]["solver"] = Digest::of(b"").into();
    std::fs::write(&file, sealed(&other, &engine)).unwrap();
    assert!(refusal(fit.run(&small)).contains("digest"));
    for part in ["identity", "run"] {
        let mut other = header.clone();
        other.as_object_mut().unwrap().remove(part);
        write(&file, other, &engine);
        refusal(fit.run(&small));
    }
    for part in ["task", "data", "loss", "lambda", "seed"] {
        let mut other = header.clone();
        other["identity"].as_array_mut().unwrap().retain(|entry| entry[0] != part);
        write(&file, other, &engine);
        assert!(refusal(fit.run(&small)).contains(part));
    }
    // As they were they are accepted.
    write(&file, header, &engine);
    assert!(fit.run(&small).is_ok());
}

proptest! {
    #![proptest_config(cases(96))]

    // A true run's history with better values than there are, and another count of its work.
    #[test]
    fn what_a_checkpoint_says_of_its_history_is_not_believed(
        small in small(),
        way in ways(),
        primal in 0.0..0.1_f64,
        ended in any::<bool>(),
        calls in 0..60_u64,
    ) {
        let settings = of(&way, &small);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        keep(&small, &settings, &file);
        let (mut header, engine) = read(&file);
        let run = &mut header["run"];
        run["work"] = json!({ "steps": calls, "oracle_calls": calls });
        if let Some(last) = run["history"].as_array_mut().unwrap().last_mut() {
            last["primal"] = primal.into();
            last["dual"] = primal.into();
            last["rounding_error"] = 0.0.into();
            last["gap"] = 0.0.into();
            if ended {
                last["steps"] = calls.into();
                last["oracle_calls"] = calls.into();
            }
        }
        write(&file, header, &engine);
        for budget in [Budget::relative(0.5), Budget::passes(3), Budget::passes(20)] {
            let budget = Budget { passes: budget.passes.or(Some(500)), ..budget };
            let fit = Fit::new(&settings, budget.clone()).resumed(&file);
            if let Ok(report) = fit.run(&small) {
                assert_true(&small, &report.model);
                let reached = budget.is_met(&report.certificate);
                prop_assert!(report.stop != dualgap::run::Stop::GapReached || reached);
            }
        }
    }

    #[test]
    fn a_memory_that_cannot_be_is_refused(small in small(), way in ways(), place in 0.0..1.0_f64) {
        let settings = engine_alone(Algorithm::Bcfw, &way, &small);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        keep(&small, &settings, &file);
        let honest = std::fs::read(&file).unwrap();
        let refused = |spoil: &dyn Fn(&mut State<Point>)| {
            std::fs::write(&file, &honest).unwrap();
            forge(&file, spoil);
            is_refused(&small, &settings, &file)
        };
        prop_assert!(!refused(&|_| ()));
        let i = (place * small.len() as f64) as usize;
        prop_assert!(refused(&|s| s.v.push(0.0)), "a v that is too long");
        prop_assert!(refused(&|s| { s.v.pop(); }), "a v that is too short");
        prop_assert!(refused(&|s| s.v[0] = f64::NAN), "a v that is no number");
        prop_assert!(refused(&|s| s.v[0] = f64::INFINITY), "a v without end");
        prop_assert!(refused(&|s| { s.points.pop(); }), "a point too few");
        prop_assert!(refused(&|s| { let p = s.points[0].clone(); s.points.push(p); }), "one too many");
        prop_assert!(refused(&|s| s.points[i].0 *= 1.5), "a point of too much weight");
        prop_assert!(refused(&|s| s.points[i].0 = f64::NAN), "a point of no weight that is a number");
        prop_assert!(refused(&|s| s.points[i].0 *= -1.0), "a point of negative weight");
        prop_assert!(refused(&|s| s.points[i].1.clear()), "a point of nothing");
        prop_assert!(refused(&|s| s.points[i].1.last_mut().unwrap().0 = u64::MAX), "no such label");
        prop_assert!(refused(&|s| { let e = s.points[i].1[0]; s.points[i].1.push(e); }), "twice");
        prop_assert!(refused(&|s| s.order.sequence.push(small.len())), "a block that is none");
        prop_assert!(refused(&|s| s.order.sequence.push(s.order.sequence[0])), "a block twice");
        prop_assert!(refused(&|s| s.order.next = small.len() + 1), "a place beyond the order");
        prop_assert!(refused(&|s| s.order.blocks += 1), "an order of more blocks");
        prop_assert!(refused(&|s| s.coupling[i % 2] = f64::NAN), "weights that are no numbers");
        prop_assert!(refused(&|s| s.recall = None), "corners, and no cache policy");
        let policy = |spoil: &dyn Fn(&mut Recall)| refused(&|s| spoil(s.recall.as_mut().unwrap()));
        prop_assert!(policy(&|r| r.left = 0), "a pass without a visit");
        prop_assert!(policy(&|r| r.depth = u32::MAX), "visits that never end");
        prop_assert!(policy(&|r| r.lap.0 = f64::NAN), "a gain that is no number");
        prop_assert!(refused(&|s| match &mut s.order.sleep {
            Some(sleep) if i.is_multiple_of(3) => sleep.back[i].push(small.len()),
            Some(sleep) if i % 3 == 1 => sleep.idle.push(0),
            Some(sleep) => {
                // Nobody is left to be visited.
                sleep.back.iter_mut().for_each(Vec::clear);
                s.order.sequence.clear();
                s.order.next = 0;
            }
            None => s.order.sequence.clear(),
        }), "blocks that nobody wakes");
        prop_assert!(refused(&|s| match &mut s.order.sleep {
            Some(sleep) => {
                let left_out = sleep.back.iter().flatten().chain(&sleep.waiting);
                let twice = s.order.sequence.iter().chain(left_out).next().copied().unwrap();
                s.order.next = 0;
                sleep.back[i].push(twice);
            }
            None => s.order.sequence.clear(),
        }), "a block that a round may have twice");
        prop_assert!(refused(&|s| match &mut s.order.sleep {
            Some(sleep) if i.is_multiple_of(2) => sleep.reach = 6,
            Some(sleep) => sleep.awake = sleep.again + 1,
            None => s.order.sequence.clear(),
        }), "a reach beyond all, or more who moved than were visited");
        prop_assert!(refused(&|s| {
            let cyclic = s.order.sampling == Sampling::Cyclic;
            s.order.sampling = if cyclic { Sampling::Uniform } else { Sampling::Cyclic };
        }), "another order");
        prop_assert!(refused(&|s| s.averages = match s.averages.take() {
            Some(_) => None,
            None => Some(Averages { kind: Average::Weighted, points: s.points.clone(), covered: vec![0; small.len()], drawn: None }),
        }), "averages that were not asked for, or none");
        prop_assert!(refused(&|s| s.best.points = match s.best.points.take() {
            Some(_) => None,
            None => Some(s.points.clone()),
        }), "best points where there are none, or none where there are");
        if settings.average != Average::None {
            let averages = |spoil: &dyn Fn(&mut Averages<Point>)| {
                refused(&|s| spoil(s.averages.as_mut().unwrap()))
            };
            prop_assert!(averages(&|a| a.covered[i] = u64::MAX), "an average over the future");
            prop_assert!(averages(&|a| { a.covered.pop(); }), "a block not covered");
            prop_assert!(averages(&|a| { a.points.pop(); }), "an average too few");
            prop_assert!(averages(&|a| a.points[i].0 *= 0.5), "an average of too little weight");
        }
        if settings.average != Average::None || settings.step == Step::Predefined {
            prop_assert!(refused(&|s| s.best.points.as_mut().unwrap()[i].0 *= 1.5), "too good a best point");
            prop_assert!(refused(&|s| { s.best.points.as_mut().unwrap().pop(); }), "a best point too few");
        }
        prop_assert!(refused(&|s| if let Some((_, _, w)) = &mut s.best.primal { w.push(0.0) } else { s.v.push(0.0) }), "best weights that are too long");
        prop_assert!(refused(&|s| if let Some((_, _, w)) = &mut s.best.primal { w[0] = f64::NAN } else { s.v.push(0.0) }), "best weights that are no numbers");
    }

    // Lies that could be true: other weights, another place, values that are too good.
    #[test]
    fn a_memory_that_lies_does_no_harm(
        small in small(),
        way in ways(),
        place in 0.0..1.0_f64,
        value in -5.0..5.0_f64,
        steps in 0..100_u64,
    ) {
        let settings = engine_alone(Algorithm::Bcfw, &way, &small);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        keep(&small, &settings, &file);
        let honest = std::fs::read(&file).unwrap();
        // Whatever comes of it is judged there.
        let try_it = |spoil: &dyn Fn(&mut State<Point>)| {
            std::fs::write(&file, &honest).unwrap();
            forge(&file, spoil);
            is_refused(&small, &settings, &file)
        };
        let j = (place * small.dim() as f64) as usize;
        let too_good = Measured { value: 1e3, error: 0.0 };
        try_it(&|s| s.v[j] = value);
        try_it(&|s| s.v[j] = 1e200 * value);
        try_it(&|s| s.steps += steps);
        try_it(&|s| s.steps = 0);
        try_it(&|s| s.order.next = 0);
        try_it(&|s| s.best.dual = too_good);
        try_it(&|s| s.best.primal = Some((Measured { value: -1e3, error: 0.0 }, true, vec![value; small.dim()])));
        try_it(&|s| s.best.primal = Some((Measured { value: -1e3, error: 0.0 }, false, vec![1e200; small.dim()])));
        try_it(&|s| if let Some((primal, ..)) = &mut s.best.primal { primal.value = f64::NAN });
        try_it(&|s| s.best.dual.value = f64::NAN);
        // The same weights in another form.
        for scale in [1e-200, 1e-90, 1e90, 1e200, -1.0] {
            try_it(&|s| for (of_point, entries) in &mut s.points {
                *of_point *= scale;
                entries.iter_mut().for_each(|(_, weight)| *weight /= scale);
            });
        }
    }

    // Any bits, with a digest that fits: what they happen to mean is refused or does no harm.
    #[test]
    fn a_memory_of_other_bits_is_refused_or_does_no_harm(
        small in small(),
        way in ways(),
        flips in prop::collection::vec((0.0..1.0_f64, 0..8_u8), 1..4),
        cut in 0.0..1.0_f64,
    ) {
        let settings = engine_alone(Algorithm::Bcfw, &way, &small);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        keep(&small, &settings, &file);
        let (header, mut engine) = read(&file);
        write(&file, header.clone(), &engine[..(cut * engine.len() as f64) as usize]);
        prop_assert!(is_refused(&small, &settings, &file), "cut off");
        for (place, bit) in flips {
            let at = (place * engine.len() as f64) as usize;
            engine[at] ^= 1 << bit;
            write(&file, header.clone(), &engine);
            is_refused(&small, &settings, &file);
        }
    }

    #[test]
    fn a_memory_of_batch_steps_is_no_more_believed(small in small(), way in ways(), place in 0.0..1.0_f64) {
        let settings = engine_alone(Algorithm::Fw, &way, &small);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        keep(&small, &settings, &file);
        let honest = std::fs::read(&file).unwrap();
        let refused = |spoil: &dyn Fn(&mut State<Vec<Point>>)| {
            std::fs::write(&file, &honest).unwrap();
            forge(&file, spoil);
            is_refused(&small, &settings, &file)
        };
        prop_assert!(!refused(&|_| ()));
        let i = (place * small.len() as f64) as usize;
        prop_assert!(refused(&|s| { s.points.pop(); }), "nothing at all");
        prop_assert!(refused(&|s| s.points[0][i].0 *= 1.5), "a point of too much weight");
        prop_assert!(refused(&|s| s.points[0][i].1.clear()), "a point of nothing");
        prop_assert!(refused(&|s| s.order.sequence[0] = 1), "a block that is none");
        prop_assert!(refused(&|s| s.v[0] = f64::NAN), "a v that is no number");
    }
}
