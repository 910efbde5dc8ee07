//! Small random problems in a ball, and as the library has them.

use dualgap::linalg::{Random, Rows};
use dualgap::term::{MulticlassLoss, ScalarLoss};

/// Every smooth loss of one number, and those with a width with two of them.
pub const SCALAR: [ScalarLoss; 7] = [
    ScalarLoss::SmoothHinge { width: 1.0 },
    ScalarLoss::SmoothHinge { width: 0.2 },
    ScalarLoss::SquaredHinge,
    ScalarLoss::Logistic,
    ScalarLoss::Squared,
    ScalarLoss::Huber { width: 0.4 },
    ScalarLoss::Huber { width: 3.0 },
];

/// Every smooth loss of several scores.
pub const CLASSES: [MulticlassLoss; 3] = [
    MulticlassLoss::SmoothHinge { width: 1.0 },
    MulticlassLoss::SmoothHinge { width: 0.3 },
    MulticlassLoss::Softmax,
];

/// Which losses, of how many outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Outputs(ScalarLoss, usize),
    Classes(MulticlassLoss, usize),
}

impl Kind {
    /// One of each: one output, three, three classes.
    pub fn all() -> Vec<Self> {
        let one = SCALAR.iter().map(|&loss| Self::Outputs(loss, 1));
        let three = SCALAR.iter().map(|&loss| Self::Outputs(loss, 3));
        let classes = CLASSES.iter().map(|&loss| Self::Classes(loss, 3));
        one.chain(three).chain(classes).collect()
    }

    pub fn outputs(self) -> usize {
        match self {
            Self::Outputs(_, c) | Self::Classes(_, c) => c,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Case {
    pub kind: Kind,
    pub rows: Vec<Vec<f64>>,
    /// Example after example; a class is one number.
    pub targets: Vec<f64>,
    pub mu: f64,
    pub radius: f64,
    pub weights: Option<Vec<f64>>,
}

/// Makes the library's problem of a [`Case`], whichever losses it has, in the l1 ball or the trace ball, and evaluates an
/// expression with it.
macro_rules! with_problem {
    ($case:expr, |$problem:ident| $body:expr) => {{ $crate::balls::case::with_problem!($case, l1, |$problem| $body) }};
    ($case:expr, $ball:ident, |$problem:ident| $body:expr) => {{
        let case: &$crate::balls::case::Case = $case;
        let (rows, radius) = (case.matrix(), case.radius);
        let weights = case.weights.as_deref();
        match case.kind {
            $crate::balls::case::Kind::Outputs(loss, c) => {
                let losses =
                    ::dualgap::ball::PerOutput::new(loss, case.targets.clone(), c).unwrap();
                let $problem =
                    ::dualgap::ball::BallProblem::$ball(&rows, losses, case.mu, radius, weights)
                        .unwrap();
                $body
            }
            $crate::balls::case::Kind::Classes(loss, c) => {
                let labels: Vec<u32> = case.targets.iter().map(|&y| y as u32).collect();
                let costs = ::dualgap::term::Costs::ZeroOne;
                let losses = ::dualgap::ball::ClassLosses::new(loss, &labels, c, &costs).unwrap();
                let $problem =
                    ::dualgap::ball::BallProblem::$ball(&rows, losses, case.mu, radius, weights)
                        .unwrap();
                $body
            }
        }
    }};
}
pub(crate) use with_problem;

impl Case {
    /// Rows in a square with a third of their entries missing, and targets that they explain in part.
    pub fn random(seed: u64, kind: Kind, n: usize, d: usize) -> Self {
        let mut random = Random::new(seed);
        let mut signed = || 2.0 * random.unit() - 1.0;
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|_| (0..d).map(|_| if signed() > 0.3 { 0.0 } else { signed() }).collect())
            .collect();
        let mut target = |x: &Vec<f64>, k: usize| x[k % d] - 0.5 * x[d - 1] + 0.5 * signed();
        let targets = match kind {
            Kind::Outputs(loss, c) => {
                let all =
                    rows.iter().flat_map(|x| (0..c).map(|k| target(x, k)).collect::<Vec<_>>());
                all.map(|y| if loss.is_binary() { 1_f64.copysign(y) } else { y }).collect()
            }
            Kind::Classes(_, c) => rows
                .iter()
                .map(|x| {
                    let scores: Vec<f64> = (0..c).map(|k| target(x, k)).collect();
                    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    scores.iter().position(|&s| s == best).unwrap() as f64
                })
                .collect(),
        };
        Self { kind, rows, targets, mu: 0.1, radius: 1.0, weights: None }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Sparse for an odd number of rows, dense for an even one.
    pub fn matrix(&self) -> Rows {
        if self.len().is_multiple_of(2) {
            return Rows::dense(&self.rows).unwrap();
        }
        let mut rows = Rows::sparse();
        for row in &self.rows {
            let entries = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
            rows.push_sparse(&entries.map(|(j, &x)| (j as u32, x)).collect::<Vec<_>>());
        }
        rows.fit_width(self.rows[0].len());
        rows
    }

    /// What each example counts in the mean.
    pub fn masses(&self) -> Vec<f64> {
        let counts = self.weights.clone().unwrap_or(vec![1.0; self.len()]);
        let total: f64 = counts.iter().sum();
        counts.into_iter().map(|c| c / total).collect()
    }
}
