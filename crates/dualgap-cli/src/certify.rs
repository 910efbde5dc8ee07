//! `dualgap certify`: recomputes a stored certificate from the data.

use crate::args::CertifyArgs;
use crate::ball::BallJson;
use crate::predict::load;
use crate::report::{aligned, certificate_rows, certified_sentence, notes, to_json};
use crate::{Outcome, completion, path, print};
use dualgap::Result;
use dualgap::data::{Recipe, Scaling, Source};
use dualgap::model::{
    Description, DualEvidence, Model, Remark, Structure, Verified, describe, describe_with,
    verify_completion, verify_examples, verify_labels, verify_linear, verify_outputs,
    verify_sequences,
};
use dualgap::run::Certificate;
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
pub fn run(args: &CertifyArgs) -> Result<Outcome> {
    if args.model.is_dir() {
        return path::check::run(args);
    }
    let (mut model, recipe) = load(&args.model)?;
    let (verified, problem) = verify(args, &mut model, &recipe)?;
    let certificate = verified.certificate;
    let proved = verified.evidence == DualEvidence::Witness;
    let certified = proved && certificate.certified;
    let mut remarks = problem.remarks;
    remarks.extend(Remark::on_certificate(&certificate));
    remarks.extend(Remark::on_witness(&model));
    let text = if args.json {
        let provenance = &model.provenance;
        to_json(&Json {
            verified: true,
            dual_proved: proved,
            certified,
            primal: certificate.primal,
            dual: certificate.dual,
            gap: certificate.gap(),
            relative_gap: certificate.relative_gap(),
            rounding_error: certificate.rounding_error,
            gap_bound: certificate.gap_bound(),
            relative_gap_bound: certificate.relative_gap_bound(),
            ball: BallJson::of(&model),
            lambda: provenance.lambda,
            regulariser: provenance.regulariser,
            scale: provenance.scale,
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

/// Verifies a model against the data, and describes the problem that it was verified for. The description has the
/// recipe that the data were just read with: what the file says about their columns is a claim like any other.
fn verify(
    args: &CertifyArgs,
    model: &mut Model,
    recipe: &Recipe,
) -> Result<(Verified, Description)> {
    let source = Source::open(&args.data)?;
    let check = match model.structure {
        Structure::Completion { .. } => {
            let recipe = completion::models::recipe(&args.model, recipe)?;
            return Ok((
                verify_completion(model, &recipe.read_training(source)?)?,
                describe(model),
            ));
        }
        Structure::Chain { .. } => {
            let loaded = recipe.sequences(source, None)?;
            let verified = verify_sequences(model, &loaded.data)?;
            model.provenance.recipe = Some(loaded.recipe);
            return Ok((verified, describe(model)));
        }
        Structure::Multiclass { .. } => verify_examples,
        Structure::Linear { .. } => verify_linear,
        Structure::MultiLabel { .. } => verify_labels,
        Structure::MultiOutput { .. } => verify_outputs,
    };
    let loaded = recipe.examples(source, None)?;
    let verified = check(model, &loaded.data)?;
    model.provenance.recipe = Some(loaded.recipe);
    Ok((verified, describe_with(model, &loaded.data)))
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
