//! The reports on predictions of several numbers: over all of them, and for each output.

use crate::words::{number, percent, thousands};
use dualgap::structure::evaluation::{NumberErrors, OutputEvaluation, OutputFigures};
use dualgap::task::AnyModel;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// So many outputs are shown, unless all are asked for.
const SHOWN: usize = 20;

/// The figures for machines.
#[derive(Serialize)]
pub struct OutputsJson {
    #[serde(flatten)]
    figures: OutputFigures,
    outputs_by_name: BTreeMap<String, NumberErrors>,
}

impl From<&OutputEvaluation> for OutputsJson {
    fn from(evaluation: &OutputEvaluation) -> Self {
        let each = evaluation.by_output().map(|(name, errors)| (name.to_string(), errors));
        Self { figures: evaluation.figures(), outputs_by_name: each.collect() }
    }
}

/// Returns the rows of a table about all numbers.
pub fn output_rows(figures: &OutputFigures) -> Vec<(&'static str, String)> {
    let OutputFigures { examples, outputs, rmse, mae, r2, .. } = *figures;
    let (examples, outputs) = (thousands(examples as u64), thousands(outputs as u64));
    let over = format!("{examples} examples of {outputs} numbers");
    let mut rows = vec![("error", format!("{} root mean square over {over}", number(rmse)))];
    rows.push(("absolute", format!("{} in the mean", number(mae))));
    rows.extend(r2.map(|r2| ("explained", format!("{} of the variance", percent(r2)))));
    rows
}

/// Returns one line per output, of the first ones or of all.
pub fn output_table(evaluation: &OutputEvaluation, all: bool) -> String {
    let mut each: Vec<(&str, NumberErrors)> = evaluation.by_output().collect();
    let rest = if all { 0 } else { each.len().saturating_sub(SHOWN) };
    each.truncate(each.len() - rest);
    let width = each.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(6);
    let mut text =
        format!("\n  {:<width$}  {:>12}  {:>12}  {:>12}\n", "output", "RMSE", "MAE", "explained");
    for (name, NumberErrors { rmse, mae, r2, .. }) in each {
        let explained = r2.map_or("no variance".into(), percent);
        let (rmse, mae) = (number(rmse), number(mae));
        let _ = writeln!(text, "  {name:<width$}  {rmse:>12}  {mae:>12}  {explained:>12}");
    }
    if rest > 0 {
        let _ = writeln!(text, "  … and {rest} more; --json has them all");
    }
    text
}

/// Returns the row with the names that a model's predictions are made of, if they are not labels.
pub fn names_row(model: &dyn AnyModel) -> Option<(&'static str, String)> {
    let [_, several] = model.words().names_of?;
    let names = model.names().alphabet.names();
    let rest = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    let told =
        |name: &String| if name.contains(',') { format!("\"{name}\"") } else { name.clone() };
    let names: Vec<String> = names.iter().take(SHOWN).map(told).collect();
    Some((several, names.join(", ") + &rest))
}
