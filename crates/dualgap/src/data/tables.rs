//! Small side files: sample weights and cost matrices.

use super::{Alphabet, Source};
use crate::Error;
use crate::Result;

/// Reads one weight per line, as many as there are examples.
///
/// ```
/// use dualgap::data::{Source, tables::read_weights};
/// assert_eq!(read_weights(Source::from_bytes("w", b"1\n2.5\n")?, 2)?, [1.0, 2.5]);
/// assert!(read_weights(Source::from_bytes("w", b"1\n-2\n")?, 2).is_err());
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn read_weights(mut source: Source<'_>, count: usize) -> Result<Vec<f64>> {
    const REMEDY: &str = "a sample weight is a number that is not negative, one a line";
    let mut weights = Vec::new();
    while let Some(line) = source.next_line()? {
        if line.trim().is_empty() {
            continue;
        }
        match line.trim().parse::<f64>() {
            Ok(weight) if weight >= 0.0 && weight.is_finite() => weights.push(weight),
            _ => {
                let message = format!("`{}` is not a sample weight", line.trim());
                return Err(source.error(message, REMEDY));
            }
        }
    }
    if weights.len() != count {
        return Err(source.file_error(
            format!("has {} weights for {count} examples", weights.len()),
            "there must be one for each example of the data file, in its order",
        ));
    }
    Ok(weights)
}

/// Reads a cost matrix with the names of the labels, in any order:
///
/// ```text
///        cat  dog  cow        the predictions
/// cat    0    1    2          one line for each truth
/// dog    1    0    2
/// cow    5    5    0
/// ```
///
/// Returns it in row-major order, with the labels in the order of the alphabet.
pub fn read_costs(mut source: Source<'_>, alphabet: &Alphabet) -> Result<Vec<f64>> {
    const REMEDY: &str = "the first line names the predicted labels; each other line begins with a \
                          true label and gives its cost for each of them";
    let classes = alphabet.len();
    let mut columns: Option<Vec<usize>> = None;
    let mut costs: Vec<Option<f64>> = vec![None; classes * classes];
    while let Some(line) = source.next_line()? {
        let tokens: Vec<String> = line.split_ascii_whitespace().map(String::from).collect();
        if tokens.is_empty() {
            continue;
        }
        let label = |source: &Source<'_>, name: &str| -> Result<usize, Error> {
            alphabet.index(name).ok_or_else(|| {
                source.error(
                    format!("the data have no label `{name}`"),
                    format!("the labels are: {}", alphabet.names().join(" ")),
                )
            })
        };
        let Some(columns) = &columns else {
            let named: Vec<usize> =
                tokens.iter().map(|name| label(&source, name)).collect::<Result<_>>()?;
            let distinct: std::collections::HashSet<usize> = named.iter().copied().collect();
            if named.len() != classes || distinct.len() != classes {
                return Err(source.error(
                    format!("{} labels are named once, of {classes}", distinct.len()),
                    REMEDY,
                ));
            }
            columns = Some(named);
            continue;
        };
        let truth = label(&source, &tokens[0])?;
        if tokens.len() != classes + 1 {
            return Err(
                source.error(format!("{} costs where {classes} belong", tokens.len() - 1), REMEDY)
            );
        }
        for (token, &y) in tokens[1..].iter().zip(columns) {
            let cost: f64 = token
                .parse()
                .ok()
                .filter(|cost: &f64| *cost >= 0.0 && cost.is_finite())
                .ok_or_else(|| source.error(format!("`{token}` is not a cost"), REMEDY))?;
            if truth == y && cost != 0.0 {
                return Err(source.error(
                    format!("`{}` costs {cost} when it is right", tokens[0]),
                    "a right prediction costs 0",
                ));
            }
            if costs[truth * classes + y].replace(cost).is_some() {
                return Err(source.error(format!("`{}` came before", tokens[0]), REMEDY));
            }
        }
    }
    costs.into_iter().collect::<Option<_>>().ok_or_else(|| {
        source.file_error(format!("not all of {classes} labels have their costs"), REMEDY)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(text: &str) -> Result<Vec<f64>> {
        let alphabet = Alphabet::new(["a", "b"].map(String::from));
        read_costs(Source::from_bytes("costs", text.as_bytes())?, &alphabet)
    }

    #[test]
    fn labels_may_stand_in_any_order() {
        assert_eq!(costs("  a b\na 0 1\nb 5 0\n").unwrap(), [0.0, 1.0, 5.0, 0.0]);
        assert_eq!(costs("b a\nb 0 5\n\na 1 0").unwrap(), [0.0, 1.0, 5.0, 0.0]);
    }

    #[test]
    fn mistakes_name_the_line() {
        for (text, what) in [
            ("a c\n", "costs:1: the data have no label `c`"),
            ("a\n", "costs:1: 1 labels"),
            ("a b\na 0\n", "costs:2: 1 costs"),
            ("a b\na 0 x\n", "costs:2: `x` is not a cost"),
            ("a b\na 0 -1\n", "costs:2: `-1` is not a cost"),
            ("a b\na 1 1\n", "costs:2: `a` costs 1 when it is right"),
            ("a b\na 0 1\na 0 1\n", "costs:3: `a` came before"),
            ("a b\na 0 1\n", "costs: not all"),
        ] {
            let message = costs(text).unwrap_err().to_string();
            assert!(message.starts_with(what), "{message} is not {what}");
        }
    }

    #[test]
    fn weights_must_be_as_many_as_the_examples() {
        let read = |text: &'static str| read_weights(Source::from_bytes("w", text.as_bytes())?, 2);
        assert!(read("1\n").unwrap_err().to_string().contains("1 weights for 2"));
        assert!(read("1\nnan\n").unwrap_err().to_string().starts_with("w:2:"));
    }
}
