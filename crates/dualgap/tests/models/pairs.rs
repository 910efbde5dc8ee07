//! Model files with features of label pairs and with names of features: they come back as they were, verify, and
//! are refused with anything else.

use crate::common::{Kind, Small, fits};
use crate::models::fitting::{Fitted, assert_true};
use dualgap::Result;
use dualgap::data::{Dictionary, Sequences};
use dualgap::run::Budget;
use dualgap::structure::{Chain, Hamming, Names};
use dualgap::task::Verified;

type Model = dualgap::task::Model<Chain>;

/// Names that a careless format would trip over: nothing, line ends, quotes, braces, a zero.
const NAMES: [&str; 5] = ["", "a\nb\r\n", "\"}{\\", "\0", "naïve 日本 "];

fn problem() -> Small {
    Small::random(3, Kind::Chain(Hamming::Normalized), 8, 3, 4).with_pairs(3, 2)
}

fn named(small: &Small) -> Sequences {
    small.sequences().with_dictionary(NAMES.into_iter().collect()).unwrap()
}

/// The same without features of pairs.
fn without_pairs(data: &Sequences) -> Sequences {
    let (labels, alphabet) = (data.labels().to_vec(), data.alphabet().clone());
    let bare = Sequences::new(data.rows().clone(), labels, data.starts().to_vec(), alphabet);
    bare.unwrap().with_dictionary(data.dictionary().clone()).unwrap()
}

fn fitted(small: &Small, data: &Sequences) -> Model {
    let chain = Chain::new(Hamming::Normalized);
    fits::Fit::new(chain, &small.settings(), &Budget::passes(10)).run(data).unwrap().model
}

fn with_names(model: &Model, dictionary: Dictionary) -> Model {
    Model { names: Names { dictionary, ..model.names.clone() }, ..model.clone() }
}

/// Through the bytes of a file.
fn verify(model: &Model, data: &Sequences) -> Result<Verified> {
    Model::from_bytes(&model.to_bytes()?).unwrap().certify(data)
}

#[test]
fn a_model_with_pairs_and_names_comes_back_from_its_file_as_it_was() {
    let small = problem();
    let data = named(&small);
    let model = fitted(&small, &data);
    assert_true(&small, &Fitted::Chain(with_names(&model, Dictionary::default())));
    let back = fits::stored(&model);
    assert!(back.names.dictionary.names().eq(NAMES));
    assert_eq!((back.names.features, back.names.pair_features), (3, 2));
    assert_eq!(back.weights.len(), small.dim());
    let bits = |model: &Model| model.weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&back), bits(&model));
    assert_eq!(
        (back.witness.clone(), back.certificate),
        (model.witness.clone(), model.certificate)
    );
    assert!(verify(&model, &data).is_ok());
    assert_eq!(back.predict(&data).unwrap(), model.predict(&data).unwrap());
}

// One name, and that is nothing: the text of all names is then empty.
#[test]
fn a_single_empty_name_comes_back_too() {
    let mut small = Small::random(4, Kind::Chain(Hamming::Normalized), 4, 2, 3);
    small.inputs.iter_mut().flatten().for_each(|row| row.truncate(1));
    let data = small.sequences().with_dictionary([""].into_iter().collect()).unwrap();
    let model = fitted(&small, &data);
    let back = fits::stored(&model);
    assert!(back.names.dictionary.names().eq([""]));
    assert!(verify(&model, &data).is_ok());
}

#[test]
fn altered_pairs_names_and_data_are_refused() {
    let small = problem();
    let data = named(&small);
    let model = fitted(&small, &data);
    for at in small.dim() - 2 * 9..small.dim() {
        let mut altered = model.clone();
        altered.weights[at] += 0.25;
        assert!(verify(&altered, &data).is_err(), "weight {at}");
    }
    let renamed = |names: [&str; 5]| {
        let altered = with_names(&model, names.into_iter().collect());
        verify(&altered, &data).is_err()
    };
    let [a, b, c, d, e] = NAMES;
    assert!(!renamed(NAMES));
    assert!(renamed([b, a, c, d, e]) && renamed([a, b, c, e, d]), "names in another order");
    assert!(renamed([a, b, c, d, "another"]));
    assert!(verify(&with_names(&model, Dictionary::default()), &data).is_err());
    assert!(verify(&model, &small.sequences()).is_err(), "data without names");

    for (i, t) in [(0, 0), (1, 0), (7, 0)] {
        let mut other = small.clone();
        other.edges[i][t][1] += 1e-9;
        assert!(verify(&model, &named(&other)).is_err(), "a pair of sequence {i}");
    }
    // As many weights, laid out differently: K more features of a position for one less of a pair.
    let bare = small.sequences();
    let mut nameless = with_names(&model, Dictionary::default());
    assert!(verify(&nameless, &bare).is_ok());
    nameless.names.features += 3;
    nameless.names.pair_features -= 1;
    assert!(verify(&nameless, &bare).is_err());
    let without = without_pairs(&data);
    assert!(verify(&model, &without).is_err());
    // The data are said to be these, and are not: the values give it away.
    let mut other = small.clone();
    other.edges.iter_mut().flatten().for_each(|row| row.swap(0, 1));
    let other = named(&other);
    let mut forged = model.clone();
    forged.provenance.fingerprint = dualgap::data::DataSet::fingerprint(&other);
    assert!(verify(&forged, &other).is_err());
}

#[test]
fn names_that_are_not_one_for_every_feature_are_refused_by_the_reader() {
    let small = problem();
    let model = fitted(&small, &named(&small));
    for count in [1, 3, 4, 6] {
        let dictionary = (0..count).map(|k| k.to_string()).collect();
        let bytes = with_names(&model, dictionary).to_bytes().unwrap();
        assert!(Model::from_bytes(&bytes).is_err(), "{count} names");
    }
}

#[test]
fn a_file_with_any_byte_altered_is_refused_or_says_the_same() {
    let small = Small::random(5, Kind::Chain(Hamming::Plain), 2, 2, 2).with_pairs(5, 2);
    let data = named(&small);
    let chain = Chain::new(Hamming::Plain);
    let fit = fits::Fit::new(chain, &small.settings(), &Budget::passes(3));
    let model = fit.run(&data).unwrap().model;
    let bytes = model.to_bytes().unwrap();
    for at in 0..bytes.len() {
        for bit in [0, 3, 6] {
            let mut altered = bytes.clone();
            altered[at] ^= 1 << bit;
            if let Ok(read) = Model::from_bytes(&altered) {
                // The name of a tensor that is not needed, or space between the parts of the header.
                assert!(read.certify(&data).is_err() || read.weights == model.weights);
            }
        }
    }
}

#[test]
fn rows_of_pairs_that_do_not_fit_are_refused_and_too_many_features_are_left_out() {
    use dualgap::linalg::Rows;
    let small = problem();
    let data = small.sequences();
    let positions = data.labels().len();
    let rows = |n: usize, x: f64| Rows::dense(&vec![vec![x, 1.0]; n]).unwrap();
    assert!(data.clone().with_edges(rows(positions - 1, 0.0)).is_err());
    assert!(data.clone().with_edges(rows(positions + 1, 0.0)).is_err());
    assert!(data.clone().with_edges(rows(positions, f64::NAN)).is_err());
    assert!(data.clone().with_edges(rows(positions, f64::INFINITY)).is_err());
    // A model of two features of pairs, on data with three, one, or none.
    let model = fitted(&small, &data);
    let mut wider = small.clone();
    wider.edges.iter_mut().flatten().for_each(|row| row.push(100.0));
    assert_eq!(model.predict(&wider.sequences()).unwrap(), model.predict(&data).unwrap());
    let zeros = |kept: usize| {
        let mut narrow = small.clone();
        narrow.edges.iter_mut().flatten().for_each(|row| row[kept..].fill(0.0));
        model.predict(&narrow.sequences()).unwrap()
    };
    let mut narrower = small.clone();
    narrower.edges.iter_mut().flatten().for_each(|row| row.truncate(1));
    assert_eq!(model.predict(&narrower.sequences()).unwrap(), zeros(1));
    let without = without_pairs(&data);
    assert_eq!(model.predict(&without).unwrap(), zeros(0));
}
