//! What a block says of the corners that its point is a mixture of, and what looking at all outputs says of them.

use crate::common::explicit::{Corner, dot};
use crate::common::{Kind, Small, distance, with_blocks, with_oracle};
use dualgap::dual::{ActiveSetBlocks, Blocks, Mixture};
use dualgap::linalg::Random;
use dualgap::structure::{ChainBlocks, MulticlassBlocks, Oracle, OracleBlocks};

/// What a judge must know of a structure's corners and points.
trait Judged: ActiveSetBlocks {
    /// Whether the best corner is the best of all, and not only of those that the point has.
    const SCORES_ALL: bool = false;

    /// The output that a corner is of.
    fn output(corner: &Self::Corner) -> Vec<u16>;

    /// How much weight can be taken from an output before a weight of the point becomes negative.
    fn room(at: &Self::Point, output: &[u16]) -> f64;

    /// By how much the point's weights miss feasibility.
    fn defect(at: &Self::Point, labels: usize) -> f64;

    /// All weights, in order.
    fn weights(at: &Self::Point) -> Vec<f64>;

    /// Other weights in their places.
    fn reweighed(at: &Self::Point, weights: &[f64]) -> Self::Point;
}

fn mixture(at: &Mixture, weights: &[f64]) -> Mixture {
    Mixture::from_entries(at.iter().zip(weights).map(|((key, _), &w)| (key, w)).collect()).unwrap()
}

fn weight_of(at: &Mixture, key: u64) -> f64 {
    at.iter().find(|&(other, _)| other == key).map_or(0.0, |(_, weight)| weight)
}

/// Position, label and next label, as chains keep them; the last position has a mark for the next.
fn edge(key: u64) -> (usize, usize, usize) {
    ((key >> 32) as usize, (key >> 16 & 0xffff) as usize, (key & 0xffff) as usize)
}

impl Judged for ChainBlocks<'_> {
    fn output(corner: &Vec<u64>) -> Vec<u16> {
        corner.iter().map(|&key| edge(key).1 as u16).collect()
    }

    fn room(at: &Mixture, output: &[u16]) -> f64 {
        let next = output.iter().skip(1).copied().chain([u16::MAX]);
        let edges = output.iter().zip(next).enumerate();
        edges
            .map(|(t, (&y, next))| (t as u64) << 32 | u64::from(y) << 16 | u64::from(next))
            .map(|key| weight_of(at, key))
            .fold(f64::INFINITY, f64::min)
    }

    fn defect(at: &Mixture, labels: usize) -> f64 {
        let length = 1 + at.iter().map(|(key, _)| edge(key).0).max().unwrap();
        let mut out = vec![vec![0.0; labels]; length];
        let mut into = out.clone();
        for (key, weight) in at.iter() {
            let (t, y, next) = edge(key);
            out[t][y] += weight;
            if t + 1 < length {
                into[t + 1][next] += weight;
            }
        }
        let first = (out[0].iter().sum::<f64>() - 1.0).abs();
        let apart = |t: usize| distance(&out[t], &into[t]);
        (1..length).map(apart).fold(first, f64::max)
    }

    fn weights(at: &Mixture) -> Vec<f64> {
        at.iter().map(|(_, weight)| weight).collect()
    }

    fn reweighed(at: &Mixture, weights: &[f64]) -> Mixture {
        mixture(at, weights)
    }
}

impl Judged for MulticlassBlocks<'_> {
    const SCORES_ALL: bool = true;

    fn output(corner: &u64) -> Vec<u16> {
        vec![*corner as u16]
    }

    fn room(at: &Mixture, output: &[u16]) -> f64 {
        weight_of(at, output[0].into())
    }

    fn defect(at: &Mixture, _: usize) -> f64 {
        (at.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs()
    }

    fn weights(at: &Mixture) -> Vec<f64> {
        at.iter().map(|(_, weight)| weight).collect()
    }

    fn reweighed(at: &Mixture, weights: &[f64]) -> Mixture {
        mixture(at, weights)
    }
}

/// An output of an oracle as labels.
trait Labels {
    fn labels(&self) -> Vec<u16>;
}

impl Labels for Vec<u16> {
    fn labels(&self) -> Vec<u16> {
        self.clone()
    }
}

impl Labels for u32 {
    fn labels(&self) -> Vec<u16> {
        vec![*self as u16]
    }
}

impl<O: Oracle<Output: Labels>> Judged for OracleBlocks<'_, O> {
    fn output(corner: &Self::Corner) -> Vec<u16> {
        corner.as_ref().unwrap().output().labels()
    }

    fn room(at: &Self::Point, output: &[u16]) -> f64 {
        let known = at.corners.iter().find(|(plane, _)| plane.output().labels() == output);
        known.map_or(0.0, |&(_, weight)| weight)
    }

    fn defect(at: &Self::Point, _: usize) -> f64 {
        (at.corners.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs()
    }

    fn weights(at: &Self::Point) -> Vec<f64> {
        at.corners.iter().map(|&(_, weight)| weight).collect()
    }

    fn reweighed(at: &Self::Point, weights: &[f64]) -> Self::Point {
        let mut at = at.clone();
        at.corners.iter_mut().zip(weights).for_each(|((_, old), &new)| *old = new);
        at
    }
}

/// A block, and all of its outputs written out.
struct Case<'a, B: Judged> {
    small: &'a Small,
    blocks: &'a B,
    i: usize,
    corners: &'a [Corner],
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-11 * a.abs().max(1.0)
}

fn random_weights(dim: usize, random: &mut Random) -> Vec<f64> {
    (0..dim).map(|_| 4.0 * random.unit() - 2.0).collect()
}

impl<B: Judged> Case<'_, B> {
    fn of(&self, corner: &B::Corner) -> &Corner {
        let output = B::output(corner);
        self.corners.iter().find(|corner| corner.output == output).unwrap()
    }

    /// L(y) − ⟨w, ψ(y)⟩.
    fn score(corner: &Corner, w: &[f64]) -> f64 {
        corner.loss - dot(&corner.psi, w)
    }

    fn best(&self, w: &[f64], scratch: &mut B::Scratch) -> B::Corner {
        let mut corner = B::Corner::default();
        self.blocks.best_corner(self.i, w, &mut corner, scratch).unwrap();
        corner
    }

    /// A mixture of some corners, and those.
    fn wander(&self, random: &mut Random) -> (B::Point, Vec<B::Corner>) {
        let mut at = self.blocks.start(self.i);
        let mut met = Vec::new();
        let mut scratch = self.blocks.scratch();
        for _ in 0..=random.below(5) {
            let corner = self.best(&random_weights(self.blocks.dim(), random), &mut scratch);
            self.blocks.mix(self.i, 0.1 + 0.5 * random.unit(), &mut at, &corner);
            met.push(corner);
        }
        (at, met)
    }

    /// The worst and the best of the corners that the point is a mixture of, or the best of all, held against all outputs.
    fn extremes(&self, at: &B::Point, w: &[f64], scratch: &mut B::Scratch) -> [B::Corner; 2] {
        let (mut worst, mut best) = (B::Corner::default(), B::Corner::default());
        self.blocks.extremes(self.i, at, w, &mut worst, &mut best, scratch);
        let on_face = |corner: &&Corner| B::room(at, &corner.output) > 0.0;
        let score = |corner: &Corner| Self::score(corner, w);
        let known = self.corners.iter().filter(on_face);
        let low = known.map(score).fold(f64::INFINITY, f64::min);
        let better = self.corners.iter().filter(|corner| B::SCORES_ALL || on_face(corner));
        let high = better.map(score).fold(f64::NEG_INFINITY, f64::max);
        for (corner, score, on_face) in [(&worst, low, true), (&best, high, !B::SCORES_ALL)] {
            assert!(near(Self::score(self.of(corner), w), score));
            let room = B::room(at, &B::output(corner));
            assert!(room > 0.0 || !on_face);
            assert!((self.blocks.weight(self.i, at, corner) - room).abs() < 1e-15);
        }
        [worst, best]
    }

    /// `X_i α_i`.
    fn image(&self, at: &B::Point) -> Vec<f64> {
        let mut image = vec![0.0; self.blocks.dim()];
        self.blocks.add(self.i, at, 1.0, &mut image, &mut self.blocks.scratch());
        image
    }

    /// The prepared difference is this vector, at these weights.
    fn assert_prepared(&self, expected: &[f64], w: &[f64], scratch: &mut B::Scratch) {
        let (i, blocks) = (self.i, self.blocks);
        assert!(near(blocks.slope(i, w, scratch), dot(expected, w)));
        assert!(near(blocks.curvature(i, scratch), dot(expected, expected)));
        let mut displaced = vec![0.0; blocks.dim()];
        blocks.displace(i, 1.0, &mut displaced, scratch);
        assert!(distance(expected, &displaced) < 1e-12);
    }

    /// Both kinds of difference, from the point and from a corner, are those of the vectors written out.
    fn assert_differences(
        &self,
        at: &B::Point,
        from: &B::Corner,
        to: &B::Corner,
        w: &[f64],
        scratch: &mut B::Scratch,
    ) {
        let (old, new) = (self.of(from), self.of(to));
        let apart = |from: &[f64]| -> Vec<f64> {
            new.psi.iter().zip(from).map(|(to, from)| to - from).collect()
        };
        let dual = self.blocks.audit(self.i, at, &mut self.blocks.scratch()).unwrap().dual.value;
        let rise = self.blocks.difference(self.i, at, to, scratch);
        assert!(near(rise, new.loss - dual));
        self.assert_prepared(&apart(&self.image(at)), w, scratch);
        let rise = self.blocks.between(self.i, from, to, scratch);
        assert!(near(rise, new.loss - old.loss));
        self.assert_prepared(&apart(&old.psi), w, scratch);
    }

    fn check(&self, random: &mut Random) {
        let (i, blocks) = (self.i, self.blocks);
        let (mut at, met) = self.wander(random);
        let mut w = random_weights(blocks.dim(), random);
        let mut scratch = blocks.scratch();
        let found = self.best(&w, &mut scratch);
        let [worst, _] = self.extremes(&at, &w, &mut scratch);
        for to in met.iter().chain([&found]) {
            self.assert_differences(&at, &worst, to, &w, &mut scratch);
        }

        // Known corners are scored without the others, whatever was in the scratch before.
        let elsewhere = random_weights(blocks.dim(), random);
        self.best(&elsewhere, &mut scratch);
        blocks.score_active_set(i, &at, &w, &mut scratch);
        let [worst, best] = self.extremes(&at, &w, &mut scratch);
        self.assert_differences(&at, &worst, &best, &w, &mut scratch);

        // A step of the block's own, one toward a corner and one between two, and then one of somebody else.
        self.best(&w, &mut scratch);
        let [worst, best] = self.extremes(&at, &w, &mut scratch);
        for (factor, between) in [(0.3, true), (-0.2, false)] {
            if between {
                blocks.between(i, &worst, &found, &mut scratch);
            } else {
                blocks.difference(i, &at, &best, &mut scratch);
            }
            blocks.displace(i, factor, &mut w, &mut scratch);
            blocks.follow(i, &w, Some(factor), &mut scratch);
            self.extremes(&at, &w, &mut scratch);
            for to in met.iter().chain([&found]) {
                self.assert_differences(&at, &worst, to, &w, &mut scratch);
            }
        }
        blocks.follow(i, &elsewhere, None, &mut scratch);
        let [worst, _] = self.extremes(&at, &elsewhere, &mut scratch);
        self.assert_differences(&at, &worst, &found, &elsewhere, &mut scratch);

        // Some of the worst corner's weight, and then all of it.
        for share in [0.4, 1.0] {
            let amount = share * B::room(&at, &B::output(&worst));
            let mut expected = self.image(&at);
            for ((x, to), from) in
                expected.iter_mut().zip(&self.of(&found).psi).zip(&self.of(&worst).psi)
            {
                *x += amount * (to - from);
            }
            blocks.shift(i, amount, &mut at, &worst, &found);
            assert!(distance(&expected, &self.image(&at)) < 1e-13);
            let audit = blocks.audit(i, &at, &mut blocks.scratch()).unwrap();
            assert!(audit.dual.error < 1e-13, "{audit:?}");
        }
        // Where they have an edge in common, that one stays as it is.
        let (lost, won) = (B::output(&worst), B::output(&found));
        if lost.iter().zip(&won).all(|(lost, won)| lost != won) {
            assert_eq!(B::room(&at, &lost), 0.0);
        }
        self.check_tidying(&at, random);
    }

    fn check_tidying(&self, at: &B::Point, random: &mut Random) {
        let mut good = at.clone();
        self.blocks.tidy(self.i, &mut good);
        assert!(distance(&B::weights(at), &B::weights(&good)) < 1e-14);
        let noise = |weight: f64| weight * (1.0 + 1e-11 * (0.2 + random.unit()));
        let broken: Vec<f64> = B::weights(at).into_iter().map(noise).collect();
        let mut point = B::reweighed(at, &broken);
        assert!(B::defect(&point, self.small.labels) > 1e-13, "not broken at all");
        self.blocks.tidy(self.i, &mut point);
        assert!(B::defect(&point, self.small.labels) < 1e-15);
        assert!(distance(&broken, &B::weights(&point)) < 1e-10);
    }
}

fn check_all<B: Judged>(small: &Small, blocks: &B, seed: u64) {
    let (problem, mut random) = (small.explicit(), Random::new(seed));
    for i in 0..small.len() {
        let case = Case { small, blocks, i, corners: &problem.examples[i] };
        (0..4).for_each(|_| case.check(&mut random));
    }
}

fn problems() -> impl Iterator<Item = (u64, Small)> {
    let seeds_and_kinds = (0..12).flat_map(|seed| Kind::all(3).map(|kind| (seed, kind)));
    seeds_and_kinds.map(|(seed, kind)| {
        let small = Small::random(seed, kind, 6, 3, 4);
        (seed, if seed % 3 == 0 { small.with_pairs(seed, 2) } else { small })
    })
}

#[test]
fn the_faces_of_structures_are_those_that_all_outputs_have() {
    for (seed, small) in problems() {
        with_blocks!(small, |blocks| check_all(&small, &blocks, seed));
    }
}

#[test]
fn the_faces_of_oracle_blocks_are_those_that_all_outputs_have() {
    for (seed, small) in problems() {
        with_oracle!(small, |oracle, examples| {
            check_all(&small, &OracleBlocks::new(&oracle, &examples).unwrap(), seed);
        });
    }
}

// Beyond 64 positions there is no Gram matrix, and too many labelings to look at: scores that follow a step are held
// against scores from scratch.
#[test]
fn scores_of_long_sequences_follow_every_step() {
    let small = Small::random(3, Kind::Chain(dualgap::structure::Hamming::Plain), 8, 3, 120);
    let (data, mut random) = (small.sequences(), Random::new(4));
    assert!(
        (0..8).any(|i| small.truths[i].len() > 64) && (0..8).any(|i| small.truths[i].len() < 64)
    );
    let blocks = ChainBlocks::new(&data, dualgap::structure::Hamming::Plain).unwrap();
    for i in 0..8 {
        let case = Case { small: &small, blocks: &blocks, i, corners: &[] };
        let (at, met) = case.wander(&mut random);
        let mut w = random_weights(blocks.dim(), &mut random);
        let (mut scratch, mut fresh) = (blocks.scratch(), blocks.scratch());
        let found = case.best(&w, &mut scratch);
        blocks.between(i, &met[0], &found, &mut scratch);
        blocks.displace(i, 0.1, &mut w, &mut scratch);
        blocks.follow(i, &w, Some(0.1), &mut scratch);
        case.best(&w, &mut fresh);
        let slopes = |scratch: &mut _| -> Vec<f64> {
            let slope = |to| {
                blocks.difference(i, &at, to, scratch);
                blocks.slope(i, &w, scratch)
            };
            met.iter().chain([&found]).map(slope).collect()
        };
        assert!(distance(&slopes(&mut scratch), &slopes(&mut fresh)) < 1e-12);
    }
}

// What has lost its weight to a better output may be the best again soon.
#[test]
fn oracle_blocks_remember_an_output_for_a_while_after_it_has_lost_its_weight() {
    let small = Small::random(1, Kind::all(3)[2].clone(), 3, 3, 1);
    with_oracle!(small, |oracle, examples| {
        let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
        let problem = small.explicit();
        let case = Case { small: &small, blocks: &blocks, i: 0, corners: &problem.examples[0] };
        let (mut at, mut scratch) = (blocks.start(0), blocks.scratch());
        let (mut truth, mut none) = (None, None);
        let zero = vec![0.0; blocks.dim()];
        blocks.extremes(0, &at, &zero, &mut truth, &mut none, &mut scratch);
        let wrong = case.best(&zero, &mut scratch);
        let favours_truth: Vec<f64> = case.of(&wrong).psi.iter().map(|psi| 100.0 * psi).collect();
        blocks.shift(0, 1.0, &mut at, &truth, &wrong);
        let mut known = |at: &_| {
            let (mut worst, mut best) = (None, None);
            blocks.extremes(0, at, &favours_truth, &mut worst, &mut best, &mut scratch);
            [case.of(&worst).output.clone(), case.of(&best).output.clone()]
        };
        let [right, mistake] = [&truth, &wrong].map(|corner| case.of(corner).output.clone());
        assert_eq!(known(&at), [mistake.clone(), right]);
        for _ in 0..11 {
            blocks.shift(0, 0.0, &mut at, &wrong, &wrong);
        }
        assert_eq!(known(&at), [mistake.clone(), mistake]);
    });
}
