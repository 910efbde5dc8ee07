//! Small data with a number for each row, written as LIBSVM files, and the objective by its formulas.

use crate::common::{Desk, Dice};

/// Every loss with its options.
pub const BINARY: [&str; 5] = [
    "--loss hinge",
    "--loss smooth-hinge",
    "--loss smooth-hinge --width 0.3",
    "--loss squared-hinge",
    "--loss logistic",
];
pub const REGRESSION: [&str; 6] = [
    "--loss squared",
    "--loss absolute",
    "--loss epsilon-insensitive",
    "--loss epsilon-insensitive --epsilon 0.25",
    "--loss huber",
    "--loss huber --width 0.2",
];

#[derive(Clone)]
pub struct Numbers {
    pub rows: Vec<Vec<f64>>,
    /// As a file says them.
    pub names: Vec<String>,
    /// What they stand for: −1 and 1, or the numbers themselves.
    pub targets: Vec<f64>,
}

impl Numbers {
    fn rows(n: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut dice = Dice(seed);
        let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..3).map(|_| dice.signed()).collect()).collect();
        let values = rows.iter().map(|x| x[0] - 0.6 * x[2] + 0.4 + 0.5 * dice.signed()).collect();
        (rows, values)
    }

    pub fn regression(n: usize, seed: u64) -> Self {
        let (rows, values) = Self::rows(n, seed);
        let names: Vec<String> = values.iter().map(|y| format!("{y:.4}")).collect();
        let targets = names.iter().map(|name| name.parse().unwrap()).collect();
        Self { rows, names, targets }
    }

    /// The first name stands for −1.
    pub fn binary(n: usize, seed: u64, names: [&str; 2]) -> Self {
        let (rows, values) = Self::rows(n, seed);
        let class = |y: &f64| usize::from(*y > 0.3);
        Self {
            names: values.iter().map(|y| names[class(y)].to_string()).collect(),
            targets: values.iter().map(|y| [-1.0, 1.0][class(y)]).collect(),
            rows,
        }
    }

    pub fn of(task: &str, seed: u64) -> Self {
        match task {
            "binary" => Self::binary(40, seed, ["-1", "1"]),
            _ => Self::regression(40, seed),
        }
    }

    pub fn text(&self) -> String {
        self.names
            .iter()
            .zip(self.unlabelled().lines())
            .map(|(y, x)| format!("{y} {x}\n"))
            .collect()
    }

    pub fn unlabelled(&self) -> String {
        let line = |x: &Vec<f64>| -> String {
            let pairs = x.iter().enumerate().map(|(j, x)| format!("{}:{x}", j + 1));
            pairs.collect::<Vec<_>>().join(" ") + "\n"
        };
        self.rows.iter().map(line).collect()
    }

    pub fn score(&self, i: usize, weights: &[f64]) -> f64 {
        // A weight more than there are features is that of the constant.
        let constant = weights.get(self.rows[i].len()).copied().unwrap_or(0.0);
        constant + self.rows[i].iter().zip(weights).map(|(x, w)| x * w).sum::<f64>()
    }

    /// The mean loss, λ/2‖w‖² and σ‖w‖₁ together.
    pub fn objective(&self, options: &str, lambda: f64, l1: f64, weights: &[f64]) -> f64 {
        let n = self.targets.len();
        let losses: f64 =
            (0..n).map(|i| loss(options, self.score(i, weights), self.targets[i])).sum();
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        let absolutes: f64 = weights.iter().map(|w| w.abs()).sum();
        losses / n as f64 + lambda / 2.0 * squares + l1 * absolutes
    }
}

/// The value of an option on a command line.
pub fn option(options: &str, name: &str) -> Option<f64> {
    let mut words = options.split_whitespace().skip_while(|&word| word != name);
    words.nth(1).map(|value| value.parse().unwrap())
}

fn loss(options: &str, a: f64, y: f64) -> f64 {
    let width = option(options, "--width").unwrap_or(1.0);
    let epsilon = option(options, "--epsilon").unwrap_or(0.1);
    let (short, r) = ((1.0 - y * a).max(0.0), (a - y).abs());
    match options.split_whitespace().nth(1).unwrap() {
        "hinge" => short,
        "smooth-hinge" if short >= width => short - width / 2.0,
        "smooth-hinge" => short * short / (2.0 * width),
        "squared-hinge" => short * short,
        "logistic" => (-y * a).exp().ln_1p(),
        "absolute" => r,
        "epsilon-insensitive" => (r - epsilon).max(0.0),
        "huber" if r > width => width * (r - width / 2.0),
        "squared" | "huber" => r * r / 2.0,
        other => panic!("{other}"),
    }
}

/// The weights of a model of a LIBSVM file, by `inspect --weights -`; those that are not shown are zero.
pub fn weights(desk: &Desk, model: &str, features: usize) -> Vec<f64> {
    let table = desk.run(&format!("inspect {model} --weights -")).ok().stdout;
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("kind\tfeature\tfrom\tlabel\tweight"));
    let mut weights = vec![0.0; features];
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!((cells[0], cells[2]), ("feature", ""));
        weights[cells[1].parse::<usize>().unwrap() - 1] = cells[4].parse().unwrap();
    }
    weights
}
