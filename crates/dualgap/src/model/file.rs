//! The model file: a safetensors file whose metadata describe what the tensors mean.
//!
//! ```text
//! tensors   multiclass   weights [F, K], costs [K, K]?
//!           multilabel   weights [F, K]
//!           multioutput  weights [F, K]
//!           low rank     low_rank.u [F, k], low_rank.s [k], low_rank.v [K, k] in the place of weights
//!           linear       weights [F]
//!           completion   low_rank.u [F, k], low_rank.s [k], low_rank.v [I, k], items.text [bytes], items.ends [I], centre.users [F]?, centre.items [I]?
//!           chain        emissions [F, K], start [K], end [K], transitions [K, K], pairs [E, K, K]?
//!           all          names.text [bytes]?, names.ends [F + E]?, sample_weights [n]?, witness.starts [n + 1]?, witness.keys [m]?, witness.weights [m]?
//! metadata  dualgap      {"seal": SHA-256 of the header's text, "header": {…}}
//! ```
//!
//! The header has the format version, the task, labels, loss, settings, data recipe and fingerprint, the
//! certificate, and the SHA-256 of every tensor. Numbers are 64 bits, little-endian.
//!
//! **Compatibility.** A program reads every format version up to its own. Within a version, fields and tensors may
//! be added, and a program ignores those that it does not know; whatever would change the meaning of a file raises
//! the version, and a program refuses a version that it does not know.
//!
//! **Safety.** A file from a stranger is data and nothing else. The program refuses a file that is cut off, whose
//! header lies about sizes, or in which a tensor is missing, comes twice, has another shape or another digest than the
//! header says, or has a number that is not finite; it allocates memory only in proportion to the file.

use super::checkpoint::CHECKPOINT;
use super::{Centre, Centring, InBall, Model, Provenance, Structure};
use crate::Result;
use crate::container::{Fault, Form, Kind, Reader, Tensor, Writer, read_file, write_atomically};
use crate::data::{Alphabet, Dictionary, TargetKind};
use crate::dual::Witness;
use crate::linalg::memory::{Need, reserve_check};
use crate::linalg::{LowRank, Operator};
use crate::run::Certificate;
use crate::structure::Hamming;
use crate::structure::chain::Layout;
use crate::term::{MulticlassLoss, ScalarLoss};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

/// The version that this program writes.
pub const FORMAT_VERSION: u32 = 1;

const MODEL: Kind =
    Kind { name: "model", form: Form::Tensors { main: true }, oldest: 1, version: FORMAT_VERSION };

#[derive(Serialize, Deserialize)]
struct Header {
    task: Task,
    labels: Alphabet,
    features: usize,
    #[serde(default)]
    pair_features: usize,
    certificate: Certificate,
    provenance: Provenance,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
enum Task {
    Multiclass {
        #[serde(default)]
        loss: MulticlassLoss,
    },
    Chain {
        hamming: Hamming,
    },
    Linear {
        loss: ScalarLoss,
    },
    #[serde(rename = "multilabel")]
    MultiLabel {
        loss: ScalarLoss,
    },
    #[serde(rename = "multioutput")]
    MultiOutput {
        loss: ScalarLoss,
    },
    Completion {
        loss: ScalarLoss,
        centre: Centring,
        mean: f64,
    },
}

impl Model {
    /// Returns the bytes of the model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let factors = self.low_rank.as_ref().map_or(0, |x| x.u().len() + x.v().len());
        let witness = self.witness.as_ref().map_or(0, |w| 2 * w.keys.len() + w.starts.len());
        // One copy as the bytes of the tensors, one as those of the file.
        let weights = self.weights.len() + factors + witness;
        Need { weights, copies: 2, others: 0 }.check()?;
        let header = Header {
            task: match &self.structure {
                &Structure::Multiclass { loss, .. } => Task::Multiclass { loss },
                &Structure::Chain { hamming } => Task::Chain { hamming },
                &Structure::Linear { loss } => Task::Linear { loss },
                &Structure::MultiLabel { loss } => Task::MultiLabel { loss },
                &Structure::MultiOutput { loss } => Task::MultiOutput { loss },
                Structure::Completion { loss, centre, .. } => {
                    Task::Completion { loss: *loss, centre: centre.centring, mean: centre.mean }
                }
            },
            labels: self.alphabet.clone(),
            features: self.features,
            pair_features: self.pair_features,
            certificate: self.certificate,
            provenance: self.provenance.clone(),
        };
        let mut writer = Writer::new(&MODEL, &header);
        self.tensors(&mut |name, tensor| writer.tensor(name, tensor));
        writer.to_bytes()
    }

    /// Hands over the tensors by name.
    fn tensors(&self, put: &mut impl FnMut(&str, Tensor)) {
        let (f, k, w) = (self.features, self.alphabet.len(), &self.weights);
        match &self.structure {
            Structure::Completion { items, centre, .. } => {
                if let Some(x) = &self.low_rank {
                    put_factors(put, x);
                }
                put_names(put, "items", items);
                if centre.centring == Centring::Effects {
                    put("centre.users", Tensor::f64(&[centre.users.len()], &centre.users));
                    put("centre.items", Tensor::f64(&[centre.items.len()], &centre.items));
                }
            }
            Structure::Multiclass { .. }
            | Structure::MultiLabel { .. }
            | Structure::MultiOutput { .. } => {
                if let Some(x) = &self.low_rank {
                    put_factors(put, x);
                } else {
                    put("weights", Tensor::f64(&[f, k], w));
                }
                if let Structure::Multiclass { costs: Some(costs), .. } = &self.structure {
                    put("costs", Tensor::f64(&[k, k], costs));
                }
            }
            Structure::Linear { .. } => {
                put("weights", Tensor::f64(&[f], w));
            }
            Structure::Chain { .. } => {
                let layout = self.layout();
                put("emissions", Tensor::f64(&[f, k], &w[..f * k]));
                put("start", Tensor::f64(&[k], &w[layout.start()]));
                put("end", Tensor::f64(&[k], &w[layout.end()]));
                put("transitions", Tensor::f64(&[k, k], &w[layout.transitions()]));
                if self.pair_features > 0 {
                    put("pairs", Tensor::f64(&[self.pair_features, k, k], &w[layout.pairs()]));
                }
            }
        }
        if !self.dictionary.is_empty() {
            put_names(put, "names", &self.dictionary);
        }
        if let Some(weights) = &self.sample_weights {
            put("sample_weights", Tensor::f64(&[weights.len()], weights));
        }
        if let Some(witness) = &self.witness {
            put("witness.starts", Tensor::u64(&witness.starts));
            put("witness.keys", Tensor::u64(&witness.keys));
            put("witness.weights", Tensor::f64(&[witness.weights.len()], &witness.weights));
        }
    }

    /// Writes the model file atomically.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_atomically(path, &self.to_bytes()?)
    }

    /// Reads a model file.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = read_file(path, 1)?;
        Self::from_bytes(&bytes).map_err(|fault| {
            let remedy = if CHECKPOINT.is_that_of(path) {
                "a run that goes on from it (--resume) saves the model with -o"
            } else {
                "the file is damaged, was altered, or is no dualgap model (which comes before the data)"
            };
            fault.in_file(path, remedy)
        })
    }

    /// Reads the bytes of a model file; a fault is a message without the path.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        let file = Reader::new(bytes, &MODEL)?;
        Reading { header: &file.header()?, file }.model()
    }
}

/// Writes the tensors of weights in factors.
fn put_factors(put: &mut impl FnMut(&str, Tensor), x: &LowRank) {
    let rank = x.rank();
    put("low_rank.u", Tensor::f64(&[x.rows(), rank], x.u()));
    put("low_rank.s", Tensor::f64(&[rank], x.s()));
    put("low_rank.v", Tensor::f64(&[x.columns(), rank], x.v()));
}

/// Writes the concatenated names, and the end of each.
fn put_names(put: &mut impl FnMut(&str, Tensor), name: &str, names: &Dictionary) {
    let text: String = names.names().collect();
    let ends = names.names().scan(0, |end, name| {
        *end += name.len() as u64;
        Some(*end)
    });
    put(&format!("{name}.ends"), Tensor::u64(&ends.collect::<Vec<_>>()));
    put(&format!("{name}.text"), Tensor::bytes(text.into_bytes()));
}

/// A file being read, checked against its header.
struct Reading<'a> {
    file: Reader<'a>,
    header: &'a Header,
}

impl Reading<'_> {
    /// Returns the provenance, with a correction for older files: their recipes gave the target of models of numbers
    /// as a class.
    fn provenance(&self) -> Provenance {
        let mut provenance = self.header.provenance.clone();
        if let (Task::Linear { loss }, Some(recipe)) = (&self.header.task, &mut provenance.recipe)
            && !loss.is_binary()
            && recipe.target == TargetKind::Class
        {
            recipe.target = TargetKind::Number;
        }
        provenance
    }

    fn model(&self) -> Result<Model, Fault> {
        let Header { task, labels, features, pair_features, certificate, provenance, .. } =
            self.header;
        let (f, e, k) = (*features, *pair_features, labels.len());
        let expected = match *task {
            Task::Linear { loss } if !loss.is_binary() => k == 0,
            Task::Completion { .. } => k == 0,
            Task::Linear { .. } => k == 2,
            Task::Multiclass { .. } | Task::Chain { .. } => k > 0,
            Task::MultiLabel { .. } | Task::MultiOutput { .. } => k > 1,
        };
        let distinct = labels.names().iter().collect::<HashSet<_>>().len() == k;
        if !distinct || !expected {
            return Err("has labels that are not distinct, or not as many as its task has".into());
        }
        if !(certificate.primal.is_finite()
            && certificate.dual.is_finite()
            && certificate.rounding_error >= 0.0)
        {
            return Err("has a certificate of numbers that are not finite".into());
        }
        let several = matches!(
            task,
            Task::Multiclass { .. } | Task::MultiLabel { .. } | Task::MultiOutput { .. }
        );
        let in_factors = several && provenance.ball.is_some_and(InBall::is_trace);
        let mut low_rank = in_factors.then(|| self.low_rank(f, k)).transpose()?;
        let matrix = || if in_factors { Ok(Vec::new()) } else { self.floats("weights", &[f, k]) };
        let (structure, weights) = match *task {
            Task::Multiclass { loss } => {
                loss.check()?;
                let costs = self.has("costs").then(|| self.floats("costs", &[k, k])).transpose()?;
                (Structure::Multiclass { costs, loss }, matrix()?)
            }
            Task::MultiLabel { loss } => {
                loss.check_width()?;
                if !loss.is_binary() {
                    return Err("has a loss of numbers, and labels are there or not".into());
                }
                (Structure::MultiLabel { loss }, matrix()?)
            }
            Task::MultiOutput { loss } => {
                loss.check_width()?;
                if loss.is_binary() {
                    return Err("has a loss of two classes, and outputs are numbers".into());
                }
                (Structure::MultiOutput { loss }, matrix()?)
            }
            Task::Linear { loss } => {
                loss.check_width()?;
                (Structure::Linear { loss }, self.floats("weights", &[f])?)
            }
            Task::Completion { loss, centre, mean } => {
                loss.check_width()?;
                let items = self.dictionary("items", None)?;
                low_rank = Some(self.low_rank(f, items.len())?);
                let centre = self.centre(centre, mean, f, items.len())?;
                (Structure::Completion { loss, items, centre }, Vec::new())
            }
            Task::Chain { hamming } => {
                Layout::new(f, k)?;
                let mut weights = self.floats("emissions", &[f, k])?;
                let mut others = vec![
                    self.floats("start", &[k])?,
                    self.floats("end", &[k])?,
                    self.floats("transitions", &[k, k])?,
                ];
                if e > 0 {
                    others.push(self.floats("pairs", &[e, k, k])?);
                }
                let count = others.iter().map(Vec::len).sum();
                weights.try_reserve_exact(count).map_err(|_| "has no room in memory")?;
                others.iter().for_each(|part| weights.extend_from_slice(part));
                (Structure::Chain { hamming }, weights)
            }
        };
        let n = provenance.examples;
        let sample_weights =
            self.has("sample_weights").then(|| self.floats("sample_weights", &[n])).transpose()?;
        let witness = self.has("witness.starts").then(|| self.witness()).transpose()?;
        let named = self.has("names.text") || matches!(task, Task::Completion { .. });
        let dictionary = if named {
            self.dictionary("names", Some(f.saturating_add(e)))?
        } else {
            Dictionary::default()
        };
        Ok(Model {
            structure,
            alphabet: labels.clone(),
            features: f,
            pair_features: e,
            dictionary,
            weights,
            low_rank,
            certificate: *certificate,
            provenance: self.provenance(),
            sample_weights,
            witness,
        })
    }

    /// Reads weights in factors. It does not expand them: the matrix could need far more memory than the file.
    fn low_rank(&self, features: usize, labels: usize) -> Result<LowRank, Fault> {
        let rank = self.file.side("low_rank.s").unwrap_or(0);
        let s = self.floats("low_rank.s", &[rank])?;
        let u = self.floats("low_rank.u", &[features, rank])?;
        let v = self.floats("low_rank.v", &[labels, rank])?;
        LowRank::new(features, labels, u, s, v).map_err(|error| Fault::caused("has factors", error))
    }

    /// Reads the centre of the ratings.
    fn centre(
        &self,
        centring: Centring,
        mean: f64,
        users: usize,
        items: usize,
    ) -> Result<Centre, Fault> {
        let (users, items) = match centring {
            Centring::Effects => {
                (self.floats("centre.users", &[users])?, self.floats("centre.items", &[items])?)
            }
            Centring::None | Centring::Mean => (Vec::new(), Vec::new()),
        };
        Ok(Centre { centring, mean, users, items })
    }

    /// Reads distinct names, `count` of them if that is given.
    fn dictionary(&self, which: &str, count: Option<usize>) -> Result<Dictionary, Fault> {
        let text = std::str::from_utf8(self.file.bytes(&format!("{which}.text"))?)
            .map_err(|error| Fault::caused(&format!("has {which} that are no text"), error))?;
        let ends = self.file.u64(&format!("{which}.ends"))?;
        // Each name needs its text, its place in a table, and its hash.
        reserve_check(12 * ends.len())?;
        let (mut start, count) = (0, count.unwrap_or(ends.len()));
        let names: Option<Vec<&str>> = ends
            .into_iter()
            .map(|end| {
                let end = usize::try_from(end).ok()?;
                text.get(std::mem::replace(&mut start, end)..end)
            })
            .collect();
        let dictionary: Dictionary = names.unwrap_or_default().into_iter().collect();
        if dictionary.len() != count || start != text.len() {
            let of = if which == "names" { "features" } else { which };
            return Err(format!("does not have distinct names for its {count} {of}").into());
        }
        Ok(dictionary)
    }

    fn witness(&self) -> Result<Witness, Fault> {
        let (starts, keys) = (self.file.u64("witness.starts")?, self.file.u64("witness.keys")?);
        let weights = self.floats("witness.weights", &[keys.len()])?;
        Ok(Witness { starts, keys, weights })
    }

    fn has(&self, name: &str) -> bool {
        self.file.has(name)
    }

    fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>, Fault> {
        self.file.f64(name, shape)
    }
}
