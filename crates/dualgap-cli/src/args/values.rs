//! The parsers of option values.

use crate::choices::Average;
use dualgap::task::Strength;

/// A number that is given, or chosen by held-out data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted<T> {
    Given(T),
    Auto,
}

impl<T: Copy> Wanted<T> {
    /// Parses `auto`, or whatever else the number can be.
    fn parse(text: &str, number: impl Fn(&str) -> Result<T, String>) -> Result<Self, String> {
        if text == "auto" { Ok(Self::Auto) } else { number(text).map(Self::Given) }
    }

    /// Returns the number, or this one while it is not chosen.
    pub fn or(self, other: T) -> T {
        match self {
            Self::Given(given) => given,
            Self::Auto => other,
        }
    }
}

/// Parses a λ or μ.
pub fn parse_lambda(text: &str) -> Result<Strength, String> {
    match parse_end(text)? {
        Strength::FractionOfMax(_) => {
            Err("a fraction of the maximum is for --l1: give a positive number such as \
                                           0.01, or a multiple of 1/n such as 10/n"
                .into())
        }
        strength => Ok(strength),
    }
}

/// Parses a σ.
pub fn parse_sigma(text: &str) -> Result<Strength, String> {
    let complain = || {
        "a number that is not negative such as 0.01, a fraction of the maximum such as 0.1max, or a \
         multiple of 1/n such as 10/n"
            .to_string()
    };
    match parse_end(text) {
        Err(told) if text.ends_with("max") => Err(told),
        Ok(Strength::TimesL1(_)) | Err(_) => Err(complain()),
        Ok(strength) => Ok(strength),
    }
}

/// Parses an end of a grid of λ, σ or radii.
pub fn parse_end(text: &str) -> Result<Strength, String> {
    text.parse().map_err(|error: dualgap::Error| error.to_string())
}

pub fn parse_wanted_lambda(text: &str) -> Result<Wanted<Strength>, String> {
    Wanted::parse(text, parse_lambda)
}

pub fn parse_wanted_sigma(text: &str) -> Result<Wanted<Strength>, String> {
    Wanted::parse(text, parse_sigma)
}

pub fn parse_wanted_radius(text: &str) -> Result<Wanted<f64>, String> {
    Wanted::parse(text, parse_positive)
}

pub fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be a positive number".into()),
    }
}

pub fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be a number that is not negative, such as 0.01".into()),
    }
}

pub fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("must be a share between 0 and 1, such as 0.1".into()),
    }
}

/// Parses an average. What the engine calls a suffix is the doubling average, which therefore has both names.
pub fn parse_average(text: &str) -> Result<Average, String> {
    match text {
        "none" => Ok(Average::None),
        "uniform" => Ok(Average::Uniform),
        "weighted" => Ok(Average::Weighted),
        "suffix" | "doubling" => Ok(Average::Doubling),
        "random" => Ok(Average::Random),
        _ => match text.strip_prefix("suffix:").map(str::parse::<f64>) {
            Some(Ok(fraction)) if fraction > 0.0 && fraction <= 1.0 => {
                Ok(Average::Suffix(fraction))
            }
            Some(_) => Err("a suffix is a share of the iterates above 0 and up to 1, such as \
                            suffix:0.5"
                .into()),
            None => {
                Err("must be none, uniform, weighted, suffix (or doubling, which is the same), \
                         a share such as suffix:0.5, or random"
                    .into())
            }
        },
    }
}

pub fn parse_count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "must be a whole number from 1 on".into())
}

pub fn parse_several(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 1).ok_or_else(|| "must be a whole number from 2 on".into())
}

pub fn parse_grid(text: &str) -> Result<usize, String> {
    parse_several(text).ok().filter(|&n| n <= 1000).ok_or_else(|| "must be 2 to 1000".into())
}

pub fn parse_column(text: &str) -> Result<usize, String> {
    let named = || CONLLU.iter().position(|name| name.eq_ignore_ascii_case(text));
    text.parse().ok().filter(|&k| k < 1000).or_else(named).ok_or_else(|| {
        format!("must be a number from 0 on, or for CoNLL-U one of {}", CONLLU.join(", "))
    })
}

/// The columns of a CoNLL-U file.
const CONLLU: [&str; 10] =
    ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"];

/// Refuses more threads than any machine has, which would only fail later and less clearly.
pub fn parse_threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n <= 1024).ok_or_else(|| "must be 0 (all cores) to 1024".into())
}

/// Examples from the first number to before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub begin: usize,
    pub end: usize,
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.begin, self.end)
    }
}

pub fn parse_range(text: &str) -> Result<Range, String> {
    let whole = |text: &str| {
        let plain = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<usize>().ok().filter(|_| plain)
    };
    let parts = text.split_once("..").and_then(|(begin, end)| Some((whole(begin)?, whole(end)?)));
    parts.filter(|(begin, end)| begin < end).map(|(begin, end)| Range { begin, end }).ok_or_else(
        || "must be two ascending numbers such as 0..100, the second not included".into(),
    )
}

/// Fold numbers, ascending. (A type of its own: clap would take a `Vec` for several values.)
#[derive(Clone, Debug, PartialEq)]
pub struct Folds(pub Vec<u8>);

pub fn parse_folds(text: &str) -> Result<Folds, String> {
    let complain = || "folds are 0 to 9, such as 1-9 or 0,2,5-7".to_string();
    let mut folds = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u8 = first.trim().parse().map_err(|_| complain())?;
        let last: u8 = last.trim().parse().map_err(|_| complain())?;
        if first > last || last > 9 {
            return Err(complain());
        }
        folds.extend(first..=last);
    }
    folds.sort_unstable();
    folds.dedup();
    Ok(Folds(folds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lambda_is_a_number_or_a_multiple_of_one_over_n() {
        assert_eq!(parse_lambda("0.01"), Ok(Strength::Value(0.01)));
        assert_eq!(parse_lambda("10/n"), Ok(Strength::PerExample(10.0)));
        assert_eq!(Strength::PerExample(10.0).resolve(4.0).unwrap(), 2.5);
        assert_eq!(parse_lambda("0"), Ok(Strength::Value(0.0)));
        for bad in ["", "/n", "n", "0/n", "-1", "nan", "inf", "1/m", "0.1max"] {
            assert!(parse_lambda(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_wanted_sigma("0.1max"), Ok(Wanted::Given(Strength::FractionOfMax(0.1))));
        assert_eq!(parse_wanted_sigma("auto"), Ok(Wanted::Auto));
        for bad in ["max", "0max", "-0.1max", "1.5max", "nanmax", "0.1l1", "-1", "Auto"] {
            assert!(parse_wanted_sigma(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn folds_are_numbers_and_ranges() {
        assert_eq!(parse_folds("1-3,0,2"), Ok(Folds(vec![0, 1, 2, 3])));
        for bad in ["", "10", "3-1", "a", "1-", "-1", "1,,2"] {
            assert!(parse_folds(bad).is_err(), "{bad}");
        }
    }
}
