//! What a result does not depend on: the memory for kernel values, the number of threads, and pauses.

use crate::common::{Kind, Small};
use crate::kernels::judge::{Fit, POLYNOMIAL, RBF, Way, fit};
use dualgap::dual::{Average, Sampling, Settings};
use dualgap::run::Budget;
use dualgap::task::DualMethod;

fn problems() -> [Small; 2] {
    let [_, chain, classes, _] = Kind::all(3);
    // More inputs than a tile of coefficients has, so that sums of several tiles are compared.
    [Small::random(1, chain, 40, 3, 3), Small::random(2, classes, 90, 3, 1)]
}

fn bits(fit: &Fit) -> (Vec<u64>, [u64; 3]) {
    let c = fit.certificate;
    let values = [c.primal, c.dual, c.rounding_error].map(f64::to_bits);
    (fit.weights.iter().map(|w| w.to_bits()).collect(), values)
}

#[test]
fn memory_and_threads_leave_no_mark_on_the_result() {
    for small in problems() {
        let mut way = Way::new(DualMethod::default(), Budget::passes(6));
        way.method.batch = 2;
        let usual = bits(&fit(&small, &RBF, &way));
        let row = 8 * small.inputs.concat().len();
        for (rows, threads) in [(0, 1), (3, 1), (1000, 3)] {
            let way = Way { cache_bytes: rows * row, threads, ..way.clone() };
            assert!(bits(&fit(&small, &RBF, &way)) == usual, "{rows} rows, {threads} threads");
        }
    }
}

#[test]
fn a_run_that_was_ended_goes_on_from_its_checkpoint_bit_for_bit() {
    for small in problems() {
        for average in [Average::None, Average::Weighted] {
            let method: DualMethod =
                Settings { average, sampling: Sampling::Gap, ..Settings::default() }.into();
            let way = |passes| Way::new(method.clone(), Budget::passes(passes));
            let whole = bits(&fit(&small, &POLYNOMIAL, &way(11)));
            let half = fit(&small, &POLYNOMIAL, &way(5));
            let resumed = Way { resume: half.checkpoint, ..way(11) };
            assert!(bits(&fit(&small, &POLYNOMIAL, &resumed)) == whole, "{average:?}");
        }
    }
}

#[test]
fn an_average_is_certified_like_any_other_point() {
    let small = &problems()[1];
    let method = Settings { average: Average::Weighted, ..Settings::plain() };
    let c = fit(small, &RBF, &Way::new(method.into(), Budget::passes(30))).certificate;
    assert!(c.relative_gap() < 0.1 && c.gap() > 0.0, "{c:?}");
}
