//! Forward-backward on one sequence, scaled, with a bound on its rounding.
//!
//! With the largest score m_t of a position, M of a pair, e_t(y) = exp(a_t(y) − m_t), E(y, y') = exp(s(y, y') − M),
//!
//! ```text
//! f_1 = e_1,  f_t = (α_{t−1} E) ∘ e_t,    z_t = Σ f_t,   α_t = f_t / z_t                          forward
//! β_T = 1,    h_t = e_t ∘ β_t / z_t,      β_{t−1} = E h_t                                         backward
//! log Z = Σ (log z_t + m_t) + (T − 1) M,  μ_t = α_t ∘ β_t,  μ_t(y, y') = α_{t−1}(y) E(y, y') h_t(y')
//! ```
//!
//! Nothing is subtracted, so every error is relative. If E is nowhere below exp(−200), z_t is not either, and β nowhere above
//! exp(200): nothing overflows, and what underflows is less than 1e-100 of the rest. One position costs a factor
//!
//! ```text
//! 1 ± ρ_t,   ρ_t = (K + 12)u + (width of a_t + width of s)u + δ_t
//! ```
//!
//! K + 2 for the sums, 2 for α and 8 for the exponentials, whose arguments have errors of u times the width of the scores, and
//! δ_t for the scores themselves. log Z is wrong by Σ ρ_t at most, a marginal by a factor 1 ± 2 Σ ρ_t. Where E is wider,
//! [`ForwardBackward`] takes over, in logarithms: there each of T conditional probabilities has the errors of all sums after it.
//!
//! Where labelings are forbidden, e and E have zeros, and neither bound follows from the width of E. So both are looked at: a
//! sequence with a z_t below exp(−200) or a β above exp(200) goes by logarithms.

use super::super::forward_backward::{ForwardBackward, Potentials};
use super::super::legal::{Legal, is_forbidden};
use super::super::oracle::{ChainLayout, Label};
use crate::data::Sequence;
use crate::linalg::kernels::{add_outer, add_scores, exp_below};
use crate::linalg::{Measured, PackedRows, Row, Sum, UNDERFLOW, UNIT_ROUNDOFF, gamma};

/// The largest width of the scores of pairs for sums without logarithms.
const WIDEST: f64 = 200.0;

/// A bound on what underflows at a position, relative to what does not.
const VANISHED: f64 = 1e-100;

/// The exponentials of the scores of pairs.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// E by the label before, and by the label after.
    pub forward: Vec<f64>,
    backward: Vec<f64>,
    /// M.
    top: f64,
    /// The difference between the largest and the least score.
    width: f64,
    /// s, which sums in logarithms need.
    scores: Vec<f64>,
}

impl Pairs {
    /// Takes these scores; see [`Weights::quick`].
    pub fn set(&mut self, scores: &[f64], labels: usize, quick: bool) {
        let (least, top) = range(scores);
        (self.top, self.width) = (top, top - least);
        self.scores.clear();
        self.scores.extend_from_slice(scores);
        self.forward.clear();
        self.forward.extend_from_slice(scores);
        exponentiate(top, &mut self.forward, quick);
        self.backward.resize(scores.len(), 0.0);
        for (y, row) in self.forward.chunks_exact(labels).enumerate() {
            for (next, &e) in row.iter().enumerate() {
                self.backward[next * labels + y] = e;
            }
        }
    }

    /// Whether sums need no logarithms. Not so if a score is not a number.
    pub fn is_narrow(&self) -> bool {
        self.width <= WIDEST
    }
}

/// Replaces scores by their exponentials, relative to that of the largest.
fn exponentiate(top: f64, scores: &mut [f64], quick: bool) {
    if quick {
        exp_below(top, scores);
    } else {
        scores.iter_mut().for_each(|s| *s = (*s - top).exp());
    }
}

/// Returns the least and the largest of the scores that are not forbidden; both are the largest of all where none is left.
fn range(scores: &[f64]) -> (f64, f64) {
    let top = scores.iter().fold(f64::NEG_INFINITY, |top, &s| top.max(s));
    let least =
        scores.iter().fold(top, |least, &s| if is_forbidden(s) { least } else { least.min(s) });
    (least, top)
}

/// What is the same for all sequences of a pass.
pub(super) struct Weights<'a> {
    pub layout: ChainLayout,
    pub w: &'a [f64],
    /// The weights of features, where those of the layout have none.
    pub packed: Option<&'a PackedRows>,
    /// The exponentials of the transitions, if pairs have no features of their own.
    pub shared: &'a Pairs,
    /// For bounds: the largest weight of each feature, of positions and then of pairs, in absolute value.
    pub sizes: Option<&'a [f64]>,
    /// The labelings that there are, if some are forbidden.
    pub legal: Option<&'a Legal>,
    /// Whether exponentials may have errors of a few units in the last place: for steps, where nothing is forbidden, and not for
    /// bounds.
    pub quick: bool,
}

impl Weights<'_> {
    /// Returns E if it is still to be multiplied with the sums of the marginals of pairs: one product for all sequences.
    pub fn factor(&self) -> Option<&[f64]> {
        (self.layout.pairs == 0 && self.shared.is_narrow()).then_some(&self.shared.forward)
    }
}

/// What was found of a sequence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// log Z less the score of the truth; its error is zero without sizes.
    pub loss: Measured,
    /// A bound on the relative error of every marginal.
    pub relative: f64,
}

/// The buffers of a sequence.
#[derive(Clone, Debug, Default)]
pub(super) struct Scaled {
    /// `T × K`: a, then e.
    nodes: Vec<f64>,
    /// `T × K`: α, then μ.
    alpha: Vec<f64>,
    /// z.
    sums: Vec<f64>,
    beta: Vec<f64>,
    ahead: Vec<f64>,
    /// The scores of pairs that have features, by position.
    scores: Vec<f64>,
    tables: Vec<Pairs>,
    /// The marginals of a pair.
    table: Vec<f64>,
    logs: ForwardBackward,
}

impl Scaled {
    /// The marginals of all positions after a [`run`](Self::run), `T × K`.
    pub fn marginals(&self) -> &[f64] {
        &self.alpha
    }

    /// Computes the marginals; adds `mass` times those of pairs to `pairs`, which has the layout of the weights from the
    /// transitions on, up to the factor of [`Weights::factor`]. Without `truth`, the loss is log Z alone.
    pub fn run(
        &mut self,
        weights: &Weights<'_>,
        x: Sequence<'_>,
        truth: Option<&[Label]>,
        mass: f64,
        pairs: Option<&mut [f64]>,
    ) -> Found {
        if x.len() == 0 {
            self.alpha.clear();
            return Found::default();
        }
        let errors = self.score(weights, x);
        let plain = if weights.layout.pairs == 0 {
            weights.shared.is_narrow()
        } else {
            self.tables[1..x.len()].iter().all(Pairs::is_narrow)
        };
        let mut pairs = pairs;
        if plain
            && let Some(found) =
                self.in_range(weights, x, truth, mass, pairs.as_deref_mut(), errors)
        {
            return found;
        }
        if plain {
            self.score(weights, x); // the exponentials have taken their place
        }
        self.in_logarithms(weights, x, truth, mass, pairs, errors)
    }

    /// Writes a and s; returns the sum of their errors, zero without sizes.
    fn score(&mut self, weights: &Weights<'_>, x: Sequence<'_>) -> f64 {
        let Weights { layout, w, sizes, .. } = *weights;
        let (k, length) = (layout.labels, x.len());
        self.nodes.clear();
        self.nodes.resize(length * k, 0.0);
        self.nodes[..k].copy_from_slice(&w[layout.start()]);
        for (node, end) in self.nodes[(length - 1) * k..].iter_mut().zip(&w[layout.end()]) {
            *node += end;
        }
        for (t, nodes) in self.nodes.chunks_exact_mut(k).enumerate() {
            match weights.packed {
                Some(packed) => packed.add_scores(x.row(t), nodes),
                None => add_scores(x.row(t), w, nodes),
            }
            if let Some(legal) = weights.legal {
                legal.mask_nodes(t, length, nodes);
            }
        }
        if layout.pairs > 0 {
            let size = k * k;
            self.scores.resize((length * size).max(self.scores.len()), 0.0);
            self.tables.resize_with(length.max(self.tables.len()), Pairs::default);
            for t in 1..length {
                let scores = &mut self.scores[t * size..(t + 1) * size];
                scores.copy_from_slice(&w[layout.transitions()]);
                add_scores(x.edge(t), &w[layout.pairs()], scores);
                if let Some(legal) = weights.legal {
                    legal.mask_pairs(scores);
                }
                self.tables[t].set(scores, k, weights.quick);
            }
        }
        sizes.map_or(0.0, |sizes| {
            let largest = |range: std::ops::Range<usize>| {
                w[range].iter().fold(0.0_f64, |largest, w| largest.max(w.abs()))
            };
            let of_row = |row: Row<'_>, sizes: &[f64], other: f64| {
                let mut size = other;
                row.for_each(|f, x| size += x.abs() * sizes[f]);
                let terms = row.stored() + 4;
                gamma(2 * terms) * size + terms as f64 * UNDERFLOW
            };
            let ends = largest(layout.start()) + largest(layout.end());
            let (of_nodes, of_pairs) = sizes.split_at(layout.features);
            let nodes: f64 = (0..length).map(|t| of_row(x.row(t), of_nodes, ends)).sum();
            if layout.pairs == 0 {
                return nodes;
            }
            let transition = largest(layout.transitions());
            nodes + (1..length).map(|t| of_row(x.edge(t), of_pairs, transition)).sum::<f64>()
        })
    }

    /// Returns `None`, and adds nothing, if forbidden labelings leave sums too small or too large.
    fn in_range(
        &mut self,
        weights: &Weights<'_>,
        x: Sequence<'_>,
        truth: Option<&[Label]>,
        mass: f64,
        mut pairs: Option<&mut [f64]>,
        errors: f64,
    ) -> Option<Found> {
        let (k, length) = (weights.layout.labels, x.len());
        let Self { nodes, alpha, sums, beta, ahead, tables, scores, table, .. } = self;
        let own = weights.layout.pairs > 0;
        let at = |t: usize| if own { &tables[t] } else { weights.shared };
        let transitions = &weights.w[weights.layout.transitions()];
        let mut loss = Sum::default();
        // The widths of all scores, and the logarithms, whose own errors are relative.
        let (mut widths, mut logs) = (0.0, 0.0);
        alpha.clear();
        alpha.resize(length * k, 0.0);
        sums.clear();
        for (t, a) in nodes.chunks_exact_mut(k).enumerate() {
            let (least, top) = range(a);
            widths += top - least;
            if let Some(truth) = truth {
                loss.add(top - a[usize::from(truth[t])]);
            } else {
                loss.add(top);
            }
            if t > 0 {
                let pairs = at(t);
                widths += pairs.width;
                loss.add(pairs.top);
                if let Some(truth) = truth {
                    let place = usize::from(truth[t - 1]) * k + usize::from(truth[t]);
                    loss.add(-if own { scores[t * k * k + place] } else { transitions[place] });
                }
            }
            exponentiate(top, a, weights.quick);
            let (before, here) = alpha.split_at_mut(t * k);
            let here = &mut here[..k];
            if t == 0 {
                here.copy_from_slice(a);
            } else {
                add_scores(Row::Dense(&before[(t - 1) * k..]), &at(t).forward, here);
                here.iter_mut().zip(&*a).for_each(|(f, e)| *f *= e);
            }
            let sum: f64 = here.iter().sum();
            if weights.legal.is_some() && (sum < (-WIDEST).exp() || sum.is_nan()) {
                return None;
            }
            let scale = 1.0 / sum;
            here.iter_mut().for_each(|f| *f *= scale);
            sums.push(scale);
            let log = sum.ln();
            logs += log.abs();
            loss.add(log);
        }
        ahead.resize(k, 0.0);
        let look_ahead = |t: usize, nodes: &[f64], beta: &[f64], ahead: &mut [f64]| {
            let e = &nodes[t * k..(t + 1) * k];
            for (y, ahead) in ahead.iter_mut().enumerate() {
                *ahead = e[y] * beta[y] * sums[t];
            }
        };
        beta.clear();
        beta.resize(k, 1.0);
        if weights.legal.is_some() {
            for t in (1..length).rev() {
                look_ahead(t, nodes, beta, ahead);
                beta.fill(0.0);
                add_scores(Row::Dense(ahead), &at(t).backward, beta);
                if !beta.iter().all(|&beta| beta <= WIDEST.exp()) {
                    return None;
                }
            }
            beta.fill(1.0);
        }
        for t in (0..length).rev() {
            let (before, here) = alpha.split_at_mut(t * k);
            look_ahead(t, nodes, beta, ahead);
            here[..k].iter_mut().zip(&*beta).for_each(|(alpha, beta)| *alpha *= beta);
            if t == 0 {
                break;
            }
            let before = &before[(t - 1) * k..];
            match &mut pairs {
                Some(pairs) if own => {
                    table.clear();
                    table.extend(before.iter().zip(at(t).forward.chunks_exact(k)).flat_map(
                        |(alpha, row)| row.iter().zip(&*ahead).map(move |(e, h)| alpha * e * h),
                    ));
                    let (transitions, others) = pairs.split_at_mut(k * k);
                    transitions.iter_mut().zip(&*table).for_each(|(sum, m)| *sum += mass * m);
                    add_outer(x.edge(t), table, mass, others);
                }
                Some(pairs) => add_outer(Row::Dense(before), ahead, mass, pairs),
                None => {}
            }
            beta.fill(0.0);
            add_scores(Row::Dense(ahead), &at(t).backward, beta);
        }
        let mut loss = loss.total();
        if weights.sizes.is_none() {
            return Some(Found { loss: Measured { error: 0.0, ..loss }, relative: 0.0 });
        }
        let positions = length as f64;
        let steps = positions * ((k + 12) as f64 * UNIT_ROUNDOFF + VANISHED);
        let rho = (steps + 2.0 * widths * UNIT_ROUNDOFF + errors) * 1.01;
        loss.error += 2.0 * rho + 2.0 * UNIT_ROUNDOFF * logs * 1.01;
        Some(Found { loss, relative: 2.0 * rho + (k + 8) as f64 * UNIT_ROUNDOFF })
    }

    fn in_logarithms(
        &mut self,
        weights: &Weights<'_>,
        x: Sequence<'_>,
        truth: Option<&[Label]>,
        mass: f64,
        pairs: Option<&mut [f64]>,
        errors: f64,
    ) -> Found {
        let (layout, length) = (weights.layout, x.len());
        let (k, own) = (layout.labels, layout.pairs > 0);
        let size = k * k;
        let edges =
            if own { &self.scores[size..length.max(1) * size] } else { &weights.shared.scores };
        let log_z = self.logs.run(Potentials { labels: k, nodes: &self.nodes, edges });
        self.alpha.clear();
        self.alpha.extend_from_slice(self.logs.all_labels());
        let mut loss = Sum::default();
        loss.add(log_z);
        for (t, &y) in truth.unwrap_or_default().iter().enumerate() {
            let y = usize::from(y);
            loss.add(-self.nodes[t * k + y]);
            if t > 0 {
                let before = truth.map_or(0, |truth| usize::from(truth[t - 1]));
                let place = before * k + y;
                loss.add(-edges[if own { (t - 1) * size + place } else { place }]);
            }
        }
        if let Some(pairs) = pairs {
            let (transitions, others) = pairs.split_at_mut(size);
            for t in 1..length {
                let table = self.logs.edges(t - 1);
                match weights.factor() {
                    // The sums are multiplied with E in the end; forbidden pairs have none.
                    Some(factor) => {
                        for ((sum, m), e) in transitions.iter_mut().zip(table).zip(factor) {
                            *sum += if *e > 0.0 { mass * m / e } else { 0.0 };
                        }
                    }
                    None => {
                        transitions.iter_mut().zip(table).for_each(|(sum, m)| *sum += mass * m);
                    }
                }
                if own {
                    add_outer(x.edge(t), table, mass, others);
                }
            }
        }
        let mut loss = loss.total();
        if weights.sizes.is_none() {
            return Found { loss: Measured { error: 0.0, ..loss }, relative: 0.0 };
        }
        // No partial sum of scores is larger than `reach`.
        let largest = |scores: &[f64]| {
            let legal = scores.iter().filter(|s| !is_forbidden(**s));
            legal.fold(0.0_f64, |top, s| top.max(s.abs()))
        };
        let reach: f64 = self.nodes.chunks_exact(k).map(largest).sum::<f64>()
            + length as f64 * (largest(edges) + (k as f64).ln() + 1.0);
        let step = (k + 8) as f64 * UNIT_ROUNDOFF + 8.0 * UNIT_ROUNDOFF * reach + 1e-40;
        let rho = (length as f64 * step + errors) * 1.01;
        loss.error += 2.0 * rho + gamma(4 * length + 4) * reach;
        // Two roundings more for a quotient by E.
        let relative = 2.0 * (length as f64 + 1.0) * (rho + (k + 10) as f64 * UNIT_ROUNDOFF);
        Found { loss, relative }
    }
}
