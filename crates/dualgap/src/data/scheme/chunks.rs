//! Chunks in label sequences, as the CoNLL shared tasks read them.
//!
//! A label is `O`, or a mark and a type, `B-NP`. Where a chunk begins and ends follows the rules of the shared
//! tasks for the marks B and I: an `I-X` after something that is no `X` begins a chunk of its own, and a change
//! of type always ends one. E (or L) ends a chunk and S (or W, U) is one by itself, also where the shared tasks'
//! script has no rule for what follows. So every sequence of labels has chunks, whatever scheme it follows, or none.

/// A chunk: first token, one past the last, type.
pub type Chunk<'a> = (usize, usize, &'a str);

/// Splits a label into its mark and its type; the type of `O` and of labels without a hyphen is empty.
fn split(label: &str) -> (char, &str) {
    let mut chars = label.chars();
    let mark = chars.next().unwrap_or('O');
    match label.split_once('-') {
        Some((_, kind)) => (mark, kind),
        None => (mark, ""),
    }
}

fn is_outside(mark: char) -> bool {
    mark == 'O' || mark == '.'
}

/// Marks of chunks that consist of a single token.
fn is_single(mark: char) -> bool {
    matches!(mark, 'S' | 'W' | 'U')
}

fn begins(before: (char, &str), now: (char, &str)) -> bool {
    !is_outside(now.0)
        && (now.0 == 'B'
            || is_single(now.0)
            || is_single(before.0)
            || matches!(before.0, 'E' | 'L')
            || is_outside(before.0)
            || before.1 != now.1)
}

/// Returns the chunks of a label sequence.
///
/// ```
/// # use dualgap::data::chunks;
/// let labels = ["B-NP", "I-NP", "I-VP", "O", "I-NP"];
/// assert_eq!(chunks(&labels), [(0, 2, "NP"), (2, 3, "VP"), (4, 5, "NP")]);
/// ```
pub fn chunks<'a, S: AsRef<str>>(labels: &'a [S]) -> Vec<Chunk<'a>> {
    let mut found: Vec<Chunk<'a>> = Vec::new();
    let mut open: Option<(usize, &'a str)> = None;
    let mut before = ('O', "");
    for (t, label) in labels.iter().enumerate() {
        let now = split(label.as_ref());
        let begins = begins(before, now);
        if (begins || is_outside(now.0))
            && let Some((start, kind)) = open.take()
        {
            found.push((start, t, kind));
        }
        if begins {
            open = Some((t, now.1));
        }
        before = now;
    }
    if let Some((start, kind)) = open {
        found.push((start, labels.len(), kind));
    }
    found
}

/// Whether a label is a known mark with a type.
pub fn is_chunk_label(label: &str) -> bool {
    label.split_once('-').is_some_and(|(mark, kind)| {
        !kind.is_empty() && matches!(mark, "B" | "I" | "E" | "L" | "S" | "W" | "U")
    })
}
