//! The problems whose optima are compared, and what others have published or found for them.

use crate::problem::{Loss, Problem, REUTERS_L1};
use dualgap::term::{MulticlassLoss, ScalarLoss};

/// A value that others found, to so many digits, and how many weights were not zero.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub value: f64,
    /// Half a unit of its last digit.
    pub precision: f64,
    pub nonzeros: Option<usize>,
}

const fn scalar(
    name: &'static str,
    file: &'static str,
    loss: ScalarLoss,
    lambda: f64,
    l1: f64,
) -> Problem {
    Problem { name, file, loss: Loss::Scalar(loss), lambda, l1 }
}

const fn classes(name: &'static str, loss: MulticlassLoss, lambda: f64) -> Problem {
    Problem { name, file: IRIS, loss: Loss::Classes(loss), lambda, l1: 0.0 }
}

const fn six_digits(value: f64) -> Found {
    Found { value, precision: 5e-7, nonzeros: None }
}

const fn seven_digits(value: f64) -> Found {
    Found { value, precision: 5e-8, nonzeros: None }
}

const fn sparse(value: f64, nonzeros: usize) -> Found {
    Found { value, precision: 5e-6, nonzeros: Some(nonzeros) }
}

const HEART: &str = "heart_scale";
const IRIS: &str = "iris.scale";
const HOUSING: &str = "housing_scale";
const A9A: &str = "a9a";
const REUTERS: &str = "reuters_corpacq.train";

/// With what is known from elsewhere, where it is.
pub const PROBLEMS: [(Problem, Option<Found>); 29] = {
    use ScalarLoss::{
        Absolute, EpsilonInsensitive, Hinge, Huber, Logistic, SmoothHinge, Squared, SquaredHinge,
    };
    [
        // Of an interior point method, to seven digits.
        (scalar("heart hinge", HEART, Hinge, 1e-2, 0.0), Some(seven_digits(0.365_733_6))),
        (scalar("heart smooth hinge", HEART, SmoothHinge { width: 1.0 }, 1e-2, 0.0), None),
        (scalar("heart squared hinge", HEART, SquaredHinge, 1e-2, 0.0), None),
        (scalar("heart logistic", HEART, Logistic, 1e-2, 0.0), Some(seven_digits(0.378_775_2))),
        (scalar("heart logistic l1", HEART, Logistic, 0.0, 1e-2), Some(seven_digits(0.418_295_2))),
        (scalar("heart hinge l1", HEART, Hinge, 0.0, 1e-2), None),
        (scalar("heart logistic net", HEART, Logistic, 1e-2, 1e-2), None),
        (scalar("heart squared net", HEART, Squared, 1e-2, 1e-2), Some(seven_digits(0.254_391_4))),
        (classes("iris hinge", MulticlassLoss::Hinge, 1e-2), None),
        (classes("iris smooth hinge", MulticlassLoss::SmoothHinge { width: 1.0 }, 1e-2), None),
        (classes("iris softmax", MulticlassLoss::Softmax, 1e-2), None),
        (scalar("housing squared", HOUSING, Squared, 1e-2, 0.0), None),
        (scalar("housing absolute", HOUSING, Absolute, 1e-2, 0.0), None),
        (
            scalar("housing insensitive", HOUSING, EpsilonInsensitive { epsilon: 1.0 }, 1e-2, 0.0),
            None,
        ),
        (scalar("housing huber", HOUSING, Huber { width: 1.0 }, 1e-2, 0.0), None),
        (scalar("housing net", HOUSING, Squared, 1e-2, 0.1), None),
        (scalar("housing lasso", HOUSING, Squared, 0.0, 0.1), None),
        (scalar("housing absolute l1", HOUSING, Absolute, 0.0, 0.1), None),
        // Hardly any curvature: what is hard for a dual method.
        (scalar("heart hinge, λ 1e-5", HEART, Hinge, 1e-5, 0.0), None),
        (scalar("heart logistic, λ 1e-5", HEART, Logistic, 1e-5, 0.0), None),
        (classes("iris hinge, λ 1e-5", MulticlassLoss::Hinge, 1e-5), None),
        (classes("iris softmax, λ 1e-5", MulticlassLoss::Softmax, 1e-5), None),
        (scalar("housing squared, λ 1e-5", HOUSING, Squared, 1e-5, 0.0), None),
        (scalar("housing absolute, λ 1e-5", HOUSING, Absolute, 1e-5, 0.0), None),
        // Of scikit-learn's LinearSVC.
        (scalar("a9a hinge", A9A, Hinge, 1e-4, 0.0), Some(six_digits(0.351_762))),
        (scalar("a9a logistic", A9A, Logistic, 1e-4, 0.0), None),
        // scikit-learn, LIBLINEAR, celer and skglm agree on these digits and these counts.
        (scalar("reuters lasso", REUTERS, Squared, 0.0, REUTERS_L1), Some(sparse(0.287_92, 59))),
        (scalar("reuters net", REUTERS, Squared, 1e-3, 1e-3), Some(sparse(0.266_28, 187))),
        (
            scalar("reuters logistic l1", REUTERS, Logistic, 0.0, REUTERS_L1 / 2.0),
            Some(sparse(0.424_48, 49)),
        ),
    ]
};
