//! A lexicon in a model file. Words are separated by line ends, which no word has, and the rest are tensors of numbers.

use super::hmm::{JUMPS, Jumps, STARTS};
use super::lexicon::{Lexicon, Side};
use crate::container::{Fault, Reader, Tensor};
use crate::data::Dictionary;

/// Writes a lexicon under names that begin with `name`.
pub(super) fn put(lexicon: &Lexicon, name: &str, put: &mut dyn FnMut(&str, Tensor)) {
    for (side, of) in [(&lexicon.e, "e"), (&lexicon.f, "f")] {
        let words: Vec<&str> = side.words.names().collect();
        put(&format!("{name}.{of}.words"), Tensor::bytes(words.join("\n").into_bytes()));
        let Side { counts, totals, unlinked, .. } = side;
        for (values, what) in [(counts, "counts"), (totals, "totals"), (unlinked, "unlinked")] {
            put(&format!("{name}.{of}.{what}"), Tensor::f64(&[values.len()], values));
        }
    }
    let starts: Vec<u64> = lexicon.starts.iter().map(|&start| start as u64).collect();
    put(&format!("{name}.starts"), Tensor::u64(&starts));
    put(&format!("{name}.partners"), Tensor::u32(&lexicon.partners));
    for (values, what) in [(&lexicon.links, "links"), (&lexicon.together, "together")] {
        put(&format!("{name}.{what}"), Tensor::f64(&[values.len()], values));
    }
    for (jumps, of) in lexicon.jumps.iter().zip(["to_f", "to_e"]) {
        put(&format!("{name}.{of}.moves"), Tensor::f64(&[JUMPS], &jumps.moves));
        put(&format!("{name}.{of}.starts"), Tensor::f64(&[STARTS], &jumps.starts));
    }
}

/// Reads a lexicon, and checks that its parts fit together and that no probability is zero.
pub(super) fn take(file: &Reader<'_>, name: &str) -> Result<Lexicon, Fault> {
    let (e, f) = (take_side(file, name, "e")?, take_side(file, name, "f")?);
    let whole = |start: u64| usize::try_from(start).unwrap_or(usize::MAX);
    let starts: Vec<usize> = file.u64(&format!("{name}.starts"))?.into_iter().map(whole).collect();
    let partners = file.u32(&format!("{name}.partners"))?;
    let fits = starts.len() == e.words.len() + 1
        && starts.first() == Some(&0)
        && starts.last() == Some(&partners.len())
        && starts.is_sorted();
    let ascend = |part: &[usize]| partners[part[0]..part[1]].windows(2).all(|two| two[0] < two[1]);
    let is_known = |word: &u32| (*word as usize) < f.words.len();
    if !fits || !starts.windows(2).all(ascend) || !partners.iter().all(is_known) {
        return Err(format!("has a table `{name}` of words that do not fit together").into());
    }
    let of_entries = |what: &str| {
        let values = file.f64(&format!("{name}.{what}"), &[partners.len()])?;
        all(values, &format!("{name}.{what}"), |x| x >= 0.0)
    };
    let (links, together) = (of_entries("links")?, of_entries("together")?);
    let jumps = [take_jumps(file, name, "to_f")?, take_jumps(file, name, "to_e")?];
    Ok(Lexicon { e, f, starts, partners, links, together, jumps })
}

fn take_side(file: &Reader<'_>, name: &str, of: &str) -> Result<Side, Fault> {
    let text = std::str::from_utf8(file.bytes(&format!("{name}.{of}.words"))?)
        .map_err(|_| format!("has words `{name}.{of}` that are no text"))?;
    let lines = if text.is_empty() { 0 } else { text.split('\n').count() };
    let words: Dictionary = text.split('\n').take(lines).collect();
    if words.len() != lines {
        return Err(format!("has a word twice in `{name}.{of}`").into());
    }
    let numbers = |what: &str, fits: fn(f64) -> bool| {
        let what = format!("{name}.{of}.{what}");
        all(file.f64(&what, &[words.len()])?, &what, fits)
    };
    let counts = numbers("counts", |x| x >= 0.0)?;
    let totals = numbers("totals", |x| x > 0.0)?;
    let unlinked = numbers("unlinked", |x| x >= 0.0)?;
    Ok(Side::new(words, counts, totals, unlinked))
}

fn take_jumps(file: &Reader<'_>, name: &str, of: &str) -> Result<Jumps, Fault> {
    let mut jumps = Jumps::default();
    for (values, what) in [(&mut jumps.moves[..], "moves"), (&mut jumps.starts[..], "starts")] {
        let what = format!("{name}.{of}.{what}");
        let read = all(file.f64(&what, &[values.len()])?, &what, |x| x > 0.0)?;
        values.copy_from_slice(&read);
    }
    Ok(jumps)
}

/// Returns the values if all of them are as they should be.
fn all(values: Vec<f64>, name: &str, fits: fn(f64) -> bool) -> Result<Vec<f64>, Fault> {
    match values.iter().find(|&&x| !fits(x)) {
        Some(x) => Err(format!("has a tensor `{name}` with the value {x}").into()),
        None => Ok(values),
    }
}
