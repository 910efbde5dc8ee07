//! The tests of the program as its users see it, a folder for each subject.
//!
//! They are one test program, so that what they share is compiled and linked once.
//! `cargo test --package dualgap-cli --test all path::` runs one folder. In a file of a folder, what the folder's
//! `main.rs` has is `crate::folder::…`, and what all folders share is `crate::common::…`.

mod common;

#[path = "bad_input/main.rs"]
mod bad_input;
#[path = "book/main.rs"]
mod book;
#[path = "completion/main.rs"]
mod completion;
#[path = "convert/main.rs"]
mod convert;
#[path = "cv/main.rs"]
mod cv;
#[path = "forgeries/main.rs"]
mod forgeries;
#[path = "linear/main.rs"]
mod linear;
#[path = "matchings/main.rs"]
mod matchings;
#[path = "own_files/main.rs"]
mod own_files;
#[path = "own_program/main.rs"]
mod own_program;
#[path = "path/main.rs"]
mod path;
#[path = "survive/main.rs"]
mod survive;
#[path = "train/main.rs"]
mod train;
