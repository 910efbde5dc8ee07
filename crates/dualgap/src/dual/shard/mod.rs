//! Distributed rounds: the examples in K shards, each with its own dual points, in as many processes.
//!
//! With `v_k = (1/λ) Σ_{i∈k} mass_i X_i α_i`, the masses those of all examples, `v = Σ v_k` and `w = ∇g*(v)`. In a round every shard
//! gets v and takes local steps on its own examples (CoCoA+), which raise
//!
//! ```text
//! Σ_{i∈k} mass_i dual_i(α_i + Δ_i) − (λ/σ') g*(v + σ' Δv_k)
//! ```
//!
//! This is a problem of the engine: λ/σ' in the place of λ, and `v − σ' v_k` as its offset (and around a
//! centre, λ' and its v). For σ' = K its gains add up: by Jensen's
//! inequality `λ g*(v + Σ Δv_k) ≤ Σ (λ/K) g*(v + K Δv_k)`, whatever the regulariser. A smaller σ' allows longer steps, which
//! may be too long together, so all shards go a common share γ of their changes:
//!
//! ```text
//! γ = argmax over [0, 1] of  γ Σ rise_k − λ g*(v + γ Σ Δv_k)
//! ```
//!
//! where `rise_k` is by how much the dual terms of the shard rise. They are concave in γ, so this is a lower bound on the dual gain.
//!
//! Every iterate is dual feasible, so every round can be certified: shards send the sums of their losses and of their dual
//! values with v_k, compensated and with their error bounds, and these are added in the order of the shards. A shard that
//! starts again from an older point, or from its first one, changes v by a known amount and costs progress only.
//!
//! - `local`: a shard and its rounds. `parts`: what shards send. `whole`: what is made of it. `course`: the centre, σ' and v
//!   from round to round; `ratio`: how strongly the centre pulls.

mod course;
mod local;
mod parts;
mod ratio;
mod whole;

pub use course::{Course, Move, Position};
pub use local::Rounds;
pub(crate) use local::Shard;
pub use parts::{Change, DualPart, LossPart};
pub use whole::Whole;
