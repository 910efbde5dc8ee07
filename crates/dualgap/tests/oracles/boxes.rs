//! The structured box of Prox-SDCA, section 3.3: the engine takes its steps, one after the other, and they are never longer
//! than those of the line search.

use super::weak::{Says, Weak, data, task};
use crate::common::explicit::{Explicit, dot};
use crate::common::{Kind, Small};
use dualgap::dual::{Blocks, Direction, Engine, Mixture, Problem, Sampling, Settings};
use dualgap::run::{Budget, Quota, Solver, Stop};
use dualgap::structure::{
    Beam, Chain, ChainBlocks, Choice, Hamming, OracleBlocks, ProxSdca, Rescaling,
};
use dualgap::task::{DualMethod, Plan, Task};
use dualgap::term::{L2, Penalty};

/// The box written out: w_i, D_i and, for option III, the distribution over outputs.
struct Literal<'a> {
    problem: &'a Explicit,
    choice: Choice,
    radii: &'a [f64],
    /// The weight that a block's point has on an output, from its distribution.
    weight: &'a dyn Fn(usize, &[f64], usize) -> f64,
    w: Vec<Vec<f64>>,
    d: Vec<f64>,
    alpha: Vec<Vec<f64>>,
}

impl Literal<'_> {
    fn total(&self) -> Vec<f64> {
        (0..self.problem.dim).map(|j| self.w.iter().map(|w| w[j]).sum()).collect()
    }

    fn dual(&self) -> f64 {
        let w = self.total();
        let terms = self.d.iter().zip(&self.problem.masses).map(|(d, mass)| mass.float() * d);
        -terms.sum::<f64>() - 0.5 * self.problem.lambda * dot(&w, &w)
    }

    /// One iteration on example i.
    fn step(&mut self, i: usize) {
        let (problem, w) = (self.problem, self.total());
        let scale = problem.masses[i].float() / problem.lambda; // 1/(λn)
        let j = problem.best(i, &w);
        let corner = &problem.examples[i][j];
        let p = corner.loss - dot(&corner.psi, &w);
        let gap = p + self.d[i] + dot(&w, &self.w[i]) / scale;
        let r = match self.choice {
            Choice::III => self.radii[i] * (1.0 - (self.weight)(i, &self.alpha[i], j)),
            // 16R² in the place of 4R².
            Choice::IVLipschitz => 2.0 * self.radii.iter().copied().fold(0.0, f64::max),
            _ => self.radii.iter().copied().fold(0.0, f64::max),
        };
        let s = if gap > 0.0 { (gap / (4.0 * r * r * scale)).min(1.0) } else { 0.0 };

        // The line search gains at least as much, and what is gained is not negative.
        let apart: Vec<f64> =
            corner.psi.iter().zip(&self.w[i]).map(|(psi, w)| psi - w / scale).collect();
        let gain = |s: f64| s * gap - 0.5 * s * s * scale * dot(&apart, &apart);
        let best = (gap / (scale * dot(&apart, &apart))).clamp(0.0, 1.0);
        if gap > 1e-12 {
            assert!(
                s <= best + 1e-12 && gain(s) <= gain(best) + 1e-12 && gain(s) >= 0.0,
                "{s} {best}"
            );
        }

        let before = self.dual();
        self.d[i] = (1.0 - s) * self.d[i] - s * corner.loss;
        for (w, psi) in self.w[i].iter_mut().zip(&corner.psi) {
            *w = (1.0 - s) * *w + s * scale * psi;
        }
        self.alpha[i].iter_mut().for_each(|alpha| *alpha *= 1.0 - s);
        self.alpha[i][j] += s;
        assert!(self.dual() >= before - 1e-12, "the dual fell");
    }
}

/// Compares the engine over these blocks with the box, step by step in the order of the data.
fn compare<B: Blocks>(
    blocks: &B,
    problem: &Explicit,
    weights: Option<&[f64]>,
    (choice, radii): (Choice, &[f64]),
    weight: &dyn Fn(usize, &[f64], usize) -> f64,
    truth: &dyn Fn(usize) -> usize,
) {
    let n = problem.examples.len();
    let start = |i: usize| {
        let mut alpha = vec![0.0; problem.examples[i].len()];
        alpha[truth(i)] = 1.0;
        alpha
    };
    let mut literal = Literal {
        problem,
        choice,
        radii,
        weight,
        w: vec![vec![0.0; problem.dim]; n],
        d: vec![0.0; n],
        alpha: (0..n).map(start).collect(),
    };
    let settings = Settings {
        lambda: problem.lambda,
        sampling: Sampling::Cyclic,
        threads: 1,
        sample_weights: weights.map(<[f64]>::to_vec),
        ..Settings::plain()
    };
    let of = Problem::new(blocks, L2, problem.lambda, weights).unwrap();
    let mut engine = Engine::new(of, &settings).unwrap();
    let one = Quota { oracle_calls: 1, steps: 1, pause: u64::MAX, halted: &|| false };
    let mut compared = 0;
    for k in 0..4 * n {
        // Where rounding decides between outputs, either may go its own way.
        if problem.is_tied(&literal.total()) {
            break;
        }
        literal.step(k % n);
        engine.advance(&one).unwrap();
        let (a, b) = (engine.weights(), literal.total());
        let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-11, "{off:e} after {} steps of option {choice:?}", k + 1);
        compared += 1;
    }
    assert!(compared >= n, "only {compared} steps could be compared");
}

/// ‖φ(x_i, ·)‖ as the documentation of the blocks bounds it.
fn radius(small: &Small, i: usize) -> f64 {
    let length = |x: &Vec<f64>| dot(x, x).sqrt();
    let nodes: f64 = small.inputs[i].iter().map(length).sum();
    let pairs: f64 = small.edges.get(i).map_or(0.0, |rows| rows[1..].iter().map(length).sum());
    let transitions = small.truths[i].len() as f64 - 1.0;
    (nodes.powi(2) + 2.0 + transitions.powi(2) + pairs.powi(2)).sqrt()
}

#[test]
fn chains_take_the_steps_of_the_box() {
    for seed in 0..4 {
        let mut small = Small::random(seed, Kind::Chain(Hamming::Normalized), 6, 3, 3);
        if seed == 1 {
            small = small.with_pairs(seed, 2);
        }
        small.weights = (seed == 2).then(|| vec![1.0, 2.0, 0.5, 1.0, 3.0, 1.0]);
        let (data, problem) = (small.sequences(), small.explicit());
        let radii: Vec<f64> = (0..small.len()).map(|i| radius(&small, i)).collect();
        for (i, corners) in problem.examples.iter().enumerate() {
            for corner in corners {
                let phi: Vec<f64> =
                    small.phi(i, &corner.output).iter().map(|x| x.float()).collect();
                assert!(dot(&phi, &phi).sqrt() <= radii[i] + 1e-12);
            }
        }
        // The least marginal of a labeling's edges, as the distribution over labelings has them.
        let weight = |i: usize, alpha: &[f64], j: usize| {
            let corners = &problem.examples[i];
            let y = &corners[j].output;
            let edge = |t: usize| {
                let same = |other: &Vec<u16>| other[t] == y[t] && other.get(t + 1) == y.get(t + 1);
                let shared = corners.iter().zip(alpha).filter(|(corner, _)| same(&corner.output));
                shared.map(|(_, alpha)| alpha).sum::<f64>()
            };
            (0..y.len()).map(edge).fold(f64::INFINITY, f64::min)
        };
        let truth = |i: usize| {
            problem.examples[i].iter().position(|corner| corner.output == small.truths[i]).unwrap()
        };
        for choice in [Choice::III, Choice::IV, Choice::IVLipschitz] {
            let blocks =
                ProxSdca::new(ChainBlocks::new(&data, Hamming::Normalized).unwrap(), choice);
            let of = (choice, &radii[..]);
            compare(&blocks.unwrap(), &problem, small.weights.as_deref(), of, &weight, &truth);
        }
    }
}

#[test]
fn an_oracle_takes_the_steps_of_the_box() {
    for seed in 0..4 {
        // With costs that differ: classes that no step has reached would tie.
        let mut small = Small::random(seed, Kind::all(4)[3].clone(), 9, 4, 1);
        small.weights = (seed == 2).then(|| (0..9).map(|i| 0.5 + f64::from(i % 3)).collect());
        let problem = small.explicit();
        let radii: Vec<f64> = small.inputs.iter().map(|x| dot(&x[0], &x[0]).sqrt()).collect();
        let Kind::Multiclass(costs) = &small.kind else { panic!("no classes") };
        let data = small.examples();
        let oracle = dualgap::structure::MulticlassOracle::new(small.width(), 4, costs).unwrap();
        let labels = data.classes().unwrap().numbers();
        let examples: Vec<_> = (0..data.len()).map(|i| (data.rows().row(i), labels[i])).collect();
        for choice in [Choice::III, Choice::IV, Choice::IVLipschitz] {
            let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
            let blocks = ProxSdca::new(blocks, choice).unwrap();
            let weight = |_: usize, alpha: &[f64], j: usize| alpha[j];
            let truth = |i: usize| usize::from(small.truths[i][0]);
            compare(&blocks, &problem, small.weights.as_deref(), (choice, &radii), &weight, &truth);
        }
    }
}

// Where λn is large the share as printed exceeds one.
#[test]
fn a_share_is_never_more_than_one() {
    let small = Small { lambda: 1e3, ..Small::random(7, Kind::Chain(Hamming::Plain), 5, 3, 3) };
    let data = small.sequences();
    for choice in [Choice::II, Choice::III, Choice::IV] {
        let blocks = ChainBlocks::new(&data, Hamming::Plain).unwrap();
        let blocks = ProxSdca::new(blocks, choice).unwrap();
        let settings = Settings { lambda: 1e3, threads: 1, ..Settings::plain() };
        let problem = Problem::new(&blocks, L2, 1e3, None).unwrap();
        let mut engine = Engine::new(problem, &settings).unwrap();
        let pass = Quota { oracle_calls: 5, steps: 5, pause: u64::MAX, halted: &|| false };
        engine.advance(&pass).unwrap();
        // All the weight of every point is on the labeling that was found.
        let whole =
            |point: &Mixture| !point.is_empty() && point.iter().all(|(_, weight)| weight == 1.0);
        assert!(engine.points().iter().all(whole), "{choice:?}");
        assert!(engine.weights().iter().any(|w| *w != 0.0), "and it is not the truth");
    }
}

fn method(option: Choice) -> DualMethod {
    DualMethod { option: Some(option), ..DualMethod::plain() }
}

#[test]
fn every_option_comes_to_the_optimum_of_the_default() {
    let small = Small::random(8, Kind::Chain(Hamming::Normalized), 8, 3, 3);
    let data = small.sequences();
    let fit = |structure: Chain, option: Option<Choice>, tolerance: f64| {
        let budget = Budget { passes: Some(4000), ..Budget::relative(tolerance) };
        let chosen = option.map_or_else(DualMethod::default, method);
        let plan = Plan { method: chosen.into(), threads: 1, ..Plan::new(budget) };
        Task::new(structure, Penalty::ridge(0.5)).fit(&data, plan)
    };
    let best = fit(Chain::default(), None, 1e-6).unwrap().certificate;
    for option in [Choice::II, Choice::III, Choice::IV] {
        let report = fit(Chain::default(), Some(option), 0.02).unwrap();
        let c = report.certificate;
        assert_eq!(report.stop, Stop::GapReached, "{option:?} {c:?}");
        assert!(c.dual <= best.primal + 1e-12 && best.dual <= c.primal + 1e-12);
        report.model.certify(&data).unwrap();
        let beam = Chain::default().searched(Some(Beam { width: 2, bound: true }));
        assert!(fit(beam, Some(option), 0.02).unwrap().certificate.certified);
        assert!(fit(Chain::default().rescaled(Rescaling::Slack), Some(option), 0.02).is_err());
    }
    for option in [Choice::I, Choice::V] {
        assert!(fit(Chain::default(), Some(option), 0.02).is_err());
    }
}

#[test]
fn a_user_s_structure_has_the_options_if_it_knows_its_extent() {
    let own = data(5, 12);
    let fit = |oracle: Weak, method: DualMethod| {
        let plan = Plan { method: method.into(), threads: 1, ..Plan::new(Budget::passes(30)) };
        task(oracle, 0.5).fit(&own, plan)
    };
    let best = fit(Weak::honest(Says::Best), DualMethod::default()).unwrap().certificate;
    for option in [Choice::II, Choice::III, Choice::IV] {
        let report = fit(Weak::honest(Says::Best), method(option)).unwrap();
        let c = report.certificate;
        assert!(c.dual <= best.primal + 1e-12 && best.dual <= c.primal + 1e-12, "{c:?} {best:?}");
        report.model.certify(&own).unwrap();
        // Pairwise steps are not those of the paper.
        let pairwise = DualMethod { direction: Direction::Pairwise, ..method(option) };
        assert!(fit(Weak::honest(Says::Best), pairwise).is_err());
    }
    assert!(fit(Weak::honest(Says::Best), method(Choice::I)).is_err());
}
