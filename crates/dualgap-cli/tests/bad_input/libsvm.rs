//! LIBSVM files that are none.

use crate::bad_input::{desk, fails, refuses};
use crate::common::{Table, gzip};

/// Trains on this text; the error must name the place and say these words.
#[track_caller]
fn bad(text: &str, words: &[&str]) {
    let desk = desk();
    desk.write("bad.svm", text);
    fails(&desk, "multiclass bad.svm", words);
    // A test file is read with the same care.
    fails(&desk, "multiclass data.svm --test bad.svm", words);
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let desk = desk();
    fails(&desk, "multiclass missing.svm", &["missing.svm"]);
    fails(&desk, "multiclass missing/file.svm", &["missing/file.svm"]);
    fails(&desk, "multiclass data.svm/below", &["data.svm/below"]);
    fails(&desk, "multiclass .", &["folder"]);
    fails(&desk, "multiclass data.svm --test missing.svm", &["missing.svm"]);
    fails(&desk, "multiclass data.svm --test .", &["folder"]);
}

#[test]
fn a_file_without_examples_is_refused() {
    bad("", &["bad.svm: has no examples"]);
    bad("\n\n  \n", &["bad.svm: has no examples"]);
    bad("# nothing but comments\n", &["bad.svm: has no examples"]);
}

#[test]
fn a_mistake_is_named_by_its_line_and_its_token() {
    let good = "1 1:1\n2 2:1\n";
    for (line, token) in [
        ("cat 1:1", "`cat`"),
        ("nan 1:1", "`nan`"),
        ("inf 1:1", "`inf`"),
        ("1e999 1:1", "`1e999`"),
        ("1 1", "`1`"),
        ("1 1:", "`1:`"),
        ("1 :1", "`:1`"),
        ("1 1:one", "`1:one`"),
        ("1 one:1", "`one:1`"),
        ("1 1:1:1", "`1:1:1`"),
        ("1 1:nan", "`1:nan`"),
        ("1 1:NaN", "`1:NaN`"),
        ("1 1:inf", "`1:inf`"),
        ("1 1:-infinity", "`1:-infinity`"),
        ("1 1:1e999", "`1:1e999`"),
        ("1 0:1", "`0:1`: indices start at 1"),
        ("1 1:1 1:2", "`1:2`: the index came before"),
        ("1 2:1 1:1", "`1:1`: indices must ascend"),
        ("1 -1:1", "`-1:1`"),
        ("1 1.5:1", "`1.5:1`"),
        ("1 4294967296:1", "`4294967296:1`"),
        ("1 18446744073709551616:1", "`18446744073709551616:1`"),
        ("1,1:1,2:2", "`1,1:1,2:2`"),
        ("1 qid:3 1:1", "`qid:3`"),
    ] {
        bad(&format!("{good}{line}\n{good}"), &["bad.svm:3: ", token]);
    }
}

#[test]
fn an_absurd_index_is_an_error_and_not_a_machine_without_memory() {
    let desk = desk();
    desk.write("bad.svm", "1 1:1\n2 4294967295:1\n");
    refuses(&desk, "multiclass bad.svm", &["weights", "index"]);
}

#[test]
fn an_absurd_index_is_named_by_its_file() {
    let desk = desk();
    desk.write("bad.svm", "1 1:1\n2 4294967295:1\n");
    fails(&desk, "multiclass bad.svm", &["bad.svm"]);
}

#[test]
fn data_of_one_class_leave_nothing_to_learn() {
    let desk = desk();
    desk.write("bad.svm", "1 1:1\n1 2:1\n+1 1:2\n");
    refuses(&desk, "multiclass bad.svm", &["two classes"]);
}

#[test]
fn data_of_one_class_are_named_by_their_file() {
    let desk = desk();
    desk.write("bad.svm", "1 1:1\n1 2:1\n+1 1:2\n");
    fails(&desk, "multiclass bad.svm", &["bad.svm", "two classes"]);
}

/// A file for regression has as many labels as lines; the table of costs alone would fill a machine.
#[cfg(target_os = "linux")]
#[test]
fn as_many_labels_as_a_regression_has_do_not_leave_a_machine_without_memory() {
    let desk = desk();
    let lines: String = (0..16_000).map(|i| format!("{i}.5 1:1\n")).collect();
    desk.write("bad.svm", lines);
    // A number for each pair of labels would be 2 GB. The limit is little more than half of that, so that the test itself is safe
    // wherever it runs.
    let line = format!(
        "ulimit -v 1140000; exec '{}' train multiclass bad.svm --oracle-calls 1",
        crate::common::program()
    );
    let output = std::process::Command::new("sh")
        .current_dir(desk.folder())
        .args(["-c", &line])
        .output()
        .unwrap();
    // Trained or refused, but not aborted.
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 2)), "{:?} {stderr}", output.status);
}

#[test]
fn binary_files_are_named_as_such() {
    let desk = desk();
    let noise: Vec<u8> = (0..4096_u32).map(|i| ((i * i) >> 3) as u8 ^ 0x80).collect();
    for garbage in [noise, vec![0xff; 100], vec![0; 100], b"\x7fELF\x02\x01\x01\xfe\xed".to_vec()] {
        desk.write("bad.svm", garbage);
        fails(&desk, "multiclass bad.svm", &["bad.svm:1: "]);
        desk.write("later.svm", [&b"1 1:1\n2 2:1\n"[..], &[0xc3, 0x28, b'\n']].concat());
        fails(&desk, "multiclass later.svm", &["later.svm:3: "]);
    }
}

#[test]
fn a_gzip_file_that_is_cut_off_or_damaged_is_refused() {
    let desk = desk();
    let whole = gzip(Table::new(200, 5, 3, 1).text().as_bytes());
    for length in [2, 9, 10, 11, whole.len() / 2, whole.len() - 8, whole.len() - 1] {
        desk.write("bad.gz", &whole[..length]);
        fails(&desk, "multiclass bad.gz", &["bad.gz"]);
    }
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x10;
    desk.write("bad.gz", damaged);
    fails(&desk, "multiclass bad.gz", &["bad.gz"]);
    let mut wrong_sum = whole.clone();
    wrong_sum[whole.len() - 6] ^= 1; // of the checksum
    desk.write("bad.gz", wrong_sum);
    fails(&desk, "multiclass bad.gz", &["bad.gz"]);
    desk.write("bad.gz", [&whole[..], b"and then something else"].concat());
    fails(&desk, "multiclass bad.gz", &["bad.gz"]);
}

#[test]
fn a_libsvm_file_has_no_folds_and_no_sequences() {
    let desk = desk();
    fails(&desk, "multiclass data.svm --train-folds 1", &["data.svm", "folds"]);
    fails(&desk, "chain data.svm", &["data.svm", "sequences"]);
    fails(&desk, "chain data.svm --format letters", &["data.svm:1: "]);
    desk.run("train chain data.svm --format libsvm").refuses(&["does not go with chain"]);
}

/// An index that no computer word holds is as much too large as one that is.
#[test]
fn an_index_beyond_all_bounds_is_called_too_large() {
    let desk = desk();
    desk.run("train multiclass data.svm -o good").ok();
    for index in ["268435457", "4294967295", "4294967296", "18446744073709551616"] {
        let token = format!("{index}:1");
        desk.write("bad.svm", format!("1 1:1\n2 {token}\n"));
        let words = ["bad.svm:2", &format!("`{token}`"), "so large an index", "without gaps"];
        fails(&desk, "multiclass bad.svm", &words);
        // For a model, lines may begin with their first feature.
        desk.write("bad.svm", format!("1:1\n{token}\n"));
        desk.run("predict good bad.svm").fails(&words);
    }
    for index in ["1.5", "-1", "x", "", "1e3", "0x1"] {
        desk.write("bad.svm", format!("1 1:1\n2 {index}:1\n"));
        fails(&desk, "multiclass bad.svm", &["bad.svm:2", "the index is not a whole number"]);
    }
}
