//! Low-rank models in a build without the feature `low-rank`.

use super::{Plan, Registry, Task};
use crate::data::{Examples, Ratings};
use crate::run::Budget;
use crate::structure::completion::Centring;
use crate::structure::{Completion, Multiclass};
use crate::term::{MulticlassLoss, Penalty, ScalarLoss};
use crate::{Error, Result};
use std::path::Path;

#[track_caller]
fn names_the_feature<T>(result: Result<T>) -> String {
    let error = result.err().expect("an error");
    assert!(error.to_string().contains("has no low-rank models"), "{error}");
    assert!(error.remedy().unwrap().contains("feature `low-rank`"), "{error:?}");
    error.to_string()
}

fn rows() -> Examples {
    Examples::from_dense(&[vec![1.0, 0.0], vec![0.0, 1.0]], &["cat", "dog"]).unwrap()
}

#[test]
fn training_in_the_trace_ball_asks_for_the_feature() {
    let classes = Multiclass::new(MulticlassLoss::Softmax);
    names_the_feature(
        Task::new(classes, Penalty::trace_ball(1.0, 0.1))
            .fit(&rows(), Plan::new(Budget::default())),
    );
    let ratings = Ratings::from_triples(&[("ann", "tea", 5.0), ("bob", "milk", 1.0)]).unwrap();
    let completion = Completion::new(ScalarLoss::Squared, Centring::Mean);
    names_the_feature(
        Task::new(completion, Penalty::trace_ball(1.0, 0.1))
            .fit(&ratings, Plan::new(Budget::default())),
    );
}

#[test]
fn a_model_file_with_factors_asks_for_the_feature() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dualgap-cli/tests/linear/version1");
    for name in ["trace.v1", "completion.v1"] {
        let path = folder.join(name);
        let message = names_the_feature(Registry::builtin().load(&path).map(|_| ()));
        assert!(message.starts_with(path.to_str().unwrap()), "{message}");
    }
    Registry::builtin().load(&folder.join("multiclass.v1")).unwrap();
}

#[test]
fn the_l1_ball_needs_no_feature() -> Result<(), Error> {
    let classes = Multiclass::new(MulticlassLoss::Softmax);
    let task = Task::new(classes, Penalty::l1_ball(1.0, 0.1));
    let model = task.fit(&rows(), Plan::new(Budget::relative(1e-6)))?.model;
    model.certify(&rows())?;
    Ok(())
}
