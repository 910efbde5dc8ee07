//! What a structure is: the one trait behind which everything that depends on the kind of output lives.

use super::evaluation::{ErrorKind, Evaluation, SequenceCalibration, Strangers};
use super::fitted::no_probabilities;
use super::posed::{Posed, Posing};
use super::{Choice, Fitted, Names, Ranked, Remark, Support, Table, Words};
use crate::ball::BallSettings;
use crate::container::{Fault, Reader, Tensor};
use crate::data::{Classes, DataSet, Format, Loaded, Recipe, Sequences, Source, TargetKind};
use crate::term::{Constants, Loss, Penalty, ScalarLoss};
use crate::{Error, Result, Setting};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A kind of output with its loss and costs: a plain value, which a model file stores.
///
/// A structure says how its data become an optimisation problem ([`pose`](Self::pose)), how its weights are laid out, and
/// how a model predicts. Training, certificates, checkpoints, model files, paths and cross-validation are then the same
/// for all structures: [`Task`](crate::task::Task) has them.
///
/// The short way to a structure of one's own is an oracle: an [`OwnOracle`](super::OwnOracle) is a structure by
/// [`OwnStructure`](super::OwnStructure), and `examples/own_structure.rs` has one. This trait itself is implemented outside of the crate
/// in `tests/models/outside.rs`.
pub trait Structure:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The name of the structure in model files.
    const NAME: &'static str;

    /// Whether a prediction is a sequence, which has an empty line after it where predictions are written.
    const SEQUENCES: bool = false;

    /// Whether a large and sparse model is saved with weights of 32 bits where its certificate allows it: see
    /// [`Model::compact`](crate::task::Model::compact).
    const COMPACT: bool = false;

    /// The data to train on and to predict.
    type Data: DataSet + Clone + Send + Sync;

    /// The prediction for an example.
    type Output: Send;

    // The problem.

    /// Returns the names and sizes that a model of these data has.
    fn names(&self, data: &Self::Data) -> Result<Names>;

    /// Returns the structure with everything that only the training data can tell, such as the mean of ratings. It must
    /// depend on the data alone: verification computes it again and compares.
    fn resolve(self, _data: &Self::Data) -> Result<Self> {
        Ok(self)
    }

    /// Returns an error if a number of the structure is out of its range, or the names do not fit: before training, and
    /// after a file was read.
    fn check(&self, _names: &Names) -> Result<()> {
        Ok(())
    }

    /// Returns an error if the structure cannot be trained under this penalty. By default it can under
    /// [`Penalty::Ridge`] without a free weight, which all blocks of the engine support.
    fn allows(&self, penalty: &Penalty) -> Result<()> {
        refuse_all_but_ridge(penalty)
    }

    /// Returns an error if runs under this penalty cannot choose their steps so: before any data are read, and before the
    /// problem is posed with this [`choice`](Posing::choice).
    fn allows_option(&self, _choice: Choice, _penalty: &Penalty) -> Result<()> {
        Ok(())
    }

    /// Returns an error if runs in a ball cannot have these settings: before any data are read.
    fn allows_in_ball(&self, _settings: &BallSettings) -> Result<()> {
        Ok(())
    }

    /// Whether the columns of the data can be scaled before a run, so that the weights are those of the unscaled data.
    fn allows_scaling(&self) -> bool {
        true
    }

    /// Whether there are as many weights for each column of the data, in the order of the columns, and none besides, so that a run
    /// may leave out columns without entries: their weights are zero.
    fn weighs_columns(&self) -> bool {
        false
    }

    /// Makes the optimisation problem of the data, by one of the functions of [`Posed`].
    fn pose<'d>(&'d self, data: &'d Self::Data, posing: &Posing<'_>) -> Result<Posed<'d>>;

    /// Whether the dual points of a model of the other structure mean the same in this one, so that a run can start from
    /// them.
    fn is_akin(&self, _other: &Self) -> bool {
        true
    }

    /// Returns the entries of example `i` in an older model's witness as this problem has them, or `None` if they do not
    /// fit. The names of labels may have other numbers there, and the example may be another one.
    fn relabel(
        &self,
        names: &Names,
        _data: &Self::Data,
        _i: usize,
        old: &Names,
        entries: &[(u64, f64)],
    ) -> Option<Vec<(u64, f64)>> {
        (old == names).then(|| entries.to_vec())
    }

    /// Returns the inputs that the weights are coefficients of, all those of the data, for a structure under a kernel. A
    /// model keeps those whose coefficients are not all zero.
    fn support(&self, _data: &Self::Data) -> Option<Support> {
        None
    }

    // The model file.

    /// Returns the tensors that the weights are stored as: their names and shapes, in the order of the weights.
    fn layout(&self, names: &Names) -> Vec<(&'static str, Vec<usize>)> {
        vec![("weights", vec![names.features])]
    }

    /// Returns the first of these tensors if predictions need of it only the scores of rows, `Σ_f x_f w[f, y]`, so that a model
    /// that is loaded to predict may have it without its zeros.
    fn packs(&self) -> Option<&'static str> {
        None
    }

    /// Returns the number of rows of weights in factors.
    fn rows(&self, names: &Names) -> usize {
        names.features
    }

    /// Returns the number of columns of weights in factors.
    fn columns(&self, names: &Names) -> usize {
        names.alphabet.len()
    }

    /// Stores what the header of a model file has no room for.
    fn put(&self, _put: &mut dyn FnMut(&str, Tensor)) {}

    /// Returns the structure of a header with what [`put`](Self::put) has stored.
    fn take(self, _file: &Reader<'_>, _names: &Names) -> Result<Self, Fault> {
        Ok(self)
    }

    // Predictions. All of them ignore features that the model does not know, and use the threads of the current pool.

    /// Returns the prediction for every example.
    fn predict(&self, fitted: Fitted<'_>, data: &Self::Data) -> Result<Vec<Self::Output>>;

    /// Returns an error if models of the structure have no scores, so that nobody reads data in vain to ask for them.
    fn check_scores(&self) -> Result<()> {
        Ok(())
    }

    /// Returns an error if models of the structure have no probabilities, as [`check_scores`](Self::check_scores) does.
    fn check_probabilities(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the scores behind the predictions, a column for every label or output.
    fn scores(&self, _fitted: Fitted<'_>, _data: &Self::Data) -> Result<Table> {
        Err(Error::setting("models of this structure have no scores of single labels"))
    }

    /// Returns the probabilities of all labels, a column for each.
    fn probabilities(&self, _fitted: Fitted<'_>, _data: &Self::Data) -> Result<Table> {
        Err(no_probabilities())
    }

    /// Returns an error if the structure does not have several outputs in order, as [`check_scores`](Self::check_scores) does.
    fn check_n_best(&self) -> Result<()> {
        Err(Error::setting("the best outputs in order are those of chains: other models have one"))
    }

    /// Returns the best outputs of every input, the best first: at most `count`, which is positive.
    fn n_best(
        &self,
        _fitted: Fitted<'_>,
        _data: &Self::Data,
        _count: usize,
    ) -> Result<Vec<Vec<Ranked<Self::Output>>>> {
        self.check_n_best().map(|()| Vec::new())
    }

    /// Compares predictions with the truth.
    fn evaluate(&self, fitted: Fitted<'_>, data: &Self::Data) -> Result<Evaluation>;

    /// Returns what the error of an [`Evaluation`] is: a share of all answers, unless the structure predicts numbers.
    fn error_kind(&self) -> ErrorKind {
        ErrorKind::Share
    }

    /// Compares the probabilities of predictions with how many of them are right, for models of sequences that have
    /// probabilities.
    fn calibration(
        &self,
        _fitted: Fitted<'_>,
        _data: &Self::Data,
    ) -> Result<Option<SequenceCalibration>> {
        Ok(None)
    }

    // Words.

    /// Describes the structure, in words and as JSON.
    fn describe(&self, names: &Names) -> Words;

    /// Returns a prediction as lines of text: one, or one for each position of a sequence.
    fn spell(&self, names: &Names, output: &Self::Output) -> Vec<String>;

    /// Counts the names in the data that the model does not know, if it predicts for pairs of names.
    fn strangers(&self, _fitted: Fitted<'_>, _data: &Self::Data) -> Strangers {
        Strangers::default()
    }

    /// Returns what a weight is the weight of.
    fn weight(&self, _names: &Names, place: usize) -> WeightOf {
        WeightOf { kind: "weight", feature: Some(place), from: None, label: None }
    }

    /// Returns the names of what a feature has weights for, such as the labels.
    fn weighted(&self, names: &Names) -> Vec<String> {
        names.alphabet.names().to_vec()
    }

    /// Returns what predictions depend on besides the weights: a kind, a name, and the number.
    fn constants(&self, _names: &Names) -> Vec<(&'static str, String, f64)> {
        Vec::new()
    }

    /// Returns what the weights stand for, if it is not read off them: a kind, a name, and the number.
    fn found(&self, _fitted: Fitted<'_>) -> Vec<(&'static str, String, f64)> {
        Vec::new()
    }

    // Data.

    /// Guesses the format of a file from its beginning.
    fn guess(_head: &str) -> Format {
        Format::Own
    }

    /// Reads data from a file.
    fn read(
        &self,
        _recipe: &Recipe,
        source: Source<'_>,
        _purpose: Purpose<'_>,
    ) -> Result<Loaded<Self::Data>> {
        Err(source
            .file_error("cannot be read: this structure has no file format", "use the library"))
    }

    /// Returns the positions of sequences as data of this structure, if it predicts each of them, in order: a column file
    /// is then predicted as a stream.
    fn of_sequences(_sequences: Sequences) -> Option<Self::Data> {
        None
    }

    /// Returns the kind of target that an example has in a file.
    fn target(&self) -> TargetKind {
        TargetKind::Class
    }

    /// Returns what is wrong with the training data, and what to do about it, if they make no sense for this structure.
    fn complaint(&self, _data: &Self::Data) -> Option<(String, String)> {
        None
    }

    /// Returns what is odd about the training data, and no reason not to train on them.
    fn remark(&self, _data: &Self::Data) -> Option<Remark> {
        None
    }

    /// Returns the classes of examples that have one each: folds then have all classes in proportion, and class weights
    /// are possible.
    fn classes<'d>(&self, _data: &'d Self::Data) -> Option<&'d Classes> {
        None
    }

    /// Returns the labels of an example, or `None` if its targets are not labels to tell apart.
    fn labels(&self, data: &Self::Data, example: usize) -> Option<Vec<usize>> {
        self.classes(data).map(|classes| vec![classes.numbers()[example] as usize])
    }

    /// Returns the best constant beside the predictions of a model, and without them, for structures of one output that
    /// can have an intercept without penalty.
    fn best_constants(
        &self,
        _fitted: Fitted<'_>,
        _data: &Self::Data,
        _weights: Option<&[f64]>,
    ) -> Result<Option<Constants>> {
        Ok(None)
    }

    /// Returns the targets as numbers and the column of the constant feature, from which the bound of a free intercept
    /// follows.
    fn intercept(&self, _data: &Self::Data) -> Result<(usize, Vec<f64>)> {
        Err(Error::setting("an intercept without penalty is for linear models of one output"))
    }
}

/// Returns an error unless the penalty is a ridge without a free weight.
pub(crate) fn refuse_all_but_ridge(penalty: &Penalty) -> Result<()> {
    match penalty {
        Penalty::Ridge { free: None, .. } => Ok(()),
        Penalty::Ridge { .. } => {
            Err(Error::setting("a weight without penalty is for linear models of one output"))
        }
        Penalty::QNorm { .. } => {
            Err(Error::setting("the q-norm is for linear models of one output"))
        }
        Penalty::Lasso { .. } => Err(Error::setting(format!(
            "{} must be positive: a pure l1 penalty is for linear models of one output, multiclass and chains",
            Setting::Lambda
        ))),
        Penalty::Ball { .. } => Err(Error::setting("this structure is not trained in a ball")),
    }
}

/// Returns an error unless the penalty is a ridge or the l1 norm, without a free weight.
pub(crate) fn refuse_all_but_ridge_and_l1(penalty: &Penalty) -> Result<()> {
    match penalty {
        Penalty::Lasso { free: None, .. } => Ok(()),
        Penalty::Lasso { .. } => {
            Err(Error::setting("a weight without penalty is for linear models of one output"))
        }
        _ => refuse_all_but_ridge(penalty),
    }
}

/// Returns an error unless the loss of one output is smooth, as those in a ball must be.
pub(crate) fn refuse_corners(loss: ScalarLoss) -> Result<()> {
    match loss.smoothness() > 0.0 {
        true => Ok(()),
        false if loss.is_binary() => Err(needs_smooth("smooth-hinge, squared-hinge or logistic")),
        false => Err(needs_smooth("squared or huber")),
    }
}

/// Returns the error for a loss with corners in a ball; `smooth` are those without.
pub(crate) fn needs_smooth(smooth: &str) -> Error {
    Error::setting(format!("a ball needs a smooth loss: take {} {smooth}", Setting::Loss))
}

/// What data are read for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Purpose<'n> {
    /// To train on, or to verify a certificate.
    Train,
    /// To compare predictions with their targets, by a model with these names.
    Test(&'n Names),
    /// To predict, by a model with these names.
    Predict(&'n Names),
}

impl<'n> Purpose<'n> {
    /// Returns the names that the model knows, if there is one.
    pub fn known(self) -> Option<&'n Names> {
        match self {
            Self::Train => None,
            Self::Test(names) | Self::Predict(names) => Some(names),
        }
    }
}

/// What a weight is the weight of: numbers of features and labels, as far as it has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightOf {
    /// `feature`, `start`, `end`, `transition`, `pair`, or a structure's own word; `coefficient` under a kernel, whose
    /// feature is then the number of a training input.
    pub kind: &'static str,
    /// The number of the feature.
    pub feature: Option<usize>,
    /// The label before, for pairs of labels.
    pub from: Option<usize>,
    /// The number of the label among those that [`Structure::weighted`] returns.
    pub label: Option<usize>,
}
