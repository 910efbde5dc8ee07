//! What cutting planes need of a problem, behind one pointer: the method itself is compiled once, for all structures.

use super::group::Cut;
use super::image::Image;
use super::settings::Slacks;
use crate::dual::problem::masses;
use crate::dual::{Best, Blocks, Problem, Solution};
use crate::linalg::{SparseVec, Sum, memory, parallel};
use crate::run::Certified;
use crate::term::L2;
use crate::{Error, Result};
use std::sync::OnceLock;

/// The planes of a problem. A slack has the blocks of its examples, and a plane a dual point of each of them.
pub(super) trait Planes: Send {
    /// Searches every block of these slacks at w, and returns the plane that was found for each slack.
    fn search(&mut self, slacks: &[usize], w: &[f64]) -> Result<Vec<Cut>>;

    /// Stores the points of the planes that the last search has found for these slacks, where they were accepted.
    fn keep(&mut self, slacks: &[usize], accepted: &mut dyn Iterator<Item = bool>);

    /// Forgets a plane.
    fn forget(&mut self, slack: usize, plane: usize);

    /// Certifies w and the mixture of the planes with these weights. The corners that this finds are those of the next
    /// search, which follows at the same w.
    fn certify(&mut self, w: &[f64], weights: &[Vec<f64>]) -> Result<Certified>;
}

/// The planes of any blocks under `λ/2‖w‖²`.
///
/// A plane is kept as points, not as corners, of which a checkpoint could know nothing: the point of a corner has all
/// its weight there. Where the dual term of a block is not linear, as that of a smooth loss, the value of a mixture of
/// points is above the mixture of their values, so that the master problem understates the dual and never overstates it.
pub(super) struct OfBlocks<'a, B: Blocks> {
    blocks: &'a B,
    problem: Problem<'a, B, L2>,
    masses: Vec<f64>,
    /// How many blocks a slack has.
    width: usize,
    /// Slack, plane, block of the slack.
    pub planes: Vec<Vec<Vec<B::Point>>>,
    /// The points of the last search, slack by slack.
    found: Vec<Vec<B::Point>>,
    /// The points of the corners that the last certification has found, if w has not moved since.
    seen: Option<Vec<B::Point>>,
    pub best: Best<B::Point>,
    /// The numbers of the planes of the last search, to see whether there is room for as many again.
    numbers: usize,
}

impl<'a, B: Blocks> OfBlocks<'a, B> {
    /// Returns the problem with one plane for every slack: these points. Returns an error if one is infeasible.
    pub fn new(
        blocks: &'a B,
        lambda: f64,
        sample_weights: Option<&[f64]>,
        slacks: Slacks,
        points: Vec<B::Point>,
    ) -> Result<Self> {
        let problem = Problem::new(blocks, L2, lambda, sample_weights)?;
        let best = Best::new(problem.dual(&points)?.value, Some(points.clone()));
        let (n, dim) = (blocks.len(), blocks.dim());
        let (width, planes, numbers) = match slacks {
            Slacks::One => (n, vec![vec![points]], dim + blocks.numbers()),
            Slacks::Each => (1, points.into_iter().map(|point| vec![vec![point]]).collect(), 0),
        };
        let masses = masses(n, sample_weights)?;
        let (found, seen) = (Vec::new(), None);
        Ok(Self { blocks, problem, masses, width, planes, found, seen, best, numbers })
    }

    /// Replaces planes and best pair by those of a state, which may come from an untrusted file; the best pair is proved
    /// again. [`cuts`](Self::cuts) proves the planes.
    pub fn restore(
        &mut self,
        planes: Vec<Vec<Vec<B::Point>>>,
        mut best: Best<B::Point>,
    ) -> Result<()> {
        let whole = |planes: &Vec<Vec<B::Point>>| {
            !planes.is_empty() && planes.iter().all(|points| points.len() == self.width)
        };
        let sound = planes.len() == self.planes.len()
            && planes.iter().all(whole)
            && best.is_sound(self.blocks.dim(), true);
        if !sound {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        best.prove(&self.problem)?;
        (self.planes, self.best) = (planes, best);
        Ok(())
    }

    /// Returns all planes that are kept, slack by slack, or an error if a point is infeasible.
    pub fn cuts(&self) -> Result<Vec<Vec<Cut>>> {
        let scratch = || self.blocks.scratch();
        parallel::map(self.planes.len(), scratch, |scratch, slack| {
            self.planes[slack].iter().map(|points| self.cut(slack, points, scratch)).collect()
        })
    }

    /// Returns the plane of these points, one for each block of the slack.
    fn cut(&self, slack: usize, points: &[B::Point], scratch: &mut B::Scratch) -> Result<Cut> {
        let of_slack = || (slack * self.width..).zip(points);
        let mut offset = Sum::default();
        for (i, at) in of_slack() {
            offset.add(self.masses[i] * self.blocks.audit(i, at, scratch)?.dual.value);
        }
        let image = if self.planes.len() == 1 {
            let mut image = vec![0.0; self.blocks.dim()];
            of_slack().for_each(|(i, at)| {
                self.blocks.add(i, at, self.masses[i], &mut image, scratch);
            });
            Image::Dense(image)
        } else {
            let mut image = SparseVec::default();
            of_slack().for_each(|(i, at)| {
                self.blocks.add(i, at, self.masses[i], &mut image, scratch);
            });
            image.settle();
            Image::Sparse(image)
        };
        Ok(Cut { offset: offset.total().value, image })
    }

    /// Returns the point with all its weight on a corner.
    fn point(&self, i: usize, corner: &B::Corner) -> B::Point {
        let mut at = self.blocks.start(i);
        self.blocks.mix(i, 1.0, &mut at, corner);
        at
    }

    /// Returns the mixture of the planes' points, block by block.
    fn mixed(&self, weights: &[Vec<f64>]) -> Result<Vec<B::Point>> {
        parallel::map(
            self.blocks.len(),
            || (),
            |(), i| {
                let (slack, k) = (i / self.width, i % self.width);
                let mut planes = self.planes[slack].iter().zip(&weights[slack]);
                let mut planes = planes.by_ref().filter(|(_, weight)| **weight > 0.0);
                let Some((first, weight)) = planes.next() else { return Ok(self.blocks.start(i)) };
                let (mut at, mut total) = (first[k].clone(), *weight);
                for (points, weight) in planes {
                    total += weight;
                    self.blocks.blend(i, weight / total, &mut at, &points[k]);
                }
                Ok(at)
            },
        )
    }

    /// Returns the best pair, with the current w if nothing was certified yet.
    pub fn into_solution(self, w: Vec<f64>) -> Solution<B::Point> {
        self.best.into_solution(|| w, Vec::new())
    }
}

impl<B: Blocks> Planes for OfBlocks<'_, B> {
    fn search(&mut self, slacks: &[usize], w: &[f64]) -> Result<Vec<Cut>> {
        memory::reserve_check(self.numbers)?;
        let Self { blocks, width, .. } = *self;
        let block = |k: usize| slacks[k / width] * width + k % width;
        let count = slacks.len() * width;
        let points: Vec<B::Point> = if let Some(seen) = self.seen.take() {
            (0..count).map(|k| seen[block(k)].clone()).collect()
        } else {
            blocks.search_ahead(&mut (0..count).map(block), w)?;
            let buffers = || (blocks.scratch(), B::Corner::default());
            parallel::map(count, buffers, |(scratch, corner), k| {
                blocks.best_corner(block(k), w, corner, scratch)?;
                Ok(self.point(block(k), corner))
            })?
        };
        let mut points = points.into_iter();
        self.found = slacks.iter().map(|_| points.by_ref().take(width).collect()).collect();
        let cuts = parallel::map(
            slacks.len(),
            || blocks.scratch(),
            |scratch, k| self.cut(slacks[k], &self.found[k], scratch),
        )?;
        self.numbers = cuts.iter().map(|cut| cut.image.numbers()).sum::<usize>() + count;
        Ok(cuts)
    }

    fn keep(&mut self, slacks: &[usize], accepted: &mut dyn Iterator<Item = bool>) {
        for ((&slack, points), accepted) in slacks.iter().zip(self.found.drain(..)).zip(accepted) {
            if accepted {
                self.planes[slack].push(points);
            }
        }
    }

    fn forget(&mut self, slack: usize, plane: usize) {
        self.planes[slack].remove(plane);
    }

    fn certify(&mut self, w: &[f64], weights: &[Vec<f64>]) -> Result<Certified> {
        let points = self.mixed(weights)?;
        let dual = self.problem.dual(&points)?.value;
        let seen: Vec<OnceLock<B::Point>> = points.iter().map(|_| OnceLock::new()).collect();
        let primal = self.problem.primal_at_with(w, &points, &|i, corner| {
            seen[i].get_or_init(|| self.point(i, corner));
        })?;
        self.seen = seen.into_iter().map(OnceLock::into_inner).collect();
        let iterate = primal.certificate(dual)?;
        if self.blocks.quality().share().is_some() {
            self.best.offer_pair(primal, w.to_vec(), dual, &points);
        } else {
            self.best.offer_primal(primal, || w.to_vec());
            self.best.offer_dual(dual, &points);
        }
        let model = self.best.certificate().transpose()?.unwrap_or(iterate);
        Ok(Certified { model, iterate })
    }
}
