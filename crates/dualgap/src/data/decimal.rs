//! Numbers as most files have them: a few digits and a point.

/// Powers of ten that are exact.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Parses a number as the standard library does, to the last bit.
///
/// Up to 15 digits are an integer below 2^53, which is exact, and so is the power of ten that it is divided by: the
/// quotient is then rounded once, to the number that is next to the text. Anything else is left to the library.
pub(super) fn parse(text: &str) -> Option<f64> {
    short(text.as_bytes()).or_else(|| text.parse().ok())
}

fn short(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    // 16 characters can be 15 digits and a point. Longer texts, and those without a digit, are left to the library.
    if digits.is_empty() || digits.len() > 16 || digits == b"." {
        return None;
    }
    let (mut whole, mut decimals) = (0_u64, None);
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                whole = 10 * whole + u64::from(byte - b'0');
                decimals = decimals.map(|count| count + 1);
            }
            b'.' if decimals.is_none() => decimals = Some(0),
            _ => return None,
        }
    }
    if decimals.is_none() && digits.len() > 15 {
        return None;
    }
    let value = whole as f64 / POWERS.get(decimals.unwrap_or(0))?;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agrees(text: &str) {
        let library: Option<f64> = text.parse().ok();
        assert_eq!(parse(text).map(f64::to_bits), library.map(f64::to_bits), "{text}");
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        for text in [
            "",
            "-",
            ".",
            "-.",
            "+1",
            "1.",
            ".5",
            "-.5",
            "-0",
            "0",
            "1..2",
            "1.2.3",
            "1e5",
            "0x1",
            "inf",
            "999999999999999",
            "9999999999999999",
            "0.99999999999999",
            "0.999999999999999",
            "123456789012345.",
            "1234567890123456",
            "000000000000001",
            "0000000000000001",
            "1_0",
            "१",
        ] {
            agrees(text);
        }
    }

    proptest! {
        #[test]
        fn any_short_text_is_read_as_the_library_reads_it(text in "-?[0-9]{0,9}\\.?[0-9]{0,9}(e[0-9])?") {
            agrees(&text);
        }

        #[test]
        fn what_is_written_is_read(value in any::<f64>().prop_filter("finite", |x| x.is_finite())) {
            agrees(&value.to_string());
            agrees(&format!("{value:.6}"));
        }
    }
}
