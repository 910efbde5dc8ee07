//! A simple tokeniser: words, numbers and marks of a line of text, in any language that has spaces.
//!
//! A word is a run of letters and digits, in which single marks such as `-`, `'`, `.`, `,`, `:`, `/`, `@`, `&` and `_` may stand between two of
//! them (`don't`, `3.14`, `New-York`); every other character that is not white space is a token of its own.

/// Marks that belong to a word if they are between two of its characters.
const INNER: &str = "-'’.,:/@&_";

/// Returns the tokens of a line, each with the bytes where it begins and ends.
///
/// ```
/// use dualgap::data::words;
/// let text = "He didn't pay $3.50 (U.S.), did he?";
/// let tokens: Vec<&str> = words(text).iter().map(|&(from, to)| &text[from..to]).collect();
/// assert_eq!(tokens.join(" "), "He didn't pay $ 3.50 ( U.S . ) , did he ?");
/// ```
pub fn words(text: &str) -> Vec<(usize, usize)> {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (mut tokens, mut open): (Vec<(usize, usize)>, Option<usize>) = (Vec::new(), None);
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|&(_, c)| c);
        let inside = c.is_alphanumeric()
            // A combining mark or a joiner belongs to what it follows.
            || (open.is_some() && is_joined(c))
            || (INNER.contains(c) && is_word(before) && is_word(after));
        if inside {
            open.get_or_insert(at);
        } else {
            tokens.extend(open.take().map(|from| (from, at)));
            if !c.is_whitespace() && !c.is_control() {
                tokens.push((at, at + c.len_utf8()));
            }
        }
        before = Some(c);
    }
    tokens.extend(open.map(|from| (from, text.len())));
    tokens
}

fn is_joined(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{900}'..='\u{dff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        words(text).iter().map(|&(from, to)| &text[from..to]).collect()
    }

    #[test]
    fn marks_are_tokens_unless_they_are_within_a_word() {
        for (text, tokens) in [
            ("", ""),
            (" \t \u{3000}", ""),
            ("a.", "a ."),
            ("...", ". . ."),
            ("'a'", "' a '"),
            ("a--b", "a - - b"),
            ("x@y.org,z", "x@y.org,z"),
            ("é\u{301}a ß-Ω", "é\u{301}a ß-Ω"),
            ("\u{feff}100%\u{0}", "\u{feff} 100 %"),
        ] {
            assert_eq!(split(text).join(" "), tokens, "{text:?}");
        }
    }

    #[test]
    fn nothing_but_white_space_is_lost() {
        let text = "„Ja“, sagte-er; 12.000 €… naïve 日本語 👍🏽!";
        let all: String = split(text).concat();
        assert_eq!(all, text.chars().filter(|c| !c.is_whitespace()).collect::<String>());
    }
}
