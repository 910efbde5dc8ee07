//! `dualgap certify`: recomputes a stored certificate from the data.

use crate::args::CertifyArgs;
use crate::ball::{BallJson, engine_penalty};
use crate::claim::{certificate_rows, certified_sentence};
use crate::compress::borrow_witness;
use crate::predict::load;
use crate::report::notes;
use crate::words::{aligned, to_json};
use crate::{Outcome, Tasks, path, print};
use dualgap::Result;
use dualgap::data::{Scaling, Source};
use dualgap::run::{Basis, Certificate};
use dualgap::structure::Remark;
use dualgap::task::DualEvidence;
use dualgap::term::Regulariser;
use serde::Serialize;
use serde_json::Value;

/// The object that `--json` prints. Fields may be added; none changes its meaning.
#[derive(Serialize)]
struct Json<'a> {
    /// Whatever the file lets be checked holds.
    verified: bool,
    dual_proved: bool,
    /// Whether the gap itself is proved: both of its sides were.
    certified: bool,
    /// What the primal value rests on; null if it bounds nothing.
    basis: Option<Basis>,
    primal: f64,
    dual: f64,
    gap: f64,
    relative_gap: f64,
    rounding_error: f64,
    gap_bound: f64,
    relative_gap_bound: f64,
    ball: Option<BallJson>,
    lambda: f64,
    #[serde(flatten)]
    regulariser: Regulariser,
    scale: Scaling,
    n: usize,
    fingerprint: &'a str,
    problem: &'a Value,
    remarks: &'a [Remark],
}

/// Verifies a model, or returns an error if its certificate does not hold. The exit code is 0 if it holds, and 1 if
/// the file has no witness: the dual value is then only the claim of the training run, and nothing is certified.
pub fn run(args: &CertifyArgs, tasks: &Tasks) -> Result<Outcome> {
    if args.model.is_dir() && args.witness.is_some() {
        return Err(dualgap::Error::setting("--witness is for a single model, and not for a path"));
    }
    if args.model.is_dir() {
        return path::check::run(args, tasks);
    }
    let mut model = load(&args.model, tasks)?;
    if let Some(from) = &args.witness {
        borrow_witness(&mut *model, from, tasks)?;
    }
    let (verified, problem) = model.certify(Source::open(&args.data)?)?;
    let certificate = verified.certificate;
    let proved = verified.evidence == DualEvidence::Witness;
    let certified = proved && certificate.certified;
    let mut remarks = problem.remarks;
    remarks.extend(Remark::on_certificate(&certificate));
    remarks.extend(Remark::on_basis(&certificate));
    remarks.extend(Remark::on_witness(model.has_witness()));
    let text = if args.json {
        let provenance = model.provenance();
        let (lambda, regulariser) = engine_penalty(model.penalty());
        to_json(&Json {
            verified: true,
            dual_proved: proved,
            certified,
            basis: certificate.certified.then_some(certificate.basis),
            primal: certificate.primal,
            dual: certificate.dual,
            gap: certificate.gap(),
            relative_gap: certificate.relative_gap(),
            rounding_error: certificate.rounding_error,
            gap_bound: certificate.gap_bound(),
            relative_gap_bound: certificate.relative_gap_bound(),
            ball: BallJson::of(&*model),
            lambda,
            regulariser,
            scale: model.scaling(),
            n: provenance.examples,
            fingerprint: &provenance.fingerprint,
            problem: &problem.json,
            remarks: &remarks,
        })
    } else {
        tell(args, problem.lines, &remarks, &certificate, proved)
    };
    print(&text)?;
    Ok(if certified { Outcome::Reached } else { Outcome::NotReached })
}

fn tell(
    args: &CertifyArgs,
    problem: Vec<(&'static str, String)>,
    remarks: &[Remark],
    certificate: &Certificate,
    proved: bool,
) -> String {
    let mut rows = vec![
        ("model", args.model.display().to_string()),
        ("data", args.data.display().to_string()),
        ("fingerprint", "the data are those of the training run".into()),
    ];
    rows.extend(problem);
    rows.extend(certificate_rows(certificate));
    let (evidence, sentence) = if proved {
        (
            "computed from the stored witness, which was proved feasible",
            certified_sentence(certificate),
        )
    } else {
        (
            "the word of the training run: the file has no witness",
            "Verified: the primal value. The dual value could not be, so that nothing is proved of the gap: train \
             with --witness."
                .into(),
        )
    };
    rows.push(("primal value", "computed from the data, at the stored weights".into()));
    rows.push(("dual value", evidence.into()));
    format!("{}{}\n{sentence}\n", aligned(&rows), notes(remarks))
}
