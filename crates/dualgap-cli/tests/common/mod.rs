//! What the tests of the program share: a folder to work in, the program itself, small data files.

#![allow(dead_code)] // each test program uses its part

pub mod exact;
pub mod forge;
pub mod running;
pub mod table;
pub mod words;

pub use table::Table;
pub use words::Words;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No test is about time; this only turns a program that hangs into a test that fails.
const HANGS: Duration = Duration::from_secs(300);

/// A folder of its own for every test, gone when the test ends.
pub struct Desk(tempfile::TempDir);

impl Desk {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), contents).unwrap();
        self.path(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names of all files, in order.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the program here; the words of the line are its arguments.
    pub fn run(&self, line: &str) -> Run {
        self.run_with(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub fn run_with(&self, arguments: &[&str]) -> Run {
        self.run_program(Path::new(program()), arguments)
    }

    /// Runs another program than `dualgap` here.
    pub fn run_program(&self, program: &Path, arguments: &[&str]) -> Run {
        let mut program = assert_cmd::Command::new(program);
        let output = program.current_dir(self.folder()).timeout(HANGS).args(arguments).output();
        let output = output.unwrap();
        Run {
            line: arguments.join(" "),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("standard output is text"),
            stderr: String::from_utf8(output.stderr).expect("standard error is text"),
        }
    }

    /// Runs `train …` with `--json` and returns what it printed; the exit code must be 0.
    pub fn train(&self, line: &str) -> Value {
        self.run(&format!("train {line} --json")).ok().json()
    }

    /// [`train`](Self::train) without a tolerance: to a limit, or as far as rounding allows, which the program tells by exit code 1.
    #[track_caller]
    pub fn train_on(&self, line: &str) -> Value {
        let run = self.run(&format!("train {line} --tolerance 0 --json"));
        let json = run.json();
        let stalled = json["stop"] == "stalled";
        run.exits(i32::from(stalled));
        json
    }

    /// Runs `certify MODEL DATA --json`, which must accept: with 0 what is proved, with 1 what lacks a witness.
    #[track_caller]
    pub fn certify(&self, model: &str, data: &str) -> Value {
        let run = self.run(&format!("certify {model} {data} --json"));
        let json = run.json();
        assert_eq!(json["certified"], json["dual_proved"], "{run:#?}");
        run.exits(i32::from(json["certified"] != true));
        json
    }

    /// A run of this line that is taken up from its checkpoint ends as one does that was never left.
    pub fn resumes(&self, line: &str, checkpoint: &str) {
        let whole = self.train(&format!("{line} --passes 8 -o whole"));
        let kept = format!("--checkpoint {checkpoint} --checkpoint-every 1");
        self.run(&format!("train {line} --passes 3 {kept}")).ok();
        let resumed = self.train(&format!("{line} --passes 8 --resume {checkpoint} -o resumed"));
        assert_eq!(interval(&resumed), interval(&whole));
        assert_eq!(self.read("whole"), self.read("resumed"));
    }
}

/// Where cargo has put the program.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_dualgap")
}

/// A program that has ended.
#[derive(Debug)]
pub struct Run {
    pub line: String,
    /// Absent when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    #[track_caller]
    pub fn ok(self) -> Self {
        self.exits(0)
    }

    /// Ended with an error that says all of `words` and how to go on, and printed no result.
    #[track_caller]
    pub fn fails(self, words: &[&str]) -> Self {
        let run = self.refuses(words);
        assert!(run.stderr.contains("\n  help: "), "no help: {run:#?}");
        run
    }

    /// Ended with an error that says all of `words`, and printed no result.
    #[track_caller]
    pub fn refuses(self, words: &[&str]) -> Self {
        let run = self.exits(2);
        assert!(run.stdout.is_empty(), "{run:#?}");
        assert!(run.stderr.starts_with("error: "), "{run:#?}");
        for word in words {
            assert!(run.stderr.contains(word), "`{word}` is not said: {run:#?}");
        }
        run
    }

    /// Standard output as exactly one JSON object.
    #[track_caller]
    pub fn json(&self) -> Value {
        let mut values = serde_json::Deserializer::from_str(&self.stdout).into_iter::<Value>();
        let value = values.next().expect("some output").expect("JSON");
        assert!(value.is_object() && values.next().is_none(), "{self:#?}");
        value
    }
}

/// A number of a JSON object.
#[track_caller]
pub fn number(json: &Value, name: &str) -> f64 {
    json[name].as_f64().unwrap_or_else(|| panic!("`{name}` is no number in {json:#}"))
}

/// What a certificate says about the optimum: it lies between these two.
#[track_caller]
pub fn interval(json: &Value) -> (f64, f64) {
    let error = number(json, "rounding_error");
    (number(json, "dual") - error, number(json, "primal") + error)
}

/// Whether two intervals can be about the same optimum.
pub fn overlap(a: (f64, f64), b: (f64, f64)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// A small deterministic generator (SplitMix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Between −1 and 1, with three digits, so that it is written and read without rounding.
    pub fn signed(&mut self) -> f64 {
        (self.below(2001) as f64 - 1000.0) / 1000.0
    }
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
