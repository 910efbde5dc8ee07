//! The data in the l1 ball, and the dual value of a certificate, computed from scratch.
//!
//! ```text
//! a_i = X'x_i for a row x_i of the data,      V = Σ m_i x_i ⊗ α_i,      h(V) is attained at the projection of V/μ
//! ```
//!
//! X and V are laid out feature by feature, c numbers for each. The data A are stored by rows, as given, and by columns:
//! X has few nonzero rows, and predictions need only the columns of those features.
//!
//! The same data have their weights in the simplex, too: [`Corners`] tells the two sets apart.

use super::sets::Corners;
use crate::ball::own_term::{self, SmoothTerm};
use crate::ball::problem::{Design, Known, Proved};
use crate::ball::{BallProblem, Losses};
use crate::linalg::kernels::add_outer;
use crate::linalg::memory::{Need, check_weights};
use crate::linalg::underflow::{norm_above, product_above, root_above, size_of_product};
use crate::linalg::{
    Columns, CompensatedVec, Halted, Measured, Row, Rows, Sum, UNDERFLOW, UNIT_ROUNDOFF, gamma,
};
use crate::{Error, Result};
use std::sync::Arc;

/// Data by rows and by columns, with c outputs; see the module's head.
#[derive(Clone, Debug)]
pub struct BallTable<'a> {
    rows: &'a Rows,
    columns: Columns,
    outputs: usize,
    /// ‖x_i‖².
    squared_norms: Vec<f64>,
    corners: Corners,
    /// A bound on the error of the entries of each row, if they are not exact.
    off: Option<&'a [f64]>,
}

impl<'a> BallTable<'a> {
    /// Sorts the entries of these rows by columns, too.
    pub fn new(rows: &'a Rows, outputs: usize) -> Result<Self> {
        let weights = check_weights(rows.width().checked_mul(outputs))?;
        // The four copies: V as a compensated sum (two) and rounded, and X. Each column has a start, two while the
        // columns are built, and each of their entries takes two numbers.
        let numbers = rows.len().saturating_mul(outputs);
        let others = 2 * rows.width() + 2 * rows.stored() + numbers;
        Need { weights, copies: 4, others }.check()?;
        let squared_norms: Vec<f64> = (0..rows.len()).map(|i| rows.row(i).squared_norm()).collect();
        if let Some(i) = squared_norms.iter().position(|square| !square.is_finite()) {
            return Err(Error::setting(format!(
                "row {i} has a value that is not finite or is huge"
            )));
        }
        let (columns, corners) = (Columns::of(rows), Corners::Signed);
        Ok(Self { rows, columns, outputs, squared_norms, corners, off: None })
    }

    /// The same data with weights in the simplex.
    #[must_use]
    pub fn in_simplex(self) -> Self {
        Self { corners: Corners::Positive, ..self }
    }

    /// The same data, of which every entry of row i may be off by this much.
    pub(super) fn off_by(self, off: &'a [f64]) -> Self {
        Self { off: Some(off), ..self }
    }

    /// Whether weights are in the l1 ball or in the simplex.
    pub(in crate::ball) fn corners(&self) -> Corners {
        self.corners
    }
}

/// A problem in the l1 ball.
pub type L1Problem<'a, L> = BallProblem<BallTable<'a>, L>;

/// The dual value of a certificate, with the V and the X of the dual point.
#[derive(Clone, Debug)]
pub struct BallDual {
    /// D(α), or a lower bound on it that differs by rounding only.
    pub value: Measured,
    /// V, summed anew with compensation.
    pub v: Vec<f64>,
    /// The projection of V/μ, the X that belongs to α; zero if μ = 0, where this X is not unique. With a term of a
    /// user's own it is the x̂ of the bound.
    pub x: Vec<f64>,
}

/// The dual value without h.
#[derive(Clone, Debug)]
pub struct MeanDual {
    /// −Σ m_i f_i*(−α_i).
    pub value: Measured,
    /// V, summed anew with compensation.
    pub v: Vec<f64>,
    /// A bound on the distance of V from the exact one in the Euclidean norm, and so in every entry.
    pub distance: f64,
}

impl Design for BallTable<'_> {
    type Weights = Vec<f64>;
    type Dual = BallDual;
    type Way = ();

    const DUAL_FIRST: bool = true;

    fn shape(&self) -> (usize, usize) {
        (self.rows.width(), self.outputs)
    }

    fn examples(&self) -> usize {
        self.rows.len()
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.squared_norms[i]
    }

    fn check(&self) -> Result<()> {
        if self.rows.is_empty() {
            return Err(Error::setting("there is no example to train on"));
        }
        if self.corners == Corners::Positive && self.rows.width() == 0 {
            return Err(Error::setting(
                "there is no feature, and a simplex without weights is empty",
            ));
        }
        Ok(())
    }

    fn start(&self, radius: f64) -> Vec<f64> {
        self.corners.start(self.rows.width() * self.outputs, radius)
    }

    fn miss(&self, x: &Vec<f64>, radius: f64) -> Option<f64> {
        self.corners.miss(x, radius)
    }

    fn brought_inside(&self, mut x: Vec<f64>, radius: f64) -> Vec<f64> {
        self.corners.bring_inside(&mut x, radius);
        x
    }

    fn predict_measured(&self, x: &Vec<f64>, a: &mut [f64], off: &mut [f64]) {
        a.fill(0.0);
        off.fill(0.0);
        let (c, mut terms) = (self.outputs, vec![0_u32; self.rows.len()]);
        for (j, weights) in x.chunks_exact(c).enumerate() {
            if weights.iter().all(|&w| w == 0.0) {
                continue;
            }
            self.columns.column(j).for_each(|i, value| {
                terms[i] += 1;
                for (k, weight) in weights.iter().enumerate() {
                    a[i * c + k] += value * weight;
                    off[i * c + k] += size_of_product(value, *weight);
                }
            });
        }
        for (sizes, &terms) in off.chunks_exact_mut(c).zip(&terms) {
            // Roundings of the products, of their sum, and of the sum of their sizes.
            let share = gamma(2 * terms as usize + 2);
            sizes.iter_mut().for_each(|size| *size *= share);
        }
        if let Some(errors) = self.off {
            let size = x.iter().map(|x| x.abs()).sum::<f64>() * (1.0 + gamma(x.len()));
            for (sizes, &error) in off.chunks_exact_mut(c).zip(errors) {
                sizes.iter_mut().for_each(|off| *off += product_above(error, size));
            }
        }
    }

    fn products_per_pass(&self) -> u64 {
        1
    }

    fn first_way() {}

    fn is_sound(&self, (): &()) -> bool {
        true
    }

    fn prove<L: Losses>(
        problem: &BallProblem<Self, L>,
        alpha: &[f64],
        _: &Known<'_, Vec<f64>>,
        _: Halted<'_>,
    ) -> Result<Proved<Self>> {
        let dual = problem.dual(alpha)?;
        Ok(Proved { value: dual.value, way: (), warm: None, dual })
    }

    fn prove_again<L: Losses>(
        problem: &BallProblem<Self, L>,
        alpha: &[f64],
        (): &(),
    ) -> Result<Measured> {
        Ok(problem.dual(alpha)?.value)
    }
}

impl<'a, L: Losses> BallProblem<BallTable<'a>, L> {
    /// The problem of a linear model in the l1 ball; see [`BallProblem::new`].
    pub fn l1(
        rows: &'a Rows,
        losses: L,
        mu: f64,
        radius: f64,
        sample_weights: Option<&[f64]>,
    ) -> Result<Self> {
        Self::new(BallTable::new(rows, losses.outputs())?, losses, mu, radius, sample_weights)
    }

    /// The problem of a linear model in the simplex of this size; see [`BallProblem::new`].
    ///
    /// ```
    /// use dualgap::ball::{BallProblem, BallSettings, PerOutput, self};
    /// use dualgap::linalg::Rows;
    /// use dualgap::run::Budget;
    /// use dualgap::term::ScalarLoss;
    /// // The mixture of three columns that is nearest to (1, 1): half of the first and half of the second.
    /// let rows = Rows::dense(&[vec![2.0, 0.0, -1.0], vec![0.0, 2.0, 0.0]])?;
    /// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 1.0], 1)?;
    /// let problem = BallProblem::simplex(&rows, losses, 0.0, 1.0, None)?;
    /// let report = ball::train(&problem, &BallSettings::default(), &Budget::passes(100), &mut ())?;
    /// let x = &report.model.weights;
    /// assert!((x[0] - 0.5).abs() < 1e-4 && (x[1] - 0.5).abs() < 1e-4 && x[2].abs() < 1e-4);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn simplex(
        rows: &'a Rows,
        losses: L,
        mu: f64,
        radius: f64,
        sample_weights: Option<&[f64]>,
    ) -> Result<Self> {
        let table = BallTable::new(rows, losses.outputs())?.in_simplex();
        Self::new(table, losses, mu, radius, sample_weights)
    }

    /// The same problem with a smooth g of one's own in the place of μ/2‖X‖²: see [`SmoothTerm`].
    pub fn with_term(self, term: Arc<dyn SmoothTerm>) -> Result<Self> {
        self.replace_term(term)
    }

    /// `v −= ∇g(x)`: from V of the corners of x, the direction of steepest descent.
    pub(in crate::ball) fn subtract_gradient(&self, x: &[f64], v: &mut [f64]) {
        match self.term() {
            None => {
                let mu = self.mu();
                v.iter_mut().zip(x).for_each(|(v, &x)| *v -= mu * x);
            }
            Some(term) => {
                let mut gradient = vec![0.0; x.len()];
                term.gradient(x, &mut gradient);
                v.iter_mut().zip(gradient).for_each(|(v, g)| *v -= g);
            }
        }
    }

    /// d, the number of features.
    pub fn features(&self) -> usize {
        self.rows().width()
    }

    /// d·c, the number of weights.
    pub fn dim(&self) -> usize {
        self.features() * self.outputs()
    }

    /// A by rows.
    pub fn rows(&self) -> &'a Rows {
        self.map().rows
    }

    /// A by columns.
    pub fn columns(&self) -> &Columns {
        &self.map().columns
    }

    /// ‖x_i‖².
    pub fn squared_norms(&self) -> &[f64] {
        &self.map().squared_norms
    }

    /// Computes X'x_i for every example from the columns of the features where X is not zero; returns how many entries
    /// of A it read.
    pub fn predict(&self, x: &[f64], a: &mut [f64]) -> u64 {
        a.fill(0.0);
        let c = self.outputs();
        let mut entries = 0;
        for (j, weights) in x.chunks_exact(c).enumerate() {
            if weights.iter().all(|&w| w == 0.0) {
                continue;
            }
            entries += self.add_column(j, weights, a);
        }
        entries
    }

    /// Adds to the predictions the contribution of feature j with these c weights; returns how many entries of A it
    /// read.
    #[inline]
    pub fn add_column(&self, j: usize, weights: &[f64], a: &mut [f64]) -> u64 {
        let column = self.columns().column(j);
        if let [weight] = weights {
            column.for_each(|i, value| a[i] += value * weight);
        } else {
            let c = weights.len();
            column.for_each(|i, value| {
                let at = &mut a[i * c..][..c];
                at.iter_mut().zip(weights).for_each(|(a, weight)| *a += value * weight);
            });
        }
        column.stored() as u64
    }

    /// Computes V = Σ m_i x_i ⊗ α_i for steps, without compensation. The gradient of P at X is μX − V at the corners of
    /// X.
    pub fn image(&self, alpha: &[f64], v: &mut [f64]) {
        v.fill(0.0);
        for (i, alpha) in alpha.chunks_exact(self.outputs()).enumerate() {
            self.add_example(i, alpha, 1.0, v);
        }
    }

    /// `v += factor · m_i x_i ⊗ α`; returns how many entries of A it read.
    #[inline]
    pub fn add_example(&self, i: usize, alpha: &[f64], factor: f64, v: &mut [f64]) -> u64 {
        let (row, factor) = (self.rows().row(i), factor * self.masses()[i]);
        if let [alpha] = alpha {
            let factor = factor * alpha;
            row.for_each(|j, x| v[j] += factor * x);
        } else {
            add_outer(row, alpha, factor, v);
        }
        row.stored() as u64
    }

    /// Returns the dual value without h, or an error if an α_i is infeasible.
    pub fn mean_dual(&self, alpha: &[f64]) -> Result<MeanDual> {
        let c = self.outputs();
        let mut v = CompensatedVec::zeros(self.dim());
        let (mut distance, mut scaled) = (0.0, vec![0.0; c]);
        let value = self.mean_conjugate(alpha, |i, alpha, off| {
            let (row, size, mass) = (self.rows().row(i), norm_above(alpha), self.masses()[i]);
            // Roundings of the mass, of its product with α, and of the product with the entry; the products may
            // underflow.
            let off = off + product_above(gamma(6), size);
            let length = root_above(self.squared_norms()[i], row.stored());
            if let Some(off) = self.map().off {
                // In every entry, which is all that the bound on h needs.
                distance += product_above(mass, product_above(off[i], size));
            }
            distance += product_above(mass, product_above(length, off));
            if size > 0.0 {
                let terms = length * c as f64 + (row.stored() * c) as f64;
                distance += product_above(UNDERFLOW, terms);
            }
            scaled.iter_mut().zip(alpha).for_each(|(s, alpha)| *s = mass * alpha);
            add_compensated(row, &scaled, &mut v);
        })?;
        let v = v.round();
        let rounding = product_above(2.0 * UNIT_ROUNDOFF, norm_above(&v));
        let distance = (distance + rounding) * 1.000_001;
        Ok(MeanDual { value, v, distance })
    }

    /// Returns D(α) with V summed anew, or an error if an α_i is infeasible.
    pub fn dual(&self, alpha: &[f64]) -> Result<BallDual> {
        let MeanDual { value, v, distance } = self.mean_dual(alpha)?;
        let corners = self.map().corners;
        let (bound, mut x) = match self.term() {
            Some(term) => {
                let start = self.map().start(self.radius());
                own_term::conjugate(term, &v, start, &mut corners.feasible(self.radius()))
            }
            None => corners.conjugate(&v, self.radius(), self.mu()),
        };
        let mut sum = Sum::default();
        sum.add_measured(value);
        // h changes by at most the radius times the largest change of an entry.
        let error = bound.error + product_above(self.radius(), distance) * 1.000_001;
        sum.add_measured(Measured { value: -bound.value, error });
        if self.mu() > 0.0 && self.term().is_none() {
            x.iter_mut().for_each(|x| *x /= self.mu());
        }
        Ok(BallDual { value: sum.total(), v, x })
    }
}

/// `v += x ⊗ d`, with compensation.
fn add_compensated(row: Row<'_>, d: &[f64], v: &mut CompensatedVec) {
    use crate::linalg::Accumulate;
    if let [d] = d {
        row.for_each(|j, x| v.add(j, x * d));
    } else {
        v.add_outer(row, d, 1.0);
    }
}
