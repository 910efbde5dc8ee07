//! The course of the rounds: where the weights are, how far a round goes, and around which centre the next one is.
//!
//! Shards that hold different examples of the same columns disagree about them, and the disagreement shrinks by a factor of only
//! `1 − λ/s` a round, s the variance of the columns. So the rounds are those of the proximal point method
//! ([`proximal_point`](crate::dual)): with λ' = λ + κ they raise the dual of
//!
//! ```text
//! P(w) + κ/2‖w − z‖²
//! ```
//!
//! whose disagreement shrinks by `1 − λ'/s`, and which steps of single blocks solve sooner, too. After every round the centre z moves
//! with momentum, `z ← w + β (w − w_before)`, `β = (1 − √q)/(1 + √q)`, `q = λ/λ'`. The points are feasible for the dual of P
//! whatever the centre is, so that every round can be certified; the dual value of P may fall for a while.
//!
//! λ'/λ follows what a round gains beside `κ/2‖w − z‖²` (`ratio`).
//!
//! σ' has to be at least `ρ = ‖Σ d_k‖² / Σ ‖d_k‖²`, d_k the local changes of v. K is always enough; shards that have few columns in
//! common need little more than 1. So σ' follows ρ, which the last round has shown.

use super::ratio::Ratio;
use super::{Change, Whole};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// σ' falls by no more than this factor a round: the next changes may be others.
const SLOWLY: f64 = 0.97;

/// How far above the last ρ σ' stays. Closer to it σ' is too small time and again, and the changes are cut.
const ABOVE: f64 = 1.3;

/// By how much σ' is raised when it was too small.
const RAISED: f64 = 1.1;

/// Where all shards are. The workers have the same, and follow it by the changes of v alone.
///
/// ```
/// use dualgap::dual::shard::{Change, Move, Position, Whole};
/// use dualgap::term::Regulariser;
/// let whole = Whole::new(0.1, Regulariser::PLAIN)?;
/// let mut at = Position::new(&whole, vec![1.0, 0.0]);
/// let change = Change { v: vec![0.5, 2.0], rise: 1.0, square: 1.0 };
/// // Half of the change, after a round without a centre, and before another one.
/// at.go(&whole, &change, &Move { gamma: 0.5, share: 1.0, next: 1.0 })?;
/// assert_eq!(at.v(), [1.25, 1.0]);
/// assert_eq!(at.weights(), [1.25, 1.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// v of the points.
    v: Vec<f64>,
    /// The weights that the last round has ended at.
    weights: Vec<f64>,
    /// z.
    centre: Vec<f64>,
}

/// How a position changes when a round has ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Move {
    /// The share of the change that all shards go.
    pub gamma: f64,
    /// λ/λ' of the round.
    pub share: f64,
    /// λ/λ' of the next one.
    pub next: f64,
}

impl Position {
    /// Returns the position at this v, with the centre at its weights.
    pub fn new(whole: &Whole, v: Vec<f64>) -> Self {
        let weights = whole.weights(&v);
        Self { v, centre: weights.clone(), weights }
    }

    /// Returns v of the points.
    pub fn v(&self) -> &[f64] {
        &self.v
    }

    /// Returns the weights that the last round has ended at, which a certificate is about.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns where a round with λ/λ' = `share` begins, as its own v: `q v + (1 − q) z`.
    pub fn start(&self, share: f64) -> Vec<f64> {
        self.v.iter().zip(&self.centre).map(|(v, z)| share * v + (1.0 - share) * z).collect()
    }

    /// Goes a share of a change, and moves the centre. Every process does so with the same bits.
    pub fn go(&mut self, whole: &Whole, change: &Change, to: &Move) -> Result<()> {
        self.check(&change.v)?;
        let mut ended = self.start(to.share);
        for ((ended, v), change) in ended.iter_mut().zip(&mut self.v).zip(&change.v) {
            *ended += to.share * (to.gamma * change);
            *v += to.gamma * change;
        }
        let before = std::mem::replace(&mut self.weights, whole.centred(to.share)?.weights(&ended));
        let root = to.next.sqrt();
        let momentum = (1.0 - root) / (1.0 + root);
        for ((z, w), before) in self.centre.iter_mut().zip(&self.weights).zip(&before) {
            *z = w + momentum * (w - before);
        }
        Ok(())
    }

    /// Replaces v by the one that was rebuilt from the points. It differs by rounding, or because a shard has other points.
    pub fn settle(&mut self, v: Vec<f64>) -> Result<()> {
        self.check(&v)?;
        self.v = v;
        Ok(())
    }

    /// Takes the momentum away: the centre is where the weights are.
    pub fn rest(&mut self) {
        self.centre.clone_from(&self.weights);
    }

    /// Returns the position as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        super::parts::bytes(self)
    }

    /// Reads a position.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let at: Self = super::parts::read(bytes)?;
        at.check(&at.v)?;
        at.check(&at.weights)?;
        at.check(&at.centre)?;
        Ok(at)
    }

    fn check(&self, other: &[f64]) -> Result<()> {
        if self.v.len() == other.len() && other.iter().all(|x| x.is_finite()) {
            return Ok(());
        }
        let (have, given) = (self.v.len(), other.len());
        Err(Error::setting(format!(
            "there are {have} weights, and {given} finite numbers for them"
        )))
    }
}

/// The numbers that the next round depends on; see the module's head.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// K.
    shards: f64,
    sigma: f64,
    ratio: Ratio,
}

impl Course {
    /// Begins at the σ' that is safe for this many shards.
    pub fn new(shards: usize) -> Self {
        let shards = shards.max(1) as f64;
        Self { shards, sigma: shards, ratio: Ratio::default() }
    }

    /// Returns σ' of the next round.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Returns λ/λ' of the next round.
    pub fn share(&self) -> f64 {
        1.0 / self.ratio.get()
    }

    /// Goes the best share of the change of all shards, prepares the next round, and returns how the position has changed.
    pub fn step(&mut self, whole: &Whole, at: &mut Position, change: &Change) -> Result<Move> {
        at.check(&change.v)?;
        if !(change.rise.is_finite() && change.square >= 0.0 && change.square.is_finite()) {
            return Err(Error::setting("a change of the dual terms is not a finite number"));
        }
        let (share, inner, start) =
            (self.share(), whole.centred(self.share())?, at.start(self.share()));
        let scaled = Change { v: change.v.iter().map(|v| share * v).collect(), ..*change };
        let gamma = inner.step(&start, &scaled);
        let gain = inner.gain(&start, &scaled, gamma);
        let ended: Vec<f64> = start.iter().zip(&scaled.v).map(|(v, d)| v + gamma * d).collect();
        let apart = inner.weights(&ended).into_iter().zip(&at.centre).map(|(w, z)| (w - z).powi(2));
        let far = 0.5 * whole.lambda() * (self.ratio.get() - 1.0) * apart.sum::<f64>();
        self.follow(change, gamma);
        self.ratio.learn(gain / far);
        let to = Move { gamma, share, next: self.share() };
        at.go(whole, change, &to)?;
        Ok(to)
    }

    /// Has σ' follow what the changes have needed.
    fn follow(&mut self, change: &Change, gamma: f64) {
        let together: f64 = change.v.iter().map(|v| v * v).sum();
        let rho = if change.square > 0.0 { together / change.square } else { 1.0 };
        let mut sigma =
            if rho > self.sigma { RAISED * rho } else { (ABOVE * rho).max(SLOWLY * self.sigma) };
        if gamma < 1.0 {
            sigma = sigma.max(RAISED * self.sigma);
        }
        self.sigma = sigma.clamp(1.0, self.shards);
    }
}
