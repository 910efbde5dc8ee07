//! Data at the edge of what makes sense: examples without features, sequences without positions, one
//! example, one label that is never seen, a λ of any size. All of it has an optimum and a certificate.

use crate::common::quadratic::optimum;
use crate::common::wide::Wide;
use crate::common::{Kind, Small, calls, with_blocks};
use dualgap::data::{Alphabet, Classes, Examples, Sequences};
use dualgap::dual::{self, Algorithm, Problem, Settings};
use dualgap::linalg::Rows;
use dualgap::run::{Budget, Stop};
use dualgap::structure;
use dualgap::structure::{ChainBlocks, Hamming, MulticlassBlocks, OracleBlocks};
use dualgap::term::{Costs, L2};

const METHODS: [Algorithm; 2] = [Algorithm::Bcfw, Algorithm::Fw];

/// Two classes and one feature, which the third example does not have.
fn one_without_features(sparse: bool) -> Small {
    Small {
        kind: Kind::Multiclass(Costs::ZeroOne),
        labels: 2,
        inputs: vec![vec![vec![1.0]], vec![vec![-0.5]], vec![vec![0.0]]],
        edges: Vec::new(),
        truths: vec![vec![0], vec![1], vec![1]],
        sparse,
        weights: None,
        lambda: 0.5,
    }
}

// Nothing that w does changes the loss of such an example, and its dual is that whole loss.
#[test]
fn an_example_without_features_does_not_keep_the_gap_open() {
    for sparse in [false, true] {
        for method in METHODS {
            let small = one_without_features(sparse);
            let budget = Budget { passes: Some(2000), ..Budget::relative(1e-6) };
            let report = small.train(&Settings { method, ..small.settings() }, &budget);
            let c = report.certificate;
            assert_eq!(report.stop, Stop::GapReached, "{method:?}, sparse rows: {sparse}, {c:?}");
            let bracket = optimum(&small.explicit());
            assert!(c.dual - c.rounding_error <= bracket.upper);
            assert!(c.primal + c.rounding_error >= bracket.lower);
        }
    }
}

#[test]
fn an_example_without_features_does_not_keep_the_gap_of_an_oracle_open() {
    for sparse in [false, true] {
        for method in METHODS {
            let small = one_without_features(sparse);
            let data = small.examples();
            let oracle = structure::MulticlassOracle::new(1, 2, &Costs::ZeroOne).unwrap();
            let labels = data.classes().unwrap().numbers();
            let examples: Vec<_> = (0..3).map(|i| (data.rows().row(i), labels[i])).collect();
            let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
            let settings = Settings { method, ..small.settings() };
            let budget = Budget { passes: Some(2000), ..Budget::relative(1e-6) };
            let report = dual::train(&blocks, &settings, &budget, &mut ()).unwrap();
            assert_eq!(report.stop, Stop::GapReached, "{method:?}, sparse rows: {sparse}");
        }
    }
}

// No features at all: w has nothing to say, and the optimum is the mean of the largest costs.
#[test]
fn data_without_any_feature_have_the_mean_of_the_largest_costs_as_their_optimum() {
    let mut rows = Rows::sparse();
    (0..4).for_each(|_| rows.push_sparse(&[]));
    let alphabet = Alphabet::from(["a", "b"].map(String::from).to_vec());
    let data = Examples::new(rows, Classes::new(vec![0, 1, 1, 0], alphabet).unwrap()).unwrap();
    let blocks = MulticlassBlocks::new(&data, &Costs::Matrix(vec![0.0, 3.0, 1.0, 0.0])).unwrap();
    for method in METHODS {
        let settings = Settings { method, threads: 1, ..Settings::default() };
        let budget = Budget { passes: Some(20), ..Budget::relative(1e-9) };
        let report = dual::train(&blocks, &settings, &budget, &mut ()).unwrap();
        assert_eq!(report.stop, Stop::GapReached, "{method:?}");
        assert!((report.certificate.primal - 2.0).abs() < 1e-12);
        assert!(report.model.weights.is_empty());
    }
}

// A chain without features still has starts, ends and transitions to learn.
#[test]
fn sequences_without_features_are_certified() {
    for sparse in [false, true] {
        let mut small = Small::random(3, Kind::Chain(Hamming::Plain), 5, 2, 3).scaled(0.0);
        small.sparse = sparse;
        let report = small.train(&small.settings(), &Budget::relative(1e-3));
        assert_eq!(report.stop, Stop::GapReached);
        let (c, bracket) = (report.certificate, optimum(&small.explicit()));
        assert!(c.dual - c.rounding_error <= bracket.upper);
        assert!(c.primal + c.rounding_error >= bracket.lower);
    }
}

// It has one labeling, the right one, and no loss: it only counts when the mean is taken.
#[test]
fn a_sequence_without_positions_counts_in_the_mean_and_nowhere_else() {
    for hamming in [Hamming::Plain, Hamming::Normalized] {
        let small = Small::random(6, Kind::Chain(hamming), 3, 3, 4);
        let data = small.sequences();
        let (mut starts, alphabet) = (data.starts().to_vec(), data.alphabet().clone());
        starts.insert(2, starts[2]);
        let (rows, labels) = (data.rows().clone(), data.labels().to_vec());
        let data = Sequences::new(rows, labels, starts, alphabet).unwrap();
        let blocks = ChainBlocks::new(&data, hamming).unwrap();
        for method in METHODS {
            let settings = Settings { method, ..small.settings() };
            let report = dual::train(&blocks, &settings, &calls(40), &mut ()).unwrap();
            let (c, w) = (report.certificate, &report.model.weights);
            // Three quarters of the mean over the other three.
            let mut problem = small.explicit();
            problem.masses = vec![Wide::from(0.25); 3];
            let off = (problem.primal(w) - Wide::from(c.primal)).abs().float();
            assert!(off <= c.rounding_error, "{off:e} {c:?}");
            let mut points = report.model.points;
            assert!(points.remove(2).is_empty());
            let dual = problem.dual(&small.distributions(&points));
            assert!((dual - Wide::from(c.dual)).abs().float() <= c.rounding_error);
        }
    }
}

#[test]
fn a_label_that_never_occurs_is_a_mistake_to_be_learned_away() {
    for kind in Kind::all(3) {
        let mut small = Small::random(7, kind, 6, 3, 3);
        small.truths.iter_mut().flatten().for_each(|y| *y %= 2);
        let report = small.train(&small.settings(), &Budget::relative(1e-2));
        assert_eq!(report.stop, Stop::GapReached);
        let (c, bracket) = (report.certificate, optimum(&small.explicit()));
        assert!(c.dual - c.rounding_error <= bracket.upper);
        assert!(c.primal + c.rounding_error >= bracket.lower);
    }
}

#[test]
fn a_lambda_of_any_size_gives_a_true_certificate() {
    for kind in Kind::all(3) {
        for exponent in [-12, -9, -6, 3, 6, 9, 12] {
            let mut small = Small::random(8, kind.clone(), 5, 3, 3);
            small.lambda = 10_f64.powi(exponent);
            for method in METHODS {
                let report = small.train(&Settings { method, ..small.settings() }, &calls(60));
                let (c, problem) = (report.certificate, small.explicit());
                let primal = problem.primal(&report.model.weights);
                assert!((primal - Wide::from(c.primal)).abs().float() <= c.rounding_error);
                let dual = problem.dual(&small.distributions(&report.model.points));
                assert!((dual - Wide::from(c.dual)).abs().float() <= c.rounding_error);
                assert!((dual - primal).float() <= 1e-28, "{:e}", (dual - primal).float());
            }
        }
    }
}

#[test]
fn what_cannot_be_trained_on_is_refused_with_a_reason() {
    let small = Small::random(9, Kind::Multiclass(Costs::ZeroOne), 3, 2, 1);
    let data = small.examples();
    let blocks = MulticlassBlocks::new(&data, &Costs::ZeroOne).unwrap();
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Problem::new(&blocks, L2, lambda, None).is_err());
    }
    let alphabet = || Alphabet::from(["a", "b"].map(String::from).to_vec());
    let nothing = Examples::new(Rows::sparse(), Classes::new(vec![], alphabet()).unwrap()).unwrap();
    let blocks = MulticlassBlocks::new(&nothing, &Costs::ZeroOne).unwrap();
    for method in METHODS {
        let settings = Settings { method, ..Settings::default() };
        assert!(dual::train(&blocks, &settings, &Budget::passes(1), &mut ()).is_err());
    }
    let data = Examples::from_dense(&[vec![1.0]], &["a"]).unwrap();
    assert!(MulticlassBlocks::new(&data, &Costs::ZeroOne).is_err());
    let batch = Settings { batch: 0, ..small.settings() };
    with_blocks!(small, |blocks| {
        assert!(dual::train(&blocks, &batch, &Budget::passes(1), &mut ()).is_err());
    });
}
