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

/// Two features and three classes, by hand from the weights that `inspect` shows.
#[test]
fn scores_and_probabilities_of_all_classes_are_those_of_the_weights() {
    let desk = Desk::new();
    desk.write("data.svm", "1 1:1\n2 2:1\n3 1:-1 2:-1\n1 1:2 2:-0.5\n");
    desk.write("new.svm", "1:2 2:-3\n2:0.5 9:4\n");
    for loss in ["hinge", "smooth-hinge", "softmax"] {
        desk.train(&format!("multiclass data.svm --loss {loss} --lambda 0.1 -o model"));
        let mut w = [[0.0; 3]; 2];
        let table = desk.run("inspect model --weights -").ok().stdout;
        for line in table.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let place = |cell: usize| cells[cell].parse::<usize>().unwrap() - 1;
            w[place(1)][place(3)] = cells[4].parse().unwrap();
        }
        let scores = [2.0, 0.0].into_iter().zip([-3.0, 0.5]);
        let scores = scores.map(|(a, b)| [0, 1, 2].map(|k| a * w[0][k] + b * w[1][k]));
        let scores: Vec<[f64; 3]> = scores.collect();
        let probability =
            |s: &[f64; 3], k: usize| s[k].exp() / s.iter().map(|s| s.exp()).sum::<f64>();
        let softmax = loss == "softmax";
        let more = if softmax { " --probabilities" } else { "" };
        let told = desk.run(&format!("predict model new.svm --scores{more}")).ok().stdout;
        assert_eq!(told.lines().count(), 2);
        for (line, s) in told.lines().zip(&scores) {
            let cells: Vec<&str> = line.split('\t').collect();
            let best = (0..3).max_by(|&a, &b| s[a].total_cmp(&s[b])).unwrap();
            assert_eq!(cells[0], (best + 1).to_string(), "{loss}: {line} {s:?}");
            let mut own: Vec<f64> = s.to_vec();
            own.extend((0..3).filter(|_| softmax).map(|k| probability(s, k)));
            let numbers: Vec<f64> = cells[1..].iter().map(|cell| cell.parse().unwrap()).collect();
            assert_eq!(numbers.len(), own.len(), "{loss}: {line}");
            for (told, own) in numbers.iter().zip(own) {
                assert!((told - own).abs() < 1e-12, "{loss}: {line} {own}");
            }
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
