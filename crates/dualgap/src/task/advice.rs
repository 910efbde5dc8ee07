//! Advice on the problem after a run: an intercept that would lower the objective much, columns that want a scale.
//!
//! It costs about a pass over the data, and is only computed for those who ask.

use super::{Model, Task};
use crate::Result;
use crate::data::{DataSet, Scaling};
use crate::linalg::Rows;
use crate::run::{Report, Stop};
use crate::structure::Structure;
use crate::structure::remarks::{Remark, on_intercept, on_scale};
use crate::term::Free;

/// A run over columns of different sizes that took so many passes took very many.
const MANY_PASSES: f64 = 100.0;

/// A run that ended before its tolerance, and before so many passes, has ended for other reasons.
const FEW_PASSES: f64 = 5.0;

/// From this factor between the largest magnitudes of two columns on, steps suffer.
const APART: f64 = 100.0;

/// The share of nonzero entries from which on data count as dense: in sparse data rare features differ by nature.
const DENSE: f64 = 0.05;

/// The share of nonzero entries from which on the root mean square of a column is the better scale.
const NEARLY_FULL: f64 = 0.5;

impl<S: Structure> Report<Model<S>> {
    /// Returns what the run suggests about its problem; `data` are those of the training.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::{Linear, RemarkKind};
    /// use dualgap::task::{Plan, Task};
    /// use dualgap::term::{Penalty, ScalarLoss};
    ///
    /// let rows: Vec<Vec<f64>> = (0..10).map(|i| vec![f64::from(i % 3)]).collect();
    /// let data = Examples::from_dense_numbers(&rows, &[100.0; 10])?;
    /// let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(1.0));
    /// let advice = task.fit(&data, Plan::new(Budget::default()))?.advice(&data)?;
    /// assert_eq!(advice[0].kind, RemarkKind::Intercept);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn advice(&self, data: &S::Data) -> Result<Vec<Remark>> {
        let odd = self.model.task.structure.remark(data);
        let Some(rows) = data.rows() else { return Ok(odd.into_iter().collect()) };
        let intercept =
            if self.certificate.certified { self.on_intercept(rows, data)? } else { None };
        let slow = self.passes >= MANY_PASSES
            || (self.stop != Stop::GapReached && self.passes >= FEW_PASSES);
        let scale = if slow { self.model.task.scale_advice(data) } else { None };
        Ok(odd.into_iter().chain(intercept).chain(scale).collect())
    }

    fn on_intercept(&self, rows: &Rows, data: &S::Data) -> Result<Option<Remark>> {
        let Task { structure, penalty, .. } = &self.model.task;
        let could = penalty.free().is_none()
            && penalty.with_free(Free { column: 0, bound: 1.0 }).is_ok()
            && !has_constant(rows);
        if !could {
            return Ok(None);
        }
        let weights = self.model.task.weigh(data, data.weights())?;
        let found = structure.best_constants(self.model.fitted(), data, weights.as_deref())?;
        Ok(found.and_then(|found| on_intercept(&self.certificate, &found)))
    }
}

impl<S: Structure> Task<S> {
    /// Returns the suggestion to scale the columns of these data, if their sizes differ so much that a run may be slow.
    /// [`Report::advice`] has it if the run was.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::structure::Linear;
    /// use dualgap::task::Task;
    /// use dualgap::term::{Penalty, ScalarLoss};
    ///
    /// let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(0.1));
    /// let rows = [vec![1e6, 2.0], vec![3e6, 1.0]];
    /// assert!(task.scale_advice(&Examples::from_dense_numbers(&rows, &[1.0, 2.0])?).is_some());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn scale_advice(&self, data: &S::Data) -> Option<Remark> {
        if !self.scaling.is_none() || !self.structure.allows_scaling() {
            return None;
        }
        let (apart, full) = spread(data.rows()?)?;
        let scaling = if full >= NEARLY_FULL { Scaling::Rms } else { Scaling::Max };
        let scaled = Self { scaling, ..self.clone() };
        (apart >= APART && scaled.check().is_ok()).then(|| on_scale(apart, scaling))
    }
}

/// Whether a column has the same value in all rows, and not zero.
fn has_constant(rows: &Rows) -> bool {
    let mut constant: Vec<(usize, f64)> = match rows.len() {
        0 => Vec::new(),
        _ => rows.row(0).iter().filter(|&(_, x)| x != 0.0).collect(),
    };
    for i in 1..rows.len() {
        if constant.is_empty() {
            break;
        }
        let row = rows.row(i);
        constant.retain(|&(j, x)| row.get(j) == x);
    }
    !constant.is_empty()
}

/// Returns by which factor the largest magnitudes of columns differ, and the share of nonzero entries, or `None` if the
/// data are sparse.
fn spread(rows: &Rows) -> Option<(f64, f64)> {
    let cells = rows.len() as f64 * rows.width() as f64;
    if (rows.stored() as f64) < DENSE * cells {
        return None; // before anything of the length of a row is made
    }
    let (mut largest, mut nonzero) = (vec![0.0_f64; rows.width()], 0_usize);
    for i in 0..rows.len() {
        rows.row(i).for_each(|j, x| {
            largest[j] = largest[j].max(x.abs());
            nonzero += usize::from(x != 0.0);
        });
    }
    let full = nonzero as f64 / cells;
    let sizes = || largest.iter().copied().filter(|&size| size > 0.0);
    let (low, high) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    (full >= DENSE).then_some((high / low, full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_column_is_one_that_never_changes() {
        let dense = |rows: &[[f64; 2]]| {
            Rows::dense(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).unwrap()
        };
        assert!(has_constant(&dense(&[[3.0, 1.0], [2.0, 1.0]])));
        assert!(has_constant(&dense(&[[3.0, -2.5], [2.0, -2.5]])));
        assert!(!has_constant(&dense(&[[3.0, 0.0], [2.0, 0.0]])));
        assert!(!has_constant(&dense(&[[3.0, 1.0], [2.0, 1.5]])));
        let mut sparse = Rows::sparse();
        assert!(!has_constant(&sparse));
        sparse.push_sparse(&[(1, 1.0)]);
        sparse.push_sparse(&[(1, 1.0), (2, 1.0)]);
        assert!(has_constant(&sparse));
        sparse.push_sparse(&[(2, 1.0)]);
        assert!(!has_constant(&sparse));
    }

    #[test]
    fn columns_are_compared_by_their_largest_magnitudes() {
        let rows = Rows::dense(&[vec![1.0, -3000.0, 0.0], vec![-0.5, 10.0, 0.0]]).unwrap();
        let (apart, full) = spread(&rows).unwrap();
        assert_eq!(apart, 3000.0);
        assert!((full - 4.0 / 6.0).abs() < 1e-15);
        let mut sparse = Rows::sparse();
        for i in 0..100 {
            sparse.push_sparse(&[(i, f64::from(i + 1))]);
        }
        assert_eq!(spread(&sparse), None, "features that are rare differ by nature");
    }
}
