//! The objective over all sequences: its gradient, and the two values of its certificate.
//!
//! A pass has two halves. The first runs over the sequences and leaves `d_t = mass (e_{y_t} − μ_t)` of every position; the second
//! runs over the features, `u_f = Σ_t x_{tf} d_t`, so that threads share no sums and need no copies of the weights.
//!
//! The rounding of the dual value: D = L + f(u) with f(u) = ⟨w, u⟩ − ‖u‖²/(2λ), and for the computed û with ‖û − u‖ ≤ δ
//!
//! ```text
//! |f(û) − f(u)| ≤ ‖w − û/λ‖ δ + δ²/(2λ),     δ = ε Σ mass_i Σ_t 2(‖x_t‖₁ + 3)
//! ```
//!
//! where ε bounds the relative errors of marginals and of what is added up. At the optimum w = u/λ, and only δ² is left. Under an
//! elastic net S_σ(u), whose entries are nearer to zero by σ, takes the place of u in the square: f then has the slope
//! w − S_σ(u)/λ, and the same holds with it, because S_σ moves no further than u does.

use super::super::legal::Legal;
use super::super::oracle::ChainLayout;
use super::scaled::{Pairs, Scaled, Weights};
use super::single::Places;
use crate::data::Sequences;
use crate::dual::problem::masses;
use crate::linalg::accumulate::add_scores_compensated;
use crate::linalg::kernels::add_scores;
use crate::linalg::memory::Need;
use crate::linalg::sum::{squared_norm, two_sum};
use crate::linalg::{Columns, Measured, Sum, UNIT_ROUNDOFF, gamma, parallel};
use crate::methods::quasi_newton::{Past, SmoothProblem};
use crate::run::Mean;
use crate::term::ball::l1::soft;
use crate::{Error, Result};
use multiversion::multiversion;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The most parts that sequences and features are split into: enough for the cores of most machines.
const PARTS: usize = 64;

/// The largest weights that stochastic steps may lead to.
const LARGEST: f64 = 1e18;

/// So many weights are swept over at a time: they stay in the first cache.
const SWEPT: usize = 1024;

/// The number of stochastic passes; more of them gain little.
const PASSES: u64 = 6;

/// Chains under the log-loss and a ridge or an elastic net.
pub(super) struct CrfProblem<'d> {
    pub(super) data: &'d Sequences,
    pub(super) layout: ChainLayout,
    pub(super) legal: Option<Arc<Legal>>,
    pub(super) lambda: f64,
    /// σ, the strength of the l1 norm.
    pub(super) l1: f64,
    pub(super) masses: Vec<f64>,
    columns: Columns,
    /// The counts of pairs in the truth, with their masses: the layout of the weights from the transitions on.
    counts: Vec<f64>,
    /// `Σ mass_i Σ_t 2(‖x_t‖₁ + 3)`.
    extent: f64,
    /// d and u, so that they need not be allocated again in every pass.
    residuals: Mutex<Vec<f64>>,
    slopes: Mutex<Vec<f64>>,
    /// The length of stochastic steps, once it is known.
    pub(super) rate: OnceLock<f64>,
}

/// The sums of the first half of a pass.
struct Sums {
    /// L(w).
    loss: Measured,
    /// The expected counts of pairs.
    pairs: Vec<f64>,
    /// ε.
    relative: f64,
}

/// The values that certificates are made of.
pub(super) struct Values {
    /// L(w).
    pub loss: Measured,
    /// ⟨w, u⟩ + L(w): the mean entropy.
    pub entropy: Measured,
    /// ½‖S_σ(u)‖².
    pub conjugate: Measured,
    /// D.
    pub dual: Measured,
    /// ½‖w‖².
    pub square: Measured,
    /// σ‖w‖₁.
    pub norm: Measured,
    /// The largest entry of u, in absolute value.
    pub slope: f64,
}

impl<'d> CrfProblem<'d> {
    pub fn new(
        data: &'d Sequences,
        layout: ChainLayout,
        legal: Option<Arc<Legal>>,
        (lambda, l1): (f64, f64),
        weights: Option<&[f64]>,
    ) -> Result<Self> {
        if data.is_empty() {
            return Err(Error::setting("there is no example to train on"));
        }
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(Error::setting(format!("lambda must be positive, not {lambda}")));
        }
        if !(l1 >= 0.0 && l1.is_finite()) {
            return Err(Error::setting(format!(
                "the l1 strength must not be negative, and is {l1}"
            )));
        }
        let positions = data.rows().len();
        let numbers = positions * (2 * layout.labels) + 2 * data.rows().stored();
        let others = numbers + Places::of(layout).count() / 2;
        Need { weights: layout.dim(), copies: 4, others }.check()?;
        let masses = masses(data.len(), weights)?;
        let columns = Columns::of(data.rows());
        let pairs = layout.dim() - layout.transitions().start;
        let (mut counts, mut low) = (vec![0.0; pairs], vec![0.0; pairs]);
        let mut count = |place: usize, x: f64| two_sum(&mut counts[place], &mut low[place], x);
        let mut extent = 0.0;
        let size = layout.labels * layout.labels;
        for (i, &mass) in masses.iter().enumerate() {
            let (x, truth) = (data.sequence(i), data.truth(i));
            for (t, &y) in truth.iter().enumerate() {
                extent += mass * 2.0 * (x.row(t).norm1() + 3.0);
                if t > 0 {
                    extent += mass * 2.0 * x.edge(t).norm1();
                    let place = usize::from(truth[t - 1]) * layout.labels + usize::from(y);
                    count(place, mass);
                    x.edge(t).for_each(|f, x| count((f + 1) * size + place, mass * x));
                }
            }
        }
        counts.iter_mut().zip(&low).for_each(|(high, low)| *high += low);
        let (residuals, slopes) = Default::default();
        Ok(Self {
            data,
            layout,
            legal,
            lambda,
            l1,
            masses,
            columns,
            counts,
            extent: extent * 1.001,
            rate: OnceLock::new(),
            residuals,
            slopes,
        })
    }

    /// The parts of the sequences: fewer if each of them has large sums.
    fn parts(&self) -> usize {
        let most = (self.data.rows().stored() * self.layout.labels / self.counts.len()).max(1);
        PARTS.min(self.data.len()).min(most)
    }

    /// The first half of a pass: writes d, and adds up the rest. With `bounded`, the errors are bounded.
    fn first_half(&self, w: &[f64], bounded: bool, residuals: &mut Vec<f64>) -> Result<Sums> {
        let (layout, k) = (self.layout, self.layout.labels);
        let mut shared = Pairs::default();
        let quick = !bounded && self.legal.is_none();
        shared.set(&Legal::masked(self.legal.as_deref(), &w[layout.transitions()]), k, quick);
        let sizes = bounded.then(|| self.sizes(w));
        let legal = self.legal.as_deref();
        let sizes = sizes.as_deref();
        let weights = Weights { layout, w, packed: None, shared: &shared, sizes, legal, quick };
        residuals.resize(self.data.rows().len() * k, 0.0);
        let mut rest = &mut residuals[..];
        let mut parts: Vec<(Range<usize>, &mut [f64])> = Vec::new();
        for range in parallel::ranges(self.data.len(), self.parts()) {
            let positions = self.data.starts()[range.end] - self.data.starts()[range.start];
            let (own, after) = std::mem::take(&mut rest).split_at_mut(positions * k);
            rest = after;
            parts.push((range, own));
        }
        let done = parallel::map_mut(&mut parts, Scaled::default, |scaled, _, (range, own)| {
            Ok(self.some(&weights, range.clone(), own, scaled))
        })?;
        let (mut loss, mut relative) = (Mean::default(), 0.0_f64);
        let mut pairs = (vec![0.0; self.counts.len()], vec![0.0; self.counts.len()]);
        for part in &done {
            loss.add_mean(&part.loss);
            relative = relative.max(part.relative);
            for ((high, low), &sum) in pairs.0.iter_mut().zip(&mut pairs.1).zip(&part.pairs) {
                two_sum(high, low, sum);
            }
        }
        pairs.0.iter_mut().zip(&pairs.1).for_each(|(high, low)| *high += low);
        if let Some(factor) = weights.factor() {
            pairs.0.iter_mut().zip(factor).for_each(|(sum, e)| *sum *= e);
        }
        Ok(Sums { loss: loss.total(), pairs: pairs.0, relative })
    }

    fn some(
        &self,
        weights: &Weights<'_>,
        range: Range<usize>,
        own: &mut [f64],
        scaled: &mut Scaled,
    ) -> PartSums {
        let k = self.layout.labels;
        let mut some = PartSums { pairs: vec![0.0; self.counts.len()], ..PartSums::default() };
        let first = self.data.starts()[range.start];
        for i in range {
            let (x, truth, mass) = (self.data.sequence(i), self.data.truth(i), self.masses[i]);
            let found = scaled.run(weights, x, Some(truth), mass, Some(&mut some.pairs));
            some.loss.add(found.loss, mass);
            some.relative = some.relative.max(found.relative);
            some.positions += truth.len();
            let start = self.data.starts()[i] - first;
            let out = &mut own[start * k..(start + truth.len()) * k];
            for (d, mu) in out.iter_mut().zip(scaled.marginals()) {
                *d = -mass * mu;
            }
            for (d, (mu, &y)) in
                out.chunks_exact_mut(k).zip(scaled.marginals().chunks_exact(k).zip(truth))
            {
                d[usize::from(y)] = mass * (1.0 - mu[usize::from(y)]);
            }
        }
        // The sums of pairs are plain ones, of nonnegative terms without features, and else of terms that `extent` counts.
        some.relative += gamma(some.positions + 4);
        some
    }

    /// The largest weight of each feature in absolute value, of positions and then of pairs.
    fn sizes(&self, w: &[f64]) -> Vec<f64> {
        let layout = self.layout;
        let largest = |w: &[f64]| w.iter().fold(0.0_f64, |top, w| top.max(w.abs()));
        let nodes = w[..layout.start().start].chunks_exact(layout.labels).map(largest);
        let pairs = w[layout.pairs()].chunks_exact(layout.labels * layout.labels).map(largest);
        nodes.chain(pairs).collect()
    }

    /// The second half of a pass: writes u. With `compensated`, its sums have no rounding worth a word. What `finish` returns for
    /// the weights of a feature, or for those that are of no feature, is added up.
    fn second_half(
        &self,
        residuals: &[f64],
        sums: &Sums,
        compensated: bool,
        u: &mut [f64],
        finish: impl Fn(Range<usize>, &mut [f64]) -> f64 + Sync,
    ) -> f64 {
        let (layout, k) = (self.layout, self.layout.labels);
        let (emissions, others) = u.split_at_mut(layout.start().start);
        let parts =
            parallel::fill_ranges(layout.features, PARTS, [(emissions, k)], |range, [out]| {
                let mut low = vec![0.0; k];
                let mut sum = 0.0;
                for (f, out) in range.zip(out.chunks_exact_mut(k)) {
                    out.fill(0.0);
                    if compensated {
                        low.fill(0.0);
                        add_scores_compensated(self.columns.column(f), residuals, out, &mut low);
                        out.iter_mut().zip(&low).for_each(|(high, low)| *high += low);
                    } else {
                        add_scores(self.columns.column(f), residuals, out);
                    }
                    sum += finish(f * k..(f + 1) * k, out);
                }
                sum
            });
        let (ends, pairs) = others.split_at_mut(2 * k);
        let mut low = vec![0.0; 2 * k];
        ends.fill(0.0);
        for bounds in self.data.starts().windows(2).filter(|bounds| bounds[0] < bounds[1]) {
            let (first, last) = (bounds[0] * k, (bounds[1] - 1) * k);
            let d = residuals[first..first + k].iter().chain(&residuals[last..last + k]);
            for ((high, low), &d) in ends.iter_mut().zip(&mut low).zip(d) {
                two_sum(high, low, d);
            }
        }
        ends.iter_mut().zip(&low).for_each(|(high, low)| *high += low);
        for ((u, count), expected) in pairs.iter_mut().zip(&self.counts).zip(&sums.pairs) {
            *u = count - expected;
        }
        parts.into_iter().sum::<f64>() + finish(layout.start().start..layout.dim(), others)
    }

    /// Computes what a certificate at w is made of, from scratch and with all errors bounded.
    pub fn values(&self, w: &[f64]) -> Result<Values> {
        let mut residuals = taken(&self.residuals);
        let sums = self.first_half(w, true, &mut residuals)?;
        let mut u = taken(&self.slopes);
        u.resize(w.len(), 0.0);
        self.second_half(&residuals, &sums, true, &mut u, |_, _| 0.0);
        drop(residuals);
        let delta = (sums.relative + 16.0 * UNIT_ROUNDOFF) * self.extent * 1.001;
        let Sweep { square, mut norm, product, one, apart, slope } = self.sweep(w, &u)?;
        if self.l1 > 0.0 {
            // Every entry of S_σ is one subtraction.
            norm.error += 4.0 * UNIT_ROUNDOFF * norm.value;
        }
        let (square, conjugate) = (square.scaled(0.5), norm.scaled(0.5));
        let away = (apart.value + apart.error).sqrt() * 1.001
            + 4.0 * UNIT_ROUNDOFF * (norm.value + norm.error).sqrt() / self.lambda
            + 4.0 * UNIT_ROUNDOFF * (2.0 * square.value).sqrt();
        let mut dual = Sum::default();
        dual.add_measured(sums.loss);
        dual.add_measured(product);
        dual.add_measured(conjugate.divided(-self.lambda));
        let mut dual = dual.total();
        dual.error += (away * delta + delta * delta / (2.0 * self.lambda)) * 1.001;
        let mut entropy = Sum::default();
        entropy.add_measured(sums.loss);
        entropy.add_measured(product);
        let mut entropy = entropy.total();
        entropy.error += (2.0 * square.value).sqrt() * 1.001 * delta;
        let slack = ((norm.value + norm.error).sqrt() * delta + delta * delta) * 1.001;
        let conjugate = Measured { error: conjugate.error + slack, ..conjugate };
        let norm = one.scaled(self.l1);
        Ok(Values { loss: sums.loss, entropy, conjugate, dual, square, norm, slope })
    }

    /// Adds up what a certificate needs of w and u, in one sweep over both.
    fn sweep(&self, w: &[f64], u: &[f64]) -> Result<Sweep> {
        let parts = parallel::map_ranges(w.len(), PARTS, |range| {
            let mut sums = [Sum::default(); 5];
            let (mut slope, mut buffer) = (0.0_f64, Vec::new());
            for (w, u) in w[range.clone()].chunks(SWEPT).zip(u[range].chunks(SWEPT)) {
                let [square, norm, product, one, apart] = &mut sums;
                slope = u.iter().fold(slope, |top, u| top.max(u.abs()));
                square.add_measured(squared_norm(w));
                product.add_measured(product_of(w, u));
                buffer.clear();
                if self.l1 > 0.0 {
                    buffer.extend(u.iter().map(|u| soft(*u, self.l1)));
                    w.iter().for_each(|w| one.add(w.abs()));
                } else {
                    buffer.extend_from_slice(u);
                }
                norm.add_measured(squared_norm(&buffer));
                buffer.iter_mut().zip(w).for_each(|(u, w)| *u = w - *u / self.lambda);
                apart.add_measured(squared_norm(&buffer));
            }
            Ok((sums, slope))
        })?;
        let mut total = [Sum::default(); 5];
        let mut slope = 0.0_f64;
        for (sums, top) in &parts {
            total.iter_mut().zip(sums).for_each(|(total, sum)| total.add_sum(sum));
            slope = slope.max(*top);
        }
        let [square, norm, product, one, apart] = total.map(|sum| sum.total());
        Ok(Sweep { square, norm, product, one, apart, slope })
    }
}

fn taken(buffer: &Mutex<Vec<f64>>) -> MutexGuard<'_, Vec<f64>> {
    // Whatever a thread that failed has left in the buffer is written anew.
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sums over all weights w and slopes u.
struct Sweep {
    /// ‖w‖², ‖S_σ(u)‖², ⟨w, u⟩ and ‖w‖₁, which is zero without an l1 norm.
    square: Measured,
    norm: Measured,
    product: Measured,
    one: Measured,
    /// ‖w − S_σ(u)/λ‖², the square of what the errors of u are multiplied with.
    apart: Measured,
    /// The largest |u_j|.
    slope: f64,
}

/// The sums over some sequences.
#[derive(Default)]
struct PartSums {
    loss: Mean,
    pairs: Vec<f64>,
    relative: f64,
    positions: usize,
}

/// Returns ⟨a, b⟩, compensated.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn product_of(a: &[f64], b: &[f64]) -> Measured {
    let (mut high, mut low, mut sizes) = ([0.0; 8], [0.0; 8], [0.0_f64; 8]);
    let (of_a, of_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = of_a.remainder().iter().zip(of_b.remainder());
    for (a, b) in of_a.zip(of_b) {
        for lane in 0..8 {
            two_sum(&mut high[lane], &mut low[lane], a[lane] * b[lane]);
            sizes[lane] += (a[lane] * b[lane]).abs();
        }
    }
    for (lane, (a, b)) in rest.enumerate() {
        two_sum(&mut high[lane], &mut low[lane], a * b);
        sizes[lane] += (a * b).abs();
    }
    let size: f64 = sizes.iter().sum();
    let mut total = high.into_iter().chain(low).collect::<Sum>().total();
    let second_order = (a.len() as f64 * UNIT_ROUNDOFF).powi(2);
    total.error += (2.0 * UNIT_ROUNDOFF + second_order) * size * 1.001;
    total.error += a.len() as f64 * crate::linalg::UNDERFLOW;
    total
}

/// The value of the objective that certificates have.
pub(super) fn primal_of(values: &Values, lambda: f64) -> Measured {
    let mut primal = Sum::default();
    primal.add_measured(values.loss);
    primal.add_measured(values.square.scaled(lambda));
    primal.add_measured(values.norm);
    primal.total()
}

impl SmoothProblem for CrfProblem<'_> {
    fn dim(&self) -> usize {
        self.layout.dim()
    }

    fn examples(&self) -> usize {
        self.data.len()
    }

    fn lambda(&self) -> f64 {
        self.lambda
    }

    fn l1(&self) -> f64 {
        self.l1
    }

    fn gradient(&self, w: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let mut residuals = taken(&self.residuals);
        let sums = self.first_half(w, false, &mut residuals)?;
        let square = self.second_half(&residuals, &sums, false, gradient, |range, out| {
            let mut square = 0.0;
            for (g, w) in out.iter_mut().zip(&w[range]) {
                *g = self.lambda * w - *g;
                square += w * w;
            }
            square
        });
        Ok(sums.loss.value + self.lambda * 0.5 * square)
    }

    /// The diagonal is `λ + Σ mass x² μ(1 − μ)`; for pairs, the expected counts in the place of the variances.
    fn diagonal(&self, w: &[f64], diagonal: &mut [f64]) -> Result<()> {
        let k = self.layout.labels;
        let mut residuals = taken(&self.residuals);
        let sums = self.first_half(w, false, &mut residuals)?;
        for (i, bounds) in self.data.starts().windows(2).enumerate() {
            let mass = self.masses[i];
            for d in &mut residuals[bounds[0] * k..bounds[1] * k] {
                // |d| is mass·μ, or for the truth mass·(1 − μ).
                *d = if mass > 0.0 { d.abs() * (1.0 - d.abs() / mass).max(0.0) } else { 0.0 };
            }
        }
        self.second_half(&residuals, &sums, false, diagonal, |_, _| 0.0);
        let layout = self.layout;
        let (emissions, _) = diagonal.split_at_mut(layout.start().start);
        parallel::fill_ranges(layout.features, PARTS, [(emissions, k)], |range, [out]| {
            for (f, out) in range.zip(out.chunks_exact_mut(k)) {
                out.fill(0.0);
                self.columns.column(f).for_each(|t, x| {
                    for (out, q) in out.iter_mut().zip(&residuals[t * k..(t + 1) * k]) {
                        *out += x * x * q;
                    }
                });
            }
        });
        for (d, expected) in diagonal[layout.transitions().start..].iter_mut().zip(&sums.pairs) {
            *d = expected.abs();
        }
        diagonal.iter_mut().for_each(|d| *d += self.lambda);
        Ok(())
    }

    fn stochastic_pass(&self, w: &mut [f64], past: &mut Past, pass: u64) -> Result<bool> {
        // Where pairs have features, a step would have to write all their weights. No weight is larger than the quotient, of which 32
        // bits must have room for the square.
        if self.layout.pairs > 0 || self.extent / self.lambda > LARGEST {
            return Ok(false);
        }
        if self.can_ascend() {
            return Ok(self.ascend(w, past, pass));
        }
        self.walk(w, pass);
        let last = pass + 1 >= PASSES;
        if last && w.iter().any(|w| !w.is_finite()) {
            w.fill(0.0);
        }
        Ok(!last)
    }

    fn settle(&self, w: &mut [f64], past: &Past) {
        self.settle_ascent(w, past);
    }

    fn certificate(&self, w: &[f64]) -> Result<(Measured, Measured)> {
        let values = self.values(w)?;
        Ok((primal_of(&values, self.lambda), values.dual))
    }
}
