//! `train multiclass` under smooth losses, and the probabilities of softmax.

use crate::common::{Desk, Table, interval, overlap};

#[test]
fn smooth_losses_are_certified_by_every_option_and_probabilities_add_up() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(60, 5, 3, 3).text());
    for loss in ["softmax", "smooth-hinge --width 0.5"] {
        let line = format!("multiclass data.svm --loss {loss} --lambda 0.05 --tolerance 1e-4");
        let first = interval(&desk.train(&format!("{line} --witness -o model")));
        assert_eq!(desk.certify("model", "data.svm")["dual_proved"], true);
        for option in ["ii", "iii", "iv", "v"] {
            let other = desk.train(&format!("{line} --option {option}"));
            assert!(overlap(first, interval(&other)), "{loss} {option}");
        }
    }
    desk.train("multiclass data.svm --loss softmax --lambda 0.05 --tolerance 1e-4 -o model");
    let labels = desk.run("predict model data.svm").ok().stdout;
    let text = desk.run("predict model data.svm --probabilities").ok().stdout;
    let names = ["1", "2", "3"];
    for (label, line) in labels.lines().zip(text.lines()) {
        let cells: Vec<&str> = line.split('\t').collect();
        let shares: Vec<f64> = cells[1..].iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!((cells[0], shares.len()), (label, 3), "{line}");
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{line}");
        let top = shares.iter().copied().fold(0.0, f64::max);
        if let Some(place) = names.iter().position(|name| *name == label) {
            assert_eq!(shares[place], top, "{line}");
        }
    }
}

// The hinge by Frank-Wolfe and by Prox-SDCA is one problem, and each proves the other's models.
#[test]
fn the_options_of_the_hinge_are_other_ways_to_the_same_optimum() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(60, 5, 3, 3).text());
    for more in ["", "--intercept", "--l1 0.01"] {
        let line = format!("multiclass data.svm {more} --lambda 0.05 --tolerance 1e-3");
        let first = interval(&desk.train(&line));
        for option in ["auto", "i", "ii", "iii", "iv"] {
            let other = desk.train(&format!("{line} --option {option} --witness -o model"));
            assert!(overlap(first, interval(&other)), "{more} {option}");
            assert_eq!(desk.certify("model", "data.svm")["dual_proved"], true, "{option}");
        }
    }
}

#[test]
fn options_that_a_loss_does_not_have_are_refused() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(20, 3, 3, 3).text());
    desk.write("costs", "- 1 2 3\n1 0 1 1\n2 1 0 1\n3 1 1 0\n");
    for (options, word) in [
        ("--loss softmax --width 2", "--width"),
        ("--option ii --solver fw", "--option"),
        ("--option i --step predefined", "--step"),
        ("--option v", "option V"),
        ("--q-norm", "q-norm"),
        ("--loss softmax --step predefined", "--step"),
        ("--loss softmax --solver fw --option ii", "--option"),
    ] {
        desk.run(&format!("train multiclass data.svm {options}")).refuses(&[word]);
    }
    desk.train("multiclass data.svm --lambda 0.1 --tolerance 0.1 -o hinge");
    desk.run("predict hinge data.svm --probabilities").refuses(&["--probabilities", "softmax"]);
}
