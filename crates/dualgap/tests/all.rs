//! The tests of the library as its users see it, a folder for each subject.
//!
//! They are one program, so that what is generic, the engine above all, is compiled and linked once for all of
//! them. `cargo test --package dualgap-tests --test all linear::` runs one folder. In a file of a folder, what the folder's
//! `main.rs` has is `crate::folder::…`, and what all folders share is `crate::common::…`.
//!
//! Apart from it stand `allocation`, whose counts are those of a whole program, and `floors`, which reads sources and
//! needs no library.

mod common;

#[path = "balls/main.rs"]
mod balls;
#[path = "certificates/main.rs"]
mod certificates;
#[path = "crf/main.rs"]
mod crf;
#[path = "cutting_planes/main.rs"]
mod cutting_planes;
#[path = "domains/main.rs"]
mod domains;
#[path = "equivalences/main.rs"]
mod equivalences;
#[path = "exponentiated/main.rs"]
mod exponentiated;
#[path = "kernels/main.rs"]
mod kernels;
#[path = "linear/main.rs"]
mod linear;
#[path = "low_rank/main.rs"]
mod low_rank;
#[path = "matchings/main.rs"]
mod matchings;
#[path = "models/main.rs"]
mod models;
#[path = "oracles/main.rs"]
mod oracles;
mod pages;
#[path = "subgradient/main.rs"]
mod subgradient;
#[path = "theorems/main.rs"]
mod theorems;
