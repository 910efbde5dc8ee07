//! Frank-Wolfe for any smooth convex function f over a product of compact convex sets: Algorithms 1, 3, C.1 and C.2 of
//! the BCFW paper.
//!
//! ```text
//! min f(x)     x = (x_1, …, x_n) ∈ M_1 × … × M_n
//!
//! pick a block i (Algorithm 3), or take all of them (Algorithm 1)
//! s_i  = argmin over M_i of ⟨s, ∇_i f(x)⟩           exactly, or as well as inequality (13) asks for
//! γ    = 2n/(νk + 2n), or by line search
//! x_i ← x_i + γ(s_i − x_i)
//!
//! or, where a set has a projection (Algorithm C.1),
//! x_i ← argmin over M_i of ⟨s, ∇_i f(x)⟩ + L_i/2 ‖s − x_i‖²
//!
//! f(x) − min f ≤ Σ_i max over s ∈ M_i of ⟨x_i − s, ∇_i f(x)⟩        the Frank-Wolfe gap, which is the certificate
//! ```
//!
//! - `objective`: the trait of f, all that a user writes for a function; the point x, and directions.
//! - `set`: the trait of one factor M_i, all that a user writes for a set; what its oracle knows of the corner it found.
//! - `sets`: sets that are ready to use.
//! - `problem`: f and the sets together, and the certificate of any point.
//! - `settings`: the settings of a run. `average`: averages of the iterates.
//! - `line_search`: the search along a segment where f is not quadratic.
//! - `solver`: the algorithms, as a [`crate::run::Solver`].
//! - `train`: runs, from the start, from a given point or from a checkpoint.
//!
//! The points of two triangles that are nearest to their targets:
//!
//! ```
//! use dualgap::linalg::Measured;
//! use dualgap::methods::product::{Objective, Point, Product, ProductSettings, Simplex, minimise};
//! use dualgap::run::Budget;
//!
//! /// ½‖x − target‖²
//! struct Distance(Vec<f64>);
//!
//! impl Objective for Distance {
//!     fn value(&self, at: &Point) -> Measured {
//!         let squares = at.coordinates().iter().zip(&self.0).map(|(x, t)| (x - t) * (x - t));
//!         Measured::rounded(0.5 * squares.sum::<f64>(), self.0.len() + 3)
//!     }
//!
//!     fn gradient(&self, at: &Point, block: usize, out: &mut [f64]) -> f64 {
//!         let span = at.span(block);
//!         out.iter_mut().zip(at.block(block)).zip(&self.0[span]).for_each(|((g, x), t)| *g = x - t);
//!         f64::EPSILON * out.iter().fold(0.0, |largest: f64, g| largest.max(g.abs()))
//!     }
//! }
//!
//! let target = Distance(vec![0.9, 0.3, -0.2, 0.5, 0.7, -0.9]);
//! let problem = Product::new(target, vec![Simplex::new(3, 1.0)?, Simplex::new(3, 1.0)?])?;
//! let budget = Budget { absolute: Some(1e-9), ..Budget::passes(10_000) };
//! let report = minimise(&problem, &ProductSettings::default(), &budget, &mut ())?;
//! assert!(report.certificate.gap_bound() <= 1e-9);
//! for (x, projected) in report.model.coordinates().iter().zip([0.8, 0.2, 0.0, 0.4, 0.6, 0.0]) {
//!     assert!((x - projected).abs() < 1e-4);
//! }
//! # Ok::<(), dualgap::Error>(())
//! ```

mod average;
mod line_search;
mod objective;
mod problem;
mod set;
mod sets;
mod settings;
mod solver;
mod train;

pub use objective::{BlockDirection, Objective, Point};
pub use problem::Product;
pub use set::{Minimum, Query, Set};
pub use sets::{Cuboid, L1Ball, Simplex};
pub use settings::{ProductSettings, Target};
pub use solver::FrankWolfe;
pub use train::{minimise, minimise_from};
