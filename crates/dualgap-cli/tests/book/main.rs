//! What the book and the help say is true: every command in them is run.

use crate::common::{Desk, Dice, Table, Words, gzip};
use crate::matchings::toy;
use std::fmt::Write;

const GETTING_STARTED: &str = include_str!("../../../../docs/getting-started.md");
const BALLS: &str = include_str!("../../../../docs/balls.md");
const COMPLETION: &str = include_str!("../../../../docs/completion.md");
const CONVERTING: &str = include_str!("../../../../docs/converting.md");
const CROSS_VALIDATION: &str = include_str!("../../../../docs/cross-validation.md");
const KERNELS: &str = include_str!("../../../../docs/kernels.md");
const MAPPED: &str = include_str!("../../../../docs/mapped.md");
const MATCHING: &str = include_str!("../../../../docs/matching.md");
const MEASUREMENTS: &str = include_str!("../../../../docs/measurements.md");
const PATHS: &str = include_str!("../../../../docs/paths.md");
const TAGGER: &str = include_str!("../../../../docs/tagger.md");
const README: &str = include_str!("../../../../README.md");

/// Sentences of nouns, verbs and articles with the labels of chunks.
fn columns(sentences: usize, seed: u64, labelled: bool) -> String {
    let mut dice = Dice(seed);
    let mut text = String::new();
    for _ in 0..sentences {
        for _ in 0..=dice.below(3) {
            let noun = ["dog", "cat", "pound", "market"][dice.below(4)];
            let verb = ["runs", "falls", "rises"][dice.below(3)];
            for (word, tag, label) in [
                ("The", "DT", "B-NP"),
                (noun, "NN", "I-NP"),
                (verb, "VBZ", "B-VP"),
                (".", ".", "O"),
            ] {
                let label = if labelled { label } else { "" };
                let _ = writeln!(text, "{}", format!("{word} {tag} {label}").trim_end());
            }
        }
        text.push('\n');
    }
    text
}

fn csv(rows: usize, seed: u64, labelled: bool) -> String {
    let mut dice = Dice(seed);
    let mut text = String::from(if labelled { "width,colour,species\n" } else { "width,colour\n" });
    for i in 0..rows {
        let (species, colour) = [("rose", "red"), ("lily", "white"), ("iris", "blue")][i % 3];
        let _ = write!(text, "{},{colour}", 1.0 + dice.signed());
        let _ = if labelled { writeln!(text, ",{species}") } else { writeln!(text) };
    }
    text
}

/// Examples with any number of labels, by the signs of their values: as a LIBSVM file, and as a table.
fn topics(rows: usize, seed: u64) -> (String, String) {
    let mut dice = Dice(seed);
    let (mut svm, mut csv) = (String::new(), String::from("a,b,c,topics\n"));
    for _ in 0..rows {
        let x = [dice.signed(), dice.signed(), dice.signed()];
        let there = (1..4).filter(|&k| x[k - 1] > 0.2).map(|k| k.to_string());
        let set = there.collect::<Vec<_>>().join(",");
        let _ = writeln!(svm, "{set} 1:{} 2:{} 3:{}", x[0], x[1], x[2]);
        let _ = writeln!(csv, "{},{},{},\"{set}\"", x[0], x[1], x[2]);
    }
    (svm, csv)
}

/// Two numbers of every example: as a LIBSVM file, and as a table with a column of names.
fn numbers(rows: usize, seed: u64) -> (String, String) {
    let mut dice = Dice(seed);
    let (mut svm, mut csv) = (String::new(), String::from("size,colour,price,weight\n"));
    for i in 0..rows {
        let (x, y) = (dice.signed(), dice.signed());
        let (price, weight) = (2.0 * x - y + dice.signed() / 9.0, 1.0 + x + y);
        let _ = writeln!(svm, "{price},{weight} 1:{x} 2:{y}");
        let _ = writeln!(csv, "{x},{},{price},{weight}", ["red", "blue"][i % 2]);
    }
    (svm, csv)
}

/// Ratings of ten users and eight items, with a header; pairs alone if they are not wanted.
fn ratings(count: usize, seed: u64, rated: bool) -> String {
    let mut dice = Dice(seed);
    let mut text = String::from(if rated { "user,film,points\n" } else { "user,film\n" });
    for _ in 0..count {
        let (user, film) = (dice.below(10), dice.below(8));
        let points = 3.0 + if (user + film) % 2 == 0 { 1.0 } else { -1.0 } + dice.signed() / 4.0;
        let points = if rated { format!(",{points}") } else { String::new() };
        let _ = writeln!(text, "user {user},film {film}{points}");
    }
    text
}

/// Measurements of a matrix of three by four, and squares of products with a vector of three numbers, with noise.
fn measurements(rows: usize, seed: u64) -> (String, String) {
    let mut dice = Dice(seed);
    let (mut matrices, mut squares) = (String::new(), String::new());
    let (u, v) = ([1.0, -1.0, 0.5], [1.0, 0.5, -0.5, 1.0]);
    for _ in 0..rows {
        let a: Vec<f64> = (0..12).map(|_| dice.signed()).collect();
        let value: f64 = a.iter().enumerate().map(|(k, a)| a * u[k / 4] * v[k % 4]).sum();
        let _ = write!(matrices, "{}", value + 0.3 * dice.signed());
        a.iter().enumerate().for_each(|(k, a)| write!(matrices, " {}:{a}", k + 1).unwrap());
        matrices.push('\n');
        let root: f64 = a[..3].iter().zip([1.5, -1.0, 0.5]).map(|(a, x)| a * x).sum();
        let value = root * root + 0.3 * dice.signed();
        let _ = writeln!(squares, "{value} 1:{} 2:{} 3:{}", a[0], a[1], a[2]);
    }
    (matrices, squares)
}

/// A desk with every file that the examples name.
fn desk() -> Desk {
    let desk = Desk::new();
    for (name, seed, labelled) in [("train", 1, true), ("test", 2, true), ("new", 3, false)] {
        desk.write(&format!("{name}.txt"), columns(20, seed, labelled));
        desk.write(&format!("{name}.csv"), csv(30, seed, labelled));
        let table = Table::new(30, 5, 3, 4).text();
        let bare = |line: &str| line.split_once(' ').unwrap_or_default().1.to_string() + "\n";
        let text = if labelled { table } else { table.lines().map(bare).collect() };
        desk.write(&format!("{name}.svm"), text);
    }
    desk.write(
        "templates.txt",
        "U0:%x[0,0]\nU1:%suffix2[0,0]\nU2:%x[-1,1]/%x[0,1]\nB1:%x[0,1]\nB\n",
    );
    desk.write("topics.svm", topics(30, 1).0);
    desk.write("topics.csv", topics(30, 1).1);
    desk.write("more-topics.svm", topics(20, 2).0);
    desk.write("sensors.svm", numbers(30, 1).0);
    desk.write("more-sensors.svm", numbers(20, 2).0);
    desk.write("things.csv", numbers(30, 1).1);
    desk.write("two-classes.svm", Table::new(30, 5, 2, 4).text());
    desk.write("weights.txt", "0.1\n0.2\n-0.3\n0\n0.05\n");
    desk.write("numbers.svm", "1.5 1:1\n2 1:2 2:1\n-3.25 2:4\n0 1:0.5\n");
    desk.write("matrices.svm", measurements(40, 1).0);
    desk.write("squares.svm", measurements(40, 1).1);
    desk.write("ratings.csv", ratings(60, 1, true));
    desk.write("more-ratings.csv", ratings(20, 2, true));
    desk.write("pairs.csv", ratings(10, 3, false));
    toy(40, 1).write(&desk, "pairs");
    toy(40, 2).write(&desk, "more-pairs");
    desk.write(
        "edges.txt",
        "0 0 1 same:1\n0 1 0 far:1\n1 1 1 same:0.9\n\n0 0 0 far:1\n0 1 1 same:1\n",
    );
    desk.write("letters.data.gz", gzip(Words::new(40, 1).text().as_bytes()));
    desk
}

/// Runs the commands one after the other; each must succeed.
fn run_all<'a>(commands: impl Iterator<Item = &'a str>) -> usize {
    let desk = desk();
    let mut count = 0;
    for command in commands {
        let arguments = command.trim().strip_prefix("dualgap ").expect("a command of ours");
        desk.run(arguments).ok();
        count += 1;
    }
    count
}

/// The lines of a page's shell examples.
fn shell_lines(page: &str) -> impl Iterator<Item = &str> {
    page.split("```sh\n")
        .skip(1)
        .flat_map(|block| block.split("```").next().unwrap_or_default().lines())
        .filter(|line| line.starts_with("dualgap "))
}

#[test]
fn the_commands_of_getting_started_work() {
    assert_eq!(run_all(shell_lines(GETTING_STARTED)), 12);
}

#[test]
fn the_commands_of_the_page_on_taggers_work() {
    assert_eq!(run_all(shell_lines(TAGGER)), 5);
}

#[test]
fn the_commands_of_the_page_on_balls_work() {
    assert_eq!(run_all(shell_lines(BALLS)), 20);
}

#[test]
fn the_commands_of_the_page_on_completion_work() {
    assert_eq!(run_all(shell_lines(COMPLETION)), 8);
}

#[test]
fn the_commands_of_the_page_on_measurements_work() {
    assert_eq!(run_all(shell_lines(MEASUREMENTS)), 9);
}

#[test]
fn the_commands_of_cross_validation_work() {
    assert_eq!(run_all(shell_lines(CROSS_VALIDATION)), 12);
}

#[test]
fn the_commands_of_converting_data_work() {
    assert_eq!(run_all(shell_lines(CONVERTING)), 13);
}

#[test]
fn the_commands_of_the_page_on_data_files_work() {
    assert_eq!(run_all(shell_lines(MAPPED)), 4);
}

#[test]
fn the_commands_of_the_page_on_kernels_work() {
    assert_eq!(run_all(shell_lines(KERNELS)), 6);
}

#[test]
fn the_commands_of_the_page_on_matchings_work() {
    assert_eq!(run_all(shell_lines(MATCHING)), 6);
}

#[test]
fn the_commands_of_the_page_on_paths_work() {
    assert_eq!(run_all(shell_lines(PATHS)), 6);
}

#[test]
fn the_commands_of_the_readme_work() {
    assert!(run_all(shell_lines(README)) >= 7);
}

#[test]
fn the_examples_of_every_help_topic_work() {
    let list = Desk::new().run("help").ok().stdout;
    let topics = list.lines().find_map(|line| line.strip_prefix("Topics: ")).unwrap();
    let topics: Vec<&str> = topics.split(", ").collect();
    assert!(topics.len() >= 5, "{topics:?}");
    for topic in topics {
        let text = Desk::new().run(&format!("help {topic}")).ok().stdout;
        let examples = text.lines().filter_map(|line| line.trim().strip_prefix("$ "));
        assert!(run_all(examples) > 0, "{topic}");
    }
}

#[test]
fn help_knows_every_command_and_refuses_others() {
    let desk = Desk::new();
    for command in [
        "train",
        "train chain",
        "train completion",
        "train matching",
        "train phase-retrieval",
        "train affine-rank",
        "cv",
        "cv binary",
        "path",
        "path binary",
        "predict",
        "eval",
        "inspect",
        "convert",
        "certify",
        "man",
    ] {
        let help = desk.run(&format!("help {command}")).ok().stdout;
        assert!(help.contains(&format!("dualgap {command}")), "{help}");
    }
    desk.run("help nonsense").refuses(&["nonsense", "dualgap help"]);
}

#[test]
fn completions_and_manual_pages_have_every_option() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = desk.run(&format!("completions {shell}")).ok().stdout;
        // fish writes long options without their dashes.
        for option in ["checkpoint-every", "warm-start", "min-count"] {
            assert!(script.contains(option), "{shell} has no {option}");
        }
    }
    assert!(desk.run("man").ok().stdout.contains(".TH dualgap 1"));
    desk.run("man --output pages").ok();
    let page = String::from_utf8(desk.read("pages/dualgap-train-chain.1")).unwrap();
    assert!(page.contains(r"\-\-checkpoint\-every"), "{page}");
    assert!(page.contains("dualgap train chain"), "{page}");
}
