//! The matrix `X'DX` of some weights, and descent with it.
//!
//! A step of weight p changes all slopes by a row of the matrix. On a face, where the signs of the weights stay what they
//! are, Q is a parabola whose minimum solves a system:
//!
//! ```text
//! (H_SS + λI) d = −(g_S + λw_S + σ sign w_S),     w ← w + t d,   t ≤ 1 the furthest that no sign changes
//! ```
//!
//! Descent finds the face, and one such step its minimum, however correlated the columns are.

use super::cholesky;
use super::design::Design;
use super::lists::Lists;
use super::terms::Terms;
use crate::linalg::Row;
use crate::linalg::kernels::{add_scaled, dot};
use multiversion::multiversion;
use std::collections::HashMap;

/// The most weights of a matrix, in 18 MB.
pub const MOST: usize = 1500;

/// The most cycles of one descent, and the most faces that a search for a minimum passes through.
const MOST_CYCLES: usize = 1000;
const MOST_FACES: usize = 16;

/// So many entries of a product take as long as one of a cycle, whose access is random, ...
const CHEAPER: u64 = 2;

/// ... and so many where columns are dense: chunks of this length of all columns stay in the cache.
const CHEAPER_DENSE: u64 = 8;
const CHUNK: usize = 256;

/// A factorisation of a matrix, size³/6 products, takes as long as size³ over this many entries of a cycle.
const FACTORISED: u64 = 32;

/// There are as many times more pairs of entries in a row than by chance: 1.1 on a9a, 1.4 on texts.
const COMMON: f64 = 1.5;

/// When descent with the matrix ends: where no step gains more than this, or than this share of the best one of the first cycle.
#[derive(Clone, Copy)]
pub enum Target {
    Gain(f64),
    Share(f64),
}

/// D of one output: the same for all examples, or one number each, masses included.
#[derive(Clone, Copy)]
pub enum Curve<'m> {
    Same(f64),
    Each(&'m [f64]),
}

/// The matrix of the weights that it has been asked for so far.
#[derive(Default)]
pub struct Gram {
    /// The entries of sparse columns, by rows.
    lists: Lists,
    /// The weights, in the order of their rows.
    slots: Vec<u32>,
    place: HashMap<u32, usize>,
    /// The lower half.
    rows: Vec<Vec<f64>>,
    /// The entries that cycles have touched since the matrix was last used.
    pub spent: u64,
}

impl Gram {
    /// Forgets the matrix, because D has changed.
    pub fn forget(&mut self) {
        self.slots.clear();
        self.place.clear();
        self.rows.clear();
    }

    /// Returns the weights of the matrix, in order.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Returns how many entries cycles may touch before it pays to use the matrix of these weights, or `None` if there are
    /// too many of them.
    pub fn price(&self, set: &[u32], design: &Design) -> Option<u64> {
        let new = set.iter().filter(|c| !self.place.contains_key(c));
        let entries = |c: &u32| design.entries(*c as usize);
        let (count, of_new) = new.fold((0, 0), |(n, sum), c| (n + 1, sum + entries(c)));
        let size = set.len() as u64;
        if self.slots.len() + count > MOST {
            return None;
        }
        // Some cycles over the matrix, and its factorisation where the face has been found: on 769 sparse columns of 1,000 examples
        // the latter alone takes as long as hundreds of cycles over their entries.
        let use_of_it = 4 * size * size + size * size * size / FACTORISED;
        if count == 0 {
            return Some(use_of_it);
        }
        let of_old: u64 = self.slots.iter().map(entries).sum();
        let products = if design.columns.is_dense() {
            count as u64 * (of_old + of_new / 2)
        } else {
            // The pairs of entries of a row, if they are where they are by chance; what they have in common makes them more.
            let pairs = of_new as f64 * (of_old as f64 + 0.5 * of_new as f64);
            let pairs = COMMON * pairs / design.masses.len() as f64;
            pairs as u64 + of_old + of_new
        };
        Some(products / cheaper(design) + use_of_it)
    }

    /// Computes the rows of these weights that are not there yet; returns the entries that were touched.
    pub fn include(&mut self, set: &[u32], design: &Design, curve: Curve<'_>) -> u64 {
        let first = self.slots.len();
        for &c in set {
            if !self.place.contains_key(&c) {
                self.place.insert(c, self.slots.len());
                self.slots.push(c);
            }
        }
        let touched = if design.columns.is_dense() {
            self.multiply_dense(first, design, curve)
        } else {
            self.multiply_sparse(first, design, curve)
        };
        touched / cheaper(design)
    }

    /// Computes the rows from this one on, by the pairs of entries of every example.
    fn multiply_sparse(&mut self, first: usize, design: &Design, curve: Curve<'_>) -> u64 {
        let mut touched = self.lists.update(&self.slots, design);
        self.rows.extend((first..self.slots.len()).map(|p| vec![0.0; p + 1]));
        for i in 0..design.masses.len() {
            let (slots, values) = self.lists.row(i);
            // Slots ascend within a row.
            let old = slots.partition_point(|&p| (p as usize) < first);
            let curve = match curve {
                Curve::Same(curve) => curve,
                Curve::Each(curves) => curves[i],
            };
            for at in old..slots.len() {
                let (row, bent) = (&mut self.rows[slots[at] as usize], curve * values[at]);
                for (&q, x) in slots[..=at].iter().zip(values) {
                    row[q as usize] += bent * x;
                }
                touched += at as u64 + 1;
            }
        }
        touched
    }

    /// The same for dense columns, chunk by chunk.
    fn multiply_dense(&mut self, first: usize, design: &Design, curve: Curve<'_>) -> u64 {
        let (count, slots) = (design.masses.len(), &self.slots);
        let mut columns: Vec<&[f64]> = Vec::with_capacity(slots.len());
        for &c in slots {
            if let Row::Dense(values) = design.columns.column(c as usize) {
                columns.push(values);
            }
        }
        self.rows.extend((first..slots.len()).map(|p| vec![0.0; p + 1]));
        let mut bent = vec![0.0; CHUNK];
        for start in (0..count).step_by(CHUNK) {
            let chunk = start..(start + CHUNK).min(count);
            for (row, own) in self.rows[first..].iter_mut().zip(&columns[first..]) {
                let bent = &mut bent[..chunk.len()];
                match curve {
                    Curve::Same(curve) => {
                        bent.iter_mut().zip(&own[chunk.clone()]).for_each(|(b, x)| *b = curve * x);
                    }
                    Curve::Each(curves) => {
                        let own = own[chunk.clone()].iter().zip(&curves[chunk.clone()]);
                        bent.iter_mut().zip(own).for_each(|(b, (x, curve))| *b = curve * x);
                    }
                }
                for (entry, other) in row.iter_mut().zip(&columns) {
                    *entry += dot(&other[chunk.clone()], bent);
                }
            }
        }
        let (new, all) = ((slots.len() - first) as u64, slots.len() as u64);
        count as u64 * (new * all - new * new.saturating_sub(1) / 2)
    }

    fn matrix(&self, set: &[u32]) -> Vec<f64> {
        let places: Vec<usize> = set.iter().map(|c| self.place[c]).collect();
        let mut matrix = Vec::with_capacity(set.len() * set.len());
        for &p in &places {
            matrix.extend(places.iter().map(|&q| self.rows[p.max(q)][p.min(q)]));
        }
        matrix
    }

    /// Minimises Q over these weights, given their slopes, until no step gains more than `target`.
    pub fn descend(
        &self,
        set: &[u32],
        slopes: &mut [f64],
        w: &mut [f64],
        terms: &Terms,
        target: f64,
    ) {
        descend(&self.matrix(set), set, slopes, w, terms, Target::Gain(target));
    }
}

/// Minimises Q over these weights, given their matrix and their slopes.
pub fn descend(
    matrix: &[f64],
    set: &[u32],
    slopes: &mut [f64],
    w: &mut [f64],
    terms: &Terms,
    target: Target,
) {
    let size = set.len();
    let (mut spent, mut least) = (0, None);
    for _ in 0..MOST_CYCLES {
        let gain = cycle(matrix, set, slopes, w, terms);
        let least = *least.get_or_insert(match target {
            Target::Gain(least) => least,
            Target::Share(share) => share * gain,
        });
        if gain <= least {
            break;
        }
        spent += size * size;
        let face = w.iter().filter(|w| **w != 0.0).count();
        if face > 0 && 3 * spent >= face.pow(3) {
            spent = 0;
            for _ in 0..MOST_FACES {
                if !to_minimum_of_face(matrix, set, slopes, w, terms) {
                    break;
                }
            }
        }
    }
}

fn cheaper(design: &Design) -> u64 {
    if design.columns.is_dense() { CHEAPER_DENSE } else { CHEAPER }
}

/// Takes a step of every weight, and returns the largest h Δ².
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn cycle(matrix: &[f64], set: &[u32], slopes: &mut [f64], w: &mut [f64], terms: &Terms) -> f64 {
    let size = set.len();
    let mut most = 0.0_f64;
    for (p, row) in matrix.chunks_exact(size).enumerate() {
        let h = row[p];
        if h <= 0.0 {
            continue;
        }
        let change = terms.step(set[p] as usize, w[p], slopes[p], h) - w[p];
        if change != 0.0 {
            w[p] += change;
            add_scaled(row, change, slopes);
            most = most.max((h + terms.lambda) * change * change);
        }
    }
    most
}

/// Steps toward the minimum on the face of the signs of w. Returns whether a sign stopped it on its way, so that there is
/// another face to search.
fn to_minimum_of_face(
    matrix: &[f64],
    set: &[u32],
    slopes: &mut [f64],
    w: &mut [f64],
    terms: &Terms,
) -> bool {
    let size = set.len();
    let face: Vec<usize> = (0..size).filter(|&p| w[p] != 0.0).collect();
    let mut d: Vec<f64> = Vec::with_capacity(face.len());
    let mut system = Vec::with_capacity(face.len() * face.len());
    for &p in &face {
        let (of_l1, of_ridge) = if terms.is_free(set[p] as usize) {
            (0.0, 0.0)
        } else {
            (terms.sigma * w[p].signum(), terms.lambda)
        };
        d.push(-(slopes[p] + of_ridge * w[p] + of_l1));
        let row = &matrix[p * size..(p + 1) * size];
        system.extend(face.iter().map(|&q| row[q] + if p == q { of_ridge } else { 0.0 }));
    }
    let down = d.clone();
    if !cholesky::solve(&mut system, &mut d) {
        return false;
    }
    // The slope along d: the system is solved badly if it does not fall.
    let falls = dot(&down, &d) > 0.0;
    if !falls {
        return false;
    }
    let (mut t, mut stopped) = (1.0, None);
    for (&p, d) in face.iter().zip(&d) {
        let room = match terms.free {
            Some(free) if free.column == set[p] as usize => (free.bound.copysign(*d) - w[p]) / d,
            _ => -w[p] / d,
        };
        if room >= 0.0 && room < t {
            (t, stopped) = (room, Some(p));
        }
    }
    for (&p, d) in face.iter().zip(&d) {
        let to =
            if stopped == Some(p) && !terms.is_free(set[p] as usize) { 0.0 } else { w[p] + t * d };
        let change = to - w[p];
        w[p] = to;
        add_scaled(&matrix[p * size..(p + 1) * size], change, slopes);
    }
    stopped.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dual::problem::Masses;
    use crate::linalg::Rows;

    fn x(i: usize, j: usize) -> f64 {
        if (i + j) % 9 < 2 { ((i * 7 + j * 5) % 11) as f64 - 4.0 } else { 0.0 }
    }

    // Rows that are added later have the bits that they have if all come at once: a run that resumes adds them at once.
    #[test]
    fn the_matrix_is_that_of_the_columns_whenever_they_come() {
        let count = 2 * CHUNK + 17;
        for full in [false, true] {
            let value = |i: usize, j: usize| x(i, j) + f64::from(u8::from(full));
            let all: Vec<Vec<f64>> =
                (0..count).map(|i| (0..7).map(|j| value(i, j)).collect()).collect();
            let rows = Rows::dense(&all).unwrap();
            let design = Design::new(&rows, Masses::new(count, None).unwrap(), 1);
            assert_eq!(design.columns.is_dense(), full);
            let curves: Vec<f64> = (0..count).map(|i| 1.0 + (i % 3) as f64).collect();
            let (mut at_once, mut later) = (Gram::default(), Gram::default());
            at_once.include(&[4, 1, 6, 2, 0], &design, Curve::Each(&curves));
            later.include(&[4, 1], &design, Curve::Each(&curves));
            later.include(&[1, 6, 2, 0], &design, Curve::Each(&curves));
            assert_eq!(at_once.rows, later.rows);
            let set = [0, 2, 4];
            for (place, entry) in at_once.matrix(&set).iter().enumerate() {
                let (j, l) = (set[place / 3] as usize, set[place % 3] as usize);
                let exact: f64 = (0..count).map(|i| curves[i] * value(i, j) * value(i, l)).sum();
                assert!((entry - exact).abs() < 1e-9, "{j} {l}");
            }
        }
    }
}
