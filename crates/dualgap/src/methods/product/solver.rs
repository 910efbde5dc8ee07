//! Algorithms 1, 3, C.1 and C.2 of the BCFW paper; see the head of the room for the formulas.
//!
//! A step moves a range of blocks: one in Algorithm 3, all of them in Algorithm 1, where the product counts as one block
//! (n = 1). The order of the blocks is that of the block-dual engine: the same seed gives the same blocks.

use super::average::Averages;
use super::line_search::search;
use super::objective::{BlockDirection, Objective, Point};
use super::problem::{Evaluated, Product, certificate};
use super::set::{Query, Set};
use super::settings::{ProductSettings, Target};
use crate::dual::{Algorithm, Average, Order, Step};
use crate::linalg::Measured;
use crate::linalg::kernels::dot;
use crate::run::{Basis, Certificate, Certified, Quota, Resumable, Solver, Work};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Frank-Wolfe over a product, one step at a time; [`minimise`](super::minimise) runs it.
pub struct FrankWolfe<'p, F, S> {
    product: &'p Product<F, S>,
    settings: ProductSettings,
    /// k, the number of steps so far.
    steps: u64,
    order: Order,
    at: Point,
    averages: Option<Averages>,
    best: Best,
    work: Workspace,
}

/// A step that was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// `⟨x − s, ∇f⟩` of the blocks that the step moved, before the step: their gap, if s is the corner of an exact oracle.
    pub gap: f64,
    /// γ.
    pub gamma: f64,
}

/// The best of either side among all certified points, each with its point.
#[derive(Clone, Debug, Default)]
struct Best {
    primal: Option<(Measured, Point)>,
    dual: Option<(Measured, Point)>,
    /// What the dual value rests on.
    basis: Option<Basis>,
}

impl Best {
    fn offer(&mut self, evaluated: &Evaluated, at: &Point) {
        let Evaluated { value, lower, basis } = *evaluated;
        let above = |value: Measured| value.value + value.error;
        if self.primal.as_ref().is_none_or(|(best, _)| above(value) < above(*best)) {
            self.primal = Some((value, at.clone()));
        }
        let below = |lower: Measured| lower.value - lower.error;
        let better = self.dual.as_ref().is_none_or(|(best, _)| below(lower) > below(*best));
        if basis.is_some() && better {
            (self.dual, self.basis) = (Some((lower, at.clone())), basis);
        }
    }

    /// Returns the certificate of the best pair; `latest` has a dual value where none is certified.
    fn certificate(&self, latest: &Evaluated) -> Result<Certificate> {
        let primal = self.primal.as_ref().map_or(latest.value, |(value, _)| *value);
        let dual = self.dual.as_ref().map_or(latest.lower, |(lower, _)| *lower);
        certificate(primal, dual, self.basis)
    }
}

/// Buffers of a step. In those of coordinates, each block has its place.
#[derive(Clone, Debug)]
struct Workspace {
    gradient: Vec<f64>,
    corner: Vec<f64>,
    /// `s − x`, and where the step began.
    change: Vec<f64>,
    from: Vec<f64>,
    /// The same of the image.
    image_change: Vec<f64>,
    image_from: Vec<f64>,
}

impl Workspace {
    fn new(at: &Point) -> Self {
        let (x, image) = (vec![0.0; at.x.len()], vec![0.0; at.image.len()]);
        Self {
            gradient: x.clone(),
            corner: x.clone(),
            change: x.clone(),
            from: x,
            image_change: image.clone(),
            image_from: image,
        }
    }

    /// Moves the point to `from + γ(corner − from)`.
    fn move_to(&self, gamma: f64, span: Range<usize>, at: &mut Point) {
        if gamma == 1.0 {
            at.x[span.clone()].copy_from_slice(&self.corner[span]);
        } else {
            let from = self.from[span.clone()].iter().zip(&self.change[span.clone()]);
            at.x[span].iter_mut().zip(from).for_each(|(x, (from, d))| *x = from + gamma * d);
        }
        let from = self.image_from.iter().zip(&self.image_change);
        at.image.iter_mut().zip(from).for_each(|(z, (from, d))| *z = from + gamma * d);
    }
}

impl<'p, F: Objective, S: Set> FrankWolfe<'p, F, S> {
    /// Returns the solver at the starting points of the sets.
    pub fn new(product: &'p Product<F, S>, settings: &ProductSettings) -> Result<Self> {
        Self::at(product, settings, product.start()?)
    }

    /// Returns the solver at this point, or an error if the sets say that it is outside.
    pub fn at(
        product: &'p Product<F, S>,
        settings: &ProductSettings,
        point: Point,
    ) -> Result<Self> {
        settings.check(product)?;
        product.check_inside(&point)?;
        let order = Order::new(settings.sampling, product.blocks(), settings.seed, false);
        let averages =
            (settings.average != Average::None).then(|| Averages::new(settings.average, &point));
        Ok(Self {
            product,
            settings: settings.clone(),
            steps: 0,
            order,
            work: Workspace::new(&point),
            at: point,
            averages,
            best: Best::default(),
        })
    }

    /// Returns the current iterate, before any averaging.
    pub fn point(&self) -> &Point {
        &self.at
    }

    /// Returns the average of the iterates so far, as the settings ask for it.
    pub fn average(&mut self) -> Option<&Point> {
        let averages = self.averages.as_mut()?;
        averages.cover(0..self.at.blocks(), self.steps, &self.at);
        self.product.rebuild_image(&mut averages.point);
        Some(&averages.point)
    }

    /// Returns `2n/(νk + 2n)`, the length of the next predefined step, with n = 1 where a step moves all blocks.
    pub fn predefined_length(&self) -> f64 {
        let n = match self.settings.method {
            Algorithm::Bcfw => self.product.blocks() as f64,
            Algorithm::Fw => 1.0,
        };
        2.0 * n / (self.product.nu() * self.steps as f64 + 2.0 * n)
    }

    /// Takes one step on the next block, or on all of them, as the settings say.
    pub fn step(&mut self) -> Result<Taken> {
        let blocks = match self.settings.method {
            Algorithm::Bcfw => self.next_block(),
            Algorithm::Fw => 0..self.product.blocks(),
        };
        self.step_on(blocks, None)
    }

    /// Takes one step on these blocks together, of length `gamma` or, without one, as the settings say: for orders and
    /// step lengths of one's own.
    ///
    /// ```
    /// # use dualgap::linalg::Measured;
    /// # use dualgap::methods::product::{FrankWolfe, Objective, Point, Product, ProductSettings, Simplex};
    /// # struct Square;
    /// # impl Objective for Square {
    /// #     fn value(&self, at: &Point) -> Measured {
    /// #         Measured::rounded(at.coordinates().iter().map(|x| 0.5 * x * x).sum(), 9)
    /// #     }
    /// #     fn gradient(&self, at: &Point, block: usize, out: &mut [f64]) -> f64 {
    /// #         out.copy_from_slice(at.block(block));
    /// #         0.0
    /// #     }
    /// # }
    /// // ½‖x‖² over two simplices, from corner to corner: the gap is 1 at each of them.
    /// let problem = Product::new(Square, vec![Simplex::new(2, 1.0)?; 2])?;
    /// let mut solver = FrankWolfe::new(&problem, &ProductSettings::default())?;
    /// let taken = solver.step_on(1..2, Some(0.25))?;
    /// assert_eq!((taken.gap, taken.gamma), (1.0, 0.25));
    /// assert_eq!(solver.point().coordinates(), [1.0, 0.0, 0.75, 0.25]);
    /// assert_eq!(solver.step_on(0..1, None)?.gamma, 0.5);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn step_on(&mut self, blocks: Range<usize>, gamma: Option<f64>) -> Result<Taken> {
        if blocks.is_empty() || blocks.end > self.product.blocks() {
            return Err(Error::setting(format!(
                "a step moves some of the blocks 0 to {}, not {blocks:?}",
                self.product.blocks() - 1
            )));
        }
        let span = self.at.starts[blocks.start]..self.at.starts[blocks.end];
        let predefined = self.predefined_length();
        let gap = self.aim(blocks.clone())?;
        let gamma = match (gamma, self.settings.target, self.settings.step) {
            (Some(gamma), ..) => gamma.clamp(0.0, 1.0),
            (None, Target::Proximal, _) => 1.0,
            (None, Target::Corner, Step::Predefined) => predefined,
            (None, Target::Corner, Step::LineSearch) => self.line_search(blocks.clone(), gap)?,
        };
        if gap.is_nan() || gamma.is_nan() {
            return Err(Error::Unsound {
                message: format!("block {}: the gap is no number", blocks.start),
            });
        }
        if let Some(averages) = &mut self.averages {
            averages.cover(blocks.clone(), self.steps, &self.at);
        }
        self.work.move_to(gamma, span, &mut self.at);
        self.steps += 1;
        if blocks.len() == 1 {
            self.order.visited(blocks.start, gamma > 0.0, gap.max(0.0));
        }
        Ok(Taken { gap, gamma })
    }

    fn next_block(&mut self) -> Range<usize> {
        let i = self.order.next_block();
        i..i + 1
    }

    /// Returns the tolerance of a query about block i at this step.
    fn tolerance(&self, i: usize) -> f64 {
        let (objective, n) = (self.product.objective(), self.product.blocks() as f64);
        if self.settings.delta == 0.0 {
            return 0.0;
        }
        let constant = match self.settings.method {
            Algorithm::Bcfw => objective.curvature_constant(Some(i)),
            // The blocks share the tolerance of the one block that they are.
            Algorithm::Fw => objective.curvature_constant(None).map(|constant| constant / n),
        };
        0.5 * self.settings.delta * self.predefined_length() * constant.unwrap_or(0.0)
    }

    /// Finds the targets of these blocks and the direction toward them; returns ⟨x − s, ∇f⟩.
    fn aim(&mut self, blocks: Range<usize>) -> Result<f64> {
        let mut slope = 0.0;
        for i in blocks.clone() {
            let tolerance = self.tolerance(i);
            let Self { product, settings, at, work, .. } = self;
            let Workspace { gradient, corner, change, .. } = work;
            let (span, x) = (at.span(i), at.block(i));
            let (gradient, corner) = (&mut gradient[span.clone()], &mut corner[span.clone()]);
            product.objective().gradient(at, i, gradient);
            match settings.target {
                Target::Corner => {
                    product.sets()[i].minimise(&Query { gradient, at: x, tolerance }, corner)?;
                }
                Target::Proximal => {
                    // ⟨s, ∇_i⟩ + L_i/2 ‖s − x_i‖² is least at the point nearest to x_i − ∇_i/L_i.
                    let lipschitz = product.objective().lipschitz(i).unwrap_or(f64::NAN);
                    let free = x.iter().zip(&*gradient).map(|(x, g)| x - g / lipschitz);
                    corner.iter_mut().zip(free).for_each(|(s, free)| *s = free);
                    product.sets()[i].project(corner)?;
                }
            }
            let change = &mut change[span];
            change.iter_mut().zip(&*corner).zip(x).for_each(|((d, s), x)| *d = s - x);
            slope += dot(change, gradient);
        }
        let Self { product, at, work, .. } = self;
        let span = at.starts[blocks.start]..at.starts[blocks.end];
        work.from[span.clone()].copy_from_slice(&at.x[span]);
        work.image_from.copy_from_slice(&at.image);
        work.image_change.fill(0.0);
        for i in blocks {
            let change = &work.change[at.span(i)];
            product.objective().add_image(i, change, &mut work.image_change);
        }
        Ok(-slope)
    }

    /// Returns the γ in `[0, 1]` with the least f along the direction.
    fn line_search(&mut self, blocks: Range<usize>, gap: f64) -> Result<f64> {
        if gap <= 0.0 {
            return Ok(0.0);
        }
        let Self { product, at, work, .. } = self;
        let span = at.starts[blocks.start]..at.starts[blocks.end];
        let objective = product.objective();
        let direction = BlockDirection {
            starts: &at.starts[blocks.start..=blocks.end],
            first: blocks.start,
            change: &work.change[span.clone()],
            image: &work.image_change,
        };
        if let Some(curvature) = objective.curvature(&direction) {
            return Ok(if curvature > 0.0 { (gap / curvature).min(1.0) } else { 1.0 });
        }
        // What the gradient was at the beginning is not needed again.
        let mut gradient = std::mem::take(&mut work.gradient);
        let gamma = search(-gap, |gamma| {
            work.move_to(gamma, span.clone(), at);
            for i in blocks.clone() {
                objective.gradient(at, i, &mut gradient[at.span(i)]);
            }
            dot(&work.change[span.clone()], &gradient[span.clone()])
        });
        work.gradient = gradient;
        work.move_to(0.0, span, at);
        gamma
    }

    /// Evaluates the iterate or the average, with its image added up anew.
    fn evaluate(&mut self) -> Result<(Evaluated, &Point)> {
        let tolerances: Vec<f64> = (0..self.product.blocks()).map(|i| self.tolerance(i)).collect();
        if self.averages.is_some() {
            self.average();
        } else {
            self.product.rebuild_image(&mut self.at);
        }
        let point = self.averages.as_ref().map_or(&self.at, |averages| &averages.point);
        Ok((self.product.evaluate(point, |i| tolerances[i])?, point))
    }
}

impl<F: Objective, S: Set> Solver for FrankWolfe<'_, F, S> {
    type Model = Point;

    fn calls_per_pass(&self) -> u64 {
        self.product.blocks() as u64
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let calls = match self.settings.method {
            Algorithm::Bcfw => 1,
            Algorithm::Fw => self.calls_per_pass(),
        };
        let mut done = Work::default();
        while quota.allows(done, calls) {
            self.step()?;
            done += Work { steps: 1, oracle_calls: calls };
        }
        Ok(done)
    }

    fn certify(&mut self) -> Result<Certified> {
        let (evaluated, point) = self.evaluate()?;
        let point = point.clone();
        self.best.offer(&evaluated, &point);
        let iterate = evaluated.certificate()?;
        Ok(Certified { model: self.best.certificate(&evaluated)?, iterate })
    }

    fn weights(&self) -> &[f64] {
        self.best.primal.as_ref().map_or(&[], |(_, point)| point.coordinates())
    }

    fn into_model(self) -> Point {
        self.best.primal.map_or(self.at, |(_, point)| point)
    }
}

/// The state of the solver in a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    steps: u64,
    order: Order,
    /// With the image that the steps have led to: its rounding is part of the state that must resume bit for bit.
    at: Point,
    averages: Option<Averages>,
    primal: Option<Vec<f64>>,
    dual: Option<Vec<f64>>,
}

/// No run has time for this many steps, so a state that claims more is invalid.
const MOST_STEPS: u64 = 1 << 60;

impl<F: Objective, S: Set> Resumable for FrankWolfe<'_, F, S> {
    type State = State;

    fn state(&self) -> State {
        let coordinates =
            |best: &Option<(Measured, Point)>| best.as_ref().map(|(_, at)| at.x.clone());
        State {
            steps: self.steps,
            order: self.order.clone(),
            at: self.at.clone(),
            averages: self.averages.clone(),
            primal: coordinates(&self.best.primal),
            dual: coordinates(&self.best.dual),
        }
    }
}

impl<'p, F: Objective, S: Set> FrankWolfe<'p, F, S> {
    /// Resumes from the state of an earlier run under the same settings. The state may come from an untrusted file, so
    /// both values of the best pair are proved again.
    pub(super) fn resumed(
        product: &'p Product<F, S>,
        settings: &ProductSettings,
        state: State,
    ) -> Result<Self> {
        let mut solver = Self::new(product, settings)?;
        let State { steps, order, at, averages, primal, dual } = state;
        let sound = steps <= MOST_STEPS
            && order.is_sound(settings.sampling, product.blocks(), false)
            && at.starts == solver.at.starts
            && at.x.len() == solver.at.x.len()
            && at.image.len() == solver.at.image.len()
            && at.x.iter().chain(&at.image).all(|x| x.is_finite())
            && averages.is_some() == solver.averages.is_some()
            && averages.as_ref().is_none_or(|a| a.is_sound(settings.average, &at, steps));
        if !sound {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        (solver.steps, solver.order, solver.at, solver.averages) = (steps, order, at, averages);
        product.check_inside(&solver.at)?;
        for x in [primal, dual].into_iter().flatten() {
            let point = product.point(x)?;
            let evaluated = product.evaluate(&point, |i| solver.tolerance(i))?;
            evaluated.certificate()?;
            solver.best.offer(&evaluated, &point);
        }
        Ok(solver)
    }
}
