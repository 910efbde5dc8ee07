//! Linear problems over LIBSVM files: which they are, and training on them.
//!
//! ```text
//! P(w) = (1/n) Σ φ(⟨x_i, w⟩, y_i) + λ/2‖w‖² + σ‖w‖₁        the whole file, no intercept
//! ```

use dualgap::Result;
use dualgap::data::Examples;
use dualgap::dual;
use dualgap::dual::Settings;
use dualgap::run::{Budget, Report};
use dualgap::structure::{
    self, Choice, LinearBlocks, MulticlassBlocks, ScoreBlocks, train_pure_l1,
};
use dualgap::term::{Costs, MulticlassLoss, Regulariser, ScalarLoss};

/// A twentieth of the σ beyond which the lasso's weights are all zero, on `reuters_corpacq.train`.
pub const REUTERS_L1: f64 = 0.001_952_407_317_002_537_7;

/// φ.
#[derive(Clone, Copy, Debug)]
pub enum Loss {
    /// Of one score.
    Scalar(ScalarLoss),
    /// Of a score for every class.
    Classes(MulticlassLoss),
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// What it is called in tables.
    pub name: &'static str,
    /// The file's name.
    pub file: &'static str,
    /// φ.
    pub loss: Loss,
    /// λ.
    pub lambda: f64,
    /// σ.
    pub l1: f64,
}

impl Problem {
    /// A target for every example of a problem with one score: two classes are −1 and 1 whatever the loss.
    pub fn targets(data: &Examples) -> Result<Vec<f64>> {
        let classes = data.classes()?;
        if classes.alphabet().len() == 2 {
            return data.signs();
        }
        Ok(classes.to_numbers()?.values().to_vec())
    }

    /// Trains on one thread. The model is the weights.
    pub fn train(&self, data: &Examples, budget: &Budget) -> Result<Report<Vec<f64>>> {
        let settings = Settings {
            lambda: self.lambda,
            regulariser: Regulariser { l1: self.l1, ..Regulariser::default() },
            threads: 1,
            ..Settings::default()
        };
        match self.loss {
            Loss::Scalar(loss) => {
                let blocks = LinearBlocks::new(data.rows(), Self::targets(data)?, loss, Choice::I)?;
                let report = if self.lambda == 0.0 {
                    train_pure_l1(&blocks, &settings, budget, &mut ())
                } else {
                    structure::train_linear(&blocks, &settings, budget, &mut ())
                };
                report.map(|report| report.map(|solution| solution.weights))
            }
            // The program trains it so, too: by block-coordinate Frank-Wolfe.
            Loss::Classes(MulticlassLoss::Hinge) => {
                let blocks = MulticlassBlocks::new(data, &Costs::ZeroOne)?;
                let report = dual::train(&blocks, &settings, budget, &mut ())?;
                Ok(report.map(|solution| solution.weights))
            }
            Loss::Classes(loss) => {
                let blocks = ScoreBlocks::new(data, &Costs::ZeroOne, loss, Choice::I)?;
                let report = dual::train(&blocks, &settings, budget, &mut ())?;
                Ok(report.map(|solution| solution.weights))
            }
        }
    }
}
