//! A run that begins with an older model's witness begins where that one ended, whatever has changed since, and its
//! certificate holds as any other.

use crate::common::wide::Wide;
use crate::common::{Kind, Small, cases, of, small, ways, with_blocks};
use crate::models::fitting::{Fit, Fitted, assert_true, exact_dual};
use dualgap::data::{Alphabet, Classes, Examples, Sequences};
use dualgap::dual::{Algorithm, Average, Settings, Step};
use dualgap::run::Budget;
use dualgap::term::Costs;
use proptest::prelude::*;

/// A model after six passes.
fn trained(small: &Small) -> Fitted {
    Fit::new(&small.settings(), Budget::passes(6)).run(small).unwrap().model
}

/// What a run of so many passes comes to that begins with a model's witness.
fn warmed(small: &Small, way: &Settings, old: &Fitted, passes: u64) -> Fitted {
    let fit = Fit::new(&of(way, small), Budget::passes(passes)).warm(old);
    let model = fit.run(small).unwrap().model;
    assert_true(small, &model);
    model
}

/// The dual value of old distributions, or of the truth where there is none.
fn dual_of(small: &Small, known: &[Option<Vec<Wide>>]) -> f64 {
    let problem = small.explicit();
    let alpha: Vec<Vec<Wide>> = (0..small.len())
        .map(|i| {
            known.get(i).cloned().flatten().unwrap_or_else(|| {
                let truth = |y: &Vec<u16>| f64::from(u8::from(*y == small.truths[i])).into();
                small.outputs(i).map(|y| truth(&y)).collect()
            })
        })
        .collect();
    problem.dual(&alpha).float()
}

/// The distributions of a model's witness over the outputs of its own problem.
fn distributions(small: &Small, model: &Fitted) -> Vec<Option<Vec<Wide>>> {
    with_blocks!(small, |blocks| {
        let points = model.witness().points(&blocks).unwrap();
        small.distributions(&points).into_iter().map(Some).collect()
    })
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(1.0)
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn a_warm_start_begins_at_the_old_dual_value_and_never_falls_below(
        small in small(),
        way in ways(),
        passes in 0..7_u64,
    ) {
        let old = trained(&small);
        let at_once = warmed(&small, &way, &old, 0);
        prop_assert!(near(at_once.certificate().dual, old.certificate().dual));
        let later = warmed(&small, &way, &old, passes).certificate();
        let error = later.rounding_error + old.certificate().rounding_error;
        prop_assert!(later.dual >= old.certificate().dual - error, "{later:?} {:?}", old.certificate());
    }

    #[test]
    fn a_warm_start_under_another_lambda_begins_with_the_same_points(
        small in small(),
        way in ways(),
        factor in prop_oneof![0.01..1.0_f64, 1.0..100.0_f64],
    ) {
        let old = trained(&small);
        let other = Small { lambda: small.lambda * factor, ..small };
        let model = warmed(&other, &way, &old, 0);
        let expected = exact_dual(&other, &old).float();
        prop_assert!((model.certificate().dual - expected).abs() <= model.certificate().rounding_error);
        warmed(&other, &way, &old, 5);
    }

    #[test]
    fn a_warm_start_on_more_or_fewer_data_takes_what_there_is(
        small in small(),
        way in ways(),
        share in 0.0..1.0_f64,
    ) {
        let some: Vec<usize> = (0..=(share * small.len() as f64) as usize).collect();
        let part = small.select(&some[..some.len().min(small.len())]);
        for (old, new) in [(&part, &small), (&small, &part)] {
            let model = trained(old);
            let begun = warmed(new, &way, &model, 0).certificate();
            let expected = dual_of(new, &distributions(old, &model));
            prop_assert!(near(begun.dual, expected), "{begun:?} {expected}");
            let later = warmed(new, &way, &model, 3).certificate();
            prop_assert!(later.dual >= expected - later.rounding_error - 1e-9 * expected.abs().max(1.0));
        }
    }

    // Sequences that have become shorter begin anew, the others where they were.
    #[test]
    fn a_warm_start_on_sequences_of_other_lengths_begins_them_anew(
        small in small(),
        way in ways(),
        cut in prop::collection::vec(any::<bool>(), 5),
    ) {
        let mut new = small.clone();
        for i in (0..small.len()).filter(|&i| cut[i] && small.truths[i].len() > 1) {
            new.truths[i].pop();
            new.inputs[i].pop();
            new.edges.get_mut(i).map(Vec::pop);
        }
        let old = trained(&small);
        let begun = warmed(&new, &way, &old, 0).certificate();
        let mut known = distributions(&small, &old);
        for (i, alpha) in known.iter_mut().enumerate() {
            if new.truths[i].len() != small.truths[i].len() {
                *alpha = None;
            }
        }
        let expected = dual_of(&new, &known);
        prop_assert!(near(begun.dual, expected), "{begun:?} {expected}");
        warmed(&new, &way, &old, 4);
    }

    // A new label comes first, and the old ones in reverse: the numbers are others and the names are the same. The
    // value of a dual point does not depend on a label that it gives no weight to.
    #[test]
    fn a_warm_start_finds_its_labels_by_their_names(small in small(), way in ways()) {
        prop_assume!(!matches!(small.kind, Kind::Multiclass(Costs::Matrix(_))));
        let old = trained(&small);
        let names = (0..small.labels).rev().map(|y| format!("label {y}"));
        let alphabet = Alphabet::from(["new".to_string()].into_iter().chain(names).collect::<Vec<_>>());
        let other = |y: u16| small.labels as u16 - y;
        let settings = of(&way, &small);
        for passes in [0, 4] {
            let fit = Fit::new(&settings, Budget::passes(passes)).warm(&old);
            let model = match &small.kind {
                Kind::Chain(hamming) => {
                    let data = small.sequences();
                    let labels = data.labels().iter().map(|&y| other(y)).collect();
                    let (rows, starts) = (data.rows().clone(), data.starts().to_vec());
                    let renamed = Sequences::new(rows, labels, starts, alphabet.clone()).unwrap();
                    let data = match data.edges() {
                        Some(edges) => renamed.with_edges(edges.clone()).unwrap(),
                        None => renamed,
                    };
                    let report = fit.chain(&data, *hamming, &mut ()).unwrap();
                    let Fitted::Chain(model) = &report.model else { panic!("not a chain") };
                    prop_assert!(model.certify(&data).is_ok());
                    report.model
                }
                Kind::Multiclass(costs) => {
                    let data = small.examples();
                    let labels = data.classes().unwrap().numbers().iter();
                    let labels = labels.map(|&y| other(y as u16).into()).collect();
                    let classes = Classes::new(labels, alphabet.clone()).unwrap();
                    let data = Examples::new(data.rows().clone(), classes).unwrap();
                    let report = fit.classes(&data, costs, &mut ()).unwrap();
                    let Fitted::Classes(model) = &report.model else { panic!("a chain") };
                    prop_assert!(model.certify(&data).is_ok());
                    report.model
                }
            };
            let (c, before) = (model.certificate(), old.certificate());
            prop_assert!(c.dual >= before.dual - c.rounding_error - before.rounding_error);
            prop_assert!(passes > 0 || near(c.dual, before.dual), "{c:?} {before:?}");
        }
    }

    #[test]
    fn a_hostile_witness_is_refused_or_left_out(
        small in small(),
        way in ways(),
        place in 0.0..1.0_f64,
        number in any::<u64>(),
        amount in prop_oneof![1e-6..1.0_f64, -1.0..-1e-6_f64, Just(f64::NAN), Just(f64::INFINITY)],
    ) {
        let old = trained(&small);
        let count = old.witness().keys.len();
        let k = (place * count as f64) as usize;
        let begins = |spoil: &dyn Fn(&mut Fitted)| {
            let mut hostile = old.clone();
            spoil(&mut hostile);
            let fit = Fit::new(&of(&way, &small), Budget::passes(2)).warm(&hostile);
            fit.run(&small).map(|report| assert_true(&small, &report.model)).is_ok()
        };
        macro_rules! witness {
            ($spoil:expr) => {
                begins(&|model| {
                    let spoil: &dyn Fn(&mut dualgap::dual::Witness) = &$spoil;
                    spoil(model.witness_mut().as_mut().unwrap());
                })
            };
        }
        prop_assert!(!witness!(|w| w.weights[k] += amount), "another weight");
        prop_assert!(!begins(&|model| *model.witness_mut() = None), "no witness");
        // What cannot be read is left out, and what can be is proved.
        witness!(|w| w.keys[k] = number);
        witness!(|w| w.keys[k] ^= 1 << (number % 64));
        witness!(|w| w.keys.swap(0, k));
        witness!(|w| { w.keys.pop(); });
        witness!(|w| { w.weights.pop(); });
        witness!(|w| w.starts.clear());
        witness!(|w| w.starts[0] = number);
        witness!(|w| w.starts[1] = number);
        witness!(|w| w.starts.reverse());
        witness!(|w| w.starts.fill(0));
        begins(&|model| model.names_mut().alphabet = Alphabet::from(vec!["label 0".to_string(); 3]));
        begins(&|model| model.names_mut().alphabet = Alphabet::from(vec!["another".to_string()]));
        begins(&|model| model.names_mut().alphabet = Alphabet::from(Vec::new()));
    }
}

#[test]
fn a_warm_start_without_a_witness_says_what_is_missing() {
    let small = Small::random(1, Kind::Multiclass(Costs::ZeroOne), 4, 3, 1);
    let mut bare = trained(&small);
    *bare.witness_mut() = None;
    let fit = Fit::new(&small.settings(), Budget::passes(2)).warm(&bare);
    assert!(fit.run(&small).unwrap_err().to_string().contains("witness"));
}

// Kept and resumed as any other; what it began with is not needed again.
#[test]
fn a_warm_run_can_be_resumed_without_the_model_it_began_with() {
    use crate::models::fitting::Trace;
    for kind in Kind::all(3) {
        let small = Small::random(2, kind, 6, 3, 3);
        let old = trained(&small);
        for method in [Algorithm::Bcfw, Algorithm::Fw] {
            for (step, average) in
                [(Step::LineSearch, Average::None), (Step::Predefined, Average::Weighted)]
            {
                let settings = Settings { method, step, average, ..small.settings() };
                let folder = tempfile::tempdir().unwrap();
                let file = folder.path().join("run");
                let fit = |passes| Fit::new(&settings, Budget::passes(passes));
                fit(3).warm(&old).kept(&file, 1.0).run(&small).unwrap();
                let resumed = fit(9).resumed(&file).run(&small).unwrap();
                let whole = fit(9).warm(&old).run(&small).unwrap();
                assert_eq!(Trace::of(&resumed), Trace::of(&whole));
            }
        }
    }
}
