//! Solvers of structural SVMs under the names of the BCFW paper, and races between them.

use super::Effort;
use super::axis::Axis;
use super::curves::{Curve, Role, Trace};
use super::draw::Panel;
use super::runs::{Eye, Present, Run, bracket, passes, side_by_side};
use dualgap::Result;
use dualgap::dual::{self, Average, Blocks, Engine, Problem, Settings, Step};
use dualgap::methods::subgradient::Subgradient;
use dualgap::methods::{cutting_plane, exponentiated_gradient, subgradient};
use dualgap::run::{Budget, Observer, run};
use dualgap::structure::{ChainBlocks, MatchingBlocks};
use dualgap::term::{L2, Regulariser};

/// A method of a figure: its name there, how it is drawn, and how it trains.
#[derive(Clone, Debug)]
pub struct Method {
    pub name: &'static str,
    pub role: Role,
    how: How,
}

/// Who trains.
#[derive(Clone, Debug)]
enum How {
    Dual(Settings),
    Subgradient(subgradient::SubgradientAverage),
    CuttingPlane,
    ExponentiatedGradient,
}

fn bcfw(average: Average) -> How {
    How::Dual(Settings { average, ..Settings::plain() })
}

fn fw() -> Settings {
    Settings { method: dual::Algorithm::Fw, ..Settings::plain() }
}

/// All methods, one line each.
pub fn all() -> Vec<Method> {
    use Role::{Batch, Single, Stochastic};
    use dualgap::methods::subgradient::SubgradientAverage as Of;
    let method = |name, role, how| Method { name, role, how };
    let predefined =
        |settings: Settings| How::Dual(Settings { step: Step::Predefined, ..settings });
    vec![
        method("BCFW", Stochastic, bcfw(Average::None)),
        method("BCFW-wavg", Stochastic, bcfw(Average::Weighted)),
        method("BCFW-tavg", Stochastic, bcfw(Average::Suffix)),
        method("BCFW, predefined steps", Stochastic, predefined(Settings::plain())),
        method("SSG", Stochastic, How::Subgradient(Of::None)),
        method("SSG-wavg", Stochastic, How::Subgradient(Of::Weighted)),
        method("SSG-tavg", Stochastic, How::Subgradient(Of::Doubling)),
        method("SSG-avg", Stochastic, How::Subgradient(Of::Uniform)),
        method("online-EG", Stochastic, How::ExponentiatedGradient),
        method("cutting plane", Batch, How::CuttingPlane),
        method("FW", Batch, How::Dual(fw())),
        method("FW, predefined steps", Batch, predefined(fw())),
        method("auto (ours)", Single, How::Dual(Settings::default())),
    ]
}

/// The methods of these names that exist and that are wanted, in the order of the names.
pub fn named(names: &[&str], effort: &Effort) -> Vec<Method> {
    let all = all();
    let wanted = names.iter().filter(|name| effort.wants(name));
    wanted.filter_map(|name| all.iter().find(|method| method.name == *name).cloned()).collect()
}

/// The error of weights on test data.
pub type Judge<'a> = &'a (dyn Fn(&[f64]) -> Result<f64> + Sync);

/// A problem that methods race on.
pub struct Arena<'a, B> {
    pub title: String,
    pub blocks: &'a B,
    pub lambda: f64,
    pub judge: Option<Judge<'a>>,
}

/// How long a race goes on.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// Runs of every stochastic method.
    pub seeds: u64,
    /// Effective passes.
    pub passes: u64,
    /// Certifications for each pass, at most one.
    pub share: f64,
    /// Whether the first pass is looked at in parts, down to a 64th.
    pub early: bool,
    /// The relative gap to which the optimum is bracketed, and the seconds which that may take.
    pub tight: (f64, f64),
}

/// The runs of every method, and the two values that the optimum lies between.
pub struct Raced {
    pub title: String,
    pub optimum: (f64, f64),
    pub runs: Vec<(Method, Vec<Run>)>,
    pub seeds: u64,
}

/// The parts of the first pass.
const PARTS: [u64; 6] = [64, 32, 16, 8, 4, 2];

/// Blocks that methods race on. Matchings have no marginals, so exponentiated gradient is not for them.
pub trait Racing: Blocks + Sync {
    /// Whether there is an oracle for expectations.
    const EXPECTS: bool;

    fn exponentiated(
        &self,
        lambda: f64,
        settings: &exponentiated_gradient::GradientSettings,
        budget: &Budget,
        observer: &mut dyn Observer,
    ) -> Result<()>;
}

impl Racing for ChainBlocks<'_> {
    const EXPECTS: bool = true;

    fn exponentiated(
        &self,
        lambda: f64,
        settings: &exponentiated_gradient::GradientSettings,
        budget: &Budget,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        exponentiated_gradient::train(self, lambda, settings, budget, observer).map(drop)
    }
}

impl Racing for MatchingBlocks<'_> {
    const EXPECTS: bool = false;

    fn exponentiated(
        &self,
        _: f64,
        _: &exponentiated_gradient::GradientSettings,
        _: &Budget,
        _: &mut dyn Observer,
    ) -> Result<()> {
        Ok(())
    }
}

impl Method {
    /// Whether blocks of this type have the oracle that the method needs.
    fn suits<B: Racing>(&self) -> bool {
        B::EXPECTS || !matches!(self.how, How::ExponentiatedGradient)
    }

    fn train<B: Racing>(
        &self,
        blocks: &B,
        (lambda, seed): (f64, u64),
        budget: &Budget,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (plain, threads) = (Regulariser::PLAIN, 1);
        match &self.how {
            How::Dual(settings) => {
                let settings = Settings { lambda, seed, threads, ..settings.clone() };
                let is_bcfw = settings.method == dual::Algorithm::Bcfw
                    && settings.acceleration == dual::Acceleration::Off;
                if is_bcfw && settings.average == Average::None {
                    let engine = Engine::new(Problem::new(blocks, L2, lambda, None)?, &settings)?;
                    return run(Present::new(engine, Engine::weights), budget, observer).map(drop);
                }
                dual::train(blocks, &settings, budget, observer).map(drop)
            }
            How::Subgradient(average) => {
                let of = subgradient::SubgradientSettings::default();
                let settings =
                    subgradient::SubgradientSettings { average: *average, seed, threads, ..of };
                let solver = Subgradient::new(blocks, lambda, None, &settings)?;
                let now = |solver: &Subgradient<'_, B>| {
                    solver.average().unwrap_or_else(|| solver.iterate())
                };
                run(Present::new(solver, now), budget, observer).map(drop)
            }
            How::CuttingPlane => {
                let of = cutting_plane::CuttingPlaneSettings::default();
                let settings = cutting_plane::CuttingPlaneSettings { seed, threads, ..of };
                cutting_plane::train(blocks, lambda, plain, None, &settings, budget, observer)
                    .map(drop)
            }
            How::ExponentiatedGradient => {
                let of = exponentiated_gradient::GradientSettings::default();
                let settings = exponentiated_gradient::GradientSettings { seed, threads, ..of };
                blocks.exponentiated(lambda, &settings, budget, observer)
            }
        }
    }
}

impl<B: Racing> Arena<'_, B> {
    /// Runs every method once for every seed, batch methods once.
    pub fn race(&self, methods: &[Method], length: &Length, effort: &Effort) -> Result<Raced> {
        let methods: Vec<Method> =
            methods.iter().filter(|method| method.suits::<B>()).cloned().collect();
        let (tight, seconds) = length.tight;
        let settings =
            Settings { lambda: self.lambda, threads: effort.jobs, ..Settings::default() };
        let budget = Budget { seconds: Some(seconds), ..Budget::relative(tight) };
        let best = dual::train(self.blocks, &settings, &budget, &mut ())?.certificate;
        let seeds = |role| if role == Role::Stochastic { length.seeds } else { 1 };
        let work: Vec<(usize, u64)> = (methods.iter().enumerate())
            .flat_map(|(k, method)| (0..seeds(method.role)).map(move |seed| (k, seed)))
            .collect();
        let done =
            side_by_side(effort.jobs, &work, |&(k, seed)| self.follow(&methods[k], seed, length))?;
        let optimum = bracket(&best, &done.iter().collect::<Vec<_>>());
        let mut runs: Vec<(Method, Vec<Run>)> =
            methods.iter().map(|method| (method.clone(), Vec::new())).collect();
        work.iter().zip(done).for_each(|(&(k, _), run)| runs[k].1.push(run));
        println!("  {}: the optimum is between {:.6} and {:.6}", self.title, optimum.0, optimum.1);
        Ok(Raced { title: self.title.clone(), optimum, runs, seeds: length.seeds })
    }

    /// One run, and short ones before it for what the first pass does.
    fn follow(&self, method: &Method, seed: u64, length: &Length) -> Result<Run> {
        let judge = |weights: &[f64]| self.judge.map(|judge| judge(weights)).transpose();
        let mut eye = Eye { run: Run::default(), judge };
        if length.early && method.role == Role::Stochastic {
            let pass = self.blocks.len() as u64 * self.blocks.calls_per_step();
            for part in PARTS {
                let calls = pass.div_ceil(part);
                let budget = Budget { oracle_calls: Some(calls), ..passes(1, 1.0) };
                method.train(self.blocks, (self.lambda, seed), &budget, &mut eye)?;
            }
        }
        let budget = passes(length.passes, length.share);
        method.train(self.blocks, (self.lambda, seed), &budget, &mut eye)?;
        Ok(eye.run)
    }
}

/// The axis of all these figures.
pub const PASSES: Axis = Axis::linear("effective passes");
pub const LOG_PASSES: Axis = Axis::logarithmic("effective passes");

impl Raced {
    fn curves(&self, trace: impl Fn(&Run) -> Trace) -> Vec<Curve> {
        let curve = |(method, runs): &(Method, Vec<Run>)| {
            let traces: Vec<Trace> = runs.iter().map(&trace).collect();
            Curve::new(method.name, method.role, &traces)
        };
        self.runs.iter().map(curve).collect()
    }

    /// P above the largest dual value that was proved, as the paper measures it.
    pub fn suboptimality(&self, title: &str, x: Axis) -> Panel {
        let (dual, primal) = self.optimum;
        Panel {
            title: title.into(),
            x,
            y: Axis::logarithmic("primal suboptimality"),
            curves: self.curves(|run| run.suboptimality(dual)),
            level: Some((primal - dual, "bracket of the optimum".into())),
        }
    }

    /// The error on test data.
    pub fn errors(&self, title: &str, x: Axis, name: &'static str) -> Panel {
        let y = Axis::linear(name);
        let curves = self.curves(Run::errors);
        Panel { title: title.into(), x, y, curves, level: None }
    }

    /// For the notes of a figure.
    pub fn note(&self) -> String {
        let (dual, primal) = self.optimum;
        format!("{} ({} seeds): optimum in [{dual:.5}, {primal:.5}]", self.title, self.seeds)
    }
}
