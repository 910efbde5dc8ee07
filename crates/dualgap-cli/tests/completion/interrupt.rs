//! Runs whose steps are long are interrupted like others.

use crate::common::Desk;
use crate::common::running::Running;
use std::fmt::Write;

/// A user and an item for each rating: the gradient has many equal singular values, which are found one block after the other.
/// With 1,000 such ratings a search took minutes in which no signal was heard.
#[test]
fn a_search_among_equal_singular_values_hears_a_signal() {
    let desk = Desk::new();
    let mut text = String::new();
    for i in 0..300 {
        let _ = writeln!(text, "u{i},i{i},{}", i % 5);
    }
    desk.write("equal.csv", text);
    let line = "train completion equal.csv --radius 10 --tolerance 0 --witness -o model --json";
    let running = Running::start(&desk, line);
    running.send("TERM");
    let json = running.end().exits(1).json();
    assert_eq!(json["stop"], "interrupted", "{json:#}");
    let proved = desk.certify("model", "equal.csv");
    assert_eq!((&proved["certified"], &proved["dual_proved"]), (&true.into(), &true.into()));
}
