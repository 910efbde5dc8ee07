//! A centre that the ascent is regularised toward where it would be slow by itself: with `κ/2‖X − z‖²` added,
//!
//! ```text
//! X = Proj((V + κz)/(μ + κ)),          then z ← X + β(X − X_before)
//! ```
//!
//! is the accelerated proximal point method, and μ may be zero. κ is such that an example's step meets about as much
//! curvature from the other examples as from its own loss. β is Nesterov's, restarted whenever the last move of X and
//! the momentum point in opposite directions, which makes use of strong convexity beyond μ. The certificate is that of
//! the problem without the centre.

use serde::{Deserialize, Serialize};

/// z, κ and the momentum; κ is zero if there is no centre.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Centre {
    mu: f64,
    kappa: f64,
    z: Vec<f64>,
    /// X after the last round.
    before: Vec<f64>,
    /// Nesterov's t.
    momentum: f64,
    rounds: u64,
    restarts: u64,
}

impl Centre {
    pub fn none(mu: f64) -> Self {
        Self {
            mu,
            kappa: 0.0,
            z: Vec::new(),
            before: Vec::new(),
            momentum: 1.0,
            rounds: 0,
            restarts: 0,
        }
    }

    /// Whether a centre from a checkpoint is valid for a problem of this μ and `dim` weights.
    pub fn is_sound(&self, mu: f64, dim: usize) -> bool {
        let len = if self.is_set() { dim } else { 0 };
        let finite = |x: &[f64]| x.len() == len && x.iter().all(|x| x.is_finite());
        self.mu == mu
            && (self.kappa >= 0.0 && self.strength() > 0.0 && self.strength().is_finite())
            && self.momentum >= 1.0
            && finite(&self.z)
            && finite(&self.before)
    }

    pub fn is_set(&self) -> bool {
        self.kappa > 0.0
    }

    /// μ + κ.
    #[inline]
    pub fn strength(&self) -> f64 {
        self.mu + self.kappa
    }

    /// Sets the centre to X, so that X does not move (to zero if μ = 0), with this strength μ + κ; does nothing if μ
    /// alone is about as strong. `x` returns an entry of X from its index, the entry of u, and 1/μ.
    pub fn begin(&mut self, wanted: f64, u: &mut [f64], x: impl Fn(usize, f64, f64) -> f64) {
        let helps = wanted > 2.0 * self.mu && wanted.is_finite();
        self.kappa = match helps {
            true => wanted - self.mu,
            // The data give no usable strength, and without μ there must be one: any value will do.
            false if self.mu == 0.0 => 1.0,
            false => return,
        };
        let places = u.iter().enumerate();
        self.z = if self.mu > 0.0 {
            places.map(|(at, &u)| x(at, u, 1.0 / self.mu)).collect()
        } else {
            vec![0.0; u.len()]
        };
        self.before.clone_from(&self.z);
        self.add_to(u);
    }

    /// Restarts the momentum.
    pub fn rest(&mut self) {
        self.momentum = 1.0;
    }

    /// `u += κz`.
    pub fn add_to(&self, u: &mut [f64]) {
        u.iter_mut().zip(&self.z).for_each(|(u, z)| *u += self.kappa * z);
    }

    /// Ends a round: moves the centre to X plus momentum. `x` returns an entry of X from its index, the entry of u, and
    /// 1/(μ + κ).
    pub fn advance(&mut self, u: &mut [f64], x: impl Fn(usize, f64, f64) -> f64) {
        let inverse = 1.0 / self.strength();
        let apart: f64 = (u.iter().zip(&self.z).zip(&self.before).enumerate())
            .map(|(at, ((&u, z), before))| {
                let x = x(at, u, inverse);
                (z - x) * (x - before)
            })
            .sum();
        if apart > 0.0 {
            self.momentum = 1.0;
            self.restarts = self.restarts.saturating_add(1);
        }
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.momentum * self.momentum).sqrt());
        // P is at least μ-strongly convex: more momentum than μ calls for would only carry errors forward.
        let root = (self.mu / self.strength()).sqrt();
        let beta = ((self.momentum - 1.0) / next).min((1.0 - root) / (1.0 + root));
        (self.momentum, self.rounds) = (next, self.rounds.saturating_add(1));
        let places = u.iter_mut().zip(&mut self.z).zip(&mut self.before).enumerate();
        for (at, ((u, z), before)) in places {
            let x = x(at, *u, inverse);
            let to = x + beta * (x - *before);
            *u += self.kappa * (to - *z);
            (*z, *before) = (to, x);
        }
    }

    /// A sentence for the report, if there is a centre.
    pub fn describe(&self) -> Option<String> {
        let Self { kappa, rounds, restarts, .. } = self;
        self.is_set().then(|| {
            format!("{rounds} rounds around a centre of strength {kappa:.3e}, momentum begun anew {restarts} times")
        })
    }
}
