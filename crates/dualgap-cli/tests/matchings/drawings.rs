//! Alignments drawn by `inspect`.

use super::{desk, links};

#[test]
fn a_pair_is_drawn_as_text_and_as_svg() {
    let desk = desk();
    desk.run("train matching pairs --bitext more -o model").ok();
    let json = desk.run("inspect model --data pairs --pair 3 --json").ok().json();
    let predicted = desk.run("predict model pairs").ok().stdout;
    let said = links(predicted.lines().nth(3).unwrap()).0;
    let (sure, possible) = links(super::toy(40, 1).a.lines().nth(3).unwrap());
    let of = |name: &str| -> super::Links {
        let pair = |link: &serde_json::Value| {
            (link[0].as_u64().unwrap() as usize, link[1].as_u64().unwrap() as usize)
        };
        json[name].as_array().unwrap().iter().map(pair).collect()
    };
    assert_eq!(
        (of("predicted"), of("sure"), of("possible")),
        (said.clone(), sure.clone(), possible.clone())
    );
    let text = desk.run("inspect model --data pairs --pair 3 --svg pair.svg").ok().stdout;
    let count = |symbol: char| {
        text.lines()
            .filter(|line| !line.contains("found"))
            .flat_map(str::chars)
            .filter(|c| *c == symbol)
            .count()
    };
    assert_eq!(count('●'), said.intersection(&sure).count());
    assert_eq!(count('○'), sure.difference(&said).count());
    assert_eq!(count('✗'), said.difference(&possible).count());
    let svg = String::from_utf8(desk.read("pair.svg")).unwrap();
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<circle").count(), said.len());
    assert_eq!(svg.matches("#333").count(), sure.len());
    assert!(!svg.contains("href") && !svg.contains("script"));
    assert_eq!(desk.run("inspect model --data pairs --pair 3 --svg -").ok().stdout, svg);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let desk = desk();
    desk.run("train matching pairs --bitext more -o model").ok();
    desk.run("inspect model --data pairs --pair 40").fails(&["has 40 examples"]);
    desk.run("inspect model --data nowhere --pair 0").fails(&["nowhere"]);
    desk.run("inspect model --data pairs").refuses(&["--pair"]);
    desk.run("inspect model --svg x.svg").refuses(&["--data"]);
    desk.run("inspect model --data pairs --pair 0 --svg pairs.e").fails(&["is read here"]);
    desk.run("inspect model --data pairs --pair 0 --svg model").fails(&["is read here"]);
    desk.write("odd.e", "<b> & \u{1}\n");
    desk.write("odd.f", "\"x' \u{1b}[31m\n");
    let text = desk.run("inspect model --data odd --pair 0 --svg odd.svg").ok().stdout;
    assert!(!text.contains('\u{1b}'));
    let svg = String::from_utf8(desk.read("odd.svg")).unwrap();
    assert!(svg.contains("&lt;b&gt;") && svg.contains("&quot;x&#39;") && !svg.contains('\u{1}'));
    desk.write("data.svm", "1 1:1\n2 1:-1\n");
    desk.run("train multiclass data.svm -o other").ok();
    desk.run("inspect other --data pairs --pair 0").fails(&["no model of matchings"]);
}
