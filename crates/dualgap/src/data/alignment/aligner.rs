//! The aligner: what bitext tells, and graphs of sentence pairs made with it.

use super::corpus::Corpus;
use super::features::{Entries, Evidence};
use super::learn::learn;
use super::lexicon::Lexicon;
use super::spelling::View;
use super::{Bitext, file};
use crate::container::{Fault, Reader, Tensor};
use crate::data::matchings::{Graph, Matchings, SideWords};
use crate::data::{Dictionary, Source};
use crate::linalg::memory::reserve_check;
use crate::linalg::{Rows, parallel};
use crate::{Error, Result};

/// The longest sentence that can be aligned. The features of two sentences of this length take some 30 MB.
const LONGEST: usize = 250;

/// About so many features of an edge are not zero; an entry takes a number and a half.
const NUMBERS_PER_EDGE: usize = 45;

/// What bitext tells about which words translate each other: lexicons and a hidden Markov model in both directions, learned
/// from the texts alone.
///
/// ```
/// use dualgap::data::{Aligner, Bitext};
/// let text = Bitext::from_pairs(&[
///     ("the house", "la maison"), ("the flower", "la fleur"), ("house", "maison"), ("a flower", "une fleur"),
/// ]);
/// let aligner = Aligner::learn(&[&text])?;
/// let graphs = aligner.graphs(&text)?;
/// assert_eq!((graphs.len(), graphs.graph(0).edges().len()), (4, 4));
/// let both = graphs.dictionary().index("word:both").unwrap() as usize;
/// let posterior = |e: usize, f: usize| graphs.graph(0).features(e * 2 + f).get(both);
/// assert!(posterior(1, 1) > posterior(1, 0), "house is maison, and not la");
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Aligner {
    pub(super) words: Lexicon,
    pub(super) prefixes: Lexicon,
    /// The number of sentence pairs that were learned from.
    pub(super) pairs: usize,
}

impl Aligner {
    /// Learns from bitext; links are not looked at. It uses the threads of the current pool, and the result does not
    /// depend on their number. Pairs with an empty sentence, or one of more than 100 words, are left out.
    pub fn learn(texts: &[&Bitext]) -> Result<Self> {
        let corpus = Corpus::new(texts, View::Words)?;
        let pairs = corpus.sentences.len();
        if pairs == 0 {
            return Err(Error::setting(
                "the bitext has no pair of sentences with words on both sides to learn from",
            ));
        }
        let words = learn(&corpus)?;
        drop(corpus);
        let prefixes = learn(&Corpus::new(texts, View::Prefixes)?)?;
        Ok(Self { words, prefixes, pairs })
    }

    /// The number of sentence pairs that the aligner has learned from.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// The number of different words on both sides.
    pub fn vocabulary(&self) -> [usize; 2] {
        [self.words.e.words.len(), self.words.f.words.len()]
    }

    /// Returns the graph of every pair of sentences: words of `PREFIX.e` are rows, those of `PREFIX.f` are columns, and
    /// all edges have features. Links that are known become their marks.
    pub fn graphs(&self, text: &Bitext) -> Result<Matchings> {
        let mut edges = 0_usize;
        for i in 0..text.len() {
            let [e, f] = text.pair(i);
            if e.len().max(f.len()) > LONGEST {
                let message = format!(
                    "has {} words here, and {} in its translation, and at most {LONGEST} can be aligned",
                    e.len(),
                    f.len()
                );
                return Err(text.error(i, message, "split the sentence, or leave out the line"));
            }
            edges += e.len() * f.len();
        }
        reserve_check(NUMBERS_PER_EDGE * edges)?;
        let parts = parallel::map(text.len(), || (), |(), i| Ok(self.edges(text.pair(i))))?;
        let mut rows = Rows::sparse();
        rows.try_reserve(parts.iter().flatten().map(Vec::len).sum())?;
        parts.iter().flatten().for_each(|row| rows.push_sparse(row));
        drop(parts);
        let dictionary = Self::feature_names();
        rows.fit_width(dictionary.len());
        let pairs = || (0..text.len()).map(|i| text.pair(i));
        let graphs: Vec<Graph> = pairs().map(|[e, f]| Graph::full(e.len(), f.len())).collect();
        let marks: Option<Vec<_>> = (0..text.len()).map(|i| text.marks(i)).collect();
        let data = match marks.filter(|_| text.is_linked()) {
            Some(marks) => Matchings::new(rows, &graphs, marks.concat())?,
            None => Matchings::unlabelled(rows, &graphs)?,
        };
        data.with_dictionary(dictionary)?.with_words(pairs().cloned().collect())
    }

    /// Reads sentence pairs, and makes their graphs.
    pub fn read(&self, source: Source<'_>) -> Result<Matchings> {
        self.graphs(&Bitext::read(source)?)
    }

    /// Returns the names of the features of an edge.
    pub fn feature_names() -> Dictionary {
        let empty = Lexicon::default();
        let words = ["e", "f"].map(|word| vec![word.to_string()]);
        let mut names = Vec::new();
        Evidence::new(&words, &empty, &empty).edge(0, 0, &mut Entries::new(Some(&mut names)));
        names.into_iter().collect()
    }

    /// Returns the features of all edges of a pair, row by row.
    fn edges(&self, words: &SideWords) -> Vec<Vec<(u32, f64)>> {
        let evidence = Evidence::new(words, &self.words, &self.prefixes);
        let mut entries = Entries::new(None);
        let mut rows = Vec::with_capacity(words[0].len() * words[1].len());
        for row in 0..words[0].len() {
            for column in 0..words[1].len() {
                rows.push(evidence.edge(row, column, &mut entries).to_vec());
            }
        }
        rows
    }

    /// Writes the tables as tensors of a model file.
    pub fn put(&self, put: &mut dyn FnMut(&str, Tensor)) {
        put("aligner.pairs", Tensor::u64(&[self.pairs as u64]));
        file::put(&self.words, "aligner.words", put);
        file::put(&self.prefixes, "aligner.prefixes", put);
    }

    /// Whether a model file has an aligner.
    pub fn is_in(file: &Reader<'_>) -> bool {
        file.has("aligner.pairs")
    }

    /// Reads what [`put`](Self::put) has written.
    pub fn take(file: &Reader<'_>) -> Result<Self, Fault> {
        let pairs = file.u64("aligner.pairs")?;
        Ok(Self {
            words: file::take(file, "aligner.words")?,
            prefixes: file::take(file, "aligner.prefixes")?,
            pairs: pairs.first().map_or(0, |&pairs| usize::try_from(pairs).unwrap_or(usize::MAX)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{Form, Kind, Writer};
    use crate::linalg::parallel::on_threads;

    const NOTES: Kind =
        Kind { name: "notes", form: Form::Tensors { main: false }, oldest: 1, version: 1 };

    /// Sentences of a language whose words are turned round in the other, and sometimes change places.
    fn text(pairs: usize) -> Vec<(String, String)> {
        const WORDS: [&str; 8] =
            ["oak", "river", "stone", "blue", "walks", "sings", "under", "the"];
        let sentence = |k: usize| {
            let e: Vec<&str> =
                (0..2 + k % 4).map(|i| WORDS[(k * (2 * i + 1) + i * i) % 8]).collect();
            let mut f: Vec<String> = e.iter().map(|word| word.chars().rev().collect()).collect();
            if k.is_multiple_of(3) {
                f.swap(0, 1);
            }
            (e.join(" "), f.join(" "))
        };
        (0..pairs).map(sentence).collect()
    }

    fn bitext(pairs: &[(String, String)]) -> Bitext {
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(e, f)| (&e[..], &f[..])).collect();
        Bitext::from_pairs(&pairs)
    }

    fn value(data: &Matchings, i: usize, edge: (usize, usize), name: &str) -> f64 {
        let feature = data.dictionary().index(name).unwrap() as usize;
        let graph = data.graph(i);
        graph.features(graph.edge(edge.0, edge.1).unwrap()).get(feature)
    }

    #[test]
    fn a_made_up_language_is_understood() {
        let text = bitext(&text(60));
        let data = Aligner::learn(&[&text]).unwrap().graphs(&text).unwrap();
        let (mut right, mut all) = (0, 0);
        for i in 0..text.len() {
            let [e, f] = text.pair(i);
            for (row, word) in e.iter().enumerate() {
                let guess = |column: &usize| value(&data, i, (row, *column), "word:both");
                let best = (0..f.len()).max_by(|a, b| guess(a).total_cmp(&guess(b))).unwrap();
                right += usize::from(f[best].chars().rev().eq(word.chars()));
                all += 1;
            }
        }
        assert!(right * 20 > all * 19, "{right} of {all}");
    }

    #[test]
    fn threads_make_no_difference() {
        let text = bitext(&text(30));
        let learned = |threads| {
            on_threads(threads, || {
                let aligner = Aligner::learn(&[&text])?;
                let graphs = aligner.graphs(&text)?;
                Ok::<_, Error>((aligner, graphs))
            })
            .unwrap()
            .unwrap()
        };
        assert_eq!(learned(1), learned(3));
    }

    #[test]
    fn strange_text_is_aligned_too() {
        let text = bitext(&text(20));
        let aligner = Aligner::learn(&[&text]).unwrap();
        let strange = Bitext::from_pairs(&[
            ("", "x"),
            ("a b", ""),
            ("", ""),
            ("𝒳 ... 1.5 É", "ß 中文 1.5 e\u{301}"),
            ("oak oak oak", "kao"),
        ]);
        let data = aligner.graphs(&strange).unwrap();
        assert_eq!((data.len(), data.graph(0).columns(), data.is_labelled()), (5, 1, false));
        assert_eq!(value(&data, 3, (2, 2), "same number"), 1.0);
        assert!(data.features().width() == Aligner::feature_names().len());
        let long = "w ".repeat(LONGEST + 1);
        let error = aligner.graphs(&Bitext::from_pairs(&[("a", "b"), ("a", &long)])).unwrap_err();
        assert!(error.to_string().starts_with("bitext:2: has 1 words here"), "{error}");
        assert!(Aligner::learn(&[]).is_err());
        assert!(Aligner::learn(&[&Bitext::from_pairs(&[("", "b")])]).is_err());
    }

    #[test]
    fn features_have_distinct_names_and_are_in_range() {
        let text = bitext(&text(20));
        let data = Aligner::learn(&[&text]).unwrap().graphs(&text).unwrap();
        let mut names = Vec::new();
        let empty = Lexicon::default();
        let words = ["e", "f"].map(|word| vec![word.to_string()]);
        Evidence::new(&words, &empty, &empty).edge(0, 0, &mut Entries::new(Some(&mut names)));
        assert_eq!(names.len(), data.dictionary().len());
        for e in 0..data.features().len() {
            assert!(data.features().row(e).iter().all(|(_, x)| x.abs() <= 1.0));
        }
    }

    #[test]
    fn a_file_has_the_whole_aligner_and_refuses_a_broken_one() {
        let text = bitext(&text(20));
        let aligner = Aligner::learn(&[&text]).unwrap();
        let mut tensors = Vec::new();
        aligner.put(&mut |name, tensor| tensors.push((name.to_string(), tensor)));
        let stored = |tensors: &[(String, Tensor)]| {
            let header = serde_json::json!({});
            let mut writer = Writer::new(&NOTES, &header);
            tensors.iter().for_each(|(name, tensor)| writer.tensor(name, tensor.clone()));
            let bytes = writer.to_bytes().unwrap();
            let reader = Reader::new(&bytes, &NOTES).unwrap();
            assert!(Aligner::is_in(&reader));
            Aligner::take(&reader)
        };
        assert_eq!(stored(&tensors).unwrap(), aligner);
        let zeros = |n: usize| Tensor::f64(&[n], &vec![0.0; n]);
        let partners = aligner.words.partners.len();
        for (name, tensor) in [
            ("aligner.words.e.words", Tensor::bytes(b"a\na".to_vec())),
            ("aligner.words.e.words", Tensor::bytes(vec![0xff])),
            ("aligner.words.e.words", Tensor::bytes(Vec::new())),
            ("aligner.words.e.totals", zeros(8)),
            ("aligner.words.partners", Tensor::u32(&vec![u32::MAX; partners])),
            ("aligner.words.partners", Tensor::u32(&vec![0; partners])),
            ("aligner.words.partners", Tensor::u32(&[])),
            ("aligner.words.starts", Tensor::u64(&[0, u64::MAX])),
            ("aligner.words.links", Tensor::f64(&[partners], &vec![-1.0; partners])),
            ("aligner.prefixes.to_e.moves", zeros(13)),
        ] {
            let mut broken = tensors.clone();
            broken
                .iter_mut()
                .filter(|(known, _)| known == name)
                .for_each(|(_, old)| *old = tensor.clone());
            assert!(stored(&broken).is_err(), "{name}");
        }
    }
}
