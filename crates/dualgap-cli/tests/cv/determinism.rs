//! Threads change nothing; the seed changes folds and order.

use crate::common::{Desk, Table, Words};

#[test]
fn the_number_of_threads_changes_no_byte() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(60, 5, 3, 1).text());
    desk.write("words.data", Words::new(30, 1).text());
    for line in [
        "cv multiclass data.svm --folds 4",
        "cv multiclass data.svm --folds 3 --batch 4 --loss softmax",
        "cv chain words.data --folds 3 --tolerance 0.1 --lambdas 10/n,1/n",
    ] {
        let run = |threads: usize| {
            let out = desk.run(&format!("{line} --threads {threads} --table table")).ok().stdout;
            (out, desk.read("table"))
        };
        let one = run(1);
        for threads in [0, 2, 7] {
            assert!(one == run(threads), "{threads} threads: {line}");
        }
    }
}

#[test]
fn another_seed_deals_other_folds() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(60, 5, 3, 1).text());
    // A model without any examples' order: what is left to the seed is the folds.
    let line = "cv multiclass data.svm --lambdas 0.05 --sampling cyclic --table table --quiet";
    let table = |seed: u64| {
        desk.run(&format!("{line} --seed {seed}")).ok();
        desk.read("table")
    };
    assert!(table(1) == table(1) && table(1) != table(2));
}
