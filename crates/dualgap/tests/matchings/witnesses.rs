//! Witnesses that claim too much are refused.

use crate::matchings::Case;
use dualgap::Error;
use dualgap::data::{Graph, Mark};
use dualgap::dual::{Blocks, Problem, Witness, Witnessed};
use dualgap::structure::{LinkLoss, MatchingBlocks};
use dualgap::term::L2;

fn key(row: u64, column: u64) -> u64 {
    row << 32 | column
}

/// Two graphs: a full one of two rows and two columns, and one with two of six edges.
fn case() -> Case {
    let sparse = Graph { rows: 2, columns: 3, edges: vec![(0, 0), (1, 2)] };
    Case {
        graphs: vec![Graph::full(2, 2), sparse],
        features: (0..6).map(|e| vec![f64::from(e), 1.0]).collect(),
        marks: vec![Mark::Sure, Mark::None, Mark::Possible, Mark::Sure, Mark::None, Mark::Sure],
        loss: LinkLoss::default(),
        lambda: 0.5,
        weights: None,
    }
}

/// The dual value of a witness with these entries, or why there is none.
fn proved(entries: [&[(u64, f64)]; 2]) -> Result<f64, Error> {
    let case = case();
    let data = case.data();
    let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
    let all = entries.concat();
    let witness = Witness {
        starts: vec![0, entries[0].len() as u64, all.len() as u64],
        keys: all.iter().map(|&(key, _)| key).collect(),
        weights: all.iter().map(|&(_, weight)| weight).collect(),
        outputs: Vec::new(),
    };
    let problem = Problem::new(&blocks, L2, case.lambda, None)?;
    Ok(problem.dual(&witness.points(&blocks)?)?.value.value)
}

const TRUE: [(u64, f64); 1] = [(1 << 32 | 2, 1.0)];

#[test]
fn marginals_of_mixtures_are_proved() {
    assert_eq!(proved([&[(key(0, 0), 1.0), (key(1, 1), 1.0)], &TRUE]).unwrap(), 0.0);
    // Nothing predicted: all three links are missing, v is the sum of their features.
    let loss = 3.0 * 3.0 / 2.0;
    let features = [3.0 + 5.0, 3.0];
    let v = features.map(|x| x / 2.0 / 0.5);
    let expected = loss - 0.25 * (v[0] * v[0] + v[1] * v[1]);
    assert!((proved([&[], &[]]).unwrap() - expected).abs() < 1e-12);
    let half = [(key(0, 0), 0.5), (key(0, 1), 0.5), (key(1, 0), 0.25), (key(1, 1), 0.5)];
    assert!(proved([&half, &TRUE]).is_ok());
}

#[test]
fn what_is_no_mixture_of_matchings_is_refused() {
    for (entries, of, words) in [
        (&[(key(0, 0), 0.501), (key(0, 1), 0.5)][..], 0, "add up to 1.001"),
        (&[(key(0, 0), 0.501), (key(1, 0), 0.5)], 0, "add up to 1.001"),
        (&[(key(0, 0), 1.0 + 1e-8)], 0, "above 1"),
        (&[(key(0, 0), 1.5), (key(0, 1), -0.5)], 0, "a weight of -0.5"),
        (&[(key(0, 0), f64::NAN)], 0, "a weight of NaN"),
        (&[(key(0, 0), f64::INFINITY)], 0, "a weight of inf"),
        (&[(key(0, 1), 0.5)], 1, "no edge from row 0 to column 1"),
        (&[(key(1, 0), 0.5)], 1, "no edge from row 1 to column 0"),
        (&[(key(2, 0), 0.5)], 0, "there are not"),
        (&[(key(0, 2), 0.5)], 0, "there are not"),
        (&[(key(0, u64::from(u32::MAX)), 0.5)], 0, "there are not"),
        (&[(u64::MAX, 0.5)], 0, "there are not"),
        (&[(key(1, 0), 0.5), (key(0, 0), 0.5)], 0, "do not ascend"),
        (&[(key(0, 0), 0.5), (key(0, 0), 0.5)], 0, "do not ascend"),
    ] {
        let both = if of == 0 { [entries, &TRUE[..]] } else { [&[], entries] };
        let error = proved(both).unwrap_err();
        let Error::Witness { example, message } = &error else { panic!("{error}") };
        assert_eq!(*example, of, "{message}");
        assert!(message.contains(words), "{message}");
    }
}

// Rounding is allowed for, and charged.
#[test]
fn a_small_excess_is_charged_to_the_error_bound() {
    let case = case();
    let data = case.data();
    let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
    let audit = |excess: f64| {
        let entries = vec![(key(0, 1), 1.0 + excess)];
        let point = blocks.point(0, entries, &[]).unwrap();
        blocks.audit(0, &point, &mut blocks.scratch()).unwrap()
    };
    let (clean, bent) = (audit(0.0), audit(1e-10));
    assert!(clean.dual.error < 1e-14 && clean.reach < 1e-14);
    // The edge costs 1 and has features of length √2.
    assert!(bent.dual.error >= 1e-10 && bent.reach >= 1e-10 * 2.0_f64.sqrt());
    assert!(bent.dual.error < 1e-9 && bent.reach < 1e-9);
}

// A point of a run that went through its stored entries is the same point.
#[test]
fn what_stays_free_follows_from_the_edges() {
    let case = Case::random(4, 5, 4, 2);
    let data = case.data();
    let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
    let (mut corner, mut scratch) = (Vec::new(), blocks.scratch());
    for i in 0..case.len() {
        let mut at = blocks.start(i);
        for w in [[1.0, -1.0], [-2.0, 0.5], [0.3, 0.3]] {
            blocks.best_corner(i, &w, &mut corner, &mut scratch).unwrap();
            blocks.mix(i, 0.3, &mut at, &corner);
        }
        let entries = blocks.entries(&at, &mut Vec::new());
        assert!(entries.len() < at.len() || at.is_empty());
        let again = blocks.point(i, entries, &[]).unwrap();
        assert!(at.iter().map(|(key, _)| key).eq(again.iter().map(|(key, _)| key)));
        for ((_, one), (_, other)) in at.iter().zip(again.iter()) {
            assert!((one - other).abs() < 1e-15);
        }
    }
}
