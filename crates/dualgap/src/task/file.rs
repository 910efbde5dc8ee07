//! The model file: a sealed container whose header has the task, and whose tensors are the weights.
//!
//! ```text
//! tensors   multiclass   weights [F, K], costs [K, K]?
//!           multilabel   weights [F, K]
//!           multioutput  weights [F, K]
//!           low rank     low_rank.u [F, k], low_rank.s [k], low_rank.v [K, k] in the place of weights
//!           linear       weights [F]
//!           completion   low_rank.u [F, k], low_rank.s [k], low_rank.v [I, k], items.text [bytes], items.ends [I], centre.users [F]?, centre.items [I]?
//!           chain        emissions [F, K], start [K], end [K], transitions [K, K], pairs [E, K, K]?
//!           kernel       coefficients [m, K], support.examples [m], support.dense [m, F] or support.ends [m], support.features [e], support.values [e]; what has no kernel as ever
//!           a user's own weights [F], or what its layout says
//!           large ones   NAME.places [bytes], NAME.values [m] in the place of an array NAME that is mostly zeros, names.packed [bytes] in the place of the names: see compact
//!           integers     NAME.scales [m/64], NAME.integers [bytes] in the place of NAME or NAME.values: see quantised
//!           all          names.text [bytes]?, names.ends [F + E]?, sample_weights [n]?, witness.starts [n + 1]?, witness.keys [m]?, witness.weights [m]?, witness.outputs [bytes]?
//! metadata  dualgap      {"seal": SHA-256 of the header's text, "header": {…}}
//! ```
//!
//! The header has the format version, the structure's name, the task, labels, the certificate, where the model comes
//! from, and the SHA-256 of every tensor. Numbers are 64 bits, or 32 in `NAME.values`, little-endian.
//!
//! **Compatibility.** A program reads every format version up to its own. Within a version, fields and tensors may
//! be added, and a program ignores those that it does not know; whatever would change the meaning of a file raises
//! the version, and a program refuses a version that it does not know. Version 1 had no task: its settings are read as
//! one ([`version1`](super::version1)). Version 3 has the large ones, version 4 integers, and each is only written where
//! they are.
//!
//! **Safety.** A file from a stranger is data and nothing else. The program refuses a file that is cut off, whose
//! header lies about sizes, or in which a tensor is missing, comes twice, has another shape or another digest than the
//! header says, or has a number that is not finite; it allocates memory only in proportion to the file.

use super::checkpoint::CHECKPOINT;
use super::compact::{
    is_plain, is_quantised, put_features, put_weights, take_features, take_packed, take_weights,
};
use super::version1::upgrade;
use super::{Model, Provenance, Task};
use crate::container::{Fault, Form, Kind, Reader, Tensor, Writer, read_file, write_atomically};
use crate::data::{Alphabet, Dictionary};
use crate::dual::Witness;
use crate::linalg::memory::Need;
use crate::linalg::parallel::both;
use crate::linalg::{LowRank, PackedRows};
use crate::run::Certificate;
use crate::structure::{Names, Structure, Support};
use crate::{Result, Setting};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The newest version that this program reads and writes.
pub const FORMAT_VERSION: u32 = 4;

const MODEL: Kind =
    Kind { name: "model", form: Form::Tensors { main: true }, oldest: 1, version: FORMAT_VERSION };

/// Models without integers are written as version 3, which older programs read.
const COMPACT: Kind = Kind { version: 3, ..MODEL };

/// Models without anything that is new in version 3 are written as version 2, which older programs read.
const PLAIN: Kind = Kind { version: 2, ..MODEL };

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Header {
    structure: String,
    task: Value,
    labels: Alphabet,
    features: usize,
    #[serde(default)]
    pair_features: usize,
    certificate: Certificate,
    provenance: Provenance,
}

/// A model file whose structure need not be known: its header can be looked at, and a registry finds its type.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::run::Budget;
/// use dualgap::structure::{Chain, Linear};
/// use dualgap::task::{Plan, RawModel, Task};
/// use dualgap::term::{Penalty, ScalarLoss};
///
/// let data = Examples::from_dense_numbers(&[vec![1.0], vec![2.0]], &[2.0, 4.0])?;
/// let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(0.1));
/// let model = task.fit(&data, Plan::new(Budget::default()))?.model;
/// let raw = RawModel::from_bytes(model.to_bytes()?).unwrap();
/// assert_eq!((raw.structure(), raw.certificate().primal), ("linear", model.certificate.primal));
/// assert_eq!(raw.read::<Linear>().unwrap().weights, model.weights);
/// assert!(raw.read::<Chain>().is_err());
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RawModel {
    bytes: Vec<u8>,
    header: Header,
}

impl RawModel {
    /// Reads a model file as far as it can be understood without its structure.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = read_file(path, 1)?;
        Self::from_bytes(bytes).map_err(|fault| in_file(fault, path))
    }

    /// Reads the bytes of a model file; a fault is a message without the path.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Fault> {
        let mut header: Value = Reader::new(&bytes, &MODEL)?.header()?;
        if header["format_version"] == 1 {
            header = upgrade(&header)?;
        }
        let no_sense = |error| Fault::caused("has a header that makes no sense", error);
        let header: Header = serde_json::from_value(header).map_err(no_sense)?;
        let certificate = header.certificate;
        if !(certificate.primal.is_finite()
            && certificate.dual.is_finite()
            && certificate.rounding_error >= 0.0)
        {
            return Err("has a certificate of numbers that are not finite".into());
        }
        Ok(Self { bytes, header })
    }

    /// The name of the structure.
    pub fn structure(&self) -> &str {
        &self.header.structure
    }

    /// The task as the file has it.
    pub fn task(&self) -> &Value {
        &self.header.task
    }

    /// The certificate that the file claims.
    pub fn certificate(&self) -> &Certificate {
        &self.header.certificate
    }

    /// How the model was made.
    pub fn provenance(&self) -> &Provenance {
        &self.header.provenance
    }

    /// Returns the model of a structure, or a fault if the file is of another one or its tensors do not fit.
    pub fn read<S: Structure>(&self) -> Result<Model<S>, Fault> {
        self.read_for(false)
    }

    /// [`read`](Self::read), where a model that is only `to_predict` may have packed weights.
    pub(super) fn read_for<S: Structure>(&self, to_predict: bool) -> Result<Model<S>, Fault> {
        let Header { structure, task, labels, features, pair_features, certificate, provenance } =
            &self.header;
        if structure != S::NAME {
            return Err(format!(
                "is a model of the structure `{structure}`, and not of `{}`",
                S::NAME
            )
            .into());
        }
        let task: Task<S> = serde_json::from_value(task.clone())
            .map_err(|error| Fault::caused("has a task that makes no sense", error))?;
        let file = Reader::new(&self.bytes, &MODEL)?;
        let all = features.saturating_add(*pair_features);
        let mut names = Names {
            alphabet: labels.clone(),
            features: *features,
            pair_features: *pair_features,
            dictionary: Dictionary::default(),
        };
        let (dictionary, ahead) = if file.has("names.packed") {
            both(|| take_features(&file, all), || weights_ahead(&file, &task, &names, to_predict))
        } else {
            let ahead = to_predict.then(|| weights_ahead(&file, &task, &names, to_predict));
            (take_features(&file, all), ahead.flatten())
        };
        names.dictionary = dictionary?.unwrap_or_default();
        if !names.are_distinct() {
            return Err("has labels that are not distinct, or not as many as its task has".into());
        }
        let structure = task.structure.take(&file, &names)?;
        structure.check(&names)?;
        let task = Task { structure, ..task };
        let (mut weights, mut low_rank, mut support) = (Vec::new(), None, None);
        let mut packed = None;
        if task.penalty.is_low_rank() {
            low_rank =
                Some(factors(&file, task.structure.rows(&names), task.structure.columns(&names))?);
        } else {
            let mut parts = task.structure.layout(&names);
            if file.has("support.examples") {
                let vectors = support.insert(Support::take(&file, names.features)?).len();
                parts.insert(0, ("coefficients", vec![vectors, task.structure.columns(&names)]));
            }
            if let Some(ahead) = ahead {
                (weights, packed) = ahead;
                parts.clear();
            }
            for (name, shape) in parts {
                take_weights(&file, name, &shape, &mut weights)?;
            }
        }
        let n = provenance.examples;
        let has = |name: &str| file.has(name);
        let sample_weights =
            has("sample_weights").then(|| file.f64("sample_weights", &[n])).transpose()?;
        let witness = has("witness.starts").then(|| witness(&file)).transpose()?;
        let method = provenance.method.clone().for_penalty(&task.penalty);
        method.map_err(|error| Fault::caused("names a method that cannot have made it", error))?;
        Ok(Model {
            task,
            names,
            weights,
            low_rank,
            support,
            packed: packed.map(Arc::new),
            certificate: *certificate,
            provenance: provenance.clone(),
            sample_weights,
            witness,
        })
    }
}

impl<S: Structure> Model<S> {
    /// Returns the bytes of the model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let factors = self.low_rank.as_ref().map_or(0, |x| x.u().len() + x.v().len());
        let witness = self.witness.as_ref().map_or(0, |w| 2 * w.keys.len() + w.starts.len());
        // One copy as the bytes of the tensors, one as those of the file.
        let weights = self.weights.len() + factors + witness;
        Need { weights, copies: 2, others: 0 }.check()?;
        let header = Header {
            structure: S::NAME.into(),
            task: serde_json::json!(self.task),
            labels: self.names.alphabet.clone(),
            features: self.names.features,
            pair_features: self.names.pair_features,
            certificate: self.certificate,
            provenance: self.provenance.clone(),
        };
        let arrays = self.arrays();
        let kind = if arrays.iter().any(|(_, _, numbers)| is_quantised(numbers)) {
            MODEL
        } else if is_plain(&arrays, &self.names.dictionary) {
            PLAIN
        } else {
            COMPACT
        };
        let mut writer = Writer::new(&kind, &header);
        self.tensors(&mut |name, tensor| writer.tensor(name, tensor))?;
        writer.to_bytes()
    }

    /// Returns the arrays that the weights consist of, with the names and shapes that they have in the model file.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Multiclass;
    /// use dualgap::task::{Plan, Task};
    /// use dualgap::term::Penalty;
    ///
    /// let data = Examples::from_dense(&[vec![1.0, 0.0], vec![0.0, 1.0]], &["cat", "dog"])?;
    /// let task = Task::new(Multiclass::default(), Penalty::ridge(0.1));
    /// let model = task.fit(&data, Plan::new(Budget::default()))?.model;
    /// let (name, shape, numbers) = &model.arrays()[0];
    /// assert_eq!((*name, &shape[..], *numbers), ("weights", &[2, 2][..], &model.weights[..]));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn arrays(&self) -> Vec<(&'static str, Vec<usize>, &[f64])> {
        if let Some(x) = &self.low_rank {
            let rank = x.rank();
            return vec![
                ("low_rank.u", vec![x.rows(), rank], x.u()),
                ("low_rank.s", vec![rank], x.s()),
                ("low_rank.v", vec![x.columns(), rank], x.v()),
            ];
        }
        let mut parts = self.task.structure.layout(&self.names);
        if let Some(support) = &self.support {
            let columns = self.task.structure.columns(&self.names);
            parts.insert(0, ("coefficients", vec![support.len(), columns]));
        }
        let mut rest = &self.weights[..];
        let split = parts.into_iter().map(|(name, shape)| {
            let part;
            (part, rest) = rest.split_at(shape.iter().product::<usize>().min(rest.len()));
            (name, shape, part)
        });
        split.collect()
    }

    /// Hands over the tensors by name.
    fn tensors(&self, put: &mut dyn FnMut(&str, Tensor)) -> Result<()> {
        if let (Some(support), None) = (&self.support, &self.low_rank) {
            support.put(put);
        }
        for (name, shape, numbers) in self.arrays() {
            put_weights(put, name, &shape, numbers);
        }
        self.task.structure.put(put);
        if !self.names.dictionary.is_empty() {
            put_features(put, &self.names.dictionary)?;
        }
        if let Some(weights) = &self.sample_weights {
            put("sample_weights", Tensor::f64(&[weights.len()], weights));
        }
        if let Some(witness) = &self.witness {
            put("witness.starts", Tensor::u64(&witness.starts));
            put("witness.keys", Tensor::u64(&witness.keys));
            put("witness.weights", Tensor::f64(&[witness.weights.len()], &witness.weights));
            if !witness.outputs.is_empty() {
                put("witness.outputs", Tensor::bytes(witness.outputs.clone()));
            }
        }
        Ok(())
    }

    /// Writes the model file atomically.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_atomically(path, &self.to_bytes()?)
    }

    /// Reads a model file of this structure.
    pub fn load(path: &Path) -> Result<Self> {
        RawModel::open(path)?.read().map_err(|fault| in_file(fault, path))
    }

    /// Reads the bytes of a model file; a fault is a message without the path.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        RawModel::from_bytes(bytes.to_vec())?.read()
    }
}

/// Returns the error for a file that is no model, or a damaged one.
pub(super) fn in_file(fault: Fault, path: &Path) -> crate::Error {
    let remedy = if CHECKPOINT.is_that_of(path) {
        &format!("a run that goes on from it ({}) saves the model", Setting::Resume)
    } else {
        "the file is damaged, was altered, or is no dualgap model (which comes before the data)"
    };
    fault.in_file(path, remedy)
}

/// Reads the weights of a model whose names are unpacked at the same time, if nothing about them depends on these. Of one that
/// is only `to_predict` some may be packed. Faults are found again, and told, when they are read without this.
fn weights_ahead<S: Structure>(
    file: &Reader<'_>,
    task: &Task<S>,
    unnamed: &Names,
    to_predict: bool,
) -> Option<(Vec<f64>, Option<PackedRows>)> {
    let plain = !task.penalty.is_low_rank() && !file.has("support.examples");
    if !plain || !unnamed.are_distinct() {
        return None;
    }
    let structure = task.structure.clone().take(file, unnamed).ok()?;
    structure.check(unnamed).ok()?;
    let (mut weights, mut packed) = (Vec::new(), None);
    let packs = structure.packs().filter(|_| to_predict);
    for (name, shape) in structure.layout(unnamed) {
        if packs == Some(name) {
            packed = take_packed(file, name, &shape).ok()?;
            if packed.is_some() {
                continue;
            }
        }
        take_weights(file, name, &shape, &mut weights).ok()?;
    }
    Some((weights, packed))
}

/// Reads weights in factors. It does not expand them: the matrix could need far more memory than the file.
fn factors(file: &Reader<'_>, rows: usize, columns: usize) -> Result<LowRank, Fault> {
    let rank = file.side("low_rank.s").unwrap_or(0);
    let s = file.f64("low_rank.s", &[rank])?;
    let factor = |name: &str, rows: usize| {
        let mut numbers = Vec::new();
        take_weights(file, name, &[rows, rank], &mut numbers).map(|()| numbers)
    };
    let (u, v) = (factor("low_rank.u", rows)?, factor("low_rank.v", columns)?);
    LowRank::new(rows, columns, u, s, v).map_err(|error| Fault::caused("has factors", error))
}

fn witness(file: &Reader<'_>) -> Result<Witness, Fault> {
    let (starts, keys) = (file.u64("witness.starts")?, file.u64("witness.keys")?);
    let weights = file.f64("witness.weights", &[keys.len()])?;
    let has_outputs = file.has("witness.outputs");
    let outputs = if has_outputs { file.bytes("witness.outputs")?.to_vec() } else { Vec::new() };
    Ok(Witness { starts, keys, weights, outputs })
}
