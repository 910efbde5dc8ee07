//! Models whose structure is known only when their file is read: for programs, services and other languages.

use super::file::in_file;
use super::predict::{Predictions, Request, check_request, write_predictions};
use super::{Compressed, Compression, Description, Model, Provenance, RawModel, Tagging, Verified};
use crate::data::{Recipe, Scaling, Sink, Source, Unseen};
use crate::dual::Witness;
use crate::run::Certificate;
use crate::structure::{
    Chain, Completion, Evaluation, Fitted, Kernelised, Linear, Matching, MultiLabel, MultiOutput,
    Multiclass, Names, Purpose, Sensing, Structure, WeightOf, Words,
};
use crate::term::Penalty;
use crate::{Error, Result};
use serde_json::Value;
use std::any::Any;
use std::path::Path;

/// A model of any structure.
pub trait AnyModel: Any + Send + Sync {
    /// The name of its structure.
    fn structure(&self) -> &'static str;

    /// The names of labels and features.
    fn names(&self) -> &Names;

    /// The weights with their names.
    fn fitted(&self) -> Fitted<'_>;

    /// The number of weights, of the whole matrix if they are stored as factors.
    fn dim(&self) -> usize;

    /// The penalty, or the ball in its place.
    fn penalty(&self) -> Penalty;

    /// What the run divided the columns by.
    fn scaling(&self) -> Scaling;

    /// The task as a model file has it.
    fn task(&self) -> Value;

    /// The certificate of the weights.
    fn certificate(&self) -> Certificate;

    /// How the model was made.
    fn provenance(&self) -> &Provenance;

    /// Whether the dual point behind the certificate was stored.
    fn has_witness(&self) -> bool;

    /// Describes the structure.
    fn words(&self) -> Words;

    /// Describes the problem.
    fn describe(&self) -> Description;

    /// Returns what a weight is the weight of.
    fn weight(&self, place: usize) -> WeightOf;

    /// Returns the names of what a feature has weights for.
    fn weighted(&self) -> Vec<String>;

    /// Returns what predictions depend on besides the weights.
    fn constants(&self) -> Vec<(&'static str, String, f64)>;

    /// Returns what the weights stand for, if it is not read off them: a kind, a name, and the number.
    fn found(&self) -> Vec<(&'static str, String, f64)>;

    /// Whether a prediction is a sequence.
    fn is_of_sequences(&self) -> bool;

    /// Expands weights in factors; see [`Model::write_out`].
    fn write_out(&mut self) -> Result<()>;

    /// Reads the training file as the model says it was read, and verifies the certificate. The description has the
    /// recipe that the file was read with: what the model says about its columns is a claim like any other.
    fn certify(&mut self, source: Source<'_>) -> Result<(Verified, Description)>;

    /// Reads the training file, and compresses the model; see [`Model::compress`].
    fn compress(&mut self, source: Source<'_>, how: &Compression) -> Result<Compressed>;

    /// Gives the model this dual point to prove its certificate with, or none, and returns the one that it had.
    fn exchange_witness(&mut self, witness: Option<Witness>) -> Option<Witness>;

    /// Returns the bytes of the model file.
    fn to_bytes(&self) -> Result<Vec<u8>>;

    /// Compares predictions with the truth in a file, of which `folds` may choose a part.
    fn evaluate(&self, source: Source<'_>, folds: Option<Vec<u8>>) -> Result<(Evaluation, Unseen)>;

    /// Returns an error if the model does not have what is requested beside its predictions: before any data are read.
    fn check_request(&self, request: &Request) -> Result<()>;

    /// Predicts for a file, and writes the predictions.
    fn predict(
        &self,
        source: Source<'_>,
        request: &Request,
        sink: &mut Sink,
    ) -> Result<Predictions>;

    /// Labels a stream of sentences as they come; see [`Tagging`].
    fn tag(&self, source: Source<'_>, tagging: &Tagging, sink: &mut Sink) -> Result<Predictions>;

    /// The model itself, for whoever knows its type.
    fn as_any(&self) -> &dyn Any;
}

impl<S: Structure> Model<S> {
    /// Returns how the data file was read, or an error for a model that was trained from memory.
    pub(super) fn recipe(&self) -> Result<&Recipe> {
        self.provenance.recipe.as_ref().ok_or_else(|| {
            Error::setting(
                "the model does not say how its data file is read: it was trained from memory, and is used from there",
            )
        })
    }
}

impl<S: Structure> AnyModel for Model<S> {
    fn structure(&self) -> &'static str {
        S::NAME
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn fitted(&self) -> Fitted<'_> {
        Model::fitted(self)
    }

    fn dim(&self) -> usize {
        Model::dim(self)
    }

    fn penalty(&self) -> Penalty {
        self.task.penalty
    }

    fn scaling(&self) -> Scaling {
        self.task.scaling
    }

    fn task(&self) -> Value {
        serde_json::json!(self.task)
    }

    fn certificate(&self) -> Certificate {
        self.certificate
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn has_witness(&self) -> bool {
        self.witness.is_some()
    }

    fn words(&self) -> Words {
        self.task.structure.describe(&self.names)
    }

    fn describe(&self) -> Description {
        Model::describe(self, None)
    }

    fn weight(&self, place: usize) -> WeightOf {
        let (structure, names) = (&self.task.structure, &self.names);
        let Some(support) = &self.support else { return structure.weight(names, place) };
        let columns = structure.columns(names).max(1);
        if let Some(&example) = support.examples().get(place / columns) {
            let (feature, label) = (Some(example as usize), Some(place % columns));
            return WeightOf { kind: "coefficient", feature, from: None, label };
        }
        // The others follow those of all features where there is no kernel.
        let behind = place - support.len() * columns;
        structure.weight(names, names.features * columns + behind)
    }

    fn weighted(&self) -> Vec<String> {
        self.task.structure.weighted(&self.names)
    }

    fn constants(&self) -> Vec<(&'static str, String, f64)> {
        self.task.structure.constants(&self.names)
    }

    fn found(&self) -> Vec<(&'static str, String, f64)> {
        self.task.structure.found(Model::fitted(self))
    }

    fn is_of_sequences(&self) -> bool {
        S::SEQUENCES
    }

    fn write_out(&mut self) -> Result<()> {
        Model::write_out(self)
    }

    fn certify(&mut self, source: Source<'_>) -> Result<(Verified, Description)> {
        let loaded = self.task.structure.read(self.recipe()?, source, Purpose::Train)?;
        let verified = Model::certify(self, &loaded.data)?;
        self.provenance.recipe = Some(loaded.recipe);
        Ok((verified, Model::describe(self, Some(&loaded.data))))
    }

    fn compress(&mut self, source: Source<'_>, how: &Compression) -> Result<Compressed> {
        let loaded = self.task.structure.read(self.recipe()?, source, Purpose::Train)?;
        Model::compress(self, &loaded.data, how)
    }

    fn exchange_witness(&mut self, witness: Option<Witness>) -> Option<Witness> {
        std::mem::replace(&mut self.witness, witness)
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        Model::to_bytes(self)
    }

    fn evaluate(&self, source: Source<'_>, folds: Option<Vec<u8>>) -> Result<(Evaluation, Unseen)> {
        let recipe = Recipe { folds, ..self.recipe()?.clone() };
        let file = source.name().to_string();
        let loaded = self.task.structure.read(&recipe, source, Purpose::Test(&self.names))?;
        if !loaded.labelled {
            return Err(Error::file(
                Path::new(&file),
                "has no labels to compare with",
                "a prediction needs none",
            ));
        }
        let evaluation = match Model::evaluate(self, &loaded.data)? {
            Evaluation::Labels(labels) => {
                let calibration = self.calibration(&loaded.data)?;
                Evaluation::Labels(Box::new(labels.with_calibration(calibration)))
            }
            other => other,
        };
        Ok((evaluation, loaded.unseen))
    }

    fn check_request(&self, request: &Request) -> Result<()> {
        check_request(&self.task.structure, request)
    }

    fn predict(
        &self,
        source: Source<'_>,
        request: &Request,
        sink: &mut Sink,
    ) -> Result<Predictions> {
        write_predictions(self, source, request, sink)
    }

    fn tag(&self, source: Source<'_>, tagging: &Tagging, sink: &mut Sink) -> Result<Predictions> {
        super::tag::tag(self, source, tagging, sink)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A model that was loaded to predict and for nothing else: large weights that are mostly zeros are not written out, so that
/// this takes a fraction of the time and of the memory.
///
/// ```
/// use dualgap::data::Sequences;
/// use dualgap::run::Budget;
/// use dualgap::structure::Chain;
/// use dualgap::task::{Plan, Registry, Task};
/// use dualgap::term::Penalty;
///
/// let names = ["a", "b"].map(String::from);
/// let data = Sequences::from_dense(&[vec![vec![1.0], vec![-1.0]]], &[vec![0, 1]], &names)?;
/// let model = Task::new(Chain::default(), Penalty::ridge(0.01)).fit(&data, Plan::new(Budget::relative(1e-3)))?.model;
/// let folder = std::env::temp_dir().join(format!("dualgap-predictor-{}", std::process::id()));
/// std::fs::create_dir_all(&folder).unwrap();
/// model.save(&folder.join("model"))?;
/// let predictor = Registry::builtin().predictor(&folder.join("model"))?;
/// assert!(predictor.provenance().recipe.is_none(), "trained from memory: it does not predict files");
/// std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), dualgap::Error>(())
/// ```
pub struct Predictor(Box<dyn AnyModel>);

impl Predictor {
    /// How the model was made.
    pub fn provenance(&self) -> &Provenance {
        self.0.provenance()
    }

    /// See [`AnyModel::check_request`].
    pub fn check_request(&self, request: &Request) -> Result<()> {
        self.0.check_request(request)
    }

    /// See [`AnyModel::predict`].
    pub fn predict(
        &self,
        source: Source<'_>,
        request: &Request,
        sink: &mut Sink,
    ) -> Result<Predictions> {
        self.0.predict(source, request, sink)
    }

    /// See [`AnyModel::tag`].
    pub fn tag(
        &self,
        source: Source<'_>,
        tagging: &Tagging,
        sink: &mut Sink,
    ) -> Result<Predictions> {
        self.0.tag(source, tagging, sink)
    }
}

/// Reads a model, whole or only to predict.
type Opener = fn(&RawModel, to_predict: bool) -> Result<Box<dyn AnyModel>, crate::container::Fault>;

/// The structures that a program knows by name.
///
/// ```
/// use dualgap::task::Registry;
/// let names: Vec<&str> = Registry::builtin().structures().collect();
/// assert!(names.contains(&"chain") && names.contains(&"multiclass"));
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    known: Vec<(&'static str, Opener)>,
}

impl Registry {
    /// Returns the structures of this crate.
    pub fn builtin() -> Self {
        Self::default()
            .with::<Linear>()
            .with::<Multiclass>()
            .with::<Chain>()
            .with::<MultiLabel>()
            .with::<MultiOutput>()
            .with::<Completion>()
            .with::<Matching>()
            .with::<Sensing>()
            .with::<Kernelised<Linear>>()
            .with::<Kernelised<Multiclass>>()
            .with::<Kernelised<Chain>>()
    }

    /// Adds a structure; one of the same name is replaced.
    #[must_use]
    pub fn with<S: Structure>(mut self) -> Self {
        self.known.retain(|(name, _)| *name != S::NAME);
        let open: Opener = |raw, to_predict| Ok(Box::new(raw.read_for::<S>(to_predict)?));
        self.known.push((S::NAME, open));
        self
    }

    /// Returns the names of the structures.
    pub fn structures(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.known.iter().map(|(name, _)| *name)
    }

    /// Reads a model file.
    pub fn load(&self, path: &Path) -> Result<Box<dyn AnyModel>> {
        let raw = RawModel::open(path)?;
        self.read(&raw, path)
    }

    /// Reads a model file to predict and for nothing else.
    pub fn predictor(&self, path: &Path) -> Result<Predictor> {
        self.read_for(&RawModel::open(path)?, path, true).map(Predictor)
    }

    /// Returns the model of a file that was opened, or an error if its structure is unknown.
    pub fn read(&self, raw: &RawModel, path: &Path) -> Result<Box<dyn AnyModel>> {
        self.read_for(raw, path, false)
    }

    fn read_for(&self, raw: &RawModel, path: &Path, to_predict: bool) -> Result<Box<dyn AnyModel>> {
        let known = self.known.iter().find(|(name, _)| *name == raw.structure());
        let Some((_, open)) = known else {
            return Err(Error::UnknownStructure {
                file: path.display().to_string(),
                structure: raw.structure().into(),
            });
        };
        open(raw, to_predict).map_err(|fault| in_file(fault, path))
    }
}
