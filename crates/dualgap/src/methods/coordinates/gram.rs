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
use super::column;
use super::design::Design;
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

/// D of one output: the same for all examples, or one number each, masses included.
#[derive(Clone, Copy)]
pub enum Curve<'m> {
    Same(f64),
    Each(&'m [f64]),
}

/// The matrix of the weights that it has been asked for so far.
#[derive(Default)]
pub struct Gram {
    /// The weights, in the order of their rows.
    slots: Vec<u32>,
    place: HashMap<u32, usize>,
    /// The lower half.
    rows: Vec<Vec<f64>>,
    /// The entries that cycles have touched since the matrix was last used.
    pub spent: u64,
}

impl Gram {
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
        let of_old: u64 = if count == 0 { 0 } else { self.slots.iter().map(entries).sum() };
        let products = count as u64 * (of_old + of_new / 2);
        Some(products / cheaper(design) + 4 * size * size)
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

    /// Computes the rows from this one on.
    fn multiply_sparse(&mut self, first: usize, design: &Design, curve: Curve<'_>) -> u64 {
        let mut bent = vec![0.0; design.masses.len()];
        let mut touched = 0;
        for p in first..self.slots.len() {
            let own = design.columns.column(self.slots[p] as usize);
            match curve {
                Curve::Same(curve) => own.for_each(|i, x| bent[i] = curve * x),
                Curve::Each(curves) => own.for_each(|i, x| bent[i] = curves[i] * x),
            }
            let row = |&other: &u32| {
                let column = design.columns.column(other as usize);
                touched += column.stored() as u64;
                column::dot(column, &bent)
            };
            self.rows.push(self.slots[..=p].iter().map(row).collect());
            own.for_each(|i, _| bent[i] = 0.0);
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
        let matrix = self.matrix(set);
        let size = set.len();
        let mut spent = 0;
        for _ in 0..MOST_CYCLES {
            if cycle(&matrix, set, slopes, w, terms) <= target {
                break;
            }
            spent += size * size;
            let face = w.iter().filter(|w| **w != 0.0).count();
            if face > 0 && 3 * spent >= face.pow(3) {
                spent = 0;
                for _ in 0..MOST_FACES {
                    if !to_minimum_of_face(&matrix, set, slopes, w, terms) {
                        break;
                    }
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
