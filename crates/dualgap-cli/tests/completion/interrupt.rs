//! Runs whose steps are long are interrupted like others.

use crate::common::Desk;
use crate::common::running::Running;
use std::fmt::Write;

/// A user and an item for each rating: the gradient has many equal singular values, which are found one block after the other.
/// With 1,000 such ratings a search took minutes in which neither a signal nor the end of the time was heard.
fn equal(count: usize) -> Desk {
    let desk = Desk::new();
    let mut text = String::new();
    for i in 0..count {
        let _ = writeln!(text, "u{i},i{i},{}", i % 5);
    }
    desk.write("equal.csv", text);
    desk
}

#[test]
fn a_search_among_equal_singular_values_hears_a_signal() {
    let desk = equal(300);
    let line = "train completion equal.csv --radius 10 --tolerance 0 --witness -o model --json";
    let running = Running::start(&desk, line);
    running.send("TERM");
    let json = running.end().exits(1).json();
    assert_eq!(json["stop"], "interrupted", "{json:#}");
    let proved = desk.certify("model", "equal.csv");
    assert_eq!((&proved["certified"], &proved["dual_proved"]), (&true.into(), &true.into()));
}

/// A step decomposes a matrix of 1,000 rows. How many there were is counted, so that a slow machine passes too.
#[test]
fn a_search_among_a_thousand_equal_singular_values_hears_that_the_time_is_up() {
    let desk = equal(1000);
    let line = "train completion equal.csv --radius 10 --tolerance 0 --time 1 --json";
    let json = desk.run(line).ok().json();
    assert_eq!((&json["stop"], &json["certified"]), (&"time_limit".into(), &true.into()));
    assert!(json["passes"].as_f64().is_some_and(|passes| passes <= 20.0), "{json:#}");
}
