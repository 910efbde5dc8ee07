//! The optimum of matchings.

use super::optima::{budget, judge};
use super::{BOTH, of};
use crate::common::quadratic::optimum;
use crate::matchings::Case;
use dualgap::methods::cutting_plane;
use dualgap::structure::MatchingBlocks;
use dualgap::term::Regulariser;

#[test]
fn matchings_come_to_the_optimum() {
    let mut case = Case::random(3, 8, 3, 3);
    case.weights = Some((0..8).map(|i| 1.0 + f64::from(i % 2)).collect());
    let (bracket, data) = (optimum(&case.explicit()), case.data());
    let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
    for slacks in BOTH {
        let (plain, weights) = (Regulariser::PLAIN, case.weights.as_deref());
        let (settings, budget) = (of(slacks), budget());
        let lambda = case.lambda;
        let report =
            cutting_plane::train(&blocks, lambda, plain, weights, &settings, &budget, &mut ());
        let report = report.unwrap();
        judge(report.stop, &report.certificate, bracket);
    }
}
