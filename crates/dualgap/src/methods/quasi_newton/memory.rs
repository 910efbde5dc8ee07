//! The last pairs of steps and changes of the gradient, and the product of the quasi-Newton matrix with a vector.
//!
//! With many weights memory is what these products wait for. So the pairs have 32 bits, which the method does not notice (a pair
//! is as good as the step it was), and Nocedal's two loops run over inner products instead of vectors: with those of all pairs
//! with each other at hand,
//!
//! ```text
//! q = −g − Σ α_j y_j,               α_k = ⟨s_k, −g − Σ_{j>k} α_j y_j⟩/⟨s_k, y_k⟩
//! p = γD⁻¹q + Σ (α_i − β_i) s_i,    β_k = ⟨y_k, γD⁻¹q + Σ_{i<k} (α_i − β_i) s_i⟩/⟨s_k, y_k⟩
//! ```
//!
//! need ⟨s_k, g⟩ and ⟨y_k, D⁻¹g⟩, which the sweep that stores a pair finds on its way, and p is written in one more.

use crate::Result;
use crate::linalg::parallel;
use multiversion::multiversion;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// The most pairs. Eight of them need a few steps less than six, and each step takes longer.
const MOST: usize = 6;

/// The parts of a sweep, so that its sums do not depend on the number of threads.
const PARTS: usize = 32;

/// So many numbers of every vector are looked at together: they stay in the first cache.
const PIECE: usize = 256;

/// A step and the change of the gradient over it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pair {
    step: Vec<f32>,
    change: Vec<f32>,
    /// ⟨s, y⟩, which is positive.
    product: f64,
    /// ⟨y, D⁻¹y⟩, which is positive.
    bent: f64,
    /// ⟨s_i, y⟩ and ⟨y_i, D⁻¹y⟩ of every older pair, oldest first.
    #[serde(default)]
    older: Vec<(f64, f64)>,
}

/// The pairs, oldest first, and the diagonal that they correct.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    pairs: VecDeque<Pair>,
    /// D: positive, about in proportion to the diagonal of the Hessian or a power of it.
    pub diagonal: Vec<f64>,
    /// The vectors of a pair that was forgotten, for the next.
    #[serde(skip)]
    spare: (Vec<f32>, Vec<f32>),
}

/// The products ⟨s_k, g⟩ and ⟨y_k, D⁻¹g⟩ of all pairs with a gradient.
pub type Products = Vec<(f64, f64)>;

/// Sums in eight lanes, always added in the same order.
type Lanes = [f64; 8];

/// Adds ⟨a, b⟩.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_product(a: &[f32], b: &[f64], lanes: &mut Lanes) {
    let mut sums = *lanes;
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            sums[lane] += f64::from(a[lane]) * b[lane];
        }
    }
    let tail = a.len() / 8 * 8;
    for (a, b) in a[tail..].iter().zip(&b[tail..]) {
        sums[0] += f64::from(*a) * b;
    }
    *lanes = sums;
}

/// Adds ⟨a, b⟩.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_product_of_double(a: &[f64], b: &[f64], lanes: &mut Lanes) {
    let mut sums = *lanes;
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let tail = a.len() / 8 * 8;
    for (a, b) in a[tail..].iter().zip(&b[tail..]) {
        sums[0] += a * b;
    }
    *lanes = sums;
}

/// `to += factor · from`.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_single(from: &[f32], factor: f64, to: &mut [f64]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to += factor * f64::from(from);
    }
}

/// `to = a / b`.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn divide(a: &[f64], b: &[f64], to: &mut [f64]) {
    for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
        *to = a / b;
    }
}

/// The pieces of a range.
fn pieces(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(PIECE).map(move |start| start..end.min(start + PIECE))
}

/// Adds the products of a piece of a gradient, and of the same over D, with those of a pair.
fn add_pair(pair: (&[f32], &[f32]), of: (&[f64], &[f64]), lanes: &mut [Lanes; 2]) {
    add_product(pair.0, of.0, &mut lanes[0]);
    add_product(pair.1, of.1, &mut lanes[1]);
}

/// Adds up lanes.
fn total(lanes: &Lanes) -> f64 {
    lanes.iter().sum()
}

/// Adds up what the parts have found, in order.
fn totals<'a>(parts: impl Iterator<Item = &'a [[Lanes; 2]]>, count: usize) -> Products {
    let mut all = vec![(0.0, 0.0); count];
    for part in parts {
        for (sum, lanes) in all.iter_mut().zip(part) {
            sum.0 += total(&lanes[0]);
            sum.1 += total(&lanes[1]);
        }
    }
    all
}

/// What a part of the sweep over a new pair finds.
#[derive(Default)]
struct Found {
    /// ⟨s, y⟩, ⟨y, D⁻¹y⟩, ⟨s, s⟩ and ⟨y, y⟩.
    own: [Lanes; 4],
    /// Of older pairs, with y.
    older: Vec<[Lanes; 2]>,
    /// Of older pairs and the new one, with the gradient.
    products: Vec<[Lanes; 2]>,
}

impl Memory {
    /// Whether all vectors have this length, and the numbers that are divided by are positive.
    pub fn is_sound(&self, dim: usize) -> bool {
        let finite = |x: &[f32]| x.len() == dim && x.iter().all(|x| x.is_finite());
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let sound = |pair: &Pair| {
            finite(&pair.step)
                && finite(&pair.change)
                && positive(pair.product)
                && positive(pair.bent)
                && pair.older.iter().all(|(a, b)| a.is_finite() && b.is_finite())
        };
        self.pairs.len() <= MOST
            && self.pairs.iter().all(sound)
            && (self.diagonal.is_empty() || self.diagonal.len() == dim)
            && self.diagonal.iter().all(|&d| positive(d))
            && (self.pairs.is_empty() || !self.diagonal.is_empty())
    }

    /// Forgets pairs that a checkpoint of an older program has without their products.
    pub fn complete(&mut self) {
        if self.pairs.iter().enumerate().any(|(k, pair)| pair.older.len() != k) {
            self.pairs.clear();
        }
    }

    /// Forgets all pairs, and takes this diagonal.
    pub fn restart(&mut self, diagonal: Vec<f64>) {
        self.pairs.clear();
        self.diagonal = diagonal;
    }

    /// Adds the pair of `t` times a step and of the change from the `old` gradient to the `new` one, unless the gradient did not
    /// grow along the step, where rounding has taken over. Returns the products of all pairs with the new gradient if it was added.
    pub fn push(
        &mut self,
        (step, t): (&[f64], f64),
        old: &[f64],
        new: &[f64],
    ) -> Result<Option<Products>> {
        let dropped = (self.pairs.len() + 1).saturating_sub(MOST);
        let (mut own_step, mut own_change) = std::mem::take(&mut self.spare);
        own_step.resize(new.len(), 0.0);
        own_change.resize(new.len(), 0.0);
        let (mut steps, mut changes) = (&mut own_step[..], &mut own_change[..]);
        let mut parts = Vec::with_capacity(PARTS);
        for range in parallel::ranges(new.len(), PARTS) {
            let (s, y);
            (s, steps) = std::mem::take(&mut steps).split_at_mut(range.len());
            (y, changes) = std::mem::take(&mut changes).split_at_mut(range.len());
            parts.push((range, s, y));
        }
        let older: Vec<&Pair> = self.pairs.iter().skip(dropped).collect();
        let found = parallel::map_mut(
            &mut parts,
            || (),
            |(), _, (range, s, y)| {
                let mut found = Found {
                    older: vec![[[0.0; 8]; 2]; older.len()],
                    products: vec![[[0.0; 8]; 2]; older.len() + 1],
                    ..Found::default()
                };
                let mut buffers = [[0.0; PIECE]; 4];
                for piece in pieces(range.clone()) {
                    let count = piece.len();
                    let [step_now, change, bent, over] =
                        buffers.each_mut().map(|b| &mut b[..count]);
                    let gradient = &new[piece.clone()];
                    for (to, x) in step_now.iter_mut().zip(&step[piece.clone()]) {
                        *to = t * x;
                    }
                    for ((to, new), old) in change.iter_mut().zip(gradient).zip(&old[piece.clone()])
                    {
                        *to = new - old;
                    }
                    divide(change, &self.diagonal[piece.clone()], bent);
                    divide(gradient, &self.diagonal[piece.clone()], over);
                    let [product, curved, first, second] = &mut found.own;
                    add_product_of_double(step_now, change, product);
                    add_product_of_double(change, bent, curved);
                    add_product_of_double(step_now, step_now, first);
                    add_product_of_double(change, change, second);
                    let at = piece.start - range.start..piece.end - range.start;
                    let (s, y) = (&mut s[at.clone()], &mut y[at]);
                    s.iter_mut().zip(&*step_now).for_each(|(to, &x)| *to = x as f32);
                    y.iter_mut().zip(&*change).for_each(|(to, &x)| *to = x as f32);
                    for (k, pair) in older.iter().enumerate() {
                        let of = (&pair.step[piece.clone()], &pair.change[piece.clone()]);
                        add_pair(of, (&*change, &*bent), &mut found.older[k]);
                        add_pair(of, (gradient, &*over), &mut found.products[k]);
                    }
                    add_pair((&*s, &*y), (gradient, &*over), &mut found.products[older.len()]);
                }
                Ok(found)
            },
        )?;
        let count = older.len();
        let own = |k: usize| found.iter().map(|part| total(&part.own[k])).sum::<f64>();
        let [product, bent, first, second] = [own(0), own(1), own(2), own(3)];
        let enough = 1e-10 * (first * second).sqrt();
        if !(product > enough && bent > 0.0 && product.is_finite() && bent.is_finite()) {
            self.spare = (own_step, own_change);
            return Ok(None);
        }
        let of_older = totals(found.iter().map(|part| &part.older[..]), count);
        let products = totals(found.iter().map(|part| &part.products[..]), count + 1);
        for _ in 0..dropped {
            if let Some(oldest) = self.pairs.pop_front() {
                self.spare = (oldest.step, oldest.change);
            }
            self.pairs.iter_mut().for_each(|pair| {
                pair.older.remove(0);
            });
        }
        let (step, change) = (own_step, own_change);
        self.pairs.push_back(Pair { step, change, product, bent, older: of_older });
        Ok(Some(products))
    }

    /// Returns the products of all pairs with a gradient.
    fn products(&self, gradient: &[f64]) -> Result<Products> {
        let parts = parallel::map_ranges(gradient.len(), PARTS, |range| {
            let mut sums = vec![[[0.0; 8]; 2]; self.pairs.len()];
            let mut over = [0.0; PIECE];
            for piece in pieces(range) {
                let (gradient, over) = (&gradient[piece.clone()], &mut over[..piece.len()]);
                divide(gradient, &self.diagonal[piece.clone()], over);
                for (pair, lanes) in self.pairs.iter().zip(&mut sums) {
                    let of = (&pair.step[piece.clone()], &pair.change[piece.clone()]);
                    add_pair(of, (gradient, &*over), lanes);
                }
            }
            Ok(sums)
        })?;
        Ok(totals(parts.iter().map(|part| &part[..]), self.pairs.len()))
    }

    /// Writes the descent direction p = −B g, and returns ⟨g, p⟩. The products of all pairs with g may be known.
    pub fn direction(
        &self,
        gradient: &[f64],
        known: Option<&Products>,
        p: &mut Vec<f64>,
    ) -> Result<f64> {
        p.resize(gradient.len(), 0.0);
        let computed;
        let products = match known {
            Some(known) if known.len() == self.pairs.len() => known,
            _ => {
                computed = self.products(gradient)?;
                &computed
            }
        };
        let count = self.pairs.len();
        let (mut alpha, mut beta) = (vec![0.0; count], vec![0.0; count]);
        for k in (0..count).rev() {
            let later = (k + 1..count).map(|j| alpha[j] * self.pairs[j].older[k].0);
            alpha[k] = (-products[k].0 - later.sum::<f64>()) / self.pairs[k].product;
        }
        let scale = self.pairs.back().map_or(1.0, |last| last.product / last.bent);
        for k in 0..count {
            let bent = |j: usize| match j.cmp(&k) {
                std::cmp::Ordering::Less => self.pairs[k].older[j].1,
                std::cmp::Ordering::Equal => self.pairs[k].bent,
                std::cmp::Ordering::Greater => self.pairs[j].older[k].1,
            };
            let changes: f64 = (0..count).map(|j| alpha[j] * bent(j)).sum();
            let steps = (0..k).map(|i| (alpha[i] - beta[i]) * self.pairs[k].older[i].0);
            let product = scale * (-products[k].1 - changes) + steps.sum::<f64>();
            beta[k] = product / self.pairs[k].product;
        }
        let slopes = parallel::fill_ranges(gradient.len(), PARTS, [(p, 1)], |range, [p]| {
            let mut slope = [0.0; 8];
            let first = range.start;
            for piece in pieces(range) {
                let gradient = &gradient[piece.clone()];
                let p = &mut p[piece.start - first..piece.end - first];
                p.iter_mut().zip(gradient).for_each(|(p, g)| *p = -g);
                for (pair, alpha) in self.pairs.iter().zip(&alpha) {
                    add_single(&pair.change[piece.clone()], -alpha, p);
                }
                for (p, d) in p.iter_mut().zip(&self.diagonal[piece.clone()]) {
                    *p *= scale / d;
                }
                for (pair, (alpha, beta)) in self.pairs.iter().zip(alpha.iter().zip(&beta)) {
                    add_single(&pair.step[piece.clone()], alpha - beta, p);
                }
                add_product_of_double(gradient, p, &mut slope);
            }
            total(&slope)
        });
        Ok(slopes.into_iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: [f64; 3], count: usize) -> Vec<f64> {
        a.iter().cycle().take(count).copied().collect()
    }

    // The secant equation: the matrix maps the last change of the gradient to the last step.
    #[test]
    fn the_last_change_of_the_gradient_is_mapped_to_the_last_step() {
        for count in [19, 3000] {
            let mut memory = Memory::default();
            let zero = vec![0.0; count];
            memory.restart(of([1.0, 3.0, 0.5], count));
            for (step, change) in
                [([1.0, 0.25, -0.5], [2.0, 1.0, 0.125]), ([-0.5, 1.0, 0.25], [0.25, 2.0, 0.75])]
            {
                memory.push((&of(step, count), 1.0), &zero, &of(change, count)).unwrap().unwrap();
            }
            let mut image = Vec::new();
            memory.direction(&of([-0.25, -2.0, -0.75], count), None, &mut image).unwrap();
            for (image, step) in image.iter().zip(of([-0.5, 1.0, 0.25], count)) {
                assert!((image - step).abs() < 1e-12, "{image} {step}");
            }
            assert!(memory.is_sound(count) && !memory.is_sound(2));
        }
    }

    /// Nocedal's two loops over the vectors themselves.
    fn plainly(pairs: &[(Vec<f64>, Vec<f64>)], diagonal: &[f64], gradient: &[f64]) -> Vec<f64> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = Vec::new();
        for (s, y) in pairs.iter().rev() {
            let share = dot(s, &q) / dot(s, y);
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= share * y);
            shares.push(share);
        }
        let (s, y) = pairs.last().unwrap();
        let bent: f64 = y.iter().zip(diagonal).map(|(y, d)| y * y / d).sum();
        q.iter_mut().zip(diagonal).for_each(|(q, d)| *q *= dot(s, y) / bent / d);
        for ((s, y), share) in pairs.iter().zip(shares.iter().rev()) {
            let back = dot(y, &q) / dot(s, y);
            q.iter_mut().zip(s).for_each(|(q, s)| *q += (share - back) * s);
        }
        q
    }

    #[test]
    fn directions_are_those_of_the_two_loops_and_products_come_out_to_the_same_bits() {
        let count = 1000;
        let mut random = crate::linalg::Random::new(3);
        let mut numbers = || -> Vec<f64> {
            (0..count).map(|_| f64::from((random.unit() - 0.5) as f32)).collect()
        };
        let diagonal: Vec<f64> = numbers().iter().map(|x| x.abs() + 0.1).collect();
        let mut memory = Memory::default();
        memory.restart(diagonal.clone());
        let mut pairs = Vec::new();
        let zero = vec![0.0; count];
        for _ in 0..MOST + 3 {
            // Numbers that 32 bits hold; a change that has a part along the step.
            let step = numbers();
            let change: Vec<f64> =
                step.iter().zip(numbers()).map(|(s, x)| f64::from((s + 0.5 * x) as f32)).collect();
            let known = memory.push((&step, 1.0), &zero, &change).unwrap();
            pairs.push((step, change.clone()));
            assert_eq!(known, Some(memory.products(&change).unwrap()));
            let (mut p, mut again) = (Vec::new(), Vec::new());
            let slope = memory.direction(&change, known.as_ref(), &mut p).unwrap();
            memory.direction(&change, None, &mut again).unwrap();
            assert_eq!(p, again);
            let gradient = numbers();
            memory.direction(&gradient, None, &mut again).unwrap();
            let last = &pairs[pairs.len().saturating_sub(MOST)..];
            for (found, expected) in again.iter().zip(plainly(last, &diagonal, &gradient)) {
                assert!((found - expected).abs() < 1e-10, "{found} {expected}");
            }
            let expected: f64 = p.iter().zip(&change).map(|(p, g)| p * g).sum();
            assert!((slope - expected).abs() < 1e-10 * expected.abs() && slope < 0.0);
        }
        // A gradient that does not grow along the step is no pair.
        let step = numbers();
        let change: Vec<f64> = step.iter().map(|s| -s).collect();
        assert_eq!(memory.push((&step, 1.0), &zero, &change).unwrap(), None);
        assert_eq!(memory.pairs.len(), MOST);
        let mut kept = memory.clone();
        kept.complete();
        assert_eq!(kept.pairs.len(), MOST);
        kept.pairs[2].older.clear();
        kept.complete();
        assert!(kept.pairs.is_empty());
    }
}
