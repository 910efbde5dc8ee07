//! The weights of examples: those of a file, and the syntax of class weights.

use dualgap::data::{ClassWeights, Loaded, Source, tables};
use dualgap::{Error, Result};
use std::path::Path;

/// Parses `balanced`, or `LABEL=W,LABEL=W`. A label may contain `=`: the last one separates.
pub fn parse_class_weights(text: &str) -> Result<ClassWeights, String> {
    if text == "balanced" {
        return Ok(ClassWeights::Balanced);
    }
    let weight = |part: &str| {
        let (label, weight) = part.rsplit_once('=')?;
        let weight = weight.trim().parse().ok().filter(|w: &f64| *w >= 0.0 && w.is_finite())?;
        Some((label.to_string(), weight))
    };
    text.split(',').map(weight).collect::<Option<_>>().map(ClassWeights::Named).ok_or_else(|| {
        "`balanced`, or labels with numbers that are not negative, such as yes=5,no=1".into()
    })
}

/// Returns the weights in the file for the training examples.
pub fn of_file<D>(path: Option<&Path>, train: &Loaded<D>) -> Result<Option<Vec<f64>>> {
    let Some(path) = path else { return Ok(None) };
    let all = tables::read_weights(Source::open(path)?, train.of)?;
    let chosen: Vec<f64> = train.chosen.iter().map(|&i| all[i]).collect();
    check_total(path, &chosen)?;
    Ok(Some(chosen))
}

/// Returns an error unless the total weight is positive and finite: otherwise there is nothing to train on.
pub fn check_total(path: &Path, weights: &[f64]) -> Result<()> {
    let total: f64 = weights.iter().sum();
    if total > 0.0 && total.is_finite() {
        return Ok(());
    }
    Err(Error::file(
        path,
        format!("the weights add up to {total} on the examples to train on"),
        "some example must count, and the sum must be a number",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_weights_are_balanced_or_named() {
        assert_eq!(parse_class_weights("balanced"), Ok(ClassWeights::Balanced));
        let named = vec![("-1".to_string(), 0.5), ("a=b".to_string(), 2.0)];
        assert_eq!(parse_class_weights("-1=0.5,a=b=2"), Ok(ClassWeights::Named(named)));
        for bad in ["", "yes", "yes=", "yes=1,", "yes=-1", "yes=nan", "yes=inf", "balanced,a=1"] {
            assert!(parse_class_weights(bad).is_err(), "{bad}");
        }
    }
}
