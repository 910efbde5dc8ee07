//! Numbers and tables as a person would write them.

use dualgap::structure::evaluation::{NumberErrors, Scores, SetFigures};
use dualgap::term::{Free, Regulariser};
use serde::Serialize;

/// Returns the rows of a table that compares predicted numbers with the true ones.
pub fn number_rows(errors: &NumberErrors) -> Vec<(&'static str, String)> {
    let NumberErrors { examples, rmse, mae, r2, .. } = *errors;
    let examples = thousands(examples as u64);
    let mut rows =
        vec![("error", format!("{} root mean square over {examples} numbers", number(rmse)))];
    rows.push(("absolute", format!("{} in the mean", number(mae))));
    rows.extend(r2.map(|r2| ("explained", format!("{} of the variance", percent(r2)))));
    rows
}

/// Returns the rows of a table that compares predicted label sets with the true ones.
pub fn set_rows(figures: &SetFigures) -> Vec<(&'static str, String)> {
    let SetFigures { examples, labels, subset_accuracy, hamming_loss, .. } = *figures;
    let SetFigures { micro_f1, macro_f1, .. } = *figures;
    let (examples, labels) = (thousands(examples as u64), thousands(labels as u64));
    let in_percent = |share: f64| format!("{:.2}", 100.0 * share);
    let wrong = percent(hamming_loss);
    vec![
        ("sets", format!("{} of {examples} are right as a whole", percent(subset_accuracy))),
        ("hamming loss", format!("{wrong} of the answers about {labels} labels are wrong")),
        ("micro F1", format!("{} of all labels together", in_percent(micro_f1))),
        ("macro F1", format!("{} in the mean over labels", in_percent(macro_f1))),
    ]
}

/// Returns precision, recall and F1 in words.
pub fn scores(scores: Scores) -> String {
    let Scores { precision, recall, f1, .. } = scores;
    let told = |share: f64| format!("{:.2}", 100.0 * share);
    format!("{} (precision {}, recall {})", told(f1), told(precision), told(recall))
}

pub fn to_json(value: &impl Serialize) -> String {
    // Only maps with non-string keys and failing writers can fail here; there are neither.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// Describes the parts of the regulariser other than λ.
pub fn and_else(regulariser: Regulariser) -> String {
    let Regulariser { l1, nonnegative, free, q_norm } = regulariser;
    let l1 = if l1 > 0.0 { format!(", l1 {}", number(l1)) } else { String::new() };
    let sign = if nonnegative { ", no negative weights" } else { "" };
    let norm = if q_norm { ", in the q-norm" } else { "" };
    let free = free.map_or_else(String::new, |Free { column, bound }| {
        format!(", no penalty on weight {} (within ±{})", column + 1, number(bound))
    });
    format!("{norm}{l1}{sign}{free}")
}

/// Aligns names to the left, and values in a column after them.
pub fn aligned(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("  {name:<width$}   {value}\n")).collect()
}

/// Formats a number with six significant digits.
pub fn number(x: f64) -> String {
    let digits = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    if (-4..6).contains(&digits) {
        format!("{x:.*}", (5 - digits).max(0) as usize)
    } else {
        format!("{x:.5e}")
    }
}

pub fn percent(share: f64) -> String {
    let x = 100.0 * share;
    if !x.is_finite() {
        "unknown".into()
    } else if x < 0.0 {
        format!("-{}", percent(-share)) // what is explained, where the mean would be nearer
    } else if x == 0.0 || x >= 0.095 {
        trimmed((x * 100.0).round() / 100.0) + " %"
    } else {
        format!("{x:.1e} %")
    }
}

/// Formats a number without zeros at the end of its fraction.
pub fn trimmed(x: f64) -> String {
    let text = format!("{:.2}", x.fract());
    let fraction = text.trim_start_matches('0').trim_end_matches('0').trim_end_matches('.');
    if text.starts_with('1') {
        return thousands(x as u64 + 1); // 0.999 is told as 1
    }
    format!("{}{fraction}", thousands(x as u64))
}

pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_a_person_would() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(12), "12");
        assert_eq!(percent(0.05), "5 %");
        assert_eq!(percent(0.0123), "1.23 %");
        assert_eq!(percent(1e-6), "1.0e-4 %");
        assert_eq!(percent(-0.5), "-50 %");
        assert_eq!(number(0.385_079_1), "0.385079");
        assert_eq!(number(12.5), "12.5000");
    }
}
