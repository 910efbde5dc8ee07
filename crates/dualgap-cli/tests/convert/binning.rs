//! With grids: what the features promise, and that a second file gets the same.

use super::{Line, gunzip, parse, table};
use crate::common::{Desk, number};
use std::collections::HashMap;

fn product(a: &Line, b: &Line) -> f64 {
    let of: HashMap<usize, f64> = b.1.iter().copied().collect();
    a.1.iter().map(|(j, x)| x * of.get(j).unwrap_or(&0.0)).sum()
}

#[test]
fn inner_products_of_the_file_are_the_kernel_of_the_rows() {
    let desk = Desk::new();
    let table = table();
    desk.write("data.svm", table.text());
    let (n, grids, sigma) = (15, 10_000, 1.5);
    let line = format!("convert data.svm --random-binning {grids} --bandwidth {sigma} -q");
    let lines = parse(&desk.run(&line).ok().stdout);
    // Hoeffding: all pairs are within it with a probability of at least 1 − 10⁻⁹.
    let allowed = ((f64::from(n * n) / 1e-9).ln() / (2.0 * f64::from(grids))).sqrt();
    for i in 0..n as usize {
        assert_eq!(lines[i].0, (table.labels[i] + 1).to_string());
        for k in 0..i {
            let far: f64 =
                table.rows[i].iter().zip(&table.rows[k]).map(|(a, b)| (a - b).abs()).sum();
            let (kernel, told) = ((-far / sigma).exp(), product(&lines[i], &lines[k]));
            assert!((kernel - told).abs() < allowed, "{told}, not {kernel}");
        }
    }
}

#[test]
fn every_row_has_one_feature_of_each_grid() {
    let desk = Desk::new();
    desk.write("data.svm", table().text());
    let run = desk.run("convert data.svm --random-binning 64 -o out.svm --json").ok();
    let lines = parse(std::str::from_utf8(&desk.read("out.svm")).unwrap());
    let largest = lines.iter().flat_map(|line| &line.1).map(|entry| entry.0).max().unwrap();
    for (_, entries) in &lines {
        assert_eq!(entries.len(), 64);
        assert!(entries.iter().all(|entry| entry.1 == 0.125));
        assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
    let json = run.json();
    assert_eq!(number(&json, "features"), largest as f64);
    assert_eq!(number(&json, "entries"), 64.0 * 60.0);
    assert_eq!(json["binning"]["bandwidth_from"], "median");
    // The program can read what it has written.
    desk.train("multiclass out.svm --tolerance 0.1");
}

#[test]
fn the_default_bandwidth_is_a_distance_that_half_of_the_pairs_exceed() {
    let desk = Desk::new();
    let table = table();
    desk.write("data.svm", table.text());
    let run = desk.run("convert data.svm --random-binning 2 -o out.svm --json").ok();
    let sigma = number(&run.json()["binning"], "bandwidth");
    let mut distances = Vec::new();
    for (i, a) in table.rows.iter().enumerate() {
        for b in &table.rows[..i] {
            distances.push(a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>());
        }
    }
    let below = distances.iter().filter(|&&distance| distance < sigma).count();
    let share = below as f64 / distances.len() as f64;
    assert!((share - 0.5).abs() < 0.05, "{share}");
}

#[test]
fn bytes_depend_on_the_seed_and_not_on_the_threads() {
    let desk = Desk::new();
    desk.write("data.svm", table().text());
    let converted = |options: &str| {
        let line = format!("convert data.svm --random-binning 20 {options} --save-map map -q -o");
        desk.run(&format!("{line} out.svm.gz")).ok();
        (desk.read("out.svm.gz"), desk.read("map"))
    };
    let one = converted("--threads 1");
    for same in ["--threads 4", "--threads 0", "--seed 0"] {
        assert!(converted(same) == one, "{same}");
    }
    assert_ne!(converted("--seed 1").0, one.0);
    assert_ne!(converted("--bandwidth 0.3").0, one.0);
}

#[test]
fn a_map_gives_rows_of_another_file_the_same_features() {
    let desk = Desk::new();
    let table = table();
    desk.write("train.svm", table.text());
    let chosen = [7, 3, 3, 59];
    desk.write("test.svm", table.select(&chosen).text() + "1 1:1000\n");
    desk.run("convert train.svm --random-binning 50 --save-map map -o train.rb.gz").ok();
    let train = parse(&gunzip(&desk.read("train.rb.gz")));
    let run = desk.run("convert test.svm --map map -o test.rb").ok();
    assert!(run.stdout.contains("of the map") && run.stdout.contains("left out"), "{run:#?}");
    let test = parse(std::str::from_utf8(&desk.read("test.rb")).unwrap());
    assert_eq!(test.len(), 5);
    for (line, &i) in test.iter().zip(&chosen) {
        assert_eq!(line, &train[i]);
    }
    assert!(test[4].1.is_empty(), "so far away there is no bin");
    // Lines without labels, and the same map again.
    desk.write("new.svm", "1:1000\n");
    assert_eq!(desk.run("convert new.svm --map map -q").ok().stdout, "1:0\n");
}

#[test]
fn a_table_is_binned_with_its_names() {
    let desk = Desk::new();
    desk.write("train.csv", "w,colour,y\n1,red,no\n2,blue,yes\n3,red,yes\n");
    desk.write("test.csv", "colour,y,w\nred,yes,3\nred,no,1\n");
    desk.run("convert train.csv --random-binning 30 --save-map map -o train.svm -q").ok();
    let train = String::from_utf8(desk.read("train.svm")).unwrap();
    let lines: Vec<&str> = train.lines().collect();
    let test = desk.run("convert test.csv --map map -q").ok().stdout;
    assert_eq!(test.lines().collect::<Vec<_>>(), [lines[2], lines[0]]);
}
