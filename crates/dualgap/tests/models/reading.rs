//! Files that are longer than what a thread takes at a time.

use dualgap::data::{ColumnRecipe, DataSet, Examples, Letters, Source, TargetKind};
use dualgap::linalg::{Random, on_threads};

/// Returns the lines of numbers from 0 on.
fn lines(count: usize, line: impl FnMut(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// Reads a text on one, two and three threads, and compares what it has.
fn read<T: PartialEq + Send>(
    text: &str,
    count: usize,
    read: impl Fn(Source<'_>) -> T + Sync,
    count_of: impl Fn(&T) -> usize,
) {
    // Pieces have 128 KiB.
    assert!(text.len() > 5 << 17, "{} bytes are not enough for three threads", text.len());
    let on = |threads| {
        on_threads(threads, || read(Source::from_bytes("text", text.as_bytes()).unwrap())).unwrap()
    };
    let one = on(1);
    assert_eq!(count_of(&one), count);
    assert!(on(2) == one && on(3) == one);
}

#[test]
fn data_are_the_same_on_any_number_of_threads() {
    let mut random = Random::new(5);
    let text = lines(3000, |i| {
        let entries =
            (0..40).map(|j| format!(" {}:{:.4}", 3 * j + 1 + random.below(3), random.unit()));
        format!("{}{}\n", i % 3, entries.collect::<String>())
    });
    read(
        &text,
        3000,
        |source| {
            let examples = Examples::read_libsvm(source, TargetKind::Class).unwrap();
            let print = examples.fingerprint().clone();
            (examples, print)
        },
        |read| read.0.len(),
    );
}

#[test]
fn letters_are_the_same_on_any_number_of_threads() {
    let mut random = Random::new(6);
    let text = lines(3000, |i| {
        let (letter, next) = (char::from(b'a' + (i % 26) as u8), if i % 5 == 4 { -1 } else { 1 });
        let pixels = (0..128).map(|_| format!("\t{}", random.below(2)));
        let (word, position, fold) = (i / 5, i % 5 + 1, i / 5 % 10);
        format!("{i}\t{letter}\t{next}\t{word}\t{position}\t{fold}{}\n", pixels.collect::<String>())
    });
    read(
        &text,
        600,
        |source| Letters::read(source).map(|letters| (letters.words, letters.folds)).unwrap(),
        |letters| letters.0.len(),
    );
}

// A thread takes a thousand sentences; features of the later ones are new.
#[test]
fn features_are_the_same_on_any_number_of_threads() {
    let mut random = Random::new(7);
    let text = lines(8000, |i| {
        let words = (0..=random.below(9)).map(|_| {
            let (word, tag) = (random.below(20 + i), random.below(4));
            format!("word{word} tag{tag} label{}\n", (word + tag) % 3)
        });
        words.collect::<String>() + "\n"
    });
    for recipe in [ColumnRecipe::default(), ColumnRecipe::preset("paper-conll2000").unwrap()] {
        read(
            &text,
            8000,
            |source| {
                recipe
                    .read_training(source)
                    .map(|(words, told)| (words, format!("{told:?}")))
                    .unwrap()
            },
            |words| words.0.len(),
        );
    }
}
