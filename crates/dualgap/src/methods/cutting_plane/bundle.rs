//! The bundle: the planes that are known, and the master problem over them.
//!
//! Every slack has a simplex of weights over its planes, and a plane (ℓ, g) says that the loss of its examples is at
//! least `ℓ − ⟨w, g⟩`. The master problem is the dual with nothing but these planes,
//!
//! ```text
//! max Σ_s ⟨ℓ_s, a_s⟩ − (1/2λ)‖Σ_s Σ_p a_sp g_sp‖²,      w = (1/λ) Σ_s Σ_p a_sp g_sp
//! ```
//!
//! With one slack it is a quadratic over one simplex and is solved to rounding (`simplex`). With one for each example,
//! a step of Frank-Wolfe toward all new planes at once comes first, so that no pass is behind Frank-Wolfe. Then sweeps over
//! the simplices, each solved with the others fixed, take turns with conjugate gradients for all of them together (`face`).

use super::face::ascend;
use super::group::{Cut, Group};
use super::simplex::maximise;
use crate::linalg::kernels::{argmax, dot};
use crate::{Error, Result};

/// A plane that drops out after it had no weight in this many masters of its slack: the number of SVM-struct (Joachims,
/// Finley and Yu 2009). A plane that would be wanted again is found again, for one oracle call; one that stays takes
/// memory and a row of the Gram matrix in every master.
const IDLE: u16 = 50;

/// Where each example has a slack, the master is solved until its own gap is this share of the gap that the last searches
/// have found; what it leaves is left to the next. On the OCR letters (λ = 0.01) four passes leave a gap of 16 % with a
/// tenth, and of 62 % with a half: searches at the weights of a half-solved master find little that is new.
const ACCURACY: f64 = 0.1;

/// The dual value cannot be computed more accurately than this share of its terms, so no master gap below it is looked for.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The sweeps of one master at most, and the iterations of conjugate gradients after each: bounds on the work of a master
/// that rounding keeps from its target. Most need less.
const SWEEPS: usize = 20;
const ITERATIONS: usize = 20;

/// Within a sweep, a simplex is solved to this share of its gap: the steps of the others will move its optimum.
const WITHIN: f64 = 0.01;

/// The planes of all slacks, their weights, and the w that follows from them.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    lambda: f64,
    groups: Vec<Group>,
    /// Slack, plane.
    pub weights: Vec<Vec<f64>>,
    /// Masters in a row in which the plane had no weight.
    pub idle: Vec<Vec<u16>>,
    pub w: Vec<f64>,
    buffers: [Vec<f64>; 3],
}

/// What offering a plane to the bundle has shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offered {
    /// Whether the plane is above all that were known at w, and now one of them.
    pub accepted: bool,
    /// The gap of its slack: how far the plane is above the mixture of the known ones.
    pub gap: f64,
}

impl Bundle {
    /// Returns a bundle of this many slacks without planes.
    pub fn new(lambda: f64, dim: usize, slacks: usize) -> Self {
        Self {
            lambda,
            groups: vec![Group::default(); slacks],
            weights: vec![Vec::new(); slacks],
            idle: vec![Vec::new(); slacks],
            w: vec![0.0; dim],
            buffers: Default::default(),
        }
    }

    /// Returns the number of slacks.
    pub fn slacks(&self) -> usize {
        self.groups.len()
    }

    /// Returns how many planes are known, and how many of them have weight.
    pub fn planes(&self) -> [usize; 2] {
        let all = self.weights.iter().flatten();
        [all.clone().count(), all.filter(|weight| **weight > 0.0).count()]
    }

    /// Adds a plane without weight.
    pub fn push(&mut self, slack: usize, cut: Cut) -> Result<()> {
        let Group { cuts, gram } = &mut self.groups[slack];
        let own = cut.image.product(&cut.image) / self.lambda;
        if !(cut.offset.is_finite() && own.is_finite()) {
            return Err(Error::Unsound {
                message: format!(
                    "a plane has the value {:e} and the squared length {own:e}; are there huge numbers in the data, \
                     or is lambda extremely small?",
                    cut.offset
                ),
            });
        }
        let others = cuts.iter().map(|other| cut.image.product(&other.image) / self.lambda);
        gram.push(others.chain([own]));
        cuts.push(cut);
        self.weights[slack].push(0.0);
        self.idle[slack].push(0);
        Ok(())
    }

    /// Adds a plane that a search at w has found, if none of those that are known is as high there.
    pub fn offer(&mut self, slack: usize, cut: Cut) -> Result<Offered> {
        let value = cut.value(&self.w);
        let known = self.groups[slack].cuts.iter().map(|cut| cut.value(&self.w));
        let (mut top, mut mean) = (f64::NEG_INFINITY, 0.0);
        for (known, weight) in known.zip(&self.weights[slack]) {
            top = top.max(known);
            mean += weight * known;
        }
        let (accepted, gap) = (value > top, value.max(top) - mean);
        if accepted {
            self.push(slack, cut)?;
        }
        Ok(Offered { accepted, gap: gap.max(0.0) })
    }

    /// Solves the master problem after these slacks were offered planes.
    pub fn solve(&mut self, slacks: &[usize], offered: &[Offered]) {
        if let ([group], [weights]) = (&self.groups[..], &mut self.weights[..]) {
            let offsets: Vec<f64> = group.cuts.iter().map(|cut| cut.offset).collect();
            maximise(&group.gram, &offsets, weights, 0.0);
        } else {
            self.step_jointly(slacks, offered);
            let found: f64 = offered.iter().map(|offered| offered.gap).sum();
            self.solve_in_turns(ACCURACY * found);
        }
        self.rebuild();
    }

    /// Computes w from the weights: running updates would accumulate rounding errors, and a run could not resume from
    /// the weights alone.
    pub fn rebuild(&mut self) {
        let Self { lambda, groups, weights, w, .. } = self;
        w.fill(0.0);
        for (group, weights) in groups.iter().zip(weights) {
            for (cut, &weight) in group.cuts.iter().zip(&*weights) {
                if weight > 0.0 {
                    cut.image.add_to(weight / *lambda, w);
                }
            }
        }
    }

    /// A step of Frank-Wolfe by line search toward the planes that were accepted, all at once.
    fn step_jointly(&mut self, slacks: &[usize], offered: &[Offered]) {
        let accepted = || slacks.iter().zip(offered).filter(|(_, offered)| offered.accepted);
        let Self { lambda, groups, weights, w, buffers, .. } = self;
        let [change, ..] = buffers;
        change.clear();
        change.resize(w.len(), 0.0);
        let mut slope = 0.0;
        for (&slack, offered) in accepted() {
            slope += offered.gap;
            // The new plane is the last, and has no weight yet.
            for (cut, weight) in groups[slack].cuts.iter().zip(&weights[slack]) {
                if *weight > 0.0 {
                    cut.image.add_to(-weight / *lambda, change);
                }
            }
            if let Some(cut) = groups[slack].cuts.last() {
                cut.image.add_to(1.0 / *lambda, change);
            }
        }
        let curvature = *lambda * dot(change, change);
        let gamma = if curvature > 0.0 { (slope / curvature).min(1.0) } else { 1.0 };
        for (&slack, _) in accepted() {
            weights[slack].iter_mut().for_each(|weight| *weight *= 1.0 - gamma);
            weights[slack].last_mut().into_iter().for_each(|weight| *weight += gamma);
        }
        w.iter_mut().zip(change).for_each(|(w, change)| *w += gamma * *change);
    }

    /// Sweeps over the simplices, back and forth, with conjugate gradients between, until the gaps that a sweep meets add
    /// up to the target at most.
    fn solve_in_turns(&mut self, target: f64) {
        let slacks = self.groups.len();
        let linear = |(group, weights): (&Group, &Vec<f64>)| -> f64 {
            group.cuts.iter().zip(weights).map(|(cut, weight)| (cut.offset * weight).abs()).sum()
        };
        let terms: f64 = self.groups.iter().zip(&self.weights).map(linear).sum();
        let target = target.max(ROUNDING * (terms + self.lambda * dot(&self.w, &self.w)));
        // Gaps below this add up to half of the target.
        let negligible = 0.5 * target / slacks as f64;
        for round in 0..SWEEPS {
            let mut met = 0.0;
            for k in 0..slacks {
                let slack = if round % 2 == 0 { k } else { slacks - 1 - k };
                if self.groups[slack].cuts.len() > 1 {
                    met += self.visit(slack, negligible);
                }
            }
            if met <= target {
                break;
            }
            ascend(&self.groups, &mut self.weights, self.lambda, &mut self.w, ITERATIONS);
        }
    }

    /// Solves the simplex of one slack with the others fixed, if its gap is above the tolerance; returns the gap.
    fn visit(&mut self, slack: usize, tolerance: f64) -> f64 {
        let Self { lambda, groups, weights, w, buffers, .. } = self;
        let (Group { cuts, gram }, weights) = (&groups[slack], &mut weights[slack]);
        let [_, linear, before] = buffers;
        linear.clear();
        linear.extend(cuts.iter().map(|cut| cut.value(w)));
        let (_, top) = argmax(linear.iter().copied());
        let mean: f64 = linear.iter().zip(&*weights).map(|(slope, weight)| slope * weight).sum();
        let gap = top - mean;
        if gap.is_nan() || gap <= tolerance {
            return gap.max(0.0);
        }
        // As a function of these weights alone the slopes are ℓ − Qa.
        for (i, linear) in linear.iter_mut().enumerate() {
            for (j, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                *linear += weight * gram.get(i, j);
            }
        }
        before.clone_from(weights);
        maximise(gram, linear, weights, WITHIN * gap);
        for ((cut, now), before) in cuts.iter().zip(&*weights).zip(&*before) {
            if now != before {
                cut.image.add_to((now - before) / *lambda, w);
            }
        }
        gap
    }

    /// Drops the planes of these slacks that have had no weight for many masters; returns slack and plane of each, the
    /// later planes of a slack first.
    pub fn drop_idle(&mut self, slacks: &[usize]) -> Vec<(usize, usize)> {
        let mut dropped = Vec::new();
        for &slack in slacks {
            let (weights, idle) = (&mut self.weights[slack], &mut self.idle[slack]);
            for (idle, weight) in idle.iter_mut().zip(&*weights) {
                *idle = if *weight > 0.0 { 0 } else { *idle + 1 };
            }
            if idle.iter().all(|idle| *idle < IDLE) {
                continue;
            }
            let stays: Vec<bool> = idle.iter().map(|idle| *idle < IDLE).collect();
            dropped.extend((0..stays.len()).rev().filter(|&p| !stays[p]).map(|p| (slack, p)));
            let Group { cuts, gram } = &mut self.groups[slack];
            gram.retain(|p| stays[p]);
            retain(cuts, &stays);
            retain(weights, &stays);
            retain(idle, &stays);
        }
        dropped
    }

    /// Whether weights and counts of this form belong to the planes that are known.
    pub fn fits(&self, weights: &[Vec<f64>], idle: &[Vec<u16>]) -> bool {
        let each = |group: &Group, weights: &[f64], idle: &[u16]| {
            weights.len() == group.cuts.len()
                && idle.len() == group.cuts.len()
                && weights.iter().all(|weight| *weight >= 0.0)
                && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-9
                && idle.iter().all(|idle| *idle < IDLE)
        };
        weights.len() == self.groups.len()
            && idle.len() == self.groups.len()
            && self.groups.iter().zip(weights).zip(idle).all(|((g, w), i)| each(g, w, i))
    }
}

fn retain<T>(items: &mut Vec<T>, stays: &[bool]) {
    let mut stays = stays.iter();
    items.retain(|_| stays.next().is_some_and(|stays| *stays));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Accumulate, Random, SparseVec};
    use crate::methods::cutting_plane::image::Image;

    const DIM: usize = 6;

    fn cut(random: &mut Random) -> Cut {
        let mut image = SparseVec::default();
        (0..DIM).for_each(|j| image.add(j, random.unit() - 0.4));
        image.settle();
        Cut { offset: random.unit(), image: Image::Sparse(image) }
    }

    /// A bundle with all weight on the first plane of each slack.
    fn bundle(slacks: usize, lambda: f64, random: &mut Random) -> Bundle {
        let mut bundle = Bundle::new(lambda, DIM, slacks);
        for slack in 0..slacks {
            bundle.push(slack, cut(random)).unwrap();
            bundle.weights[slack][0] = 1.0;
        }
        bundle.rebuild();
        bundle
    }

    fn value(bundle: &Bundle) -> f64 {
        let linear = |(group, weights): (&Group, &Vec<f64>)| -> f64 {
            group.cuts.iter().zip(weights).map(|(cut, weight)| cut.offset * weight).sum()
        };
        let linear: f64 = bundle.groups.iter().zip(&bundle.weights).map(linear).sum();
        linear - bundle.lambda / 2.0 * dot(&bundle.w, &bundle.w)
    }

    /// What the master could still gain, by a plane of each slack.
    fn gap(bundle: &Bundle) -> f64 {
        let of_slack = |(group, weights): (&Group, &Vec<f64>)| {
            let values: Vec<f64> = group.cuts.iter().map(|cut| cut.value(&bundle.w)).collect();
            argmax(values.iter().copied()).1 - dot(&values, weights)
        };
        bundle.groups.iter().zip(&bundle.weights).map(of_slack).sum()
    }

    // The gap of the master bounds what it lacks of its optimum. With λ this small, sweeps alone would come nowhere near.
    #[test]
    fn masters_of_many_slacks_are_solved_to_their_share_and_never_lose() {
        let mut random = Random::new(4);
        for lambda in [1.0, 1e-2, 1e-4] {
            let mut bundle = bundle(30, lambda, &mut random);
            let slacks: Vec<usize> = (0..30).collect();
            for _ in 0..12 {
                let before = value(&bundle);
                let each = slacks.iter().map(|&slack| bundle.offer(slack, cut(&mut random)));
                let offered: Vec<Offered> = each.collect::<Result<_>>().unwrap();
                let found: f64 = offered.iter().map(|offered| offered.gap).sum();
                bundle.solve(&slacks, &offered);
                let (after, left) = (value(&bundle), gap(&bundle));
                assert!(after >= before - 1e-13 * (1.0 + 1.0 / lambda), "{before} {after}");
                assert!(
                    left <= 2.0 * ACCURACY * found + 1e-11 / lambda,
                    "{lambda}: {left} {found}"
                );
            }
            let sums = bundle.weights.iter().map(|weights| weights.iter().sum::<f64>());
            assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-12));
        }
    }

    #[test]
    fn planes_without_weight_leave_after_fifty_masters_of_their_slack() {
        let mut random = Random::new(9);
        let mut bundle = bundle(3, 1.0, &mut random);
        for _ in 0..4 {
            bundle.push(1, cut(&mut random)).unwrap();
        }
        bundle.weights[1] = vec![0.5, 0.0, 0.0, 0.5, 0.0];
        let (w, last) = (bundle.w.clone(), bundle.groups[1].cuts[3].offset);
        for _ in 1..IDLE {
            assert!(bundle.drop_idle(&[0, 1]).is_empty() && bundle.drop_idle(&[2]).is_empty());
        }
        // A plane that had weight in between begins anew.
        bundle.weights[1].swap(0, 2);
        assert_eq!(bundle.drop_idle(&[1, 0]), [(1, 4), (1, 1)]);
        assert_eq!(bundle.groups[1].cuts.len(), 3);
        assert_eq!((bundle.groups[1].cuts[2].offset, bundle.weights[1][2]), (last, 0.5));
        assert_eq!(bundle.planes(), [5, 4]);
        assert_eq!(bundle.w, w);
    }
}
