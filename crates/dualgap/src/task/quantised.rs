//! Weights as small integers with a scale for every few of them.
//!
//! ```text
//! NAME.scales    [⌈m/64⌉]  a float s of 32 bits for every 64 numbers
//! NAME.integers  [bytes]   q of 8 or of 16 bits each, little-endian: a number is q·s, which 64 bits hold exactly
//! ```
//!
//! Of a block of 64 the largest magnitude is 127·s, or 32,767·s: so the numbers themselves tell that they are of this form,
//! and what is read is what was in memory, bit for bit.

use crate::container::{Fault, Reader, Tensor};
use std::num::NonZeroUsize;

/// How many numbers have a scale in common.
pub(super) const BLOCK: usize = 64;

/// The number of bits of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Eight,
    Sixteen,
}

impl Width {
    fn most(self) -> f64 {
        match self {
            Self::Eight => 127.0,
            Self::Sixteen => 32_767.0,
        }
    }
}

/// Rounds numbers to this form. Where they must not grow, for weights in a ball, they are rounded toward zero. Returns
/// `None` if a number is too large for it.
pub(super) fn rounded(values: &[f64], width: Width, toward_zero: bool) -> Option<Vec<f64>> {
    let mut all = Vec::with_capacity(values.len());
    for block in values.chunks(BLOCK) {
        let top = largest(block);
        let mut scale = (top / width.most()) as f32;
        if toward_zero && f64::from(scale) * width.most() > top {
            scale = scale.next_down();
        }
        if !scale.is_finite() {
            return None;
        }
        let scale = f64::from(scale);
        all.extend(block.iter().map(|x| {
            let q = if scale > 0.0 { x / scale } else { 0.0 };
            let q = if toward_zero { q.trunc() } else { q.round() };
            // Adding zero makes a zero of a negative one.
            q.clamp(-width.most(), width.most()) * scale + 0.0
        }));
    }
    Some(all)
}

/// Hands over numbers of this form as two tensors, or returns false if they are not of it.
pub(super) fn put(put: &mut dyn FnMut(&str, Tensor), name: &str, values: &[f64]) -> bool {
    let Some((width, scales)) = form(values) else { return false };
    let mut bytes = Vec::new();
    for (block, scale) in values.chunks(BLOCK).zip(&scales) {
        for x in block {
            let q = if *scale > 0.0 { (x / scale) as i16 } else { 0 };
            match width {
                Width::Eight => bytes.push(q as i8 as u8),
                Width::Sixteen => bytes.extend(q.to_le_bytes()),
            }
        }
    }
    put(&format!("{name}.scales"), Tensor::f32(&scales));
    put(&format!("{name}.integers"), Tensor::bytes(bytes));
    true
}

/// Whether numbers are of this form.
pub(super) fn is_quantised(values: &[f64]) -> bool {
    form(values).is_some()
}

/// Whether a file has the numbers of this name so.
pub(super) fn has(file: &Reader<'_>, name: &str) -> bool {
    file.has(&format!("{name}.integers"))
}

/// Reads numbers of this form.
pub(super) fn take(file: &Reader<'_>, name: &str) -> Result<Vec<f64>, Fault> {
    let altered = || Fault::from(format!("has integers of `{name}` that do not fit their scales"));
    let scales = file.floats(&format!("{name}.scales"))?;
    let bytes = file.bytes(&format!("{name}.integers"))?;
    let blocks = NonZeroUsize::new(scales.len()).ok_or_else(altered)?.get();
    // 8 bits if that many numbers have that many scales, else 16: both cannot be, with more than one block.
    let fits = |count: usize| count.div_ceil(BLOCK) == blocks;
    let wide = bytes.len().is_multiple_of(2) && fits(bytes.len() / 2) && !fits(bytes.len());
    if !wide && !fits(bytes.len()) {
        return Err(altered());
    }
    let integers: Vec<f64> = if wide {
        bytes.chunks_exact(2).map(|b| f64::from(i16::from_le_bytes([b[0], b[1]]))).collect()
    } else {
        bytes.iter().map(|&b| f64::from(i8::from_le_bytes([b]))).collect()
    };
    let scaled = integers.chunks(BLOCK).zip(scales);
    Ok(scaled.flat_map(|(block, s)| block.iter().map(move |q| q * s + 0.0)).collect())
}

/// Returns the width and the scales of numbers of this form. Fewer than a block, and numbers that are all zero, are of none.
fn form(values: &[f64]) -> Option<(Width, Vec<f64>)> {
    if values.len() <= BLOCK || largest(values) == 0.0 {
        return None;
    }
    [Width::Eight, Width::Sixteen].into_iter().find_map(|width| {
        let scale = |block: &[f64]| {
            let scale = largest(block) / width.most();
            let exact = |x: &f64| {
                let q = if scale > 0.0 { (x / scale).round() } else { 0.0 };
                (q * scale + 0.0).to_bits() == x.to_bits()
            };
            (f64::from(scale as f32) == scale && block.iter().all(exact)).then_some(scale)
        };
        let scales: Option<Vec<f64>> = values.chunks(BLOCK).map(scale).collect();
        Some((width, scales?))
    })
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |top, x| top.max(x.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{Form, Kind, Writer};

    const KIND: Kind =
        Kind { name: "test", form: Form::Tensors { main: false }, oldest: 1, version: 1 };

    fn read(tensors: Vec<(String, Tensor)>) -> Result<Vec<f64>, Fault> {
        let header = serde_json::json!({});
        let mut writer = Writer::new(&KIND, &header);
        tensors.into_iter().for_each(|(name, tensor)| writer.tensor(&name, tensor));
        take(&Reader::new(&writer.to_bytes().unwrap(), &KIND)?, "w")
    }

    fn wave(count: usize) -> Vec<f64> {
        (0..count).map(|k| (k as f64 * 0.7).sin() * 10_f64.powf((k / 100) as f64 - 3.0)).collect()
    }

    #[test]
    fn rounded_numbers_are_near_and_come_back_bit_for_bit() {
        for width in [Width::Eight, Width::Sixteen] {
            for count in [65, 127, 128, 129, 1000] {
                let values = wave(count);
                for toward_zero in [false, true] {
                    let near = rounded(&values, width, toward_zero).unwrap();
                    for (old, new) in values.chunks(BLOCK).zip(near.chunks(BLOCK)) {
                        let step = largest(old) / width.most() * (1.0 + 1e-6);
                        let most = if toward_zero { step } else { step / 2.0 };
                        for (x, y) in old.iter().zip(new) {
                            assert!((x - y).abs() <= most, "{x} {y}");
                            assert!(!toward_zero || (y.abs() <= x.abs() && x * y >= 0.0));
                        }
                    }
                    let mut tensors = Vec::new();
                    assert!(put(&mut |name, t| tensors.push((name.into(), t)), "w", &near));
                    let back = read(tensors).unwrap();
                    assert!(back.iter().zip(&near).all(|(a, b)| a.to_bits() == b.to_bits()));
                    assert_eq!(back.len(), near.len());
                }
            }
        }
    }

    #[test]
    fn other_numbers_are_left_alone() {
        let mut nothing = |_: &str, _: Tensor| {};
        for values in [wave(1000), wave(64), vec![0.0; 1000], vec![-0.0; 100]] {
            assert!(!put(&mut nothing, "w", &values));
        }
        let mut near = rounded(&wave(1000), Width::Eight, false).unwrap();
        assert!(is_quantised(&near));
        near[500] *= 1.0 + f64::EPSILON;
        assert!(!is_quantised(&near), "not a multiple");
        assert!(rounded(&[1e60; 100], Width::Eight, false).is_none(), "beyond 32 bits");
    }

    #[test]
    fn forged_integers_are_refused() {
        let scales = |count: usize| ("w.scales".to_string(), Tensor::f32(&vec![0.5; count]));
        let bytes = |count: usize| ("w.integers".to_string(), Tensor::bytes(vec![1; count]));
        assert_eq!(read(vec![scales(2), bytes(100)]).unwrap(), vec![0.5; 100]);
        assert_eq!(read(vec![scales(2), bytes(200)]).unwrap(), vec![257.0 * 0.5; 100]);
        for (blocks, count) in [(2, 64), (2, 257), (2, 258), (0, 0), (0, 10), (3, 100)] {
            assert!(read(vec![scales(blocks), bytes(count)]).is_err(), "{blocks} {count}");
        }
        let endless = ("w.scales".to_string(), Tensor::f32(&[f64::INFINITY, 1.0]));
        assert!(read(vec![endless, bytes(100)]).is_err(), "not finite");
    }
}
