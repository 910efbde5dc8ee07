//! Bitext: sentences and their translations, line by line, and the links between words that people have drawn.
//!
//! ```text
//! PREFIX.e    the House met .          a sentence a line, its words between blanks
//! PREFIX.f    la Chambre siège .       its translation in the same line
//! PREFIX.a    0-0 1-1 2-2 2?1 3-3      the links between them, if they are known
//! ```
//!
//! A link is `e-f` if it is sure and `e?f` if it is possible, with the places of both words from 0 on. Sure links are
//! possible ones too, so nothing changes where a link is there in both forms.

use crate::data::matchings::{Mark, SideWords};
use crate::data::source::{Complaint, Source};
use crate::{Error, Result};

/// A link between a word of the first sentence and one of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordLink {
    /// The place of the word in `PREFIX.e`, from 0 on.
    pub e: usize,
    /// The place of the word in `PREFIX.f`.
    pub f: usize,
    /// Whether the link is sure.
    pub sure: bool,
}

/// Sentences with their translations, and links between their words if they are known.
///
/// ```
/// use dualgap::data::Source;
/// use dualgap::data::Bitext;
/// let file = |name, text: &'static str| Source::from_bytes(name, text.as_bytes());
/// let source = file("demo.e", "the house\nyes\n")?
///     .beside("f", file("demo.f", "la maison\noui\n")?)
///     .beside("a", file("demo.a", "0-0 1-1\n0?0\n")?);
/// let bitext = Bitext::read(source)?;
/// assert_eq!(bitext.pair(0)[1], ["la", "maison"]);
/// assert!(!bitext.links(1).unwrap()[0].sure);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bitext {
    name: String,
    pairs: Vec<SideWords>,
    links: Option<Vec<Vec<WordLink>>>,
}

const SAME_LENGTH: &str = "the files of a bitext have the same number of lines";

impl Bitext {
    /// Reads sentences, their translations from the source `f` beside them, and links from the source `a`, if there is
    /// one.
    pub fn read(mut source: Source<'_>) -> Result<Self> {
        let Some(mut other) = source.take_beside("f") else {
            return Err(source.file_error(
                "has no translation beside it",
                "name the PREFIX of two files PREFIX.e and PREFIX.f, plain or compressed",
            ));
        };
        let mut drawn = source.take_beside("a");
        let mut bitext = Self { name: source.name().into(), ..Self::default() };
        let mut links = Vec::new();
        while let Some(line) = source.next_line()? {
            let words = [line, needed(&mut other, &bitext.name)?].map(words);
            if let Some(drawn) = &mut drawn {
                let line = needed(drawn, &bitext.name)?;
                let found = parse_links(line, &words);
                links.push(found.map_err(|(message, remedy)| drawn.error(message, remedy))?);
            }
            bitext.pairs.push(words);
        }
        for longer in std::iter::once(&mut other).chain(&mut drawn) {
            if longer.next_line()?.is_some() {
                let message = format!("has a line here, and {} has none", source.name());
                return Err(longer.error(message, SAME_LENGTH));
            }
        }
        bitext.links = drawn.is_some().then_some(links);
        Ok(bitext)
    }

    /// Returns bitext from memory, without links.
    pub fn from_pairs(pairs: &[(&str, &str)]) -> Self {
        let pairs = pairs.iter().map(|&(e, f)| [e, f].map(words)).collect();
        Self { name: "bitext".into(), pairs, links: None }
    }

    /// Returns the number of pairs of sentences.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are no sentences.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The words of a sentence and of its translation.
    pub fn pair(&self, i: usize) -> &SideWords {
        &self.pairs[i]
    }

    /// The links of a pair, if they are known.
    pub fn links(&self, i: usize) -> Option<&[WordLink]> {
        self.links.as_ref().map(|links| &links[i][..])
    }

    /// Whether links are known.
    pub fn is_linked(&self) -> bool {
        self.links.is_some()
    }

    /// Returns an error about a pair, at its line.
    pub(super) fn error(&self, i: usize, message: String, remedy: &str) -> Error {
        Error::line(&self.name, i as u64 + 1, message, remedy)
    }

    /// Returns the marks of all edges between the words of a pair, row by row, if links are known.
    pub(super) fn marks(&self, i: usize) -> Option<Vec<Mark>> {
        let [e, f] = self.pair(i);
        let mut marks = vec![Mark::None; e.len() * f.len()];
        for link in self.links(i)? {
            let mark = &mut marks[link.e * f.len() + link.f];
            *mark = if link.sure || *mark == Mark::Sure { Mark::Sure } else { Mark::Possible };
        }
        Some(marks)
    }
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(String::from).collect()
}

/// Returns the next line of a file beside `of`, which has one.
fn needed<'s>(source: &'s mut Source<'_>, of: &str) -> Result<&'s str> {
    let (file, line) = (source.name().to_string(), source.line_number() + 1);
    source.next_line()?.ok_or_else(|| {
        Error::line(&file, line, format!("has no line here, and {of} has one"), SAME_LENGTH)
    })
}

fn parse_links(line: &str, [e, f]: &SideWords) -> Result<Vec<WordLink>, Complaint> {
    let of = |word: &str| {
        let (parts, sure) = match (word.split_once('-'), word.split_once('?')) {
            (Some(parts), _) => (Some(parts), true),
            (None, parts) => (parts, false),
        };
        let place = |digits: &str| {
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<usize>().ok().filter(|_| plain)
        };
        let places = parts.and_then(|(e, f)| Some((place(e)?, place(f)?)));
        let Some((at_e, at_f)) = places else {
            let remedy = "links are e-f, or e?f where they are only possible: 0-0 1-2 1?3";
            return Err((format!("`{word}` is no link"), remedy));
        };
        for (at, words, side) in [(at_e, e, "first"), (at_f, f, "second")] {
            if at >= words.len() {
                let message = format!(
                    "the link `{word}` goes to word {at} of the {side} sentence, which has {}",
                    words.len()
                );
                return Err((message, "places of words count from 0: are the files of one text?"));
            }
        }
        Ok(WordLink { e: at_e, f: at_f, sure })
    };
    line.split_whitespace().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(e: &str, f: &str, a: Option<&str>) -> Result<Bitext> {
        let mut all = source("x.e", e).beside("f", source("x.f", f));
        if let Some(a) = a {
            all = all.beside("a", source("x.a", a));
        }
        Bitext::read(all)
    }

    fn source<'t>(name: &str, text: &'t str) -> Source<'t> {
        Source::from_bytes(name, text.as_bytes()).unwrap()
    }

    #[test]
    fn sentences_may_be_empty_and_links_may_be_missing() {
        let bitext = read("a b\n\nc\n", "x\ny z\n\n", Some("1-0 0?0\n\n\n")).unwrap();
        assert_eq!((bitext.len(), bitext.links(1).unwrap().len()), (3, 0));
        assert_eq!(bitext.marks(0).unwrap(), [Mark::Possible, Mark::Sure]);
        assert_eq!(read("a\n", "x\n", None).unwrap().marks(0), None);
        assert!(read("", "", Some("")).unwrap().is_empty());
    }

    #[test]
    fn mistakes_name_the_file_and_the_line() {
        for (e, f, a, what) in [
            ("a\nb\n", "x\n", None, "x.f:2: has no line here, and x.e has one"),
            ("a\n", "x\ny\n", None, "x.f:2: has a line here, and x.e has none"),
            ("a\nb\n", "x\ny\n", Some("0-0\n"), "x.a:2: has no line here"),
            ("a\n", "x\n", Some("\n\n"), "x.a:2: has a line here"),
            (
                "a\nb\n",
                "x\ny\n",
                Some("\n0-1\n"),
                "x.a:2: the link `0-1` goes to word 1 of the second",
            ),
            ("a\n", "x y\n", Some("1?0\n"), "x.a:1: the link `1?0` goes to word 1 of the first"),
            ("a\n", "x\n", Some("0-0 0\n"), "x.a:1: `0` is no link"),
            ("a\n", "x\n", Some("0--1\n"), "x.a:1: `0--1` is no link"),
            ("a\n", "x\n", Some("+0-0\n"), "x.a:1: `+0-0` is no link"),
            ("a\n", "x\n", Some("0-99999999999999999999999\n"), "x.a:1: `0-9"),
        ] {
            let message = read(e, f, a).unwrap_err().to_string();
            assert!(message.starts_with(what), "{message} is not {what}");
        }
        let alone = Source::from_bytes("x.e", b"a\n").unwrap();
        assert!(Bitext::read(alone).unwrap_err().to_string().contains("no translation"));
    }
}
