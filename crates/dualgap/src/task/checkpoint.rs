//! Checkpoints: the state of a run in a file, from which it resumes bit for bit.
//!
//! ```text
//! dualgap checkpoint 1          a line that says what the file is
//! {"seal": …, "header": {…}}    a line: which run it is, where its loop stands, the digest of what follows
//! …                             the engine's memory
//! ```
//!
//! A checkpoint belongs to the program that wrote it and to one run: the data, the problem and everything that
//! decides the iterates must be the same. Tolerances and limits may differ, and a run that has ended at its limit
//! can resume with a larger one. The program writes the new checkpoint to `FILE.part` and then renames it, so a run
//! that is killed leaves the previous checkpoint intact. A lock on `FILE.lock` prevents two runs from writing the
//! same file.

use super::{Model, Structure};
use crate::data::lock::{FileLock, Taken};
use crate::data::temporary::Temporary;
use crate::data::{Dictionary, Digest};
use crate::dual::Settings;
use crate::linalg::memory::reserve_check;
use crate::run::{Budget, Checkpoint, CheckpointSink, RunState};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

pub(super) const MAGIC: &str = "dualgap checkpoint 1";

/// Where and how often a run writes checkpoints.
///
/// ```
/// # use dualgap::model::Checkpoints;
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
    /// # use dualgap::model::Checkpoints;
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
        let mut head = [0; MAGIC.len()];
        File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
            && head == MAGIC.as_bytes()
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    identity: Identity,
    run: RunState,
    digest: String,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    seal: String,
    header: Box<RawValue>,
}

/// What must be equal for a run to resume: everything that decides its iterates, as names and values. The first
/// difference is the one that is reported, so the most basic entries come first.
pub(super) type Identity = Vec<(String, Value)>;

pub(super) fn identity(untrained: &Model, settings: &Settings, budget: &Budget) -> Identity {
    let (task, loss) = match &untrained.structure {
        Structure::Multiclass { costs, loss } => {
            let costs = costs.as_ref().map_or("0/1".into(), |costs| numbers(costs));
            ("multiclass", format!("{} {costs}", json!(loss)))
        }
        Structure::Chain { hamming } => ("chain", format!("{hamming:?}").to_lowercase()),
        Structure::Linear { loss } => ("linear", json!(loss).to_string()),
        Structure::MultiLabel { loss } => ("multilabel", json!(loss).to_string()),
        Structure::MultiOutput { loss } => ("multioutput", json!(loss).to_string()),
        Structure::Completion { loss, .. } => ("completion", json!(loss).to_string()),
    };
    let within = untrained.provenance.ball;
    let Settings {
        lambda,
        regulariser,
        method,
        step,
        sampling,
        shrinking,
        acceleration,
        direction,
        cache,
        average,
        batch,
        threads: _,
        seed,
        sample_weights,
    } = settings;
    let entries = [
        ("program", json!(untrained.provenance.program)),
        ("task", json!(task)),
        ("data", json!(untrained.provenance.fingerprint)),
        ("list of labels", json!(untrained.alphabet)),
        ("loss", json!(loss)),
        ("scale", json!(untrained.provenance.scale)),
        ("ball", json!(within.map(|within| within.ball))),
        (if within.is_some() { "mu" } else { "lambda" }, json!(lambda)),
        ("regulariser", json!(regulariser)),
        ("method", json!(within.map(|within| within.method))),
        ("steps", json!(within.map(|within| within.steps))),
        ("solver", json!(method)),
        ("step", json!(step)),
        ("option", json!(untrained.provenance.option)),
        ("sampling", json!(sampling)),
        ("shrinking", json!(shrinking)),
        ("acceleration", json!(acceleration)),
        ("direction", json!(direction)),
        ("cache", json!(cache)),
        ("average", json!(average)),
        ("batch", json!(batch)),
        ("seed", json!(seed)),
        ("share of certification", json!(budget.certify_share)),
        ("sample weights", json!(sample_weights.as_ref().map(|weights| numbers(weights)))),
    ];
    let mut entries = entries.map(|(name, value)| (name.to_string(), value)).to_vec();
    if let Structure::Completion { items, centre, .. } = &untrained.structure {
        // The order of the names decides the order of rows and columns, and some names may have no rating.
        entries.push(("centre".into(), json!(centre.centring)));
        entries.push(("list of users".into(), json!(names(&untrained.dictionary))));
        entries.push(("list of items".into(), json!(names(items))));
    }
    entries
}

fn names(dictionary: &Dictionary) -> String {
    let mut digest = Digest::default();
    dictionary.names().for_each(|name| digest.text(name));
    digest.hex()
}

fn numbers(values: &[f64]) -> String {
    Digest::of(&values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
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
        let identity = self.identity.clone();
        let header = Header { identity, run, digest: Digest::of(&solver) };
        let unwritable =
            |error| Error::setting(format!("the checkpoint cannot be written: {error}"));
        let header = serde_json::value::to_raw_value(&header).map_err(unwritable)?;
        let sealed = Sealed { seal: Digest::of(header.get().as_bytes()), header };
        let sealed = serde_json::to_string(&sealed).map_err(unwritable)?;
        let mut bytes = format!("{MAGIC}\n{sealed}\n").into_bytes();
        bytes.extend(solver);
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

/// The checkpoint that a run resumes from, if any, and the file that it writes its own to, if any.
pub(super) type Survival = (Option<Checkpoint>, Option<CheckpointFile>);

/// Loads the checkpoint to resume from and opens the file for new ones, as far as the plan names them.
pub(super) fn survival(
    identity: Identity,
    checkpoints: Option<Checkpoints>,
    resume: Option<&Path>,
) -> Result<Survival> {
    let from = resume.map(|path| load(path, &identity)).transpose()?;
    let file = checkpoints.map(|checkpoints| CheckpointFile::new(checkpoints, identity));
    Ok((from, file.transpose()?))
}

/// Loads the state of the loop and of the engine, or returns an error if the file belongs to another run.
pub(super) fn load(path: &Path, identity: &Identity) -> Result<Checkpoint> {
    let bytes = Model::read_file(path)?;
    // The engine's state is copied, and then parsed into numbers.
    reserve_check(bytes.len() / 4).map_err(|error| {
        Error::file(path, error.to_string(), error.remedy().unwrap_or_default())
    })?;
    let broken = |message: String| {
        Error::file(path, message, "name a checkpoint of this program, or begin anew without it")
    };
    let (sealed, engine) =
        parts(&bytes).ok_or_else(|| broken("is not a dualgap checkpoint".into()))?;
    let sealed: Sealed = serde_json::from_str(sealed)
        .map_err(|error| broken(format!("has a header that makes no sense: {error}")))?;
    if Digest::of(sealed.header.get().as_bytes()) != sealed.seal {
        return Err(broken("has a header that was altered: its seal does not fit".into()));
    }
    let header: Header = serde_json::from_str(sealed.header.get())
        .map_err(|error| broken(format!("has a header that makes no sense: {error}")))?;
    if Digest::of(engine) != header.digest {
        return Err(broken("is damaged: its digest does not fit".into()));
    }
    for (name, here) in identity {
        let there = header.identity.iter().find(|(other, _)| other == name).map(|(_, value)| value);
        if there != Some(here) {
            let there = there.unwrap_or(&Value::Null);
            return Err(Error::file(
                path,
                format!("is of another run: its {name} is {there}, and here it is {here}"),
                "give the data and the options of that run; only tolerances and limits may differ",
            ));
        }
    }
    Ok(Checkpoint { run: header.run, solver: engine.to_vec() })
}

/// Splits a checkpoint into the line of its header and the bytes of the engine's state.
fn parts(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC.as_bytes())?.strip_prefix(b"\n")?;
    let end = rest.iter().position(|&byte| byte == b'\n')?;
    Some((std::str::from_utf8(&rest[..end]).ok()?, &rest[end + 1..]))
}
