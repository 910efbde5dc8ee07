//! scratch
use dualgap::data::{Source, letters};
use dualgap::run::Budget;
use dualgap::ssvm::{self, Chain, Hamming, Settings};
use std::time::Instant;
fn main() {
    let t = Instant::now();
    let letters =
        letters::read(Source::open("../shared/data/ocr_letters/letter.data.gz".as_ref()).unwrap())
            .unwrap();
    let train = letters
        .words
        .select(&letters.in_folds(&[1, 2, 3, 4, 5, 6, 7, 8, 9]));
    println!("read {:?}", t.elapsed());
    let t = Instant::now();
    let blocks = Chain::new(&train, Hamming::Normalized).unwrap();
    println!("blocks {:?}", t.elapsed());
    let passes: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let lambda: f64 = std::env::args().nth(2).unwrap().parse().unwrap();
    let settings = Settings {
        lambda,
        threads: 1,
        ..Settings::default()
    };
    let report = ssvm::train(&blocks, &settings, &Budget::passes(passes), &mut ()).unwrap();
    for p in report.history.iter() {
        println!(
            "{:5} solve {:.3} certify {:.3} P {:.6} D {:.6} gap {:.6} err {:.2e}",
            p.passes,
            p.solve_seconds,
            p.certify_seconds,
            p.certificate.primal,
            p.certificate.dual,
            p.gap.unwrap(),
            p.certificate.rounding_error
        );
    }
    let nnz: usize = report.model.points.iter().map(|p| p.len()).sum();
    println!(
        "{:.4} s a pass, entries {nnz}",
        report.solve_seconds / passes as f64
    );
}
