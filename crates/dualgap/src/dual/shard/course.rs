//! The course of the rounds: where v is, how far a round goes, and with which momentum and σ' the next one begins.
//!
//! Around the rounds is FISTA, with the local problems as its proximal steps (accelerated CoCoA+): with the momentum β they are
//! posed at `v + β Δv`, Δv the last change, and each shard's `v_k` is extrapolated in the same way. The points themselves are not,
//! so that they stay feasible. Shards that hold different examples of the same columns disagree about them, and without momentum
//! the disagreement shrinks by a factor of only `1 − λ/s` a round, s the variance of the columns.
//!
//! A change that lowers the dual is cut to the share that raises it most, and the momentum begins anew: the dual value never
//! falls. The momentum also begins anew when the steps turn back.
//!
//! σ' has to be at least `ρ = ‖Σ d_k‖² / Σ ‖d_k‖²`, d_k the local steps. K is always enough; shards that have few columns in common
//! need little more than 1. So σ' follows ρ, which the last round has shown.

use super::{Change, Whole};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// σ' falls by no more than this factor a round: the next steps may be others.
const SLOWLY: f64 = 0.9;

/// How far above the last ρ σ' stays, and to where it is raised when it was too small.
const ABOVE: f64 = 1.05;
const RAISED: f64 = 1.1;

/// v, and by how much the last round has changed it. The workers have the same, and follow it by the changes alone.
///
/// ```
/// use dualgap::dual::shard::{Change, Position};
/// let mut at = Position::new(vec![1.0, 0.0]);
/// at.go(&Change { v: vec![0.5, 2.0], rise: 1.0, square: 1.0 }, 0.5)?;
/// assert_eq!(at.v, [1.25, 1.0]);
/// assert_eq!(at.ahead(1.0), [1.5, 2.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// v.
    pub v: Vec<f64>,
    /// Its last change.
    pub moved: Vec<f64>,
}

impl Position {
    /// Returns the position at this v, before any change.
    pub fn new(v: Vec<f64>) -> Self {
        let moved = vec![0.0; v.len()];
        Self { v, moved }
    }

    /// Goes a share of a change. Every process does so with the same bits.
    pub fn go(&mut self, change: &Change, gamma: f64) -> Result<()> {
        self.check(&change.v)?;
        for ((v, moved), change) in self.v.iter_mut().zip(&mut self.moved).zip(&change.v) {
            *moved = gamma * change;
            *v += *moved;
        }
        Ok(())
    }

    /// Replaces v by the one that was rebuilt from the points, which differs by rounding.
    pub fn settle(&mut self, v: Vec<f64>) -> Result<()> {
        self.check(&v)?;
        self.v = v;
        Ok(())
    }

    /// Returns `v + momentum · moved`.
    pub fn ahead(&self, momentum: f64) -> Vec<f64> {
        self.v.iter().zip(&self.moved).map(|(v, moved)| v + momentum * moved).collect()
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
    /// Nesterov's t, one without momentum.
    t: f64,
}

impl Course {
    /// Begins without momentum, at the σ' that is safe for this many shards.
    pub fn new(shards: usize) -> Self {
        let shards = shards.max(1) as f64;
        Self { shards, sigma: shards, t: 1.0 }
    }

    /// Returns σ' of the next round.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Returns the momentum of the next round.
    pub fn momentum(&self) -> f64 {
        (self.t - 1.0) / self.next()
    }

    fn next(&self) -> f64 {
        0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt())
    }

    /// Begins the momentum anew, because a shard has other points than the last round left it.
    pub fn restart(&mut self) {
        self.t = 1.0;
    }

    /// Chooses which share of the change of all shards to go, and prepares the next round.
    pub fn step(&mut self, whole: &Whole, at: &mut Position, change: &Change) -> Result<f64> {
        at.check(&change.v)?;
        if !(change.rise.is_finite() && change.square >= 0.0 && change.square.is_finite()) {
            return Err(Error::setting("a change of the dual terms is not a finite number"));
        }
        let momentum = self.momentum();
        let (mut square, mut forward) = (0.0, 0.0);
        for (change, moved) in change.v.iter().zip(&at.moved) {
            let step = change - momentum * moved;
            square += step * step;
            forward += step * change;
        }
        let rho = if change.square > 0.0 { square / change.square } else { 1.0 };
        let accepted = momentum > 0.0 && whole.gain(&at.v, change) >= 0.0;
        let gamma = if accepted { 1.0 } else { whole.step(&at.v, change) };
        self.t = if momentum > 0.0 && (!accepted || forward < 0.0) { 1.0 } else { self.next() };
        let mut sigma =
            if rho > self.sigma { RAISED * rho } else { (ABOVE * rho).max(SLOWLY * self.sigma) };
        if !accepted && gamma < 1.0 {
            sigma = sigma.max(RAISED * self.sigma);
        }
        self.sigma = sigma.clamp(1.0, self.shards);
        at.go(change, gamma)?;
        Ok(gamma)
    }
}
