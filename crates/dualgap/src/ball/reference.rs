//! Algorithms 1 and 2 of the paper, dense and line by line in its notation: the judge of `l1::theorem` and
//! `trace::theorem`. The examples weigh the same. g is μ/2‖x‖², so that L = μ, or has a diagonal of its own.
//!
//! It also has what the proof of the theorem speaks of, for the test that the gap contracts:
//!
//! ```text
//! L(x, y) = g(x) + ⟨y, Ax⟩/n − Σ f_i*(y_i)/n      D(y) = min_{x in the ball} L(x, y) = L(x̄, y)
//! Δ(t) = Δ_p + Δ_d,      Δ_p = L(x(t+1), y(t)) − D(y(t)),      Δ_d = D* − D(y(t))
//! ```

use crate::linalg::Random;

/// The losses, by the width of the smooth hinge or without one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// ½(a − t)², f*(y) = ½y² + ty.
    Squared,
    /// f*(y) = ty + γ/2·y² for ty in [−1, 0].
    SmoothHinge(f64),
}

/// s, k, η and δ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Four {
    pub s: usize,
    pub k: usize,
    pub eta: f64,
    pub delta: f64,
}

/// A problem of n rows, d features and c outputs.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    pub rows: Vec<Vec<f64>>,
    /// Row after row, c for each.
    pub targets: Vec<f64>,
    pub outputs: usize,
    pub kind: Kind,
    pub mu: f64,
    pub radius: f64,
    /// Whether the ball is that of the trace norm.
    pub low_rank: bool,
    /// g = ½ Σ q_j x_j² for these q, in the place of μ/2‖x‖²; then μ is the least of them.
    pub diagonal: Option<Vec<f64>>,
}

/// The state between two steps; x is d×c, y and w = Ax are n×c, z = A'y is d×c.
#[derive(Clone, Debug)]
pub(super) struct Iterate {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    w: Vec<f64>,
    z: Vec<f64>,
}

impl Dense {
    /// Rows in a square, and targets that the first features explain in part.
    pub fn random(seed: u64, (n, d, c): (usize, usize, usize), kind: Kind) -> Self {
        let mut random = Random::new(seed);
        let mut signed = || 2.0 * random.unit() - 1.0;
        let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| signed()).collect()).collect();
        let number = rows.iter().flat_map(|row| (0..c).map(move |k| row[k] - row[k + 1]));
        let targets = number.map(|y| y + 0.5 * signed());
        let targets = targets.map(|y| if kind == Kind::Squared { y } else { 1_f64.copysign(y) });
        let targets = targets.collect();
        Self {
            rows,
            targets,
            outputs: c,
            kind,
            mu: 0.5,
            radius: 0.7,
            low_rank: false,
            diagonal: None,
        }
    }

    /// The same with zeros beyond the first features: no x̄ has more rows than these, whatever y.
    pub fn of_features(mut self, count: usize) -> Self {
        self.rows.iter_mut().for_each(|row| row[count..].fill(0.0));
        self
    }

    fn sizes(&self) -> (usize, usize, usize) {
        (self.rows.len(), self.rows[0].len(), self.outputs)
    }

    /// β and α: f is β-smooth, and α-strongly convex where it is not linear.
    pub fn beta(&self) -> f64 {
        match self.kind {
            Kind::Squared => 1.0,
            Kind::SmoothHinge(width) => 1.0 / width,
        }
    }

    /// Σ‖a_i‖².
    pub fn coupling_of_all(&self) -> f64 {
        self.rows.iter().flatten().map(|x| x * x).sum()
    }

    /// R of Theorem 4.1 times k, or the bound on R of Theorem 4.3 that needs no singular values.
    pub fn coupling(&self, k: usize) -> f64 {
        let squares = || self.rows.iter().map(|row| row.iter().map(|x| x * x).sum::<f64>());
        let most = k as f64 * squares().fold(0.0, f64::max);
        if self.low_rank { most.min(squares().sum()) } else { most }
    }

    /// L.
    fn smoothness(&self) -> f64 {
        self.diagonal.iter().flatten().copied().fold(self.mu, f64::max)
    }

    /// The constants of Theorem 4.1 or 4.3 for this s and k.
    pub fn constants(&self, s: usize, k: usize) -> Four {
        let (n, beta, mu) = (self.rows.len() as f64, self.beta(), self.mu);
        // α = β for both losses. Theorem 4.1 has 1 + 4L/μ, Theorem 4.3 1 + 8L/μ.
        let (factor, r) =
            if self.low_rank { (8.0, self.coupling(k)) } else { (4.0, self.coupling(1)) };
        let ratio = self.smoothness() / mu;
        let inverse = ratio / (n * beta) + 2.5 * r / (mu * n * n) * (1.0 + factor * ratio);
        Four { s, k, eta: 0.5 / ratio, delta: 1.0 / (k as f64 * inverse) }
    }

    /// x = 0 and y = 0.
    pub fn start(&self) -> Iterate {
        let (n, d, c) = self.sizes();
        Iterate {
            x: vec![0.0; d * c],
            y: vec![0.0; n * c],
            w: vec![0.0; n * c],
            z: vec![0.0; d * c],
        }
    }

    /// One step, lines 4 to 8.
    pub fn step(&self, at: &mut Iterate, four: Four) {
        let ((n, d, c), Four { s, k, eta, delta }) = (self.sizes(), four);
        // 4
        let shifted: Vec<f64> = (0..d * c)
            .map(|j| {
                let gradient = self.diagonal.as_ref().map_or(self.mu, |q| q[j]) * at.x[j];
                at.x[j] - (at.z[j] / n as f64 + gradient) / (self.smoothness() * eta)
            })
            .collect();
        let tilde = self.nearest(&shifted, s);
        (0..d * c).for_each(|j| at.x[j] = (1.0 - eta) * at.x[j] + eta * tilde[j]);
        // 5, with x̃ in the place of the printed Δx
        let image = self.predict(&tilde);
        (0..n * c).for_each(|i| at.w[i] = (1.0 - eta) * at.w[i] + eta * image[i]);
        // 6, with 1/n at the conjugate too
        let share = 1.0 / n as f64;
        let maximiser = |i: usize| {
            let (y, w, t) = (at.y[i], at.w[i], self.targets[i]);
            let free = |width: f64| (y / delta + share * (w - t)) / (1.0 / delta + share * width);
            match self.kind {
                Kind::Squared => free(1.0),
                Kind::SmoothHinge(width) => t * (t * free(width)).clamp(-1.0, 0.0),
            }
        };
        let to: Vec<f64> = (0..n * c).map(maximiser).collect();
        // 7
        let far = |i: usize| (0..c).map(|j| (to[i * c + j] - at.y[i * c + j]).powi(2)).sum::<f64>();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| far(j).total_cmp(&far(i)).then(i.cmp(&j)));
        for &i in &order[..k] {
            for j in 0..c {
                // 8
                let change = to[i * c + j] - at.y[i * c + j];
                (0..d).for_each(|f| at.z[f * c + j] += self.rows[i][f] * change);
                at.y[i * c + j] = to[i * c + j];
            }
        }
    }

    /// Ax.
    pub fn predict(&self, x: &[f64]) -> Vec<f64> {
        let (n, d, c) = self.sizes();
        let score =
            |i: usize, j: usize| (0..d).map(|f| self.rows[i][f] * x[f * c + j]).sum::<f64>();
        (0..n * c).map(|at| score(at / c, at % c)).collect()
    }

    /// The nearest matrix of the ball with s nonzero entries, or of rank s.
    pub fn nearest(&self, v: &[f64], s: usize) -> Vec<f64> {
        let (_, d, c) = self.sizes();
        if self.low_rank {
            let (u, values, w) = jacobi(v, d, c);
            let mut order: Vec<usize> = (0..c).collect();
            order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
            order.truncate(s);
            let left = reduced(&order.iter().map(|&j| values[j]).collect::<Vec<_>>(), self.radius);
            let entry = |at: usize| {
                let terms = order.iter().zip(&left);
                terms.map(|(&j, value)| u[at / c * c + j] * value * w[at % c * c + j]).sum()
            };
            return (0..d * c).map(entry).collect();
        }
        let mut order: Vec<usize> = (0..d * c).collect();
        order.sort_by(|&i, &j| v[j].abs().total_cmp(&v[i].abs()));
        order.truncate(s);
        let left = reduced(&order.iter().map(|&j| v[j].abs()).collect::<Vec<_>>(), self.radius);
        let mut x = vec![0.0; d * c];
        order.iter().zip(left).for_each(|(&j, left)| x[j] = left.copysign(v[j]));
        x
    }

    /// L(x, y).
    pub fn lagrangian(&self, x: &[f64], y: &[f64]) -> f64 {
        let n = self.rows.len() as f64;
        let conjugate = |y: f64, t: f64| match self.kind {
            Kind::Squared => 0.5 * y * y + t * y,
            Kind::SmoothHinge(width) => t * y + 0.5 * width * y * y,
        };
        let pairs = y.iter().zip(&self.predict(x)).map(|(y, a)| y * a).sum::<f64>();
        let conjugates = y.iter().zip(&self.targets).map(|(&y, &t)| conjugate(y, t)).sum::<f64>();
        0.5 * self.mu * x.iter().map(|x| x * x).sum::<f64>() + (pairs - conjugates) / n
    }

    /// x̄ of this y.
    pub fn best(&self, y: &[f64]) -> Vec<f64> {
        let (n, d, c) = self.sizes();
        let z = |at: usize| (0..n).map(|i| self.rows[i][at / c] * y[i * c + at % c]).sum::<f64>();
        let v: Vec<f64> = (0..d * c).map(|at| -z(at) / (n as f64 * self.mu)).collect();
        self.nearest(&v, d * c)
    }

    /// The number of nonzero entries, or the rank: of x̄ it is at most the s that the theorem asks for.
    pub fn size(&self, x: &[f64]) -> usize {
        let (_, d, c) = self.sizes();
        let values = if self.low_rank { jacobi(x, d, c).1 } else { x.to_vec() };
        values.iter().filter(|x| x.abs() > 1e-12).count()
    }

    /// D(y).
    pub fn dual(&self, y: &[f64]) -> f64 {
        self.lagrangian(&self.best(y), y)
    }

    /// D*, from a run of all coordinates.
    pub fn optimum(&self) -> f64 {
        let (n, d, c) = self.sizes();
        let four = Four { s: if self.low_rank { d.min(c) } else { d * c }, ..self.constants(1, n) };
        let mut at = self.start();
        // The theorem's step is far shorter than it has to be where all examples move.
        let four = Four { delta: 4.0 * four.delta, ..four };
        for _ in 0..4000 {
            self.step(&mut at, four);
        }
        assert!(self.lagrangian(&at.x, &at.y) - self.dual(&at.y) < 1e-12, "it has converged");
        self.dual(&at.y)
    }

    /// The a of Δ(t) ≤ Δ(t−1)/(1 + a) that the proof gives for the squared loss.
    ///
    /// The printed proof takes −D for 1/β-strongly convex, where it is 1/(nβ), and is so too optimistic by a factor of n.
    /// With that mended, σ in (0, 1) the share of Young's inequality, q = ‖y(t) − y(t−1)‖² and
    /// C = 2(1/σ + (1 − σ)ρ)δkR/(μn²),
    ///
    /// ```text
    /// Δ(t) − Δ(t−1) ≤ −((1 − σ)ρδk/(n²β))Δ_d − ((1 − C)/3 − C)Δ_p,       ρ = (1 + δ/(nβ))⁻²
    /// ```
    ///
    /// ρ is for the selection, which compares residuals before the step with residuals after it, and 1/3 is
    /// (η/2)/(1 − η/2) of Lemma B.2 at η = ½.
    pub fn proven_rate(&self, four: Four) -> f64 {
        let (n, beta) = (self.rows.len() as f64, self.beta());
        let Four { k, delta, .. } = four;
        let rho = (1.0 + delta / (n * beta)).powi(-2);
        let rate = |sigma: f64| {
            let c = 2.0 * (1.0 / sigma + (1.0 - sigma) * rho) * delta * self.coupling(k)
                / (self.mu * n * n);
            let dual = (1.0 - sigma) * rho * delta * k as f64 / (n * n * beta);
            dual.min((1.0 - c) / 3.0 - c)
        };
        (1..1000).map(|i| rate(f64::from(i) / 1000.0)).fold(0.0, f64::max)
    }
}

/// The numbers reduced until they add up to no more than the radius, by bisection.
fn reduced(values: &[f64], radius: f64) -> Vec<f64> {
    let left = |theta: f64| values.iter().map(move |v| (v - theta).max(0.0));
    if left(0.0).sum::<f64>() <= radius {
        return values.to_vec();
    }
    let (mut low, mut high) = (0.0, values.iter().copied().fold(0.0, f64::max));
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if left(middle).sum::<f64>() > radius { low = middle } else { high = middle }
    }
    left(high).collect()
}

/// Singular vectors and values of a d×c matrix by Jacobi rotations of its columns: u is d×c, v is c×c.
fn jacobi(matrix: &[f64], d: usize, c: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut u = matrix.to_vec();
    let mut v: Vec<f64> = (0..c * c).map(|at| f64::from(u8::from(at / c == at % c))).collect();
    let product =
        |u: &[f64], p: usize, q: usize| (0..d).map(|i| u[i * c + p] * u[i * c + q]).sum::<f64>();
    for _ in 0..30 {
        for p in 0..c {
            for q in p + 1..c {
                let (a, b, g) = (product(&u, p, p), product(&u, q, q), product(&u, p, q));
                if g == 0.0 {
                    continue;
                }
                let zeta = (b - a) / (2.0 * g);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let cos = 1.0 / (1.0 + t * t).sqrt();
                for m in [&mut u, &mut v] {
                    for row in m.chunks_exact_mut(c) {
                        let (x, y) = (row[p], row[q]);
                        (row[p], row[q]) = (cos * (x - t * y), cos * (t * x + y));
                    }
                }
            }
        }
    }
    let values: Vec<f64> = (0..c).map(|j| product(&u, j, j).sqrt()).collect();
    for row in u.chunks_exact_mut(c) {
        row.iter_mut().zip(&values).for_each(|(u, &s)| *u = if s > 0.0 { *u / s } else { 0.0 });
    }
    (u, values, v)
}

/// The largest distance of two sequences of iterates, in any entry of x or y.
pub(super) fn apart(one: &[(Vec<f64>, Vec<f64>)], other: &[(Vec<f64>, Vec<f64>)]) -> f64 {
    assert_eq!(one.len(), other.len());
    let pairs = one.iter().zip(other).flat_map(|((x, y), (u, v))| {
        x.iter().zip(u).chain(y.iter().zip(v)).map(|(a, b)| (a - b).abs())
    });
    pairs.fold(0.0, f64::max)
}

/// The x and y of so many steps.
pub(super) fn steps(of: &Dense, four: Four, count: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut at = of.start();
    (0..count)
        .map(|_| {
            of.step(&mut at, four);
            (at.x.clone(), at.y.clone())
        })
        .collect()
}

/// What every comparison has to notice: each constant changed a little.
pub(super) fn changed(four: Four) -> Vec<(&'static str, Four)> {
    vec![
        ("s", Four { s: four.s + 1, ..four }),
        ("s", Four { s: four.s - 1, ..four }),
        ("k", Four { k: four.k + 1, ..four }),
        ("k", Four { k: four.k - 1, ..four }),
        ("eta", Four { eta: 1.02 * four.eta, ..four }),
        ("delta", Four { delta: 1.02 * four.delta, ..four }),
    ]
}

/// Asserts that these iterates contract as the mended proof says, and no more than by rounding less; and that the rate
/// as printed, kδ/(2nβ) in the place of a, would be too fast.
pub(super) fn assert_contraction(of: &Dense, four: Four, iterates: &[(Vec<f64>, Vec<f64>)]) {
    let (n, optimum, rate) = (of.rows.len() as f64, of.optimum(), of.proven_rate(four));
    assert!(rate > 1e-3, "there is something to prove: {rate}");
    let gap = |t: usize| {
        let ((_, y), (next, _)) = (&iterates[t], &iterates[t + 1]);
        let dual = of.dual(y);
        (of.lagrangian(next, y) - dual) + (optimum - dual)
    };
    let gaps: Vec<f64> = (0..iterates.len() - 1).map(gap).collect();
    for (t, pair) in gaps.windows(2).enumerate() {
        assert!(pair[1] <= pair[0] / (1.0 + rate) + 1e-12, "step {t}: {pair:?} at {rate}");
    }
    let printed = four.k as f64 * four.delta / (2.0 * n * of.beta());
    let too_fast = gaps.windows(2).any(|pair| pair[1] > pair[0] / (1.0 + printed));
    assert!(too_fast, "{printed} {:?}", &gaps[..5]);
}
