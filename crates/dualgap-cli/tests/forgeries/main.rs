//! `dualgap certify` against files that are damaged, altered, or forged by someone who has read the
//! format and makes every digest and the seal fit.
//!
//! A forgery is refused with exit code 2. Where a change leaves a file that is true again, because
//! it is as small as rounding, what is printed must be what [`common::exact`] finds for that file.

mod bits;
mod container;
mod data;
mod fuzz;
mod header;
mod witness;

use crate::common::exact::Problem;
use crate::common::forge::ModelFile;
use crate::common::{Desk, Run, Table, Words};
use serde_json::Value;

/// A model with everything in it that a file can hold, and what it was trained on.
struct Case {
    desk: Desk,
    data: &'static str,
    honest: ModelFile,
    kind: Kind,
}

enum Kind {
    Multiclass(Table),
    Chain(Words),
}

const LAMBDA: f64 = 0.125;

impl Case {
    /// With sample weights, costs and a witness.
    fn multiclass() -> Self {
        let (desk, table) = (Desk::new(), Table::new(12, 4, 3, 21));
        desk.write("data.svm", table.text());
        desk.write("costs", "  1 2 3\n1 0 1 2\n2 3 0 1\n3 2 2 0\n");
        Self::new(desk, "data.svm", Kind::Multiclass(table), "multiclass data.svm --costs costs")
    }

    /// With sample weights and a witness.
    fn chain() -> Self {
        let (desk, words) = (Desk::new(), Words::new(12, 21));
        desk.write("words.data", words.text());
        Self::new(desk, "words.data", Kind::Chain(words), "chain words.data")
    }

    fn new(desk: Desk, data: &'static str, kind: Kind, line: &str) -> Self {
        let weights: String = (0..12).map(|i| format!("{}\n", 1.0 + f64::from(i % 3))).collect();
        desk.write("counts", weights);
        desk.train(&format!(
            "{line} --sample-weights counts --lambda {LAMBDA} --tolerance 0.02 --witness -o model"
        ));
        let honest = ModelFile::parse(&desk.read("model"));
        Self { desk, data, honest, kind }
    }

    fn both() -> [Self; 2] {
        [Self::multiclass(), Self::chain()]
    }

    /// The problem that a file is about, its own costs and sample weights taken at their word.
    fn exact(&self, file: &ModelFile) -> Problem {
        let weights = file.floats("sample_weights");
        match &self.kind {
            Kind::Multiclass(data) => {
                Problem::multiclass(data, Some(&file.floats("costs")), Some(&weights), LAMBDA)
            }
            Kind::Chain(data) => Problem::chain(data, true, Some(&weights), LAMBDA),
        }
    }

    /// `certify` on these bytes.
    fn certify(&self, file: &[u8]) -> Run {
        self.desk.write("forged", file);
        self.desk.run(&format!("certify forged {} --json", self.data))
    }

    #[track_caller]
    fn refused(&self, file: &[u8], words: &[&str]) {
        self.certify(file).refuses(words);
    }

    /// Either refused, or what is printed is true of the very file.
    #[track_caller]
    fn refused_or_true(&self, file: &ModelFile) {
        let run = self.certify(&file.sealed());
        if run.code == Some(0) {
            self.exact(file).confirms(&run.json(), file);
        } else {
            run.refuses(&[]);
        }
    }
}

/// Changes a number of the certificate.
fn with_certificate(file: &ModelFile, name: &str, change: impl Fn(f64) -> f64) -> ModelFile {
    file.with_header(|header| {
        let value = header["certificate"][name].as_f64().unwrap();
        header["certificate"][name] = Value::from(change(value));
    })
}

#[test]
fn the_files_are_accepted_before_anyone_touches_them() {
    for case in Case::both() {
        for file in [case.honest.bytes(), case.honest.sealed()] {
            let json = case.certify(&file).ok().json();
            assert_eq!(json["dual_proved"], true);
            case.exact(&case.honest).confirms(&json, &case.honest);
        }
    }
}
