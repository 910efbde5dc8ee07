//! How predictions compare with the truth, as dicts of figures.

use crate::running::to_python;
use dualgap::structure::evaluation::{Evaluation, LabelEvaluation, Scores};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Returns all figures of an evaluation, by the names that the program's `eval --json` has for them.
pub fn figures_of<'py>(py: Python<'py>, evaluation: &Evaluation) -> PyResult<Bound<'py, PyAny>> {
    match evaluation {
        Evaluation::Labels(labels) => to_python(py, &of_labels(labels)),
        Evaluation::Numbers(errors) => to_python(py, errors),
        Evaluation::Ratings(ratings) => to_python(py, ratings),
        Evaluation::Links(links) => to_python(py, &links.figures()),
        Evaluation::Sets(sets) => {
            let by_label: BTreeMap<&str, Scores> = sets.by_label().collect();
            to_python(py, &with(json!(sets.figures()), "labels_by_name", json!(by_label)))
        }
        Evaluation::Outputs(outputs) => to_python(py, &outputs.figures()),
        Evaluation::Own { figures, .. } => {
            let figures: BTreeMap<&str, f64> =
                figures.iter().map(|(name, value)| (&name[..], *value)).collect();
            to_python(py, &figures)
        }
        other => to_python(py, &json!({ "error": other.error() })),
    }
}

fn of_labels(labels: &LabelEvaluation) -> Value {
    let by_label: BTreeMap<&str, Scores> =
        labels.by_label().into_iter().map(|(name, count)| (name, count.figures())).collect();
    let confusion: Vec<(&str, &str, usize)> = labels.confusions().collect();
    let all = with(json!(labels.figures()), "labels_by_name", json!(by_label));
    let all = with(all, "confusion", json!(confusion));
    let Some(chunks) = labels.chunks() else { return all };
    let by_type: BTreeMap<&str, Scores> =
        chunks.by_type().map(|(kind, count)| (kind, count.figures())).collect();
    let overall = with(json!(chunks.overall().figures()), "by_type", json!(by_type));
    with(all, "chunks", overall)
}

/// Returns an object with one more field.
fn with(object: Value, name: &str, value: Value) -> Value {
    let mut fields = match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    fields.insert(name.into(), value);
    Value::Object(fields)
}
