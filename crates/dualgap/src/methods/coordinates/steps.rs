//! The steps: the working set, then a check of all weights.

use super::column;
use super::data::Data;
use super::gram::Curve;
use super::local::Local;
use super::model::{Enough, minimise};
use super::newton::{LEVEL, Steps};
use super::plain::Plain;
use super::screening::{self, Sphere};
use super::solver::Coordinates;
use super::working_set;
use crate::Result;
use crate::linalg::kernels::dot;
use crate::methods::newton::CurvedBlocks;

/// The working set is solved when the best step of a cycle gains at most this share of what the best one did at first.
const SOLVED: f64 = 0.1;

/// The dual values of so many examples are computed at once.
const BLOCK: usize = 256;

/// The weight without penalty has its best value after so many of Newton's steps, or nearly.
const FREE_STEPS: usize = 4;

impl<B: CurvedBlocks> Coordinates<'_, B> {
    fn predict(&mut self) -> Vec<f64> {
        let (a, touched) = self.data.predict(self.walk.w.iter().copied().enumerate());
        self.walk.touched += touched;
        a
    }

    /// Returns the losses at the current weights. Predictions are computed anew, so that they have the rounding of no step.
    fn here(&mut self) -> Local {
        let a = self.predict();
        self.local(a)
    }

    /// Returns the losses at the predictions of the current weights.
    fn local(&self, a: Vec<f64>) -> Local {
        let along = self.data.known_slopes(&self.walk.w);
        Local { along, ..Local::at(self.blocks, self.data.masses(), a) }
    }

    /// Improves P over the working set.
    fn descend(&mut self, halted: &dyn Fn() -> bool) {
        let set = self.walk.set.take().unwrap_or_default();
        if set.is_empty() {
            return;
        }
        // A run that resumes has counted these predictions as work before.
        let local = self.local.take().unwrap_or_else(|| {
            let (a, _) = self.data.predict(self.walk.w.iter().copied().enumerate());
            self.local(a)
        });
        let Self { blocks, data, terms, walk, gram, same, .. } = self;
        let design = match data {
            Data::Columns(design) => design,
            Data::Rows(squares) => {
                let mut along = local.along;
                if along.is_empty() {
                    along.resize(walk.w.len(), 0.0);
                    squares.add_slopes(&local.slopes, &mut along);
                }
                let first = walk.w.iter().all(|&w| w == 0.0);
                squares.descend(&mut along, &mut walk.w, terms);
                // Where this step does not end the run, the next one has the slopes of the predictions.
                self.by_matrix = first.then_some(along);
                return;
            }
        };
        if blocks.is_quadratic() && design.outputs == 1 {
            let curves: Vec<f64>;
            let curve = if let Some(same) = same {
                Curve::Same(*same)
            } else {
                let each = local.curves.iter().zip(design.masses.iter());
                curves = each.map(|(curve, mass)| curve * mass).collect();
                Curve::Each(&curves)
            };
            let mut model = Plain { design, terms, curve, lasting: true, slopes: local.slopes };
            gram.spent = walk.spent;
            let enough = Enough { share: SOLVED, gain: 0.0 };
            let done = minimise(&mut model, &set, &mut walk.w, enough, gram, halted);
            (walk.spent, walk.slots) = (gram.spent, gram.slots().to_vec());
            walk.touched += done.touched;
            let values = done.extrapolated.unwrap_or_default();
            walk.extrapolated = set.iter().copied().zip(values).collect();
        } else {
            let (set, damping) = (&set[..], &mut walk.damping);
            gram.spent = walk.spent;
            let mut steps = Steps { blocks: *blocks, design, terms, set, damping, gram, halted };
            walk.touched += steps.take(&mut walk.w, local, SOLVED);
            walk.spent = gram.spent;
        }
    }

    /// Brings the weight without penalty to its best value, by Newton's method, so that the dual constraint that it stands
    /// for is met.
    fn balance(&mut self, mut local: Local) -> Local {
        let Some(free) = self.terms.free else { return local };
        for _ in 0..FREE_STEPS {
            // With the matrix of all weights it has its best value.
            let Data::Columns(design) = &self.data else { break };
            let column = design.columns.column(free.column);
            let slope = column::dot(column, &local.slopes);
            let bent = |(curve, mass): (&f64, f64)| curve * mass;
            let curves: Vec<f64> =
                local.curves.iter().zip(design.masses.iter()).map(bent).collect();
            let curvature = column::weighted_square(column, &curves);
            let w = self.walk.w[free.column];
            let to = (w - slope / curvature).clamp(-free.bound, free.bound);
            if !(curvature > 0.0 && to.is_finite()) || (to - w).abs() <= f64::EPSILON * w.abs() {
                break;
            }
            self.walk.w[free.column] = to;
            let next = self.here();
            // Without a line search a step may be too long.
            if next.losses > local.losses * (1.0 + LEVEL) {
                self.walk.w[free.column] = w;
                break;
            }
            local = next;
        }
        local
    }

    /// Checks all weights: the slopes, a dual point, the weights that can be dropped, and the next working set.
    fn appraise(&mut self) -> Result<()> {
        let local = self.here();
        let mut local = self.balance(local);
        if let (Data::Rows(squares), Some(along), true) =
            (&self.data, self.by_matrix.take(), local.along.is_empty())
        {
            local.off = squares.rounding(&self.walk.w, self.blocks.smoothness());
            local.along = along;
        }
        let primal = local.losses + self.terms.value(&self.walk.w);
        self.walk.primal = self.walk.primal.min(primal);
        let slopes = self.offer(&local)?;
        let extrapolated = std::mem::take(&mut self.walk.extrapolated);
        if self.terms.lambda == 0.0 && !extrapolated.is_empty() {
            let weights = extrapolated.iter().map(|&(c, w)| (c as usize, w));
            let (a, touched) = self.data.predict(weights);
            self.walk.touched += touched;
            let other = Local::at(self.blocks, self.data.masses(), a);
            self.offer(&other)?;
        }
        let Self { data, terms, walk, .. } = self;
        walk.set = Some(working_set::choose(data, terms, &walk.w, &slopes, &walk.dropped));
        local.along = if local.off > 0.0 { Vec::new() } else { slopes };
        self.local = Some(local);
        Ok(())
    }

    /// Offers the dual point −∇φ_i(a_i), scaled if need be, and drops the weights that it proves to be zero. Returns the
    /// slopes of the losses along all weights.
    fn offer(&mut self, local: &Local) -> Result<Vec<f64>> {
        let s = &local.slopes;
        let Self { data, terms, walk, .. } = self;
        let (slopes, touched) = if local.along.is_empty() {
            data.slopes(s, &walk.dropped)
        } else {
            (local.along.clone(), 0)
        };
        walk.touched += touched;
        let kept = || (0..slopes.len()).filter(|&c| !walk.dropped[c] && !terms.is_free(c));
        let largest = kept().map(|c| terms.pull(-slopes[c])).fold(0.0, f64::max) + local.off;
        let (mut scale, mut penalty) = (1.0, 0.0);
        if terms.lambda > 0.0 {
            let above = |c: usize| (terms.pull(-slopes[c]) - terms.sigma).max(0.0).powi(2);
            penalty = kept().map(above).sum::<f64>() / (2.0 * terms.lambda);
        } else if largest > terms.sigma {
            scale = terms.sigma / largest;
        }
        if let Some(free) = terms.free {
            penalty += free.bound * (scale * slopes[free.column]).abs();
        }
        let dual = self.dual_of(local, scale)? - penalty;
        let size = self.size_of(s);
        let walk = &mut self.walk;
        if dual > walk.dual {
            walk.dual = dual;
            walk.dual_at.clone_from(&local.a);
            let all = slopes.iter().map(|&z| self.terms.pull(-z)).fold(0.0, f64::max) + local.off;
            walk.reach = matches!(self.data, Data::Rows(_)).then_some(all / self.terms.sigma);
        }
        let (primal, smoothness) = (walk.primal, self.blocks.smoothness());
        let sphere = Sphere { slopes: &slopes, scale, primal, dual, smoothness, size };
        screening::drop(&sphere, &self.data, &self.terms, &walk.w, &mut walk.dropped);
        Ok(slopes)
    }

    /// Returns √(Σ ‖s_i‖²/mass_i).
    fn size_of(&self, s: &[f64]) -> f64 {
        let masses = self.data.masses().iter();
        let square = |(square, mass): (f64, f64)| if mass > 0.0 { square / mass } else { 0.0 };
        let squares: f64 = match self.data.outputs() {
            // A slice of one number takes longer to look at than to square.
            1 => s.iter().map(|s| s * s).zip(masses).map(square).sum(),
            k => s.chunks_exact(k).map(|s| dot(s, s)).zip(masses).map(square).sum(),
        };
        squares.sqrt()
    }

    /// Returns the dual value of the losses at the point −∇φ_i(a_i), scaled. Where it is not, Fenchel-Young is tight:
    /// `−φ*(∇φ(a)) = φ(a) − a'∇φ(a)`.
    fn dual_of(&self, local: &Local, scale: f64) -> Result<f64> {
        if scale == 1.0 {
            return Ok(local.losses - dot(&local.slopes, &local.a));
        }
        let (k, mut values, mut sum) = (self.data.outputs(), [0.0; BLOCK], 0.0);
        let mut buffer = [0.0; BLOCK];
        for (first, a) in (0..).step_by(BLOCK).zip(local.a.chunks(BLOCK * k)) {
            let masses = self.data.masses().of_all(first..first + a.len() / k, &mut buffer);
            let values = &mut values[..masses.len()];
            self.blocks.scaled_duals(first, a, scale, values)?;
            sum += dot(values, masses);
        }
        Ok(sum)
    }

    /// Takes a step: the working set, and a check of all weights. The first step is a check alone.
    pub(super) fn step(&mut self, halted: &dyn Fn() -> bool) -> Result<()> {
        if self.walk.set.is_some() {
            self.descend(halted);
        }
        self.appraise()
    }
}
