//! Products of two features, and inner products with atoms: what they are by their definition, and that a second file
//! gets the same.

use super::{Line, parse, table};
use crate::common::{Desk, interval, number, overlap};
use std::collections::HashMap;

fn product(a: &Line, b: &Line) -> f64 {
    let of: HashMap<usize, f64> = b.1.iter().copied().collect();
    a.1.iter().map(|(j, x)| x * of.get(j).unwrap_or(&0.0)).sum()
}

#[test]
fn inner_products_of_degree_2_are_those_of_the_kernel() {
    let desk = Desk::new();
    let table = table();
    desk.write("data.svm", table.text());
    let run = desk.run("convert data.svm --degree 2 -o out.svm --json").ok();
    let lines = parse(std::str::from_utf8(&desk.read("out.svm")).unwrap());
    let json = run.json();
    // Four features, and all ten pairs of them occur.
    assert_eq!((number(&json, "features"), number(&json, "degree")), (14.0, 2.0));
    for (i, a) in lines.iter().enumerate() {
        for (k, b) in lines.iter().enumerate().take(i + 1) {
            let rows = table.rows[i].iter().zip(&table.rows[k]);
            let plain: f64 = rows.map(|(a, b)| a * b).sum();
            let kernel = (plain + 1.0) * (plain + 1.0) - 1.0;
            assert!((product(a, b) - kernel).abs() < 1e-9 * (1.0 + kernel.abs()));
        }
        assert!(a.1.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}

#[test]
fn products_have_names_and_only_those_that_occur() {
    let desk = Desk::new();
    desk.write("train.csv", "width,height,colour,kind\n2,0,red,a\n0,3,blue,b\n");
    let line = "convert train.csv --label kind --degree 2 --save-names names --save-map map";
    let told = desk.run(&format!("{line} -o train.svm")).ok().stdout;
    let names = String::from_utf8(desk.read("names")).unwrap();
    let names: Vec<&str> = names.lines().map(|line| line.split_once('\t').unwrap().1).collect();
    let of = |name: &str| names.iter().position(|n| *n == name).map(|at| at + 1);
    // Width and height are never in a row together, nor are the two colours.
    assert!(of("width*height").is_none() && of("width^2").is_some(), "{names:?}");
    assert_eq!(names.len(), 4 + 6, "{names:?}");
    assert!(told.contains("6 products"), "{told}");
    let lines = parse(std::str::from_utf8(&desk.read("train.svm")).unwrap());
    let value = |line: &Line, name: &str| line.1.iter().find(|e| Some(e.0) == of(name)).unwrap().1;
    assert_eq!((value(&lines[0], "width^2"), value(&lines[1], "height^2")), (4.0, 9.0));
    // A pair of another file that the first did not have is left out and counted; the others have their numbers.
    desk.write("test.csv", "height,width,colour,kind\n1,5,red,a\n");
    let run = desk.run("convert test.csv --map map -o test.svm --json").ok();
    assert_eq!(number(&run.json(), "unseen_products"), 2.0); // height with width, and with red
    let test = parse(std::str::from_utf8(&desk.read("test.svm")).unwrap());
    assert_eq!((value(&test[0], "width^2"), value(&test[0], "height^2")), (25.0, 1.0));
    desk.run("convert train.csv --map map -o again.svm -q").ok();
    assert_eq!(desk.read("train.svm"), desk.read("again.svm"));
    // A damaged map is noticed.
    let mut map = desk.read("map");
    let last = map.len() - 2;
    map[last] ^= 1;
    desk.write("map", map);
    desk.run("convert test.csv --map map -o test.svm").refuses(&["map"]);
}

/// A mixture of atoms in the simplex is a model whose weights are in their convex hull.
#[test]
fn products_with_atoms_are_the_data_of_a_convex_hull() {
    let desk = Desk::new();
    let table = table();
    desk.write("data.svm", table.text());
    let atoms = [[1.0, 0.0, -1.0, 2.0], [0.5, 0.5, 0.0, 0.0], [-1.0, 2.0, 1.0, 0.0]];
    let text: Vec<String> = atoms
        .iter()
        .map(|b| (1..).zip(b).map(|(j, x)| format!("{j}:{x}")).collect::<Vec<_>>().join(" "))
        .collect();
    desk.write("atoms.svm", text.join("\n") + "\n");
    let run =
        desk.run("convert data.svm --atoms atoms.svm --save-map map -o out.svm --json").ok().json();
    assert_eq!((number(&run, "features"), number(&run, "atoms")), (3.0, 3.0));
    let lines = parse(std::str::from_utf8(&desk.read("out.svm")).unwrap());
    for (line, row) in lines.iter().zip(&table.rows) {
        let of: HashMap<usize, f64> = line.1.iter().copied().collect();
        for (k, atom) in atoms.iter().enumerate() {
            let expected: f64 = atom.iter().zip(row).map(|(b, x)| b * x).sum();
            assert!((of.get(&(k + 1)).unwrap_or(&0.0) - expected).abs() < 1e-12);
        }
    }
    desk.run("convert data.svm --map map -o again.svm -q").ok();
    assert_eq!(desk.read("out.svm"), desk.read("again.svm"));
    // Of the same hull with a corner twice the optimum is the same.
    desk.write("more.svm", text.join("\n") + "\n" + &text[0] + "\n");
    desk.run("convert data.svm --atoms more.svm -o more-out.svm -q").ok();
    let hull = |data: &str| {
        let line = format!("multiclass {data} --ball simplex --radius 1 --mu 0 --tolerance 1e-5");
        desk.train(&line)
    };
    assert!(overlap(interval(&hull("out.svm")), interval(&hull("more-out.svm"))));
    desk.write("far.svm", "1:1 9:2\n");
    desk.run("convert data.svm --atoms far.svm -o out.svm").refuses(&["far.svm", "features"]);
    desk.write("none.svm", "");
    desk.run("convert data.svm --atoms none.svm -o out.svm").refuses(&["none.svm"]);
}
