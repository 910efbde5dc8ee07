//! Letters files that are none, and folds that are not there.

use crate::bad_input::{desk, fails, refuses};
use crate::common::{Words, gzip};

/// The lines of a good file, one of them changed by columns.
fn with_column(line: usize, column: usize, value: &str) -> String {
    let text = Words::new(8, 1).text();
    let lines = text.lines().enumerate().map(|(i, text)| {
        let mut columns: Vec<&str> = text.split('\t').collect();
        if i == line {
            columns[column] = value;
        }
        columns.join("\t") + "\n"
    });
    lines.collect()
}

#[track_caller]
fn bad(text: impl AsRef<[u8]>, words: &[&str]) {
    let desk = desk();
    desk.write("bad.data", text);
    fails(&desk, "chain bad.data --format letters", words);
    fails(&desk, "multiclass bad.data --format letters", words);
    fails(&desk, "chain words.data --test bad.data", words);
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let desk = desk();
    fails(&desk, "chain missing.data", &["missing.data"]);
    fails(&desk, "chain .", &["folder"]);
    bad("", &["bad.data: has no letters"]);
    bad([0xff_u8; 300], &["bad.data:1: "]);
    bad("1 1:1\n2 2:1\n", &["bad.data:1: "]);
    let whole = gzip(Words::new(30, 1).text().as_bytes());
    bad(&whole[..whole.len() / 2], &["bad.data:"]);
}

#[test]
fn a_line_with_too_few_or_too_many_columns_is_named() {
    let ragged = |change: &dyn Fn(&str) -> String| -> String {
        let text = Words::new(8, 1).text();
        let lines = text.lines().enumerate();
        lines.map(|(i, line)| if i == 3 { change(line) } else { line.into() } + "\n").collect()
    };
    bad(ragged(&|line| line[..line.len() - 2].into()), &["bad.data:4: 133 columns"]);
    bad(ragged(&|line| format!("{line}\t0")), &["bad.data:4: 135 columns"]);
    bad(ragged(&|_| "x".into()), &["bad.data:4: 1 columns"]);
}

#[test]
fn a_column_that_makes_no_sense_is_named() {
    for (column, value, what) in [
        (2, "next", "next_id is `next`"),
        (4, "first", "position is `first`"),
        (4, "2", "position 2"),
        (4, "0", "position 0"),
        (4, "-1", "position is `-1`"),
        (4, "99999999999999999999", "position is"),
        (5, "10", "fold 10"),
        (5, "300", "fold is `300`"),
        (5, "-1", "fold is `-1`"),
        (5, "x", "fold is `x`"),
        (6, "2", "pixel 1 is `2`"),
        (133, "0.5", "pixel 128 is `0.5`"),
        (50, "nan", "pixel 45 is `nan`"),
    ] {
        // The fourth line begins the third word.
        bad(with_column(3, column, value), &["bad.data:4: ", what]);
    }
}

#[test]
fn words_that_fall_apart_are_named() {
    // The second word is the lines 2 and 3.
    bad(with_column(1, 2, "-1"), &["bad.data:3: position 2"]);
    bad(with_column(2, 2, "9"), &["bad.data:4: position 1"]);
    bad(with_column(2, 5, "7"), &["bad.data:3: fold 7"]);
    let text = Words::new(8, 1).text();
    let without_last_line = &text[..=text.trim_end().rfind('\n').unwrap()];
    bad(without_last_line, &["bad.data: ends within a word"]);
}

fn with_one_letter() -> String {
    let mut words = Words::new(8, 1);
    words.0.iter_mut().for_each(|word| word.letters.fill(0));
    words.text()
}

#[test]
fn words_of_one_letter_leave_nothing_to_learn() {
    let desk = desk();
    desk.write("bad.data", with_one_letter());
    refuses(&desk, "chain bad.data", &["two labels"]);
}

#[test]
fn words_of_one_letter_are_named_by_their_file() {
    let desk = desk();
    desk.write("bad.data", with_one_letter());
    fails(&desk, "chain bad.data", &["bad.data", "two labels"]);
}

#[test]
fn folds_without_words_are_refused() {
    let desk = desk();
    desk.write("few.data", Words::new(4, 1).text()); // folds 0 to 3
    fails(&desk, "chain few.data --train-folds 7", &["few.data", "fold 7"]);
    fails(&desk, "chain few.data --train-folds 0-3 --test-folds 8,9", &["few.data", "fold 8, 9"]);
    fails(&desk, "multiclass few.data --format letters --train-folds 7", &["few.data", "fold 7"]);
}

#[test]
fn testing_on_what_was_trained_on_is_refused() {
    let desk = desk();
    refuses(&desk, "chain words.data --train-folds 1-5 --test-folds 5-9", &["fold 5"]);
    refuses(&desk, "chain words.data --test-folds 0", &["--train-folds"]);
}
