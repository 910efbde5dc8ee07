//! Matchings as a structure: which rows and columns belong together.

use super::keys::{ends_of, is_edge};
use super::{LinkLoss, MatchingBlocks};
use crate::container::{Fault, Reader, Tensor};
use crate::data::alignment::Aligner;
use crate::data::{Format, Loaded, Matchings, Recipe, Source};
use crate::linalg::{Assignment, parallel};
use crate::structure::evaluation::{Evaluation, LinkEvaluation};
use crate::structure::fitted::{no_probabilities, no_scores};
use crate::structure::posed::{Posed, Posing};
use crate::structure::words::exact;
use crate::structure::{Choice, Fitted, Names, Purpose, Structure, WeightOf, Words};
use crate::term::Penalty;
use crate::{Error, Result, Setting};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// A partial matching of the rows and columns of a graph, under the structural hinge.
///
/// ```
/// use dualgap::data::{Matchings, Source};
/// use dualgap::run::Budget;
/// use dualgap::structure::Matching;
/// use dualgap::task::{Plan, Task};
/// use dualgap::term::Penalty;
///
/// let text = b"0 0 1 same:1\n0 1 0 far:1\n1 0 0 far:1\n1 1 1 same:1\n\n0 0 0 far:1\n0 1 1 same:1 far:0.1\n";
/// let data = Matchings::read(Source::from_bytes("demo", text)?)?;
/// let task = Task::new(Matching::default(), Penalty::ridge(0.01));
/// let model = task.fit(&data, Plan::new(Budget::relative(1e-4)))?.model;
/// assert_eq!(model.predict(&data)?, [vec![(0, 0), (1, 1)], vec![(0, 1)]]);
/// assert!(model.certify(&data)?.certificate.relative_gap() <= 1e-4);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matching {
    /// What wrong and missing edges cost.
    pub loss: LinkLoss,
    /// What makes graphs of bitext, if the data are such. Its tables are tensors of a model file, not a part of the header;
    /// the fingerprint of the graphs tells whether they are those of the training run.
    #[serde(skip)]
    pub aligner: Option<Arc<Aligner>>,
}

impl Matching {
    /// Returns the structure under this loss.
    pub fn new(loss: LinkLoss) -> Self {
        Self { loss, aligner: None }
    }

    /// Returns the structure for bitext.
    #[must_use]
    pub fn with_aligner(self, aligner: Aligner) -> Self {
        Self { aligner: Some(Arc::new(aligner)), ..self }
    }

    /// Reads bitext, with the features that a model knows.
    fn read_bitext(
        &self,
        recipe: &Recipe,
        source: Source<'_>,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<Matchings>> {
        let name = source.name().to_string();
        let Some(aligner) = &self.aligner else {
            return Err(source.file_error(
                "is bitext, and nothing was learned from such about what translates what",
                "a model of edge files is for edge files; in the library give the structure an aligner",
            ));
        };
        let loaded = recipe.bitext(source, aligner)?;
        let known = purpose.known().map(|names| &names.dictionary);
        if known.is_some_and(|known| known != loaded.data.dictionary()) {
            return Err(Error::in_file(
                name,
                "cannot be read for this model, whose edges have other features",
                "another version of the program made it: train it again",
            ));
        }
        if matches!(purpose, Purpose::Train) && !loaded.labelled {
            return Err(Error::in_file(
                name,
                "has no links beside it to learn from",
                "the file PREFIX.a has them, a line for every pair: 0-0 1-2 1?3",
            ));
        }
        Ok(loaded)
    }
}

impl Structure for Matching {
    const NAME: &'static str = "matching";
    type Data = Matchings;
    /// The row and the column of each link, in ascending order.
    type Output = Vec<(usize, usize)>;

    fn names(&self, data: &Matchings) -> Result<Names> {
        Ok(Names::of(data.vocabulary()))
    }

    fn check(&self, names: &Names) -> Result<()> {
        self.loss.check()?;
        match names.alphabet.len() {
            0 => Ok(()),
            _ => Err(Error::setting("links have no names")),
        }
    }

    fn allows_option(&self, _: Choice, _: &Penalty) -> Result<()> {
        Err(Error::setting(format!(
            "matchings have no options of Prox-SDCA: leave {} out",
            Setting::Option
        )))
    }

    fn pose<'d>(&'d self, data: &'d Matchings, posing: &Posing<'_>) -> Result<Posed<'d>> {
        Ok(Posed::penalised(MatchingBlocks::new(data, self.loss)?, posing))
    }

    /// The point of a graph depends on its edges, and not on the features.
    fn relabel(
        &self,
        _: &Names,
        data: &Matchings,
        i: usize,
        _: &Names,
        entries: &[(u64, f64)],
    ) -> Option<Vec<(u64, f64)>> {
        let graph = data.graph(i);
        let fits = |&(key, _): &(u64, f64)| {
            let (row, column) = ends_of(key);
            is_edge(key) && graph.edge(row as usize, column as usize).is_some()
        };
        entries.iter().all(fits).then(|| entries.to_vec())
    }

    fn put(&self, put: &mut dyn FnMut(&str, Tensor)) {
        if let Some(aligner) = &self.aligner {
            aligner.put(put);
        }
    }

    fn take(self, file: &Reader<'_>, _: &Names) -> Result<Self, Fault> {
        if Aligner::is_in(file) { Ok(self.with_aligner(Aligner::take(file)?)) } else { Ok(self) }
    }

    /// Edges of score zero or less gain nothing, and are left out.
    fn predict(&self, fitted: Fitted<'_>, data: &Matchings) -> Result<Vec<Vec<(usize, usize)>>> {
        parallel::map(data.len(), Assignment::default, |assignment, i| {
            let graph = data.graph(i);
            let scored = |(edge, &(row, column)): (usize, &(u32, u32))| {
                (row as usize, column as usize, fitted.score(graph.features(edge)))
            };
            let edges = graph.edges().iter().enumerate().map(scored);
            assignment.solve(graph.rows(), graph.columns(), edges);
            Ok(assignment.pairs().collect())
        })
    }

    fn check_scores(&self) -> Result<()> {
        Err(no_scores())
    }

    fn check_probabilities(&self) -> Result<()> {
        Err(no_probabilities())
    }

    fn evaluate(&self, fitted: Fitted<'_>, data: &Matchings) -> Result<Evaluation> {
        if !data.is_labelled() {
            return Err(Error::setting("the edges have no marks to compare with"));
        }
        let mut evaluation = LinkEvaluation::default();
        for (i, predicted) in self.predict(fitted, data)?.iter().enumerate() {
            let loss = self.loss.of(data.graph(i), predicted.iter().copied());
            match data.weights() {
                Some(weights) => {
                    evaluation.compare_weighted(data.graph(i), predicted, loss, weights[i]);
                }
                None => evaluation.compare(data.graph(i), predicted, loss),
            }
        }
        Ok(Evaluation::Links(evaluation))
    }

    fn describe(&self, _: &Names) -> Words {
        let LinkLoss { false_positive, false_negative } = self.loss;
        let aligner = self.aligner.as_ref().map(|aligner| {
            let (pairs, [e, f]) = (aligner.pairs(), aligner.vocabulary());
            let line = format!("learned from {pairs} pairs of sentences, with {e} and {f} words");
            (("aligner", line), json!({ "pairs": pairs, "words": [e, f] }))
        });
        let (lines, aligner): (Vec<_>, Vec<_>) = aligner.into_iter().unzip();
        let words = Words {
            task: "matching",
            loss: format!(
                "hinge, {} for a wrong edge and {} for a missing one",
                exact(false_positive),
                exact(false_negative)
            ),
            lines,
            ..Words::default()
        }
        .with("loss", json!({ "name": "link_hinge" }))
        .with("costs", json!(self.loss));
        aligner.into_iter().fold(words, |words, aligner| words.with("aligner", aligner))
    }

    /// One line, `0-0 1-2`: rows and columns, from 0 on.
    fn spell(&self, _: &Names, output: &Vec<(usize, usize)>) -> Vec<String> {
        let links: Vec<String> =
            output.iter().map(|(row, column)| format!("{row}-{column}")).collect();
        vec![links.join(" ")]
    }

    fn weight(&self, _: &Names, place: usize) -> WeightOf {
        WeightOf { kind: "feature", feature: Some(place), from: None, label: None }
    }

    fn guess(_: &str) -> Format {
        Format::Edges
    }

    fn read(
        &self,
        recipe: &Recipe,
        source: Source<'_>,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<Matchings>> {
        // The range of a recipe chooses what is trained on.
        let range = if matches!(purpose, Purpose::Train) { recipe.range } else { None };
        let recipe = Recipe { range, ..recipe.clone() };
        if source.is_prefix() || recipe.format == Format::Bitext {
            return self.read_bitext(&recipe, source, purpose);
        }
        recipe.matchings(source, purpose.known().map(Names::vocabulary))
    }

    fn complaint(&self, data: &Matchings) -> Option<(String, String)> {
        let none = (0..data.len()).all(|i| data.graph(i).truth().next().is_none());
        let remedy = match &self.aligner {
            Some(_) => "sure links are written e-f in PREFIX.a: 0-0 1-2",
            None => "the third word of a line is 1 if its edge is a sure link",
        };
        none.then(|| ("there is no sure link to learn from".into(), remedy.into()))
    }
}
