//! No byte of a mapped file can change without notice.

use super::*;
use crate::container::{Form, Kind};
use std::path::Path;

const KIND: Kind = Kind { name: "try", form: Form::Lines, oldest: 1, version: 1 };

fn write(path: &Path, numbers: usize) {
    let mut writer = MappedWriter::create(path, &KIND).unwrap();
    writer.array::<u32>("a").unwrap();
    (0..numbers).for_each(|k| writer.bytes(&(k as u32).to_le_bytes()).unwrap());
    writer.array::<f64>("b").unwrap();
    writer.bytes(&1.5_f64.to_le_bytes()).unwrap();
    writer.array::<u64>("none").unwrap();
    writer.finish(&serde_json::json!({ "author": "me" })).unwrap();
}

fn fault(path: &Path) -> String {
    MappedFile::open(path, &KIND).err().map_or_else(String::new, |fault| fault.to_string())
}

#[test]
fn what_is_written_is_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    // Within a portion, up to its end, and over several of them.
    for numbers in [3, (PORTION - 64) / 4, 600_000] {
        write(&path, numbers);
        let file = MappedFile::open(&path, &KIND).unwrap();
        let a = file.array::<u32>("a").unwrap();
        assert!(a.len() == numbers && a.iter().enumerate().all(|(k, &x)| x == k as u32));
        assert_eq!(file.array::<f64>("b").unwrap()[..], [1.5]);
        assert!(file.array::<u64>("none").unwrap().is_empty());
        assert_eq!(file.header::<serde_json::Value>().unwrap()["author"], "me");
        assert!(file.has::<u32>("a") && !file.has::<f32>("a") && !file.has::<u32>("c"));
        assert!(file.array::<f32>("a").is_err() && file.array::<u32>("c").is_err());
        assert_eq!(a.as_ptr() as usize % ALIGNED as usize, 0);
    }
}

#[test]
fn every_byte_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    write(&path, 3);
    let bytes = std::fs::read(&path).unwrap();
    for at in 0..bytes.len() {
        for bit in [0, 5] {
            let mut other = bytes.clone();
            other[at] ^= 1 << bit;
            std::fs::write(&path, &other).unwrap();
            assert!(!fault(&path).is_empty(), "byte {at}");
        }
    }
    for length in 0..bytes.len() {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert!(!fault(&path).is_empty(), "cut off at {length}");
    }
    std::fs::write(&path, [&bytes[..], b"\n"].concat()).unwrap();
    assert!(fault(&path).starts_with("is cut off"));
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(fault(&path), "");
}

#[test]
fn a_damaged_portion_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    write(&path, 600_000);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[PORTION + 17] ^= 4;
    std::fs::write(&path, &bytes).unwrap();
    let words = "is damaged: of its 3 portions, number 2 has another digest, from byte 1048576 on";
    assert_eq!(fault(&path), words);
}

#[test]
fn other_kinds_and_versions_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (text, words) in [
        ("dualgap map 1\n", "is a map and no try"),
        ("dualgap try 2\n", "has format version 2, and this program reads 1 to 1"),
        ("1 1:1\n", "is not a try of dualgap"),
        ("", "is not a try of dualgap"),
        ("dualgap try 1\n", "is cut off"),
    ] {
        std::fs::write(&path, text).unwrap();
        assert!(fault(&path).starts_with(words), "{text}: {}", fault(&path));
    }
    assert!(fault(folder.path()).starts_with("cannot be mapped: "));
}
