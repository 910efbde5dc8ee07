//! Single bits of the tensors.

use crate::common::forge::ModelFile;
use crate::forgeries::Case;

/// Sign, exponent from the top to the bottom, mantissa from the top to the bottom.
const BITS: [u32; 8] = [63, 62, 58, 52, 51, 40, 20, 0];

/// Where the number of a tensor lies that matters most.
fn largest(file: &ModelFile, name: &str) -> usize {
    let words = file.words(name);
    let size = |k: usize| match &file.tensors[name].dtype[..] {
        "F64" => f64::from_bits(words[k]).abs(),
        _ => words[k] as f64,
    };
    (0..words.len()).max_by(|&a, &b| size(a).total_cmp(&size(b))).unwrap()
}

/// The file with one bit turned over.
fn flipped(file: &ModelFile, name: &str, place: usize, bit: u32) -> ModelFile {
    let mut file = file.clone();
    let mut words = file.words(name);
    words[place] ^= 1 << bit;
    file.set_words(name, &words);
    file
}

#[test]
fn a_changed_bit_of_any_tensor_is_caught_by_its_digest() {
    for case in Case::both() {
        for name in case.honest.tensors.keys() {
            let last = case.honest.words(name).len() - 1;
            for place in [0, last, largest(&case.honest, name)] {
                for bit in BITS {
                    let file = flipped(&case.honest, name, place, bit).bytes();
                    case.refused(&file, &["forged", &format!("`{name}`"), "digest"]);
                }
            }
        }
    }
}

#[test]
fn with_fitting_digests_a_changed_bit_is_refused_or_what_is_printed_is_true() {
    for case in Case::both() {
        for name in case.honest.tensors.keys() {
            for bit in BITS {
                let place = largest(&case.honest, name);
                case.refused_or_true(&flipped(&case.honest, name, place, bit));
            }
        }
    }
}

#[test]
fn with_fitting_digests_a_change_that_matters_is_always_refused() {
    for case in Case::both() {
        for name in case.honest.tensors.keys() {
            // The largest number of a tensor is part of the objective, so that its sign, exponent
            // and leading digits cannot change without the primal or the dual value changing.
            for bit in [63, 62, 58, 52, 51] {
                let place = largest(&case.honest, name);
                case.refused(&flipped(&case.honest, name, place, bit).sealed(), &[]);
            }
        }
    }
}

#[test]
fn altered_weights_are_told_by_the_primal_value() {
    for case in Case::both() {
        let name = if case.data == "data.svm" { "weights" } else { "transitions" };
        let file = flipped(&case.honest, name, largest(&case.honest, name), 63);
        let words = ["refused", "claims a primal value", "the data give"];
        case.certify(&file.sealed()).fails(&words);
    }
}

#[test]
fn numbers_that_are_none_are_refused_wherever_they_stand() {
    for case in Case::both() {
        for (name, tensor) in &case.honest.tensors {
            if tensor.dtype != "F64" {
                continue;
            }
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -f64::NAN] {
                let mut file = case.honest.clone();
                let mut values = file.floats(name);
                *values.last_mut().unwrap() = bad;
                file.set_floats(name, &values);
                case.refused(&file.sealed(), &["forged", &format!("`{name}`")]);
            }
        }
    }
}
