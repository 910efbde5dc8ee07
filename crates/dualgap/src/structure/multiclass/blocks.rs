//! Multiclass blocks: the dual point of an example is a distribution over the K classes.
//!
//! With the class scores a_y = c(y_i, y) + ⟨w_y, x_i⟩ and d = β − e_{y*},
//!
//! ```text
//! X_i β = x_i ⊗ (e_{y_i} − β),  X_i (e_{y*} − β) = x_i ⊗ d,  ‖·‖² = ‖x_i‖²‖d‖²,  gap_i = −⟨d, a⟩
//! ```

use crate::data::Examples;
use crate::dual::witness::{Witnessed, distribution};
use crate::dual::{
    ActiveSet, ActiveSetBlocks, Audit, Blocks, Found, Locality, Mixture, NoIntercept, Workload,
};
use crate::linalg::kernels::{add_scores, argmax};
use crate::linalg::memory::check_weights;
use crate::linalg::underflow::{product_above, root_above, vanished};
use crate::linalg::{Accumulate, Measured, Row, Rows, Sum, gamma};
use crate::term::{CheckedCosts, Costs, Gram};
use crate::{Error, Result};
use dualgap_map::fetch;

/// What a step costs per example under a kernel, in multiplications: two scores change, and half of the kernel values are
/// in the cache. Only the number of steps at a visit depends on it.
pub(crate) const KERNEL_WORK: f64 = 8.0;

/// The multiclass structural SVM over borrowed examples.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::dual::Blocks;
/// use dualgap::structure::MulticlassBlocks;
/// use dualgap::term::Costs;
/// let data = Examples::from_dense(&[vec![1.0], vec![-1.0], vec![0.1]], &["a", "b", "c"])?;
/// let blocks = MulticlassBlocks::new(&data, &Costs::ZeroOne)?;
/// assert_eq!((blocks.len(), blocks.dim()), (3, 3));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Debug)]
pub struct MulticlassBlocks<'a> {
    data: &'a Examples,
    labels: &'a [u32],
    pub(super) classes: usize,
    costs: CheckedCosts,
    /// ‖x_i‖².
    squared_norms: Vec<f64>,
    largest_cost: f64,
    /// The work of a step besides that on the example itself; see [`under_kernel`](Self::under_kernel).
    spread: f64,
}

impl<'a> MulticlassBlocks<'a> {
    /// Returns an error for fewer than two classes, which leave nothing to learn.
    pub fn new(data: &'a Examples, costs: &Costs) -> Result<Self> {
        let labels = data.classes()?;
        let classes = labels.alphabet().len();
        if classes < 2 {
            return Err(Error::setting(format!(
                "there must be at least two classes to tell apart, and the data have {classes}"
            )));
        }
        check_weights(data.rows().width().checked_mul(classes))?;
        let costs = costs.check(classes)?;
        Ok(Self {
            data,
            labels: labels.numbers(),
            classes,
            squared_norms: (0..data.len()).map(|i| data.rows().row(i).squared_norm()).collect(),
            largest_cost: costs.largest(),
            costs,
            spread: 0.0,
        })
    }

    /// Returns the blocks of one-hot inputs under a kernel: in its norm the inputs have the lengths √k(x, x), and a step
    /// on one example changes the scores of all.
    #[must_use]
    pub fn under_kernel(self, gram: &Gram<'_>) -> Self {
        let spread = KERNEL_WORK * gram.len() as f64;
        Self { squared_norms: gram.diagonal().to_vec(), spread, ..self }
    }

    /// Returns the inputs.
    pub(super) fn rows(&self) -> &'a Rows {
        self.data.rows()
    }

    pub(super) fn truth(&self, i: usize) -> usize {
        self.labels[i] as usize
    }

    /// Writes what each class costs.
    pub(super) fn fill_costs(&self, i: usize, costs: &mut Vec<f64>) {
        self.costs.fill(self.truth(i), costs);
    }

    fn cost(&self, i: usize, y: usize) -> f64 {
        self.costs.of(self.truth(i), y)
    }
}

/// The buffers of a multiclass block.
#[derive(Debug, Default)]
pub struct MulticlassScratch {
    /// a, costs included.
    pub(super) scores: Vec<f64>,
    /// The entries of d that are not zero.
    pub(super) d: Vec<(usize, f64)>,
    /// −⟨d, costs⟩, the rise of the dual term.
    rise: f64,
    /// d times the factor of a step.
    scaled: Vec<(usize, f64)>,
}

impl MulticlassScratch {
    /// d = at − e_to.
    fn subtract(&mut self, at: &Mixture, to: usize) {
        self.d.clear();
        let mut met = false;
        for (y, weight) in at.iter() {
            let here = y as usize == to;
            met |= here;
            let d = if here { weight - 1.0 } else { weight };
            if d != 0.0 {
                self.d.push((y as usize, d));
            }
        }
        if !met {
            self.d.push((to, -1.0));
        }
    }

    /// Adds `factor · x ⊗ d`.
    fn add_outer(&mut self, row: Row<'_>, classes: usize, factor: f64, out: &mut impl Accumulate) {
        self.scaled.clear();
        self.scaled.extend(self.d.iter().map(|&(y, d)| (y, factor * d)));
        out.add_classes(row, classes, &self.scaled);
    }
}

impl Blocks for MulticlassBlocks<'_> {
    type Visits = ActiveSet;
    type Intercept = NoIntercept;
    type Corner = u64;
    type Point = Mixture;
    type Scratch = MulticlassScratch;

    fn len(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.rows().width() * self.classes
    }

    fn workload(&self) -> Workload {
        let pass = self.rows().stored() as f64 * self.classes as f64;
        Workload { pass: (self.spread == 0.0).then_some(pass), ..Workload::default() }
    }

    fn importance(&self, i: usize) -> f64 {
        self.squared_norms[i].sqrt()
    }

    fn locality(&self) -> Locality {
        let rows = self.rows();
        let (fetches, stretches) = (rows.are_many_and_short(), rows.are_large_and_mapped());
        let alike = || rows.resemble_neighbours_of_classes(self.labels, self.classes);
        Locality { chunks: fetches && (stretches || !alike()), stretches, fetches }
    }

    #[inline]
    fn fetch(&self, i: usize, _: &Mixture) {
        fetch(&self.squared_norms[i]);
        self.rows().fetch(i);
    }

    fn scratch(&self) -> MulticlassScratch {
        MulticlassScratch::default()
    }

    fn start(&self, i: usize) -> Mixture {
        Mixture::corner(&[self.truth(i) as u64])
    }

    fn best_corner(
        &self,
        i: usize,
        w: &[f64],
        corner: &mut u64,
        scratch: &mut MulticlassScratch,
    ) -> Result<Found> {
        self.rescore(i, w, scratch);
        let (y, score) = argmax(scratch.scores.iter().copied());
        *corner = y as u64;
        Ok(Found::exact(score - scratch.scores[self.truth(i)]))
    }

    /// Costs times the divisor have the same best class.
    fn corner_at_quotient(
        &self,
        i: usize,
        w: &[f64],
        divisor: f64,
        corner: &mut u64,
        scratch: &mut MulticlassScratch,
    ) -> Result<bool> {
        self.costs.fill(self.truth(i), &mut scratch.scores);
        scratch.scores.iter_mut().for_each(|cost| *cost *= divisor);
        add_scores(self.rows().row(i), w, &mut scratch.scores);
        *corner = argmax(scratch.scores.iter().copied()).0 as u64;
        Ok(true)
    }

    fn rescore(&self, i: usize, w: &[f64], scratch: &mut MulticlassScratch) {
        self.costs.fill(self.truth(i), &mut scratch.scores);
        add_scores(self.rows().row(i), w, &mut scratch.scores);
    }

    fn difference(&self, i: usize, at: &Mixture, to: &u64, scratch: &mut MulticlassScratch) -> f64 {
        scratch.subtract(at, *to as usize);
        scratch.rise = -scratch.d.iter().map(|&(y, d)| d * self.cost(i, y)).sum::<f64>();
        scratch.rise
    }

    fn slope(&self, _: usize, _: &[f64], scratch: &mut MulticlassScratch) -> f64 {
        // The scores include the costs, which are no part of ⟨w, ·⟩.
        scratch.d.iter().map(|&(y, d)| d * scratch.scores[y]).sum::<f64>() + scratch.rise
    }

    fn curvature(&self, i: usize, scratch: &mut MulticlassScratch) -> f64 {
        self.squared_norms[i] * scratch.d.iter().map(|&(_, d)| d * d).sum::<f64>()
    }

    fn displace(
        &self,
        i: usize,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut MulticlassScratch,
    ) {
        scratch.add_outer(self.rows().row(i), self.classes, factor, out);
    }

    fn mix(&self, _: usize, gamma: f64, at: &mut Mixture, to: &u64) {
        at.step(gamma, &[*to]);
    }

    fn blend(&self, _: usize, share: f64, into: &mut Mixture, from: &Mixture) {
        into.blend(share, from);
    }

    fn add(
        &self,
        i: usize,
        at: &Mixture,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut MulticlassScratch,
    ) {
        scratch.subtract(at, self.truth(i));
        scratch.add_outer(self.rows().row(i), self.classes, -factor, out);
    }

    fn audit(&self, i: usize, at: &Mixture, _: &mut MulticlassScratch) -> Result<Audit> {
        let mut dual = Sum::default();
        for (y, weight) in at.iter() {
            if y >= self.classes as u64 {
                let message = format!("there is no class {y} of {}", self.classes);
                return Err(Error::Witness { example: i, message });
            }
            let cost = self.cost(i, y as usize);
            if cost > 0.0 {
                dual.add_measured(Measured::rounded(weight * cost, 1));
            }
        }
        let defect = distribution(i, at.iter().map(|(_, weight)| weight))?;
        let mut dual = dual.total();
        dual.error += product_above(defect, self.largest_cost);
        // `add` rounds each term four times: the weight, minus one, times the factor, times x; the
        // entries of d add up to two at most.
        let rounding = gamma(6) * 2.0;
        let stored = self.rows().row(i).stored();
        let length = root_above(self.squared_norms[i], stored);
        // Underflow of the factor, of its product with each entry of d, and of that with each entry of x.
        let terms = (at.len() + 1) as f64;
        let span = length * (2.0 + terms) + stored as f64 * terms;
        Ok(Audit { dual, reach: product_above(length, defect + rounding), span })
    }

    fn rounding(&self, i: usize, _: &[f64], largest_weight: f64) -> f64 {
        let row = self.rows().row(i);
        // The loss compares two scores, each with a cost, and a product and a sum per stored entry.
        let magnitude = self.largest_cost + product_above(row.norm1(), largest_weight);
        let vanished = vanished(row.stored());
        2.0 * (product_above(gamma(row.stored() + 3), magnitude) + vanished) * (1.0 + 1e-9)
    }

    /// The loss compares two scores.
    fn rounding_near(&self, i: usize, w: &[f64], largest_weight: f64, off: f64) -> f64 {
        let scores = 2.0 * product_above(self.rows().row(i).norm1(), off);
        self.rounding(i, w, largest_weight) + scores * (1.0 + 1e-9)
    }
}

impl ActiveSetBlocks for MulticlassBlocks<'_> {
    const RECALLS: bool = false;

    /// It takes no longer to compute the scores of all classes than those of some.
    fn score_active_set(&self, i: usize, _: &Mixture, w: &[f64], scratch: &mut MulticlassScratch) {
        self.rescore(i, w, scratch);
    }

    /// The scores of all classes are at hand, so the best of all is as good as known: with many classes a visit that could only
    /// move weight between those that have some would take as many visits as an example has classes at the optimum.
    fn extremes(
        &self,
        _: usize,
        at: &Mixture,
        _: &[f64],
        worst: &mut u64,
        best: &mut u64,
        scratch: &mut MulticlassScratch,
    ) {
        let mut low = f64::INFINITY;
        for (y, _) in at.iter().filter(|&(_, weight)| weight > 0.0) {
            let score = scratch.scores[y as usize];
            if score < low {
                (low, *worst) = (score, y);
            }
        }
        *best = argmax(scratch.scores.iter().copied()).0 as u64;
    }

    fn weight(&self, _: usize, at: &Mixture, corner: &u64) -> f64 {
        at.least(&[*corner])
    }

    fn between(&self, i: usize, from: &u64, to: &u64, scratch: &mut MulticlassScratch) -> f64 {
        let (from, to) = (*from as usize, *to as usize);
        scratch.d.clear();
        if from != to {
            scratch.d.extend([(from, 1.0), (to, -1.0)]);
        }
        scratch.rise = self.cost(i, to) - self.cost(i, from);
        scratch.rise
    }

    fn shift(&self, _: usize, amount: f64, at: &mut Mixture, from: &u64, to: &u64) {
        at.shift(amount, &[*from], &[*to]);
    }

    fn follow(&self, i: usize, w: &[f64], own: Option<f64>, scratch: &mut MulticlassScratch) {
        let Some(factor) = own else { return self.rescore(i, w, scratch) };
        for &(y, d) in &scratch.d {
            scratch.scores[y] += factor * self.squared_norms[i] * d;
        }
    }

    fn tidy(&self, _: usize, at: &mut Mixture) {
        let total: f64 = at.iter().map(|(_, weight)| weight).sum();
        at.rescale(|_, _| 1.0 / total);
    }

    fn oracle_work(&self, i: usize) -> f64 {
        self.rows().row(i).stored() as f64 * self.classes as f64 + self.spread
    }

    fn cached_work(&self, i: usize, at: &Mixture) -> [f64; 2] {
        let stored = self.rows().row(i).stored() as f64;
        let all = self.classes as f64;
        [stored * all + self.spread, 4.0 * at.len() as f64 + 2.0 * stored + all]
    }
}

impl Witnessed for MulticlassBlocks<'_> {
    fn entries(&self, at: &Mixture, _: &mut Vec<u8>) -> Vec<(u64, f64)> {
        at.iter().collect()
    }

    fn point(&self, i: usize, entries: Vec<(u64, f64)>, _: &[u8]) -> Result<Mixture> {
        Mixture::from_entries(entries).ok_or_else(|| Error::Witness {
            example: i,
            message: "its classes do not ascend".into(),
        })
    }
}
