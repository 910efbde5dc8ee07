//! Other things that X is seen through: some of its entries, and inner products with matrices.

use crate::low_rank::judge::Judge;
use dualgap::ball::trace::{Features, Map, Matrices, Sampled};
use dualgap::ball::{self, BallProblem, BallSettings, PerOutput};
use dualgap::linalg::{LowRank, Random, Rows};
use dualgap::run::Budget;
use dualgap::term::ScalarLoss;
use faer::Mat;
use proptest::prelude::*;

fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..count).map(|_| 2.0 * random.unit() - 1.0).collect()
}

/// Places of a d by c matrix, one of them twice.
fn places(seed: u64, d: usize, c: usize, count: usize) -> Vec<(u32, u32)> {
    let mut random = Random::new(seed);
    let mut places: Vec<_> =
        (0..count).map(|_| (random.below(d) as u32, random.below(c) as u32)).collect();
    places.push(places[0]);
    places
}

/// ⟨V(y), X⟩ = ⟨y, 𝒜(X)⟩ for V as an operator and written out, and predictions within their bounds of the exact ones.
fn check_map(map: &impl Map, measurements: &[Vec<f64>], seed: u64) {
    let ((d, c), outputs) = (map.shape(), map.outputs());
    let (u, v) = (numbers(seed, d * 2), numbers(seed + 1, c * 2));
    let x = LowRank::new(d, c, u, vec![2.0, 0.5], v).unwrap();
    let entries = x.to_dense();
    let n = map.len() * outputs;
    let (mut a, mut off) = (vec![0.0; n], vec![0.0; n]);
    map.predict(&x, &mut a);
    map.rounding(&x, &mut off);
    for ((a, off), row) in a.iter().zip(&off).zip(measurements) {
        let exact: f64 = row.iter().zip(&entries).map(|(m, x)| m * x).sum();
        assert!((a - exact).abs() <= off + 1e-14 && *off < 1e-12, "{a} {exact} {off}");
    }
    let y = numbers(seed + 2, n);
    let product: f64 = y.iter().zip(&a).map(|(y, a)| y * a).sum();
    for tight in [false, true] {
        let (v, rounding) = map.written(&y, tight);
        assert!(rounding < 1e-12);
        let found: f64 = v.iter().zip(&entries).map(|(v, x)| v * x).sum();
        assert!((found - product).abs() < 1e-12);
        let frobenius = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let largest = Mat::from_fn(d, c, |i, j| v[i * c + j]).singular_values().unwrap()[0];
        assert!(map.bound(&y) >= largest && frobenius >= largest);
    }
    let (mut own, mut buffer) = (vec![0.0; outputs], Vec::new());
    for (i, a) in a.chunks(outputs).enumerate() {
        map.predict_at(&x, i, &mut own, &mut buffer);
        assert!(a.iter().zip(&own).all(|(a, own)| (a - own).abs() < 1e-13));
    }
    let all: Vec<u32> = (0..map.len() as u32).collect();
    // Σ m_i 𝒜_i*𝒜_i as a whole matrix, where its largest eigenvalue is claimed to be known.
    let masses: Vec<f64> = numbers(seed + 3, map.len()).iter().map(|m| m.abs()).collect();
    if let Some(steep) = map.steepness(&masses) {
        let whole = Mat::<f64>::from_fn(d * c, d * c, |i, j| {
            let rows = measurements.iter().zip(&masses);
            rows.map(|(row, mass)| mass * row[i] * row[j]).sum()
        });
        assert!((whole.singular_values().unwrap()[0] - steep).abs() < 1e-12);
    }
    let images = [map.image(&y, 0), map.image(&y, 1000), map.image_at(&all, &y)];
    for image in images.into_iter().chain(map.sparse_image(&y)) {
        let mut out = vec![0.0; d * c];
        let identity: Vec<f64> =
            (0..c * c).map(|k| f64::from(u8::from(k % (c + 1) == 0))).collect();
        image.add_apply(1.0, &identity, c, &mut out);
        let mut back = vec![0.0; c * d];
        let identity: Vec<f64> =
            (0..d * d).map(|k| f64::from(u8::from(k % (d + 1) == 0))).collect();
        image.add_transposed(1.0, &identity, d, &mut back);
        for (k, (out, v)) in out.iter().zip(&map.written(&y, true).0).enumerate() {
            assert!((out - v).abs() < 1e-13 && (back[k % c * d + k / c] - v).abs() < 1e-13);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn maps_and_their_transposes_agree(seed in 0_u64..1000) {
        let (d, c) = (5, 3);
        let sampled = Sampled::new(d, c, places(seed, d, c, 7)).unwrap();
        let unit = |&(i, j): &(u32, u32)| {
            let mut unit = vec![0.0; d * c];
            unit[i as usize * c + j as usize] = 1.0;
            unit
        };
        check_map(&sampled, &sampled.places().iter().map(unit).collect::<Vec<_>>(), seed);
        let measurements: Vec<Vec<f64>> = (0..6).map(|i| numbers(seed + i, d * c)).collect();
        let rows = Rows::dense(&measurements).unwrap();
        check_map(&Matrices::new(&rows, c).unwrap(), &measurements, seed);
        let features: Vec<Vec<f64>> = (0..6).map(|i| numbers(seed + i, d)).collect();
        let spread = |x: &Vec<f64>, k: usize| {
            (0..d * c).map(|at| if at % c == k { x[at / c] } else { 0.0 }).collect()
        };
        let each: Vec<Vec<f64>> =
            features.iter().flat_map(|x| (0..c).map(move |k| spread(x, k))).collect();
        let mut sparse = Rows::sparse();
        for x in &features {
            sparse.push_sparse(&x.iter().enumerate().map(|(j, &x)| (j as u32, x)).collect::<Vec<_>>());
        }
        check_map(&Features::new(&Rows::dense(&features).unwrap(), c).unwrap(), &each, seed);
        check_map(&Features::new(&sparse, c).unwrap(), &each, seed);
    }
}

#[test]
fn completion_reaches_the_optimum_of_the_whole_matrix_problem() {
    let (d, c) = (8, 6);
    for (mu, radius) in [(0.01, 3.0), (0.05, 1.0)] {
        let places = places(3, d, c, 30);
        let y = numbers(4, places.len());
        let n = y.len() as f64;
        let of = |x: &Mat<f64>| {
            let (mut value, mut gradient) = (0.0, Mat::zeros(d, c));
            for (&(i, j), y) in places.iter().zip(&y) {
                let r = x[(i as usize, j as usize)] - y;
                value += r * r / 2.0 / n;
                gradient[(i as usize, j as usize)] += r / n;
            }
            (value, gradient)
        };
        let judge = Judge { loss: &of, smoothness: 4.0 / n, mu, radius, shape: (d, c) };
        let best = judge.optimum(2000).0;
        let losses = PerOutput::new(ScalarLoss::Squared, y.clone(), 1).unwrap();
        let map = Sampled::new(d, c, places.clone()).unwrap();
        let problem = BallProblem::new(map, losses, mu, radius, None).unwrap();
        let budget = Budget::relative(1e-9);
        let report = ball::train(&problem, &BallSettings::default(), &budget, &mut ()).unwrap();
        assert!((report.certificate.primal - best).abs() < 1e-6 * best, "{best}");
        assert!(report.certificate.dual <= best + 1e-12);
        assert_eq!((report.model.weights.rows(), report.model.weights.columns()), (d, c));
    }
}

// With enough measurements of a matrix of rank one, and its own norm as the radius, there is no other optimum.
#[test]
fn a_planted_matrix_is_recovered_from_affine_measurements() {
    let (d, c) = (6, 5);
    let (u, v) = (numbers(1, d), numbers(2, c));
    let planted: Vec<f64> = u.iter().flat_map(|u| v.iter().map(move |v| u * v)).collect();
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let measurements: Vec<Vec<f64>> = (0..24).map(|i| numbers(10 + i, d * c)).collect();
    let targets =
        measurements.iter().map(|m| m.iter().zip(&planted).map(|(m, x)| m * x).sum()).collect();
    let rows = Rows::dense(&measurements).unwrap();
    let losses = PerOutput::new(ScalarLoss::Squared, targets, 1).unwrap();
    let map = Matrices::new(&rows, c).unwrap();
    let radius = length(&u) * length(&v);
    let problem = BallProblem::new(map, losses, 0.0, radius, None).unwrap();
    let budget = Budget { absolute: Some(1e-10), relative: None, ..Budget::relative(1e-10) };
    let report = ball::train(&problem, &BallSettings::default(), &budget, &mut ()).unwrap();
    assert!(report.certificate.gap() <= 1e-10);
    let found = report.model.weights.to_dense();
    assert!(found.iter().zip(&planted).all(|(x, y)| (x - y).abs() < 1e-3));
}
