//! `dualgap certify`: a stored certificate, computed again from the data.

use crate::args::CertifyArgs;
use crate::ball::{BallJson, penalty_rows};
use crate::predict::load;
use crate::report::{aligned, certificate_rows, certified_sentence, scale_row, thousands, to_json};
use crate::{Outcome, completion, path, print};
use dualgap::Result;
use dualgap::data::{Scaling, Source};
use dualgap::model::{
    DualEvidence, Structure, verify_completion, verify_examples, verify_labels, verify_linear,
    verify_outputs, verify_sequences,
};
use dualgap::term::Regulariser;
use serde::Serialize;

#[derive(Serialize)]
struct Json<'a> {
    verified: bool,
    dual_proved: bool,
    primal: f64,
    dual: f64,
    gap: f64,
    relative_gap: f64,
    rounding_error: f64,
    ball: Option<BallJson>,
    lambda: f64,
    #[serde(flatten)]
    regulariser: Regulariser,
    scale: Scaling,
    n: usize,
    fingerprint: &'a str,
}

/// Refuses what does not hold with an error; the exit code of a certificate that holds is 0.
pub fn run(args: &CertifyArgs) -> Result<Outcome> {
    if args.model.is_dir() {
        return path::check::run(args);
    }
    let (model, recipe) = load(&args.model)?;
    let provenance = &model.provenance;
    let source = Source::open(&args.data)?;
    let verified = match model.structure {
        Structure::Multiclass { .. } => {
            verify_examples(&model, &recipe.examples(source, None)?.data)?
        }
        Structure::Linear { .. } => verify_linear(&model, &recipe.examples(source, None)?.data)?,
        Structure::MultiLabel { .. } => {
            verify_labels(&model, &recipe.examples(source, None)?.data)?
        }
        Structure::MultiOutput { .. } => {
            verify_outputs(&model, &recipe.examples(source, None)?.data)?
        }
        Structure::Completion { .. } => {
            let recipe = completion::models::recipe(&args.model, &recipe)?;
            verify_completion(&model, &recipe.read_training(source)?)?
        }
        Structure::Chain { .. } => verify_sequences(&model, &recipe.sequences(source, None)?.data)?,
    };
    let certificate = verified.certificate;
    let proved = verified.evidence == DualEvidence::Witness;
    if args.json {
        print(&to_json(&Json {
            verified: true,
            dual_proved: proved,
            primal: certificate.primal,
            dual: certificate.dual,
            gap: certificate.gap(),
            relative_gap: certificate.relative_gap(),
            rounding_error: certificate.rounding_error,
            ball: BallJson::of(&model),
            lambda: provenance.lambda,
            regulariser: provenance.regulariser,
            scale: provenance.scale,
            n: provenance.examples,
            fingerprint: &provenance.fingerprint,
        }))?;
        return Ok(Outcome::Reached);
    }
    let mut rows = vec![
        ("model", args.model.display().to_string()),
        (
            "data",
            format!("{}, {} examples", args.data.display(), thousands(provenance.examples as u64)),
        ),
        ("fingerprint", "the data are those of the training run".into()),
    ];
    rows.extend(penalty_rows(&model));
    rows.extend(scale_row(&model));
    rows.extend(certificate_rows(&certificate));
    let (evidence, sentence) = if proved {
        (
            "computed from the stored witness, which was proved feasible",
            certified_sentence(&certificate),
        )
    } else {
        (
            "the word of the training run: the file has no witness",
            "Verified: the primal value. The dual value could not be: train with --witness to have \
             the gap itself proved."
                .into(),
        )
    };
    rows.push(("primal value", "computed from the data, at the stored weights".into()));
    rows.push(("dual value", evidence.into()));
    print(&format!("{}\n{sentence}\n", aligned(&rows)))?;
    Ok(Outcome::Reached)
}
