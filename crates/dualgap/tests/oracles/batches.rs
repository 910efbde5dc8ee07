//! Oracles that decode several inputs at once: the same run, and the same contract.

use dualgap::dual::{self, Algorithm, Settings};
use dualgap::linalg::Accumulate;
use dualgap::methods::cutting_plane;
use dualgap::run::Budget;
use dualgap::structure::{Bound, Clause, Decoded, Oracle, OracleBlocks, OracleCheck, check_oracle};
use dualgap::term::Regulariser;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Three levels of a number. The losses are all different, so that every output is the best somewhere.
#[derive(Default)]
struct Levels {
    batches: bool,
    /// A batch has the loss in its scores, as it must.
    honest: bool,
    one_by_one: AtomicUsize,
    in_batches: AtomicUsize,
}

impl Levels {
    fn best(&self, w: &[f64], x: f64, against: Option<&usize>) -> Decoded<usize> {
        let score = |y: usize| w[y] * x + against.map_or(0.0, |truth| self.loss(&x, truth, &y));
        let output = (0..3).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or_default();
        Decoded { output, bound: Bound::Exact }
    }
}

impl Oracle for Levels {
    type Input = f64;
    type Output = usize;
    type Scratch = ();

    fn dim(&self) -> usize {
        3
    }

    fn features(&self, x: &f64, y: &usize, out: &mut impl Accumulate) {
        out.add(*y, *x);
    }

    fn loss(&self, _: &f64, truth: &usize, y: &usize) -> f64 {
        truth.abs_diff(*y) as f64
    }

    fn decode(
        &self,
        w: &[f64],
        x: &f64,
        against: Option<&usize>,
        (): &mut (),
    ) -> dualgap::Result<Decoded<usize>> {
        self.one_by_one.fetch_add(1, Relaxed);
        Ok(self.best(w, *x, against))
    }

    fn decode_batch(
        &self,
        w: &[f64],
        inputs: &[&f64],
        against: Option<&[&usize]>,
    ) -> dualgap::Result<Option<Vec<Decoded<usize>>>> {
        if !self.batches {
            return Ok(None);
        }
        self.in_batches.fetch_add(inputs.len(), Relaxed);
        let truth = |i: usize| against.filter(|_| self.honest).map(|truths| truths[i]);
        Ok(Some(inputs.iter().enumerate().map(|(i, x)| self.best(w, **x, truth(i))).collect()))
    }
}

const EXAMPLES: [(f64, usize); 5] = [(1.0, 0), (-0.5, 2), (0.3, 1), (2.0, 0), (-1.5, 2)];

#[test]
fn batches_take_the_place_of_single_calls_and_change_nothing() {
    let budget = Budget { passes: Some(6), ..Budget::default() };
    let settings = Settings { lambda: 0.1, batch: 2, ..Settings::plain() };
    let batch_method = Settings { method: Algorithm::Fw, batch: 1, ..settings.clone() };
    for settings in [settings, batch_method] {
        let run = |oracle: &Levels| {
            let blocks = OracleBlocks::new(oracle, &EXAMPLES).unwrap();
            dual::train(&blocks, &settings, &budget, &mut ()).unwrap()
        };
        let single = Levels::default();
        let together = Levels { batches: true, honest: true, ..Levels::default() };
        let (one, all) = (run(&single), run(&together));
        assert_eq!(one.model.weights, all.model.weights);
        assert_eq!(one.certificate, all.certificate);
        let (calls, batched) = (single.one_by_one.into_inner(), together.in_batches.into_inner());
        // Five examples in batches of two: the fifth comes alone.
        let alone = together.one_by_one.into_inner();
        assert_eq!(alone + batched, calls);
        assert!(alone <= if settings.batch == 2 { 6 } else { 0 }, "{alone} of {calls}");
    }
    let together = Levels { batches: true, honest: true, ..Levels::default() };
    let blocks = OracleBlocks::new(&together, &EXAMPLES).unwrap();
    let (settings, budget) =
        (cutting_plane::CuttingPlaneSettings::default(), Budget::relative(1e-6));
    let regulariser = Regulariser::default();
    let report = cutting_plane::train(&blocks, 0.1, regulariser, None, &settings, &budget, &mut ());
    assert!(report.unwrap().certificate.relative_gap() <= 1e-6);
    assert_eq!(together.one_by_one.into_inner(), 0);
}

#[test]
fn a_batch_that_lies_is_found() {
    let lying = Levels { batches: true, ..Levels::default() };
    let all = |_: &f64| Some(vec![0, 1, 2]);
    let check = OracleCheck { all: Some(&all), ..OracleCheck::default() };
    let checked = check_oracle(&lying, &EXAMPLES, &check);
    assert!(!checked.breaches.is_empty());
    assert!(checked.breaches.iter().all(|breach| breach.clause == Clause::Bound), "{checked}");
    let honest = Levels { batches: true, honest: true, ..Levels::default() };
    assert!(check_oracle(&honest, &EXAMPLES, &check).passed().is_ok());
}
