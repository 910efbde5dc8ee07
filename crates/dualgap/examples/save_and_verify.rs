//! From rows to a model file, and back to a certificate that was computed again from the data.

use dualgap::data::Examples;
use dualgap::dual::Average;
use dualgap::linalg::Random;
use dualgap::run::Budget;
use dualgap::structure::Multiclass;
use dualgap::task::{DualEvidence, DualMethod, Model, Plan, Task};
use dualgap::term::Penalty;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Three clouds in the plane.
    let mut random = Random::new(7);
    let centres = [("red", [2.0, 0.0]), ("green", [-1.0, 2.0]), ("blue", [-1.0, -2.0])];
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        let (name, centre) = centres[random.below(3)];
        rows.push(vec![centre[0] + random.unit(), centre[1] + random.unit(), 1.0]);
        labels.push(name);
    }
    let data = Examples::from_dense(&rows, &labels)?;

    let task = Task::new(Multiclass::default(), Penalty::ridge(0.001));
    let method = DualMethod { average: Average::Weighted, ..DualMethod::default() };
    let report =
        task.fit(&data, Plan { method: method.into(), ..Plan::new(Budget::relative(0.01)) })?;

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("clouds.dualgap");
    report.model.save(&path)?;

    // Someone else, with the file and the data:
    let model = Model::<Multiclass>::load(&path)?;
    let verified = model.certify(&data)?;
    assert_eq!(verified.evidence, DualEvidence::Witness);
    println!(
        "primal {:.6}, dual {:.6}: a gap of at most {:.2} % of the primal value, proved again",
        verified.certificate.primal,
        verified.certificate.dual,
        100.0 * verified.certificate.relative_gap()
    );
    println!("training accuracy {:.3}", 1.0 - model.evaluate(&data)?.error());
    Ok(())
}
