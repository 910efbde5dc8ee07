//! A text file in pieces of whole lines, which threads take apart side by side.
//!
//! Unpacking a file and finding the ends of its pieces takes little time; what is made of the lines takes most of it. While
//! threads are at work on some pieces, the next ones are read. What comes of them is put together in the order of the file,
//! whatever the number of threads, and of several faults the first one of the file is told.

use super::Source;
use super::source::{BUFFER, Encoding, LONGEST_LINE, line_of};
use crate::linalg::parallel;
use crate::{Error, Result};
use std::io::{BufRead, ErrorKind};

/// The bytes of a piece: enough that handing it to a thread takes no time beside its lines, and few enough that there are
/// pieces for all threads in a file that takes a moment to read.
const PIECE: usize = 1 << 17;

/// The pieces for every thread that are in memory at the same time, and as many are read meanwhile: a thread that is done
/// early can take some from another.
const PIECES_PER_THREAD: usize = 4;

/// Whole lines of a file.
pub(super) struct Piece {
    bytes: Vec<u8>,
    /// The number of its first line.
    first: u64,
    encoding: Encoding,
    name: String,
}

impl Piece {
    /// Passes on the lines without their ends, each with its number.
    pub fn each_line(&self, mut take: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
        let lines =
            self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes).split(|&byte| byte == b'\n');
        let mut converted = String::new();
        for (number, line) in (self.first..).zip(lines) {
            take(number, line_of(line, number, self.encoding, &mut converted, &self.name)?)?;
        }
        Ok(())
    }

    /// Returns an error at a line.
    pub fn error(&self, number: u64, message: String, remedy: &str) -> Error {
        Error::line(&self.name, number, message, remedy)
    }
}

impl Source<'_> {
    /// Returns the next whole lines, or `None` after the last of them.
    pub(super) fn next_piece(&mut self) -> Result<Option<Piece>> {
        self.check_lines()?;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut bytes = std::mem::take(&mut self.rest);
        let (mut whole, mut ended, mut fault) = (0, false, None);
        while whole < PIECE && bytes.len() - whole < LONGEST_LINE && !ended {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    fault = Some(error);
                    break;
                }
                // Text in memory comes as a whole, and is to become pieces too.
                Ok(buffer) => &buffer[..buffer.len().min(BUFFER)],
            };
            if let Err(error) = bytes.try_reserve(buffer.len()) {
                fault = Some(error.into());
                break;
            }
            let (before, count) = (bytes.len(), buffer.len());
            ended = count == 0;
            bytes.extend_from_slice(buffer);
            self.reader.consume(count);
            if let Some(end) = bytes[before..].iter().rposition(|&byte| byte == b'\n') {
                whole = before + end + 1;
            }
        }
        if ended {
            whole = bytes.len(); // the last line may have no end
        }
        self.rest = bytes.split_off(whole);
        let first = self.number + 1;
        let ends = line_ends(&bytes);
        self.number += if bytes.ends_with(b"\n") || bytes.is_empty() { ends } else { ends + 1 };
        // What is wrong is so with the line after the last whole one.
        if let Some(error) = fault {
            self.failed = Some(self.unreadable(self.number + 1, error));
        } else if self.rest.len() >= LONGEST_LINE {
            self.failed = Some(self.endless(self.number + 1));
        }
        if bytes.is_empty() {
            return self.failed.take().map_or(Ok(None), Err);
        }
        Ok(Some(Piece { bytes, first, encoding: self.encoding, name: self.name.clone() }))
    }

    /// Returns pieces for all threads, none at the end.
    fn next_pieces(&mut self) -> Result<Vec<Piece>> {
        let count = match parallel::threads() {
            1 => 1,
            several => several * PIECES_PER_THREAD,
        };
        let mut pieces = Vec::new();
        // Whatever is wrong after a piece is told after what is wrong in it.
        while pieces.len() < count && (pieces.is_empty() || self.failed.is_none()) {
            match self.next_piece() {
                Ok(Some(piece)) => pieces.push(piece),
                Ok(None) => break,
                Err(error) if pieces.is_empty() => return Err(error),
                Err(error) => self.failed = Some(error),
            }
        }
        Ok(pieces)
    }

    /// Makes something of every piece on the threads of the current pool, and passes it on in the order of the file.
    pub(super) fn each_piece<P: Send>(
        &mut self,
        make: impl Fn(&Piece) -> Result<P> + Sync,
        mut take: impl FnMut(P) -> Result<()>,
    ) -> Result<()> {
        let mut pieces = self.next_pieces()?;
        while !pieces.is_empty() {
            let (made, next) = parallel::both(
                || parallel::map_mut(&mut pieces, || (), |(), _, piece| make(piece)),
                || self.next_pieces(),
            );
            made?.into_iter().try_for_each(&mut take)?;
            pieces = next?;
        }
        Ok(())
    }
}

/// Counts the ends of lines, in parts whose counts fit into a byte: so many are counted at once.
fn line_ends(bytes: &[u8]) -> u64 {
    let count = |part: &[u8]| part.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
    bytes.chunks(255).map(|part| u64::from(count(part))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::parallel::on_threads;
    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    /// All lines with their numbers, up to a line that is refused.
    fn in_pieces(bytes: &[u8], threads: usize, refused: &str) -> Result<Vec<(u64, String)>> {
        let mut source = Source::from_bytes("test", bytes)?;
        on_threads(threads, move || {
            let mut all = Vec::new();
            let take = |piece: &Piece| {
                let mut lines = Vec::new();
                piece.each_line(|number, line| {
                    if line == refused {
                        return Err(piece.error(number, "refused".into(), "no"));
                    }
                    lines.push((number, line.to_string()));
                    Ok(())
                })?;
                Ok(lines)
            };
            source.each_piece(take, |lines| {
                all.extend(lines);
                Ok(())
            })?;
            assert!(source.next_piece()?.is_none(), "the end stays the end");
            Ok(all)
        })?
    }

    fn one_by_one(bytes: &[u8]) -> Vec<(u64, String)> {
        let mut source = Source::from_bytes("test", bytes).unwrap();
        let mut lines = Vec::new();
        while let Some(line) = source.next_line().unwrap() {
            let line = line.to_string();
            lines.push((source.line_number(), line));
        }
        lines
    }

    /// Lines of all lengths, some of them longer than a piece, more than any number of threads takes at a time.
    fn long(end: &str) -> String {
        let line = |k: usize| "x".repeat(if k.is_multiple_of(700) { 3 * PIECE } else { k % 997 });
        (1..6000).map(|k| format!("{k} {}{end}", line(k))).collect()
    }

    #[test]
    fn pieces_have_the_lines_of_the_file_on_any_number_of_threads() {
        for text in [long("\n"), long("\r\n"), format!("\u{feff}{}last", long("\n\n"))] {
            let expected = one_by_one(text.as_bytes());
            let mut source = Source::from_bytes("test", text.as_bytes()).unwrap();
            let pieces = std::iter::from_fn(|| source.next_piece().unwrap()).count();
            assert!(pieces > 12, "{pieces} pieces are not enough for all threads");
            for threads in [1, 2, 3] {
                assert_eq!(in_pieces(text.as_bytes(), threads, "-").unwrap(), expected);
            }
        }
    }

    proptest! {
        #[test]
        fn short_texts_too(text in "[a\r\n]{0,12}", threads in 1..3_usize) {
            prop_assert_eq!(in_pieces(text.as_bytes(), threads, "-").unwrap(), one_by_one(text.as_bytes()));
        }
    }

    /// A line that is longer than a piece, and has no end: it comes as an error, without a piece.
    #[test]
    fn a_line_that_is_cut_off_does_not_hide_what_is_wrong_before_it() {
        // The second piece begins with the line.
        let text = format!("{}refused\n{}", "ok\n".repeat(PIECE / 2), "x".repeat(3 * PIECE));
        let number = PIECE / 2 + 1;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        let damaged = &packed[..packed.len() - 9];
        for threads in [1, 2, 3] {
            let told = |word| in_pieces(damaged, threads, word).unwrap_err().to_string();
            assert!(told("refused").starts_with(&format!("test:{number}: refused")));
            assert!(told("-").starts_with(&format!("test:{}: cannot be read", number + 1)));
        }
    }

    /// A damaged file has a fault at its end, and what is wrong before that is told before it.
    #[test]
    fn of_several_faults_the_first_of_the_file_is_told() {
        let text = long("\n").replace("\n5000 ", "\nrefused\n").replace("\n5500 ", "\nrefused\n");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        let damaged = &packed[..packed.len() - 9];
        for threads in [1, 2, 3] {
            let told =
                |bytes: &[u8], word| in_pieces(bytes, threads, word).unwrap_err().to_string();
            assert!(told(damaged, "refused").starts_with("test:5000: refused"));
            let end = told(damaged, "-");
            assert!(end.starts_with("test:600") && end.contains("cannot be read"), "{end}");
            let mut bytes = text.clone().into_bytes();
            let last = bytes.len() - 20;
            bytes[last] = 0xff;
            assert!(told(&bytes, "refused").starts_with("test:5000: refused"));
            assert!(
                told(&bytes, "-").starts_with("test:6001: is not UTF-8"),
                "{}",
                told(&bytes, "-")
            );
        }
    }
}
