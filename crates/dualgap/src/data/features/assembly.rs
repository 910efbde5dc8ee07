//! From features by their numbers to rows.

use super::part::{Part, tokens};
use crate::data::{Alphabet, Sequences};
use crate::linalg::{Rows, parallel};
use crate::{Error, Result};

/// The number of tokens whose features are sorted into rows at a time.
const TOKENS: usize = 1 << 12;

/// Returns rows of the features that have a number, and labels by their number in the alphabet.
pub(super) fn assemble(
    part: &Part,
    alphabet: Alphabet,
    [width, edge_width]: [usize; 2],
    number: impl Fn(u32) -> Option<u32> + Sync,
) -> Result<Sequences> {
    let mut starts = vec![0];
    starts.extend(part.lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    }));
    let positions = rows(&part.features, width, &number)?;
    let sequences = if part.labels.is_empty() {
        Sequences::unlabelled(positions, starts)?
    } else {
        let numbers = part.labels.numbered(&alphabet).into_iter().map(u16::try_from);
        let labels = numbers
            .collect::<Result<Vec<u16>, _>>()
            .map_err(|_| Error::setting("there are more labels than a chain can have"))?;
        Sequences::new(positions, labels, starts, alphabet)?
    };
    let sequences = sequences.with_lines(part.lines.clone());
    if edge_width == 0 {
        return Ok(sequences);
    }
    sequences.with_edges(rows(&part.edges, edge_width, number)?)
}

fn rows(
    features: &[u32],
    width: usize,
    number: impl Fn(u32) -> Option<u32> + Sync,
) -> Result<Rows> {
    let mut rows = Rows::sparse();
    let kept = |token: &[u32]| token.iter().filter(|feature| number(**feature).is_some()).count();
    let entries: usize = tokens(features).map(kept).sum();
    rows.reserve_exact(tokens(features).count(), entries)?;
    let mut rest = tokens(features);
    loop {
        // For every thread some, which are put together before there are more.
        let some: Vec<&[u32]> = rest.by_ref().take(TOKENS * parallel::threads()).collect();
        if some.is_empty() {
            break;
        }
        let parts = parallel::map_ranges(some.len(), some.len().div_ceil(TOKENS), |range| {
            Ok(sorted_rows(&some[range], &number))
        })?;
        parts.iter().try_for_each(|part| rows.append(part))?;
    }
    rows.fit_width(width);
    Ok(rows)
}

fn sorted_rows(tokens: &[&[u32]], number: impl Fn(u32) -> Option<u32>) -> Rows {
    let (mut rows, mut row) = (Rows::sparse(), Vec::<(u32, f64)>::new());
    for token in tokens {
        row.clear();
        row.extend(token.iter().filter_map(|&feature| number(feature)).map(|j| (j, 1.0)));
        row.sort_unstable_by_key(|&(j, _)| j);
        // A feature that two templates make has the value two.
        row.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            kept.1 += if same { later.1 } else { 0.0 };
            same
        });
        rows.push_sparse(&row);
    }
    rows
}
