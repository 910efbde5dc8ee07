//! Checkpoints: the state of a run in a file, from which it resumes bit for bit.
//!
//! The file is a sealed container: its header says which run it is and where its loop stands, and its tensor `solver` is
//! the engine's memory.
//!
//! A checkpoint belongs to the program that wrote it and to one run: the data, the problem and everything that
//! decides the iterates must be the same. Tolerances and limits may differ, and a run that has ended at its limit
//! can resume with a larger one. The program writes the new checkpoint to `FILE.part` and then renames it, so a run
//! that is killed leaves the previous checkpoint intact. A lock on `FILE.lock` prevents two runs from writing the
//! same file.

use super::Model;
use crate::container::temporary::Temporary;
use crate::container::{Digest, Fault, Form, Kind, Reader, Tensor, Writer, read_file};
use crate::data::Dictionary;
use crate::data::lock::{FileLock, Taken};
use crate::run::{Budget, Checkpoint, CheckpointSink, RunState};
use crate::structure::Structure;
use crate::structure::words::digest;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Version 1 was another file format.
pub(super) const CHECKPOINT: Kind =
    Kind { name: "checkpoint", form: Form::Tensors { main: false }, oldest: 7, version: 7 };

/// Where and how often a run writes checkpoints.
///
/// ```
/// # use dualgap::task::Checkpoints;
/// let checkpoints = Checkpoints { file: "run.checkpoint".into(), every: 5.0 };
/// assert_eq!(checkpoints.every, 5.0); // passes
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoints {
    /// The file; each checkpoint replaces the one before.
    pub file: PathBuf,
    /// The number of passes between two checkpoints.
    pub every: f64,
}

impl Checkpoints {
    /// Prevents other runs, in this process and in others, from writing to the same file for as long as the lock is
    /// held. Training takes this lock itself, so the caller must drop it before.
    ///
    /// ```
    /// # use dualgap::task::Checkpoints;
    /// # let folder = tempfile::tempdir().unwrap();
    /// let checkpoints = Checkpoints { file: folder.path().join("run.ck"), every: 1.0 };
    /// let lock = checkpoints.lock()?;
    /// assert!(checkpoints.lock().unwrap_err().to_string().contains("another run"));
    /// drop(lock);
    /// assert!(checkpoints.lock().is_ok());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn lock(&self) -> Result<FileLock> {
        let place = self.place();
        match FileLock::take(&beside(&place, ".lock")) {
            Ok(Taken::Here(lock)) => Ok(lock),
            Ok(Taken::Elsewhere(holder)) => {
                let by = holder.map_or(String::new(), |process| format!(" (process {process})"));
                Err(Error::file(
                    &self.file,
                    format!("another run{by} is writing its checkpoints there"),
                    "name another file, or wait until that run has ended",
                ))
            }
            Err(error) => Err(Error::file(
                &self.file,
                format!("cannot be written: {error}"),
                "does the folder exist, and may you write there?",
            )),
        }
    }

    /// The file itself if the path is a link to it.
    fn place(&self) -> PathBuf {
        std::fs::canonicalize(&self.file).unwrap_or_else(|_| self.file.clone())
    }

    /// Whether a file begins like a checkpoint.
    pub fn is_one(path: &Path) -> bool {
        CHECKPOINT.is_that_of(path)
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    identity: Identity,
    run: RunState,
}

/// What must be equal for a run to resume: everything that decides its iterates, as names and values. The first
/// difference is the one that is reported, so the most basic entries come first.
pub(super) type Identity = Vec<(String, Value)>;

pub(super) fn identity<S: Structure>(untrained: &Model<S>, budget: &Budget) -> Identity {
    let Model { task, names, provenance, sample_weights, .. } = untrained;
    let mut entries: Identity = vec![
        ("program".into(), json!(provenance.program)),
        ("task".into(), json!(S::NAME)),
        ("data".into(), json!(provenance.fingerprint)),
        ("list of labels".into(), json!(names.alphabet)),
    ];
    entries.extend(fields("structure", &task.structure));
    task.structure.put(&mut |name, tensor| entries.push((name.into(), json!(tensor.digest()))));
    entries.push(("scale".into(), json!(task.scaling)));
    entries.push(("class weights".into(), json!(task.class_weights)));
    entries.extend(fields("penalty", &task.penalty));
    entries.extend(fields("method", &provenance.method));
    entries.push(("share of certification".into(), json!(budget.certify_share)));
    let weights = sample_weights.as_ref().map(|weights| digest(weights));
    entries.push(("sample weights".into(), json!(weights)));
    // The order of the names decides the order of rows where they are users.
    entries.push(("list of features".into(), json!(listed(&names.dictionary))));
    entries
}

/// Returns the fields of a value by name. What tells its kind comes first, by the name of the whole: values of two kinds
/// differ in that before they differ in their numbers.
fn fields(whole: &str, value: &impl Serialize) -> Identity {
    let Value::Object(mut fields) = json!(value) else {
        return vec![(whole.to_string(), json!(value))];
    };
    let kinds = [("name", whole), ("family", "family of solvers"), ("solver", "solver")];
    let kinds = kinds.map(|(name, told)| Some((told.to_string(), fields.remove(name)?)));
    kinds.into_iter().flatten().chain(fields).collect()
}

fn listed(dictionary: &Dictionary) -> String {
    let mut digest = Digest::default();
    dictionary.names().for_each(|name| digest.text(name));
    digest.hex()
}

/// Returns the path with `ending` appended to the file name.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_os_string();
    name.push(ending);
    name.into()
}

/// The file that a run writes its checkpoints to, locked.
pub(super) struct CheckpointFile {
    checkpoints: Checkpoints,
    identity: Identity,
    _lock: FileLock,
}

impl CheckpointFile {
    pub fn new(mut checkpoints: Checkpoints, identity: Identity) -> Result<Self> {
        if !(checkpoints.every > 0.0 && checkpoints.every.is_finite()) {
            let every = checkpoints.every;
            return Err(Error::setting(format!("no checkpoint can come every {every} passes")));
        }
        let lock = checkpoints.lock()?;
        checkpoints.file = checkpoints.place();
        Ok(Self { checkpoints, identity, _lock: lock })
    }
}

impl CheckpointSink for CheckpointFile {
    fn interval(&self, calls_per_pass: u64) -> u64 {
        // The cast saturates: a float that is too large becomes the largest `u64`.
        (self.checkpoints.every * calls_per_pass as f64).ceil() as u64
    }

    fn store(&mut self, checkpoint: Checkpoint) -> Result<()> {
        let Checkpoint { run, solver } = checkpoint;
        let header = Header { identity: self.identity.clone(), run };
        let mut writer = Writer::new(&CHECKPOINT, &header);
        writer.tensor("solver", Tensor::bytes(solver));
        let bytes = writer.to_bytes()?;
        // The name is always the same: a run that is killed here leaves one such file, and the next run overwrites
        // it.
        let file = &self.checkpoints.file;
        let part = beside(file, ".part");
        let write = || -> std::io::Result<()> {
            let (mut out, temporary) = Temporary::make(|| File::create(&part), |_| part.clone())?;
            out.write_all(&bytes)?;
            out.sync_all()?;
            temporary.settle(|| std::fs::rename(&part, file))
        };
        write().map_err(|error| {
            // A partial checkpoint is useless, and the disk may be full.
            let _ = std::fs::remove_file(&part);
            let message = format!("cannot be written: {error}");
            Error::file(file, message, "is there space, and may you write there?")
        })
    }
}

/// Loads the state of the loop and of the engine, or returns an error if the file belongs to another run.
pub(super) fn load(path: &Path, identity: &Identity) -> Result<Checkpoint> {
    // The engine's state is copied, and then parsed into numbers.
    let bytes = read_file(path, 2)?;
    let parts = || {
        let file = Reader::new(&bytes, &CHECKPOINT)?;
        Ok((file.header::<Header>()?, file.bytes("solver")?))
    };
    let (header, solver) = parts().map_err(|fault: Fault| {
        fault.in_file(path, "name a checkpoint of this program, or begin anew without it")
    })?;
    let value = |of: &Identity, name: &str| {
        let entry = of.iter().find(|(other, _)| other == name);
        entry.map_or(Value::Null, |(_, value)| value.clone())
    };
    // What only one of the two has, such as a matrix of costs, is a difference, too.
    for (name, _) in identity.iter().chain(&header.identity) {
        let (there, here) = (value(&header.identity, name), value(identity, name));
        if there != here {
            return Err(Error::file(
                path,
                format!("is of another run: its {name} is {there}, and here it is {here}"),
                "give the data and the options of that run; only tolerances and limits may differ",
            ));
        }
    }
    Ok(Checkpoint { run: header.run, solver: solver.to_vec() })
}
