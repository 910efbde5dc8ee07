//! Runs in the trace ball, judged by a projected gradient method on whole matrices with full decompositions, which
//! shares no line with the library.

mod attacks;
mod blocks;
mod completion;
mod halting;
mod judge;
mod kept;
mod labels;
mod maps;
mod models;
mod outputs;
mod runs;

use dualgap::ball::trace::Features;
use dualgap::ball::{BallProblem, ClassLosses, PerOutput};
use dualgap::linalg::{Random, Rows};
use dualgap::term::{Costs, MulticlassLoss, ScalarLoss};
use faer::Mat;

/// A small random problem: rows, targets that they explain in part, μ and the radius.
struct Case {
    rows: Vec<Vec<f64>>,
    targets: Vec<f64>,
    outputs: usize,
    mu: f64,
    radius: f64,
}

impl Case {
    fn random(seed: u64, n: usize, d: usize, outputs: usize) -> Self {
        let mut random = Random::new(seed);
        let mut signed = || 2.0 * random.unit() - 1.0;
        let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| signed()).collect()).collect();
        let weights: Vec<f64> = (0..outputs).map(|_| signed()).collect();
        let targets = rows
            .iter()
            .flat_map(|x| weights.iter().map(|w| 2.0 * w * x[0] - x[d - 1]).collect::<Vec<_>>())
            .map(|y| y + 0.5 * signed())
            .collect();
        Self { rows, targets, outputs, mu: 0.1, radius: 1.0 }
    }

    /// With every feature smaller than the one before, so that there is something to do.
    fn fading(mut self) -> Self {
        for row in &mut self.rows {
            row.iter_mut().zip(0..).for_each(|(x, j)| *x *= 0.9_f64.powi(j));
        }
        self
    }

    /// Sparse for an odd number of rows, dense for an even one.
    fn matrix(&self) -> Rows {
        if self.rows.len().is_multiple_of(2) {
            return Rows::dense(&self.rows).unwrap();
        }
        let mut rows = Rows::sparse();
        for row in &self.rows {
            let entries = row.iter().enumerate();
            rows.push_sparse(&entries.map(|(j, &x)| (j as u32, x)).collect::<Vec<_>>());
        }
        rows
    }

    /// Targets as the loss wants them.
    fn targets(&self, loss: ScalarLoss) -> Vec<f64> {
        let sign = |y: &f64| if loss.is_binary() { 1_f64.copysign(*y) } else { *y };
        self.targets.iter().map(sign).collect()
    }

    fn problem<'a>(
        &self,
        rows: &'a Rows,
        loss: ScalarLoss,
    ) -> BallProblem<Features<'a>, PerOutput<ScalarLoss>> {
        let losses = PerOutput::new(loss, self.targets(loss), self.outputs).unwrap();
        BallProblem::trace(rows, losses, self.mu, self.radius, None).unwrap()
    }

    /// The mean over examples of the losses of all outputs, and its gradient at X. The loss is given with its slope.
    fn mean_loss(&self, x: &Mat<f64>, loss: impl Fn(f64, f64) -> (f64, f64)) -> (f64, Mat<f64>) {
        let (mut value, mut gradient) = (0.0, Mat::zeros(x.nrows(), x.ncols()));
        let share = 1.0 / self.rows.len() as f64;
        for (row, y) in self.rows.iter().zip(self.targets.chunks(self.outputs)) {
            for (k, y) in y.iter().enumerate() {
                let score: f64 = row.iter().enumerate().map(|(j, a)| a * x[(j, k)]).sum();
                let (loss, slope) = loss(score, *y);
                value += share * loss;
                row.iter().enumerate().for_each(|(j, a)| gradient[(j, k)] += share * slope * a);
            }
        }
        (value, gradient)
    }

    /// The square of the longest row: how smooth a mean of losses is that bend by one at most.
    fn smoothness(&self) -> f64 {
        let square = |row: &Vec<f64>| row.iter().map(|a| a * a).sum::<f64>();
        self.rows.iter().map(square).fold(0.0, f64::max)
    }

    /// The class with the largest target is the truth.
    fn labels(&self) -> Vec<u32> {
        let best = |y: &[f64]| (0..y.len()).max_by(|&a, &b| y[a].total_cmp(&y[b])).unwrap() as u32;
        self.targets.chunks(self.outputs).map(best).collect()
    }

    fn classes<'a>(&self, rows: &'a Rows) -> BallProblem<Features<'a>, ClassLosses> {
        let losses = ClassLosses::new(
            MulticlassLoss::Softmax,
            &self.labels(),
            self.outputs,
            &Costs::ZeroOne,
        );
        BallProblem::trace(rows, losses.unwrap(), self.mu, self.radius, None).unwrap()
    }
}
