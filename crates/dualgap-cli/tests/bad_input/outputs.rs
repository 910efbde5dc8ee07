//! Models and traces that have nowhere to go.

use crate::bad_input::{OLD_MODEL, desk};
use crate::common::Desk;

/// Trains with these outputs, which must be refused before any data are read.
#[track_caller]
fn refused_before_training(desk: &Desk, outputs: &str, words: &[&str]) {
    // The data are missing, too: what is complained of first was looked at first.
    desk.run(&format!("train multiclass missing.svm {outputs}")).fails(words);
    desk.run(&format!("train multiclass data.svm {outputs}")).fails(words);
}

#[test]
fn a_model_that_has_nowhere_to_go_is_refused_before_training() {
    let desk = desk();
    refused_before_training(&desk, "-o missing/model", &["missing/model"]);
    refused_before_training(&desk, "-o data.svm/model", &["data.svm/model"]);
    refused_before_training(&desk, "-o .", &["folder"]);
    std::fs::create_dir(desk.path("folder")).unwrap();
    refused_before_training(&desk, "-o folder", &["folder"]);
    refused_before_training(&desk, "-o folder/", &["folder"]);
    assert_eq!(desk.files(), ["data.svm", "folder", "model", "words.data"]);
}

#[test]
fn a_name_that_only_a_folder_can_have_is_refused_before_training() {
    refused_before_training(&desk(), "-o new/", &["new/"]);
}

#[test]
fn a_name_that_no_file_can_have_is_refused_before_training() {
    let name = "m".repeat(5000);
    refused_before_training(&desk(), &format!("-o {name}"), &[&name]);
}

#[test]
fn a_model_that_would_take_the_place_of_the_data_is_refused() {
    let desk = desk();
    let data = desk.read("data.svm");
    desk.run("train multiclass data.svm -o data.svm").fails(&["data.svm"]);
    desk.run("train multiclass data.svm --trace data.svm").fails(&["data.svm"]);
    assert!(desk.read("data.svm") == data);
}

#[test]
fn a_trace_that_cannot_be_written_is_refused_and_the_old_model_stays() {
    let desk = desk();
    for trace in ["missing/trace", ".", "data.svm/trace"] {
        let run = desk.run(&format!("train multiclass data.svm -o model --trace {trace}"));
        run.fails(&[trace, "cannot be written"]);
        assert_eq!(desk.read("model"), OLD_MODEL);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_trace_that_runs_out_of_space_is_an_error_and_the_old_model_stays() {
    let desk = desk();
    let run = desk.run("train multiclass data.svm -o model --trace /dev/full");
    run.fails(&["/dev/full"]);
    assert_eq!(desk.read("model"), OLD_MODEL);
}

#[test]
fn a_good_run_replaces_the_old_model_as_a_whole() {
    let desk = desk();
    desk.run("train multiclass data.svm -o model").ok();
    desk.certify("model", "data.svm");
    assert_eq!(desk.files(), ["data.svm", "model", "words.data"]);
}

/// A link is followed, as by any program that writes a file.
#[cfg(unix)]
#[test]
fn a_model_can_be_written_through_a_link() {
    let desk = desk();
    std::os::unix::fs::symlink("model", desk.path("link")).unwrap();
    desk.run("train multiclass data.svm -o link").ok();
    assert!(desk.path("link").is_symlink(), "the link is still one");
    desk.certify("model", "data.svm");
}

/// What is no file, such as a device or a pipe, must not be replaced by one.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_replaced_by_one() {
    use std::os::unix::fs::FileTypeExt;
    let desk = desk();
    let made = std::process::Command::new("mkfifo").arg(desk.path("pipe")).status();
    assert!(made.unwrap().success());
    desk.run("train multiclass data.svm -o pipe").fails(&["pipe"]);
    let kind = std::fs::symlink_metadata(desk.path("pipe")).unwrap().file_type();
    assert!(kind.is_fifo(), "{kind:?}");
}

#[cfg(unix)]
#[test]
fn a_new_model_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let desk = desk();
    desk.run("train multiclass data.svm -o new").ok();
    let mode = |name: &str| std::fs::metadata(desk.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("new"), mode("data.svm"));
}

/// A file in the place of the link would not be where the link points.
#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_refused_and_stays_one() {
    let desk = desk();
    desk.run("train multiclass data.svm -o good").ok();
    std::os::unix::fs::symlink("gone/model", desk.path("link")).unwrap();
    let words = ["link", "is a link to gone/model, which is not there"];
    refused_before_training(&desk, "-o link", &words);
    refused_before_training(&desk, "--checkpoint link", &words);
    for line in [
        "cv multiclass data.svm --table link",
        "path multiclass data.svm -o link",
        "predict good data.svm -o link",
        "inspect good --weights link",
        "convert data.svm -o link",
        "convert data.svm -o new --save-map link",
    ] {
        desk.run(line).fails(&words);
        assert!(desk.path("link").is_symlink(), "{line}");
    }
    assert_eq!(desk.files(), ["data.svm", "good", "link", "model", "words.data"]);
}
