use super::*;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const NOTES: Kind =
    Kind { name: "notes", form: Form::Tensors { main: false }, oldest: 2, version: 3 };
const SCORE: Kind =
    Kind { name: "score", form: Form::Tensors { main: true }, oldest: 1, version: 1 };
const LINES: Kind = Kind { name: "lines", form: Form::Lines, oldest: 1, version: 1 };

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Header {
    title: String,
    pitch: f64,
}

fn header() -> Header {
    Header { title: "a \"quoted\"\nname".into(), pitch: 0.1 }
}

fn notes(kind: &Kind) -> Vec<u8> {
    let header = header();
    let mut writer = Writer::new(kind, &header);
    writer.tensor("pitch", Tensor::f64(&[3, 2], &[1.5, -0.0, 5e-324, f64::MAX, 0.1, -2.0]));
    writer.tensor("long", Tensor::u64(&[0, u64::MAX, 1 << 53 | 1]));
    writer.tensor("short", Tensor::u32(&[7, u32::MAX]));
    writer.tensor("text", Tensor::bytes("né".into()));
    writer.to_bytes().unwrap()
}

fn lines(body: &[u8]) -> Vec<u8> {
    let header = header();
    let mut writer = Writer::new(&LINES, &header);
    writer.tensor("body", Tensor::bytes(body.to_vec()));
    writer.to_bytes().unwrap()
}

/// Reads everything, so that every check is made.
fn read_all(bytes: &[u8]) -> Result<Header, Fault> {
    let reader = Reader::new(bytes, &NOTES)?;
    reader.f64("pitch", &[3, 2])?;
    reader.u64("long")?;
    reader.u32("short")?;
    reader.bytes("text")?;
    reader.header()
}

fn told<T>(result: Result<T, Fault>) -> String {
    result.err().expect("it is refused").to_string()
}

/// The file with another text of the header, the seal fitting.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut outer: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let sealed = outer["__metadata__"]["dualgap.notes"].as_str().unwrap();
    let mut inner: Value = serde_json::from_str::<Value>(sealed).unwrap()["header"].take();
    change(&mut inner);
    let text = inner.to_string();
    let sealed = format!("{{\"seal\":\"{}\",\"header\":{text}}}", Digest::of(text.as_bytes()));
    outer["__metadata__"]["dualgap.notes"] = sealed.into();
    let outer = outer.to_string();
    let data = &bytes[8 + length..];
    [&(outer.len() as u64).to_le_bytes()[..], outer.as_bytes(), data].concat()
}

#[test]
fn what_was_written_is_read_bit_for_bit() {
    let bytes = notes(&NOTES);
    let reader = Reader::new(&bytes, &NOTES).unwrap();
    assert_eq!(reader.header::<Header>().unwrap(), header());
    assert_eq!(reader.names(), ["long", "pitch", "short", "text"]);
    assert!(reader.has("pitch") && !reader.has("body"));
    assert_eq!((reader.side("pitch"), reader.side("none")), (Some(3), None));
    let pitch = reader.f64("pitch", &[3, 2]).unwrap();
    let bits: Vec<u64> = pitch.iter().map(|x| x.to_bits()).collect();
    let expected = [1.5, -0.0, 5e-324, f64::MAX, 0.1, -2.0_f64].map(f64::to_bits);
    assert_eq!(bits, expected);
    assert_eq!(reader.u64("long").unwrap(), [0, u64::MAX, 1 << 53 | 1]);
    assert_eq!(reader.u32("short").unwrap(), [7, u32::MAX]);
    assert_eq!(reader.bytes("text").unwrap(), "né".as_bytes());

    let bytes = lines(b"\n\0body\n");
    let reader = Reader::new(&bytes, &LINES).unwrap();
    assert_eq!(reader.header::<Header>().unwrap(), header());
    assert_eq!((reader.names(), reader.bytes("body").unwrap()), (vec!["body"], &b"\n\0body\n"[..]));
    assert!(reader.f64("body", &[1]).is_err() && reader.bytes("other").is_err());
}

/// The layout is promised to other programs: it is spelt out here once, by hand.
#[test]
fn the_bytes_are_those_of_the_format() {
    let header = json!({ "a": 1 });
    let mut writer = Writer::new(&LINES, &header);
    writer.tensor("body", Tensor::bytes(b"abc".to_vec()));
    let inner =
        "{\"a\":1,\"digest\":\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"}";
    let seal = Digest::of(inner.as_bytes());
    let expected = format!("dualgap lines 1\n{{\"seal\":\"{seal}\",\"header\":{inner}}}\nabc");
    assert_eq!(writer.to_bytes().unwrap(), expected.as_bytes());

    let mut writer = Writer::new(&SCORE, &header);
    writer.tensor("t", Tensor::bytes(b"abc".to_vec()));
    let inner = "{\"format_version\":1,\"a\":1,\"digests\":{\"t\":\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"}}";
    let sealed =
        json!(format!("{{\"seal\":\"{}\",\"header\":{inner}}}", Digest::of(inner.as_bytes())));
    let outer = format!(
        "{{\"__metadata__\":{{\"dualgap\":{sealed}}},\"t\":{{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}}}"
    );
    let bytes = writer.to_bytes().unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let found = std::str::from_utf8(&bytes[8..8 + length]).unwrap();
    assert_eq!((found.trim_end(), &bytes[8 + length..]), (&outer[..], &b"abc"[..]));
}

#[test]
fn a_file_that_is_cut_off_or_longer_is_refused() {
    let (tensors, in_lines) = (notes(&NOTES), lines(b"body"));
    for length in 0..tensors.len() {
        assert!(read_all(&tensors[..length]).is_err(), "{length} bytes");
    }
    for length in 0..in_lines.len() {
        assert!(Reader::new(&in_lines[..length], &LINES).is_err(), "{length} bytes");
    }
    assert!(read_all(&[&tensors[..], b"x"].concat()).is_err());
    assert!(Reader::new(&[&in_lines[..], b"x"].concat(), &LINES).is_err());
}

#[test]
fn a_changed_bit_anywhere_is_noticed() {
    let (tensors, in_lines) = (notes(&NOTES), lines(b"body"));
    for bit in 0..8 {
        for at in 0..tensors.len() {
            let mut altered = tensors.clone();
            altered[at] ^= 1 << bit;
            assert!(read_all(&altered).is_err(), "bit {bit} of byte {at}");
        }
        for at in 0..in_lines.len() {
            let mut altered = in_lines.clone();
            altered[at] ^= 1 << bit;
            assert!(Reader::new(&altered, &LINES).is_err(), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn an_altered_tensor_is_named() {
    let mut bytes = notes(&NOTES);
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    assert_eq!(told(read_all(&bytes)), "has a tensor `text` that was altered: its digest differs");
    let reader = Reader::new(&bytes, &NOTES).unwrap();
    assert!(reader.u64("long").is_ok(), "the others are whole");
}

#[test]
fn another_type_or_shape_than_asked_for_is_refused() {
    let bytes = notes(&NOTES);
    let reader = Reader::new(&bytes, &NOTES).unwrap();
    for shape in [&[6][..], &[2, 3], &[3, 2, 1], &[]] {
        assert!(told(reader.f64("pitch", shape)).contains("`pitch` of F64 [3, 2]"));
    }
    assert!(told(reader.u64("short")).contains("`short` of U32"));
    assert!(told(reader.u32("text")).contains("`text` of U8"));
    assert!(told(reader.bytes("long")).contains("`long` of U64"));
    assert_eq!(told(reader.u64("none")), "has no tensor `none`");
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let header = header();
        let mut writer = Writer::new(&NOTES, &header);
        writer.tensor("x", Tensor::f64(&[2], &[0.0, bad]));
        let bytes = writer.to_bytes().unwrap();
        let reader = Reader::new(&bytes, &NOTES).unwrap();
        assert!(told(reader.f64("x", &[2])).contains("`x` with the value"));
    }
}

#[test]
fn a_writer_refuses_what_no_reader_would_accept() {
    let header = header();
    let refused = |kind: &Kind, tensors: &[(&str, Tensor)]| {
        let mut writer = Writer::new(kind, &header);
        tensors.iter().for_each(|(name, tensor)| writer.tensor(name, tensor.clone()));
        writer.to_bytes().unwrap_err().to_string()
    };
    let one = || Tensor::u64(&[1]);
    assert!(refused(&NOTES, &[("a", one()), ("b", one()), ("a", one())]).contains("same name"));
    assert!(refused(&NOTES, &[("a", Tensor::f64(&[2], &[1.0]))]).contains("notes cannot be"));
    let body = || Tensor::bytes(Vec::new());
    assert!(refused(&LINES, &[]).contains("`body`"));
    assert!(refused(&LINES, &[("body", one())]).contains("`body`"));
    assert!(refused(&LINES, &[("body", body()), ("more", body())]).contains("`body`"));
}

#[test]
fn versions_beyond_those_that_are_read_are_refused_before_all_else() {
    let bytes = notes(&NOTES);
    for (version, words) in [(0, "newer"), (1, "earlier"), (4, "newer"), (u32::MAX, "newer")] {
        let other = with_header(&bytes, |header| {
            *header = json!({ "format_version": version });
        });
        let message = told(read_all(&other));
        assert!(message.contains(&format!("format version {version}, ")), "{message}");
        assert!(message.contains("reads 2 to 3") && message.contains(words), "{message}");
    }
    for version in [2, 3] {
        let other = with_header(&bytes, |header| header["format_version"] = version.into());
        assert_eq!(read_all(&other).unwrap(), header());
    }
    let none = with_header(&bytes, |header| {
        drop(header.as_object_mut().unwrap().remove("format_version"));
    });
    assert!(told(read_all(&none)).contains("without a version"));
    let later = [b"dualgap lines 2", &lines(b"body")[15..]].concat();
    assert!(told(Reader::new(&later, &LINES)).contains("format version 2"));
}

#[test]
fn fields_that_a_program_does_not_know_are_ignored_and_those_it_needs_are_missed() {
    let bytes = notes(&NOTES);
    let more = with_header(&bytes, |header| header["later"] = json!([1, 2]));
    assert_eq!(read_all(&more).unwrap(), header());
    for field in ["title", "pitch", "digests"] {
        let less =
            with_header(&bytes, |header| drop(header.as_object_mut().unwrap().remove(field)));
        let fault = read_all(&less).unwrap_err();
        assert!(fault.to_string().contains(field), "{fault}");
        let source = std::error::Error::source(&fault).expect("serde said so");
        assert!(source.is::<serde_json::Error>());
    }
}

#[test]
fn a_file_of_another_kind_is_called_what_it_is() {
    let (of_notes, score, in_lines) = (notes(&NOTES), notes(&SCORE), lines(b"body"));
    assert_eq!(told(Reader::new(&of_notes, &SCORE)), "is a notes and no score");
    assert_eq!(told(Reader::new(&in_lines, &SCORE)), "is a lines and no score");
    assert!(told(Reader::new(&score, &NOTES)).contains("not a dualgap notes"));
    assert!(told(Reader::new(&score, &LINES)).contains("not a lines"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (bytes, kind) in [(&of_notes, NOTES), (&score, SCORE), (&in_lines, LINES)] {
        std::fs::write(&path, bytes).unwrap();
        for other in [NOTES, SCORE, LINES] {
            assert_eq!(other.is_that_of(&path), other == kind);
        }
    }
    assert!(!NOTES.is_that_of(folder.path()) && !NOTES.is_that_of(&path.join("none")));
}

#[test]
fn two_tensors_of_one_name_are_refused() {
    let bytes = notes(&NOTES);
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let text = std::str::from_utf8(&bytes[8..8 + length]).unwrap();
    let twin = "{\"text\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},";
    let text = text.replacen('{', twin, 1);
    let forged =
        [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &bytes[8 + length..]].concat();
    assert!(told(read_all(&forged)).contains("two tensors of the name `text`"));
}

#[test]
fn a_file_is_written_whole_in_the_place_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "before").unwrap();
    let header = header();
    write_atomically(&path, &Writer::new(&NOTES, &header).to_bytes().unwrap()).unwrap();
    let bytes = read_file(&path, 1).unwrap();
    assert_eq!(Reader::new(&bytes, &NOTES).unwrap().header::<Header>().unwrap(), header);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    assert!(write_atomically(&folder.path().join("none/file"), b"").is_err());
    assert!(read_file(folder.path(), 1).unwrap_err().to_string().contains("not a file"));
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), length in 0..200_u64) {
        let _ = Reader::new(&bytes, &NOTES).map(|_| ());
        let framed = [&length.to_le_bytes()[..], &bytes].concat();
        let _ = Reader::new(&framed, &NOTES).map(|_| ());
        let lines = [b"dualgap lines 1\n", &bytes[..]].concat();
        prop_assert!(Reader::new(&lines, &LINES).is_err());
    }
}
