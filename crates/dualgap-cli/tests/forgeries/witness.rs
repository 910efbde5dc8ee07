//! Dual points that are none, in files whose digests and seal all fit.

use crate::common::forge::ModelFile;
use crate::forgeries::{Case, Kind, with_certificate};

const INFEASIBLE: &str = "the witness is not feasible";

/// `t << 32 | y << 16 | y'`, and all ones for the end of the word.
fn edge(t: u64, y: u64, next: u64) -> u64 {
    t << 32 | y << 16 | next
}

const END: u64 = 0xffff;

/// Rewrites the entries of one example.
fn with_block(file: &ModelFile, i: usize, entries: &[(u64, f64)]) -> ModelFile {
    let mut file = file.clone();
    let (mut starts, mut keys) = (file.words("witness.starts"), file.words("witness.keys"));
    let mut weights = file.floats("witness.weights");
    let range = starts[i] as usize..starts[i + 1] as usize;
    let before = range.len();
    keys.splice(range.clone(), entries.iter().map(|entry| entry.0));
    weights.splice(range, entries.iter().map(|entry| entry.1));
    for start in &mut starts[i + 1..] {
        *start = *start + entries.len() as u64 - before as u64;
    }
    file.set_words("witness.starts", &starts);
    file.set_words("witness.keys", &keys);
    file.set_floats("witness.weights", &weights);
    file
}

/// The file with the dual value that its witness would have if it were one.
fn with_true_dual(case: &Case, file: &ModelFile) -> ModelFile {
    let dual = case.exact(file).values(file).1;
    with_certificate(file, "dual", |_| dual)
}

#[test]
fn any_feasible_point_is_a_witness() {
    // The control for all that follows: rewriting an example does not disturb the rest.
    for (case, entries) in [
        (Case::multiclass(), vec![(0, 0.25), (1, 0.5), (2, 0.25)]),
        (Case::chain(), vec![(edge(0, 1, END), 0.5), (edge(0, 2, END), 0.5)]),
    ] {
        let file = with_true_dual(&case, &with_block(&case.honest, 0, &entries));
        let json = case.certify(&file.sealed()).ok().json();
        case.exact(&file).confirms(&json, &file);
    }
}

#[test]
fn weights_that_are_no_distribution_are_refused() {
    let case = Case::multiclass();
    for entries in [
        vec![(0, -0.25), (1, 1.25)],
        vec![(0, -1e-300), (1, 1.0)],
        vec![(0, 0.5), (1, 0.75)],
        vec![(0, 0.5), (1, 0.25)],
        vec![(1, 1.0 + 1e-6)],
        vec![(1, 1e300)],
        vec![],
        vec![(3, 1.0)],
        vec![(u64::MAX, 1.0)],
        vec![(1 << 32, 1.0)],
    ] {
        let file = with_block(&case.honest, 4, &entries).sealed();
        case.refused(&file, &["example 4", INFEASIBLE]);
    }
}

#[test]
fn keys_that_do_not_ascend_are_refused() {
    for entries in [vec![(1, 0.5), (0, 0.5)], vec![(1, 0.5), (1, 0.5)]] {
        let case = Case::multiclass();
        let file = with_block(&case.honest, 4, &entries).sealed();
        case.refused(&file, &["example 4", INFEASIBLE, "ascend"]);
    }
    let case = Case::chain();
    // Word 5 has two letters.
    let entries = [(edge(1, 0, END), 1.0), (edge(0, 0, 0), 1.0)];
    case.refused(&with_block(&case.honest, 5, &entries).sealed(), &["example 5", "ascend"]);
}

#[test]
fn arrays_that_do_not_fit_together_are_refused() {
    for case in Case::both() {
        let honest = case.honest.words("witness.starts");
        let last = honest[honest.len() - 1];
        for starts in [
            honest[..honest.len() - 1].to_vec(),
            [&honest[..], &[last]].concat(),
            [&honest[..honest.len() - 1], &[last + 1]].concat(),
            [&honest[..honest.len() - 1], &[u64::MAX]].concat(),
            [&[1], &honest[1..]].concat(),
            [&honest[..1], &[last, 0], &honest[3..]].concat(),
            [&honest[..1], &[u64::MAX], &honest[2..]].concat(),
            vec![],
        ] {
            let mut file = case.honest.clone();
            file.set_words("witness.starts", &starts);
            case.refused(&file.sealed(), &["witness"]);
        }
        let mut fewer = case.honest.clone();
        let weights = fewer.floats("witness.weights");
        fewer.set_floats("witness.weights", &weights[1..]);
        case.refused(&fewer.sealed(), &["witness.weights"]);
    }
}

#[test]
fn edges_that_are_none_of_the_word_are_refused() {
    let case = Case::chain();
    let Kind::Chain(words) = &case.kind else { unreachable!() };
    assert_eq!(words.0[2].letters.len(), 3);
    let path = [edge(0, 0, 1), edge(1, 1, 2), edge(2, 2, END)];
    let weighted = |keys: &[u64]| keys.iter().map(|&key| (key, 1.0)).collect::<Vec<_>>();
    for keys in [
        vec![edge(0, 0, 3), path[1], path[2]],
        vec![edge(0, 3, 1), path[1], path[2]],
        vec![edge(0, 0, END), path[1], path[2]],
        vec![path[0], path[1], edge(2, 2, 0)],
        vec![path[0], path[1], path[2], edge(3, 0, END)],
        vec![path[0], path[1]],
        vec![path[0], path[2]],
        vec![path[0], path[1], edge(1 << 31, 2, END)],
    ] {
        let file = with_block(&case.honest, 2, &weighted(&keys)).sealed();
        case.refused(&file, &["example 2", INFEASIBLE]);
    }
    let file = with_block(&case.honest, 2, &weighted(&path));
    case.certify(&with_true_dual(&case, &file).sealed()).ok();
}

/// With one edge exchanged for another between two positions, every position still has its label
/// weights and the transitions still add up to the same table, and so does the dual value: only
/// edge by edge can it be seen that no labeling goes this way.
#[test]
fn edges_that_only_look_right_in_sum_are_refused() {
    let case = Case::chain();
    let straight = [(edge(0, 0, 0), 1.0), (edge(1, 0, 1), 1.0), (edge(2, 1, END), 1.0)];
    let crossed = [(edge(0, 0, 1), 1.0), (edge(1, 0, 0), 1.0), (edge(2, 1, END), 1.0)];
    let straight = with_true_dual(&case, &with_block(&case.honest, 2, &straight));
    let crossed = with_true_dual(&case, &with_block(&case.honest, 2, &crossed));
    let dual = |file: &ModelFile| case.exact(file).values(file).1;
    assert!((dual(&straight) - dual(&crossed)).abs() < 1e-13, "the forgery is a good one");
    case.certify(&straight.sealed()).ok();
    case.refused(&crossed.sealed(), &["example 2", INFEASIBLE, "position 2", "disagree"]);

    // The same with most of the weight on a path that is one.
    let mixed = |share: f64| {
        let entries = [
            (edge(0, 0, 0), 1.0 - share),
            (edge(0, 0, 1), share),
            (edge(1, 0, 0), share),
            (edge(1, 0, 1), 1.0 - share),
            (edge(2, 1, END), 1.0),
        ];
        with_true_dual(&case, &with_block(&case.honest, 2, &entries)).sealed()
    };
    for share in [0.5, 0.01, 1e-6] {
        case.refused(&mixed(share), &["example 2", INFEASIBLE, "disagree"]);
    }
}

#[test]
fn a_chain_without_weight_or_with_too_much_is_refused() {
    let case = Case::chain();
    // Word 4 has one letter.
    for entries in [
        vec![],
        vec![(edge(0, 0, END), 0.5)],
        vec![(edge(0, 0, END), 2.0)],
        vec![(edge(0, 0, END), -1.0), (edge(0, 1, END), 2.0)],
    ] {
        let file = with_block(&case.honest, 4, &entries).sealed();
        case.refused(&file, &["example 4", INFEASIBLE]);
    }
}

#[test]
fn another_feasible_point_does_not_excuse_the_dual_value_that_was_claimed() {
    let case = Case::multiclass();
    let file = with_block(&case.honest, 4, &[(0, 0.25), (1, 0.5), (2, 0.25)]);
    case.refused(&file.sealed(), &["refused", "claims a dual value"]);
}
