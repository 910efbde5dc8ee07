//! A certificate in words: the rows of a table, and one sentence about what is proved.

use crate::words::{number, percent};
use dualgap::run::Certificate;
use dualgap::structure::Remark;

/// Returns the rows of a table about a certificate.
pub fn certificate_rows(certificate: &Certificate) -> Vec<(&'static str, String)> {
    let gap = if certificate.certified {
        format!(
            "{}   {} of the primal value",
            number(certificate.gap()),
            gap_share(certificate.relative_gap())
        )
    } else {
        "unknown: the oracle could not bound what it may have missed".into()
    };
    let remark = Remark::on_certificate(certificate);
    let remark = remark.map_or(String::new(), |remark| format!(": {}", remark.text));
    let mut rows = vec![
        ("primal", number(certificate.primal)),
        ("dual", number(certificate.dual)),
        ("gap", gap),
        ("rounding", format!("at most {:.1e}{remark}", certificate.rounding_error)),
    ];
    if certificate.certified && !certificate.basis.is_exact() {
        rows.push(("rests on", certificate.basis.to_string()));
    }
    rows
}

/// Describes a certificate in words.
pub fn certified_sentence(certificate: &Certificate) -> String {
    if !certificate.certified {
        return "Not certified: the primal value bounds nothing.".into();
    }
    if certificate.is_vacuous() {
        let most = rounded_up(
            certificate.gap_bound().min(certificate.primal + certificate.rounding_error),
        );
        return format!(
            "Certified: no more yet than that losses are never negative, so that the objective of this model is at most {most} \
             above the optimum, which is all of it. {}",
            advice(certificate)
        );
    }
    // The numbers are rounded up so that the sentence stays true.
    let (bound, share) = (certificate.gap_bound(), certificate.relative_gap_bound());
    let part = if share.is_finite() {
        format!(" ({} % of the objective)", rounded_up(100.0 * share))
    } else {
        String::new()
    };
    let bound = rounded_up(bound);
    let promise =
        if certificate.basis.is_promise() { ", if its oracle keeps its promise" } else { "" };
    let wide = if share.is_finite() && share > WIDE {
        format!(" That is a wide bound, which says little. {}", advice(certificate))
    } else {
        String::new()
    };
    format!(
        "Certified{promise}: the objective of this model is at most {bound} above the optimum{part}.{wide}"
    )
}

/// The share of the objective beyond which a gap says little: the optimum may be half of it.
const WIDE: f64 = 0.5;

/// What makes a certificate say more.
const LONGER: &str = "The model may predict well all the same; a longer run proves more: more --passes, or a \
                      --tolerance such as 0.05 in their place; a larger --lambda needs fewer passes for it.";

/// What is left to do where a longer run proves no more.
const ROUNDING: &str = "The model may predict well all the same; most of that is rounding, of which a longer run \
                        leaves as much: values, targets and a --lambda nearer to one round less.";

/// Returns how the next certificate can say more than this one.
fn advice(certificate: &Certificate) -> &'static str {
    if certificate.rounding_exceeds_gap() { ROUNDING } else { LONGER }
}

/// Formats a relative gap. One of 100 % or more is shown as such: zero is a lower bound of the objective as well.
pub fn gap_share(share: f64) -> String {
    percent(share.min(1.0))
}

/// Formats a number with three digits, rounded up.
pub fn rounded_up(x: f64) -> String {
    if x <= 0.0 {
        return "0".into();
    }
    // Smaller numbers do not have three digits.
    let x = x.max(1e-300);
    let digits = x.log10().floor() as i32;
    let unit = 10_f64.powi(digits - 2);
    let x = (x / unit).ceil() * unit;
    if (-4..6).contains(&digits) {
        format!("{x:.*}", (2 - digits).max(0) as usize)
    } else {
        format!("{x:.2e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dualgap::linalg::Measured;

    /// A certificate with these two values.
    fn certificate(primal: f64, dual: f64) -> Certificate {
        let [primal, dual] = [primal, dual].map(|value| Measured { value, error: 1e-12 });
        Certificate::new(primal, dual, true).unwrap()
    }

    #[test]
    fn a_certificate_that_says_nothing_is_not_put_as_one_that_does() {
        for dual in [-0.2, 0.0, 1e-13] {
            let told = certified_sentence(&certificate(1.0, dual));
            assert!(told.starts_with("Certified: no more yet than"), "{told}");
            assert!(told.contains("at most 1.01 above"), "{told}");
            assert!(told.contains("--passes") && told.contains("--tolerance"), "{told}");
            assert!(!told.contains("120"), "{told}");
            let rows = certificate_rows(&certificate(1.0, dual));
            assert!(rows[2].1.ends_with("100 % of the primal value"), "{rows:?}");
        }
        let told = certified_sentence(&certificate(1.0, 0.01));
        assert!(told.contains("(99.1 % of the objective). That is a wide bound"), "{told}");
        assert!(told.contains("--passes"), "{told}");
        let told = certified_sentence(&certificate(1.0, 0.9));
        assert!(told.ends_with("% of the objective)."), "{told}");
        let told = certified_sentence(&certificate(0.0, 0.0));
        assert!(told.contains(" above the optimum."), "an optimum of zero: {told}");
    }

    // A user who follows the advice to run longer would wait for nothing.
    #[test]
    fn no_longer_run_is_advised_against_rounding() {
        let side = |value| Measured { value, error: 0.1 };
        for (primal, dual) in [(1e-3, 0.0), (0.15, 0.14)] {
            let told =
                certified_sentence(&Certificate::new(side(primal), side(dual), true).unwrap());
            assert!(!told.contains("--passes") && told.contains("rounding"), "{told}");
        }
    }

    #[test]
    fn a_bound_is_never_rounded_down() {
        for x in [0.001_234_1, 9.99e-7, 5.0, 123_456.0, 1e-15] {
            let told: f64 = rounded_up(x).parse().unwrap();
            assert!(told >= x * (1.0 - 1e-12) && told <= x * 1.011, "{x} {told}");
        }
        assert!(rounded_up(f64::MIN_POSITIVE).parse::<f64>().unwrap() < 1e-299);
    }
}
