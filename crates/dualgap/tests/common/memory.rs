//! The memory of the engine and of its rounds as they are stored, with nothing that would keep them honest.

use dualgap::dual::{Average, Sampling};
use dualgap::linalg::{Measured, Random};
use serde::{Deserialize, Serialize};

/// The engine's.
#[derive(Clone, Serialize, Deserialize)]
pub struct State<P> {
    pub steps: u64,
    pub tidied: u64,
    pub order: Order,
    pub recall: Option<Recall>,
    /// The length of lanes, the visits to wait and the passes to wait next.
    pub lanes: Option<(u64, u64, u64)>,
    pub v: Vec<f64>,
    pub coupling: [f64; 2],
    pub points: Vec<P>,
    pub averages: Option<Averages<P>>,
    pub best: Best<P>,
    pub outlook: Option<Outlook>,
}

/// Gaps and losses that visits have seen.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Outlook {
    pub now: (f64, f64),
    pub visits: usize,
    pub last: Option<(f64, f64)>,
    pub left: f64,
    pub dual: Option<f64>,
    pub stride: usize,
    pub turn: usize,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Order {
    pub sampling: Sampling,
    pub random: Random,
    pub blocks: usize,
    pub sequence: Vec<usize>,
    pub next: usize,
    pub sleep: Option<Sleep>,
    pub gaps: Option<(Vec<f64>, usize)>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Recall {
    pub cached: bool,
    pub left: u64,
    pub lap: (f64, f64),
    pub pass: (f64, f64),
    pub passes: u32,
    pub asked: f64,
    pub known: f64,
    pub wait: u32,
    pub next_wait: u32,
    pub depth: u32,
    pub first: (f64, f64),
    pub further: (f64, f64),
    pub visits: u64,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Sleep {
    pub round: u64,
    pub idle: Vec<u8>,
    pub back: Vec<Vec<usize>>,
    pub waiting: Vec<usize>,
    pub reach: u8,
    pub again: u64,
    pub awake: u64,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Averages<P> {
    pub kind: Average,
    pub points: Vec<P>,
    pub covered: Vec<u64>,
    pub drawn: Option<(Random, u64)>,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Best<P> {
    pub primal: Option<(Measured, bool, Vec<f64>)>,
    pub dual: Measured,
    pub points: Option<Vec<P>>,
}

/// That of the engine around a centre, in rounds.
#[derive(Clone, Serialize, Deserialize)]
pub struct Rounds<P> {
    pub engine: State<P>,
    pub offset: Vec<f64>,
    pub kappa: f64,
    pub quiet: u32,
    pub best: Best<P>,
    pub memory: Memory,
}

/// What rounds remember beside that.
#[derive(Clone, Serialize, Deserialize)]
pub struct Memory {
    pub accelerated: bool,
    pub gained: f64,
    pub last: Vec<f64>,
    pub passes: u64,
    pub left: u64,
    pub calls: u64,
    pub changes: Vec<u64>,
    pub primal: f64,
    pub trial: Option<Trial>,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Trial {
    pub seen: Option<(u64, f64)>,
    pub window: f64,
    pub floor: f64,
    pub rival: Option<f64>,
}
