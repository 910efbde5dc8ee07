//! The safetensors file around the model: cut off, lying about sizes, or not ours at all.

use crate::common::forge::container;
use crate::forgeries::Case;
use dualgap::structure::Multiclass;
use dualgap::task::Model;
use serde_json::{Value, json};

#[test]
fn a_file_that_is_cut_off_anywhere_is_refused() {
    let case = Case::multiclass();
    let whole = case.desk.read("model");
    let data = case.honest.parts().1.len();
    let header = whole.len() - data;
    // Every length within the tensors, where a cut could go unnoticed, and many within the header.
    let lengths = (header..whole.len()).chain((16..header).step_by(23)).chain(0..16);
    for length in lengths {
        case.refused(&whole[..length], &["forged"]);
    }
    // Every length there is, without the cost of starting the program.
    for length in 0..whole.len() {
        assert!(Model::<Multiclass>::from_bytes(&whole[..length]).is_err(), "{length} bytes");
    }
    assert!(Model::<Multiclass>::from_bytes(&whole).is_ok());
}

#[test]
fn bytes_beyond_the_end_are_refused() {
    for case in Case::both() {
        for more in [&b"\0"[..], &[0; 8], b"more"] {
            case.refused(&[&case.desk.read("model"), more].concat(), &["forged", "safetensors"]);
        }
    }
}

#[test]
fn a_header_length_that_lies_is_refused() {
    let case = Case::multiclass();
    let (header, data) = case.honest.parts();
    let header = header.to_string();
    let length = header.len() as u64;
    let total = length + data.len() as u64;
    case.certify(&container(length, &header, &data)).ok();
    for lie in [
        0,
        1,
        7,
        8,
        length - 1,
        length + 1,
        total - 1,
        total,
        total + 1,
        total + 8,
        100_000_000,
        100_000_001,
        1 << 31,
        1 << 32,
        1 << 62,
        i64::MAX as u64,
        u64::MAX - 8,
        u64::MAX - 7,
        u64::MAX,
    ] {
        case.refused(&container(lie, &header, &data), &["forged"]);
    }
}

/// The file with the place of one tensor changed; digests and seal are right.
fn misplaced(case: &Case, name: &str, change: impl Fn(&mut Value)) -> Vec<u8> {
    let (mut header, data) = case.honest.parts();
    change(&mut header[name]);
    let header = header.to_string();
    container(header.len() as u64, &header, &data)
}

#[test]
fn tensors_that_overlap_or_lie_outside_are_refused() {
    for case in Case::both() {
        for name in case.honest.tensors.keys() {
            let (header, data) = case.honest.parts();
            let end = data.len() as u64;
            let place = &header[name]["data_offsets"];
            let (a, b) = (place[0].as_u64().unwrap(), place[1].as_u64().unwrap());
            let size = b - a;
            for offsets in [
                [a, b + 8],
                [a, b.wrapping_sub(8)],
                [a + 8, b + 8],
                [a.wrapping_sub(8), b.wrapping_sub(8)],
                [b, a],
                [end, end + size],
                [u64::MAX - size, u64::MAX],
                [u64::MAX, size - 1],
                if a == 0 { [end - size, end] } else { [0, size] },
            ] {
                let file = misplaced(&case, name, |place| place["data_offsets"] = json!(offsets));
                case.refused(&file, &["forged", "safetensors"]);
            }
        }
    }
}

#[test]
fn shapes_and_types_that_do_not_fit_are_refused() {
    for case in Case::both() {
        for (name, tensor) in &case.honest.tensors {
            let count: usize = tensor.shape.iter().product();
            let turned: Vec<usize> = tensor.shape.iter().rev().copied().collect();
            for shape in [
                json!([]),
                json!([1, count]),
                json!([count, 1, 1]),
                json!([0]),
                json!([u64::MAX, 2]),
                json!([u64::MAX, u64::MAX]),
                json!([1_u64 << 61, 8]),
                json!([-1, count]),
                json!([count + 1]),
                json!(if tensor.shape.len() == 2 { turned.clone() } else { vec![count, 1] }),
            ] {
                if shape == json!(tensor.shape) {
                    continue; // a square one, turned
                }
                let file = misplaced(&case, name, |place| place["shape"] = shape.clone());
                case.refused(&file, &["forged"]);
            }
            let other = if tensor.dtype == "F64" { "U64" } else { "F64" };
            for dtype in [other, "I64", "C64", "F32", "U8", "BF16", "F999", ""] {
                let file = misplaced(&case, name, |place| place["dtype"] = dtype.into());
                case.refused(&file, &["forged"]);
            }
        }
    }
}

#[test]
fn a_safetensors_file_of_someone_else_is_refused() {
    let case = Case::multiclass();
    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![2], &[0; 16]);
    let view = view.unwrap();
    for metadata in [
        None,
        Some(vec![("format", "pt")]),
        Some(vec![("dualgap", "")]),
        Some(vec![("dualgap", "{}")]),
        Some(vec![("dualgap", "{\"seal\":\"\",\"header\":null}")]),
    ] {
        let metadata = metadata
            .map(|pairs| pairs.into_iter().map(|(k, v)| (k.to_string(), v.to_string())).collect());
        let file = safetensors::serialize([("weights", view.clone())], metadata).unwrap();
        case.refused(&file, &["forged"]);
    }
}

#[test]
fn what_is_no_model_file_at_all_is_refused() {
    let case = Case::multiclass();
    case.certify(b"").fails(&["forged"]);
    for file in [&b"\0"[..], &[0; 8], &[0; 64], &[0xff; 64], b"{}", b"1 1:1\n"] {
        case.certify(file).fails(&["forged"]);
    }
    case.desk.run("certify data.svm data.svm").fails(&["data.svm"]);
    case.desk.run("certify . data.svm").fails(&["not a file"]);
    case.desk.run("certify missing data.svm").fails(&["missing"]);
    case.desk.run("certify missing/model data.svm").fails(&["missing/model"]);
}

#[cfg(unix)]
#[test]
fn a_device_that_never_ends_is_refused_at_once() {
    let case = Case::multiclass();
    for device in ["/dev/zero", "/dev/null", "/dev/tty"] {
        case.desk.run(&format!("certify {device} data.svm")).fails(&[device]);
    }
    // As data it is no text, however long it may be.
    case.desk.run("certify model /dev/null").fails(&["/dev/null"]);
    case.desk.run("certify model /dev/zero").fails(&["/dev/zero"]);
}

#[test]
fn two_tensors_of_one_name_are_called_that() {
    for case in Case::both() {
        let (header, data) = case.honest.parts();
        let text = header.to_string();
        for name in case.honest.tensors.keys() {
            let twin = format!("{{\"{name}\":{},", header[name]);
            // First or last, the same or another.
            let first = text.replacen('{', &twin, 1);
            let other =
                format!("{{\"{name}\":{{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}},");
            for forged in [first, text.replacen('{', &other, 1)] {
                let file = container(forged.len() as u64, &forged, &data);
                let words = format!("two tensors of the name `{name}`");
                case.refused(&file, &["forged", &words]);
            }
        }
    }
}
