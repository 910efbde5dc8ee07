//! Models under a kernel: their files, predictions, users' own kernels, and what is refused.

use dualgap::data::{Examples, Scaling, Sequences};
use dualgap::linalg::{Random, Row, Rows};
use dualgap::run::Budget;
use dualgap::structure::{Chain, Kernelised, Linear, Multiclass, UnderKernel};
use dualgap::task::{Model, Plan, Registry, Task};
use dualgap::term::{Kernel, KernelFunction, MulticlassLoss, Penalty, ScalarLoss};
use serde::{Deserialize, Serialize};

/// Points within and without a circle, which no line separates.
fn rows(seed: u64, n: usize) -> (Vec<Vec<f64>>, Vec<&'static str>) {
    let mut random = Random::new(seed);
    let point = |_| [(); 2].map(|()| 4.0 * random.unit() - 2.0).to_vec();
    let rows: Vec<Vec<f64>> = (0..n).map(point).collect();
    let name = |x: &Vec<f64>| if x[0] * x[0] + x[1] * x[1] < 1.5 { "in" } else { "out" };
    let names = rows.iter().map(name).collect();
    (rows, names)
}

fn circle(seed: u64, n: usize) -> Examples {
    let (rows, names) = rows(seed, n);
    Examples::from_dense(&rows, &names).unwrap()
}

const KERNEL: KernelFunction = KernelFunction::Rbf { gamma: Some(1.0) };

fn task<S: UnderKernel, K: Kernel>(of: S, kernel: K) -> Task<Kernelised<S, K>> {
    Task::new(Kernelised::new(of, kernel), Penalty::ridge(1e-3))
}

fn trained<S: UnderKernel, K: Kernel>(of: S, kernel: K, data: &S::Data) -> Model<Kernelised<S, K>> {
    task(of, kernel).fit(data, Plan::new(Budget::relative(1e-4))).unwrap().model
}

#[test]
fn a_file_predicts_and_proves_as_the_model_in_memory() {
    let (data, new) = (circle(1, 60), circle(2, 80));
    let model = trained(Multiclass::default(), KERNEL, &data);
    let read: Model<Kernelised<Multiclass>> =
        Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(read.scores(&new).unwrap(), model.scores(&new).unwrap());
    assert!(model.evaluate(&new).unwrap().error() < 0.15);
    let support = read.support.as_ref().unwrap();
    assert!(support.len() < data.len() && Some(support) == model.support.as_ref());
    assert_eq!(read.certify(&data).unwrap().certificate.dual, model.certificate.dual);
    // By definition.
    let table = model.scores(&new).unwrap();
    for i in 0..new.len() {
        for y in 0..2 {
            let each = (0..support.len()).map(|k| {
                let value = KERNEL.value(new.rows().row(i), support.rows().row(k));
                value * model.weights[2 * k + y]
            });
            assert!((each.sum::<f64>() - table.row(i)[y]).abs() < 1e-10);
        }
    }
    // Features that the model does not know are ignored, and sparse inputs are the same inputs.
    let (rows, names) = rows(2, 80);
    let wide: Vec<Vec<f64>> = rows.iter().map(|x| [&x[..], &[9.0]].concat()).collect();
    let wide = Examples::from_dense(&wide, &names).unwrap();
    assert_eq!(model.predict(&wide).unwrap(), model.predict(&new).unwrap());
}

#[test]
fn sparse_inputs_are_stored_and_read() {
    let mut rows = Rows::sparse();
    for i in 0..30_u32 {
        rows.push_sparse(&[(i % 7, 1.0), (20 + i % 11, 0.5)]);
    }
    let names: Vec<&str> = (0..30).map(|i| if i % 7 < 3 { "a" } else { "b" }).collect();
    let classes = dualgap::data::Classes::named(&names);
    let data = Examples::new(rows, classes).unwrap();
    let model = trained(Linear::new(ScalarLoss::Hinge), KernelFunction::rbf(), &data);
    let read: Model<Kernelised<Linear>> = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(read.predict(&data).unwrap(), model.predict(&data).unwrap());
    read.certify(&data).unwrap();
    assert!(Registry::builtin().structures().any(|name| name == "kernel_linear"));
}

#[test]
fn altered_models_are_refused() {
    let data = circle(3, 40);
    let model = trained(Multiclass::default(), KERNEL, &data);
    let refused = |spoil: &dyn Fn(&mut Model<Kernelised<Multiclass>>)| {
        let mut model = model.clone();
        spoil(&mut model);
        model.certify(&data).is_err()
    };
    assert!(!refused(&|_| {}));
    assert!(refused(&|model| model.weights[0] *= 1.001));
    assert!(refused(&|model| {
        model.task.structure.kernel = KernelFunction::Rbf { gamma: Some(1.001) };
    }));
    assert!(refused(&|model| model.support = None));
    assert!(refused(&|model| model.weights.truncate(3)));
    // The support of the same model, of other inputs.
    let other = trained(Multiclass::default(), KERNEL, &circle(4, 40));
    assert!(refused(&|model| model.support.clone_from(&other.support)));
    assert!(refused(&|model| model.witness.as_mut().unwrap().weights[0] += 0.01));
}

/// exp(−g‖x − z‖₁).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Laplace(f64);

impl Kernel for Laplace {
    fn value(&self, x: Row<'_>, z: Row<'_>) -> f64 {
        (-self.0 * x.iter().map(|(j, x)| (x - z.get(j)).abs()).sum::<f64>()).exp()
    }

    fn describe(&self) -> String {
        format!("laplace {}", self.0)
    }
}

#[test]
fn a_users_kernel_is_one_like_any_other() {
    let (data, new) = (circle(5, 50), circle(6, 60));
    let model = trained(Multiclass::default(), Laplace(1.0), &data);
    let read: Model<Kernelised<Multiclass, Laplace>> =
        Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(read.predict(&new).unwrap(), model.predict(&new).unwrap());
    assert!(read.certify(&data).unwrap().certificate.relative_gap() <= 1e-4);
    assert!(model.evaluate(&new).unwrap().error() < 0.2);
    assert!(Model::<Kernelised<Multiclass>>::from_bytes(&model.to_bytes().unwrap()).is_err());

    let names = ["a", "b"].map(String::from);
    let sequences = [vec![vec![0.0], vec![2.0]], vec![vec![2.1], vec![0.1]]];
    let data = Sequences::from_dense(&sequences, &[vec![0, 1], vec![1, 0]], &names).unwrap();
    let model = trained(Chain::default(), Laplace(1.0), &data);
    assert_eq!(model.predict(&data).unwrap(), [vec![0, 1], vec![1, 0]]);
    model.certify(&data).unwrap();
}

/// No kernel: negative on the diagonal, or larger beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct NoKernel(f64, f64);

impl Kernel for NoKernel {
    fn value(&self, x: Row<'_>, z: Row<'_>) -> f64 {
        if x.get(0) == z.get(0) { self.0 } else { self.1 }
    }

    fn describe(&self) -> String {
        "none".into()
    }
}

#[test]
fn what_is_no_kernel_is_refused() {
    let data = circle(7, 12);
    for kernel in
        [NoKernel(-1.0, 0.0), NoKernel(f64::NAN, 0.0), NoKernel(1.0, 2.0), NoKernel(1.0, f64::NAN)]
    {
        let told = format!("{kernel:?}");
        let failed = task(Multiclass::default(), kernel).fit(&data, Plan::new(Budget::passes(5)));
        assert!(failed.unwrap_err().to_string().contains("no kernel"), "{told}");
    }
}

#[test]
fn numbers_out_of_their_range_and_other_penalties_are_refused() {
    let data = circle(8, 12);
    let fails = |kernel, of: Multiclass, penalty| {
        let task = Task::new(Kernelised::new(of, kernel), penalty);
        task.fit(&data, Plan::new(Budget::passes(1))).is_err()
    };
    let ridge = Penalty::ridge(0.1);
    assert!(!fails(KERNEL, Multiclass::default(), ridge));
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(fails(KernelFunction::Rbf { gamma: Some(gamma) }, Multiclass::default(), ridge));
    }
    for (degree, coef0) in [(0, 0.0), (65, 0.0), (2, -1.0), (2, f64::NAN)] {
        let kernel = KernelFunction::Polynomial { degree, gamma: Some(1.0), coef0 };
        assert!(fails(kernel, Multiclass::default(), ridge));
    }
    for penalty in [Penalty::elastic_net(0.1, 0.1), Penalty::l1_ball(1.0, 0.1), Penalty::lasso(0.1)]
    {
        assert!(fails(KERNEL, Multiclass::default(), penalty));
    }
    assert!(fails(KERNEL, Multiclass::new(MulticlassLoss::Softmax), ridge));
    // Distances of one between inputs of length 1e9 are nothing but rounding.
    let far = Examples::from_dense(&[vec![1e9], vec![1e9 + 1.0]], &["a", "b"]).unwrap();
    let failed = task(Multiclass::default(), KERNEL).fit(&far, Plan::new(Budget::passes(1)));
    assert!(failed.unwrap_err().to_string().contains("lost in rounding"));
    let scaled = Task { scaling: Scaling::Max, ..task(Multiclass::default(), KERNEL) };
    assert!(scaled.fit(&data, Plan::new(Budget::passes(1))).is_err());
}

/// Two weight vectors share the norm, so that two classes are the support vector machine with half of λ.
#[test]
fn two_classes_are_one_function_at_half_of_lambda() {
    let data = circle(9, 50);
    let budget = || Plan::new(Budget::relative(1e-6));
    let classes = task(Multiclass::default(), KERNEL).fit(&data, budget()).unwrap();
    let binary = Kernelised::new(Linear::new(ScalarLoss::Hinge), KERNEL);
    let binary = Task::new(binary, Penalty::ridge(5e-4));
    let binary = binary.fit(&data, Plan::new(Budget::relative(1e-6))).unwrap();
    let (a, b) = (classes.certificate, binary.certificate);
    assert!(a.dual <= b.primal && b.dual <= a.primal, "{a:?} {b:?}");
    assert_eq!(binary.counters["support_vectors"], binary.model.support.unwrap().len() as u64);
}

/// (K + λnI)⁻¹y, by elimination.
#[test]
fn the_squared_loss_is_kernel_ridge_regression() {
    let (rows, _) = rows(10, 12);
    let targets: Vec<f64> = rows.iter().map(|x| (2.0 * x[0]).sin()).collect();
    let data = Examples::from_dense_numbers(&rows, &targets).unwrap();
    let structure = Kernelised::new(Linear::new(ScalarLoss::Squared), KERNEL);
    let lambda = 0.01;
    let task = Task::new(structure, Penalty::ridge(lambda));
    let model = task.fit(&data, Plan::new(Budget::relative(1e-9))).unwrap().model;
    let n = rows.len();
    let mut matrix: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let value = |j: usize| KERNEL.value(Row::Dense(&rows[i]), Row::Dense(&rows[j]));
            let diagonal = |j: usize| if i == j { lambda * n as f64 } else { 0.0 };
            (0..n).map(|j| value(j) + diagonal(j)).chain([targets[i]]).collect()
        })
        .collect();
    for i in 0..n {
        let pivot = matrix[i].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(k, _)| *k != i) {
            let factor = row[i] / pivot[i];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    for (i, row) in matrix.iter().enumerate() {
        assert!((row[n] / row[i] - model.weights[i]).abs() < 1e-3, "{i}");
    }
}
