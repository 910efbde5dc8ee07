use super::*;
use std::collections::BTreeMap;

/// All sequences of these labels up to a length.
fn sequences(labels: &[&'static str], longest: usize) -> Vec<Vec<&'static str>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let end = all.len();
        for k in from..end {
            for label in labels {
                all.push(all[k].iter().copied().chain([*label]).collect());
            }
        }
        from = end;
    }
    all
}

fn labels_of(scheme: Scheme) -> &'static [&'static str] {
    match scheme {
        Scheme::Bio | Scheme::Iob1 => &["O", "B-X", "I-X", "B-Y", "I-Y"],
        Scheme::Bilou => &["O", "B-X", "I-X", "L-X", "U-X", "B-Y", "L-Y", "I-Y", "U-Y"],
        Scheme::Iobes => &["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "E-Y", "I-Y", "S-Y"],
    }
}

// What a scheme allows pair by pair is, over all sequences of up to four labels, exactly what it writes: every sequence that
// it allows is how it writes its own chunks, and no set of chunks is written in two ways.
#[test]
fn a_scheme_allows_what_it_writes_and_nothing_else() {
    for scheme in Scheme::ALL {
        let mut written: BTreeMap<Vec<Chunk<'_>>, usize> = BTreeMap::new();
        let all = sequences(labels_of(scheme), 4);
        for labels in &all {
            let legal = scheme.first_mistake(labels).is_none();
            assert_eq!(legal, scheme.convert(labels) == *labels, "{scheme:?} {labels:?}");
            if legal && labels.len() == 4 {
                *written.entry(chunks(labels)).or_default() += 1;
            }
        }
        assert!(written.values().all(|&count| count == 1));
        // All sets of chunks of two types over n tokens: a(n) = a(n − 1) + 2 Σ a(k) over k < n, which is 1, 3, 11, 41, 153.
        assert_eq!(written.len(), 153, "{scheme:?}");
    }
}

#[test]
fn conversion_keeps_the_chunks_of_any_labels() {
    let marks = ["O", "B-X", "I-X", "E-X", "S-X", "I-Y", "L-Y", "U-Y"];
    for labels in sequences(&marks, 4) {
        for scheme in Scheme::ALL {
            let new = scheme.convert(&labels);
            assert_eq!(chunks(&new), chunks(&labels), "{scheme:?} {labels:?}");
            assert_eq!(scheme.first_mistake(&new), None);
        }
    }
}

fn data(labels: &[&[&str]]) -> Sequences {
    let alphabet = Alphabet::new(labels.concat().iter().map(ToString::to_string));
    let rows: Vec<Vec<Vec<f64>>> = labels.iter().map(|y| vec![vec![1.0]; y.len()]).collect();
    let number = |y: &&str| alphabet.index(y).unwrap() as u16;
    let numbers: Vec<Vec<u16>> = labels.iter().map(|y| y.iter().map(number).collect()).collect();
    Sequences::from_dense(&rows, &numbers, alphabet.names()).unwrap()
}

#[test]
fn the_scheme_that_is_broken_least_often_is_recognised() {
    let bio: &[&str] = &["B-X", "I-X", "O", "B-Y", "B-Y", "B-X"];
    for scheme in Scheme::ALL {
        let own = scheme.convert(bio);
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let found = Scheme::recognise(&data(&[&own, &["O"], &[], &own])).unwrap();
        assert_eq!((found.scheme, found.mistakes, found.first), (scheme, 0, None));
    }
    let found = Scheme::recognise(&data(&[bio, &["O", "I-X", "I-X"], bio])).unwrap();
    assert_eq!((found.scheme, found.mistakes, found.first), (Scheme::Bio, 1, Some((1, 1))));
    let told = found.scheme.describe_mistake(&data(&[bio, &["O", "I-X"]]), (1, 1));
    assert_eq!(told, "sequence 2, position 2: I-X after O is not BIO");
    let found = Scheme::Bilou.mistakes(&data(&[&["O", "B-X"]]));
    assert_eq!((found.mistakes, found.first), (1, Some((0, 2))));
    assert!(Scheme::recognise(&data(&[&["NOUN", "VERB"]])).is_none());
    assert!(Scheme::recognise(&data(&[&["O", "O"]])).is_none());
}

#[test]
fn known_labels_keep_their_numbers_in_another_scheme() {
    let train = data(&[&["B-X", "O"]]).in_scheme(Scheme::Bilou, None).unwrap();
    assert_eq!(train.alphabet().names(), ["O", "U-X"]);
    let test = data(&[&["B-X", "I-X", "O"], &["B-X"]]);
    let test = test.in_scheme(Scheme::Bilou, Some(train.alphabet())).unwrap();
    assert_eq!(test.alphabet().names(), ["O", "U-X", "B-X", "L-X"]);
    assert_eq!((test.truth(0), test.truth(1)), (&[2, 3, 0][..], &[1][..]));
}

#[test]
fn names_of_schemes_are_those_that_people_use() {
    for (name, scheme) in [("IOB2", Scheme::Bio), ("bioes", Scheme::Iobes), ("iob1", Scheme::Iob1)]
    {
        assert_eq!(name.parse::<Scheme>().unwrap(), scheme);
    }
    assert!("bmes".parse::<Scheme>().unwrap_err().to_string().contains("bilou"));
}
