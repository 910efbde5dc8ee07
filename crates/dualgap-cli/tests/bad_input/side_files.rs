//! Sample weights and cost tables that do not fit the data.

use crate::bad_input::{desk, fails, refuses};

#[test]
fn sample_weights_that_make_no_sense_are_named_by_their_line() {
    let desk = desk();
    for bad in ["-1", "nan", "inf", "one", "1 1", "1e999", "1,5"] {
        desk.write("counts", format!("1\n\n{bad}\n{}", "1\n".repeat(10)));
        for data in ["multiclass data.svm", "chain words.data"] {
            let line = format!("{data} --sample-weights counts");
            fails(&desk, &line, &["counts:3: ", &format!("`{bad}`")]);
        }
    }
}

#[test]
fn there_is_one_sample_weight_for_each_example() {
    let desk = desk();
    for count in [0, 1, 11, 13] {
        desk.write("counts", "1\n".repeat(count));
        for data in ["multiclass data.svm", "chain words.data", "chain words.data --train-folds 1"]
        {
            let line = format!("{data} --sample-weights counts");
            fails(&desk, &line, &["counts", &format!("{count} weights for 12 examples")]);
        }
    }
    fails(&desk, "multiclass data.svm --sample-weights missing", &["missing"]);
    fails(&desk, "multiclass data.svm --sample-weights .", &["folder"]);
}

#[test]
fn sample_weights_that_are_all_zero_are_refused() {
    let desk = desk();
    desk.write("counts", "0\n".repeat(12));
    for lambda in ["0.1", "1/n"] {
        let line = format!("multiclass data.svm --sample-weights counts --lambda {lambda}");
        refuses(&desk, &line, &[]);
    }
}

#[test]
fn sample_weights_that_are_all_zero_are_named_by_their_file() {
    let desk = desk();
    desk.write("counts", "0\n".repeat(12));
    for lambda in ["0.1", "1/n"] {
        let line = format!("multiclass data.svm --sample-weights counts --lambda {lambda}");
        fails(&desk, &line, &["counts", "weights add up to 0"]);
    }
}

#[test]
fn sample_weights_too_large_to_be_added_are_refused() {
    let desk = desk();
    desk.write("counts", "1e308\n".repeat(12));
    for lambda in ["0.1", "1/n"] {
        let line = format!("multiclass data.svm --sample-weights counts --lambda {lambda}");
        refuses(&desk, &line, &[]);
    }
}

#[test]
fn cost_tables_that_make_no_sense_are_named_by_their_line() {
    let desk = desk();
    for (table, words) in [
        ("", "costs: "),
        ("1 2\n", "costs: not all"),
        ("1 2\n1 0 1\n", "costs: not all"),
        ("1 3\n1 0 1\n2 1 0\n", "costs:1: the data have no label `3`"),
        ("1 1\n1 0 1\n2 1 0\n", "costs:1: "),
        ("1\n1 0\n2 1\n", "costs:1: "),
        ("1 2 2\n1 0 1 1\n2 1 0 0\n", "costs:1: "),
        ("0 1\n1 0\n", "costs:1: the data have no label `0`"),
        ("1 2\n1 0 1\n3 1 0\n", "costs:3: the data have no label `3`"),
        ("1 2\n1 0 1\n1 0 1\n", "costs:3: `1` came before"),
        ("1 2\n1 0 1\n2 1\n", "costs:3: 1 costs where 2 belong"),
        ("1 2\n1 0 1\n2 1 0 0\n", "costs:3: 3 costs where 2 belong"),
        ("1 2\n1 0 -1\n2 1 0\n", "costs:2: `-1`"),
        ("1 2\n1 0 nan\n2 1 0\n", "costs:2: `nan`"),
        ("1 2\n1 0 inf\n2 1 0\n", "costs:2: `inf`"),
        ("1 2\n1 0 x\n2 1 0\n", "costs:2: `x`"),
        ("1 2\n1 0.5 1\n2 1 0\n", "costs:2: `1` costs 0.5 when it is right"),
    ] {
        desk.write("costs", table);
        fails(&desk, "multiclass data.svm --costs costs", &[words]);
    }
    desk.write("costs", [0xff; 20]);
    fails(&desk, "multiclass data.svm --costs costs", &["costs:1: "]);
    fails(&desk, "multiclass data.svm --costs missing", &["missing"]);
    fails(&desk, "multiclass data.svm --costs .", &["folder"]);
}
