//! Traffic assignment: drivers of several origins and destinations share a network whose roads slow down under load.
//!
//! ```text
//! min Σ_e ∫_0^{v_e} t_e(u) du,    v = Σ_i x_i      t_e(v) = free_e + slope_e v^power
//! ```
//!
//! x_i are the link flows of the drivers from one origin to one destination: one block, whose corners are the routes
//! with all drivers on it, and whose linear minimisation oracle is Dijkstra's algorithm. At the minimum no driver has a
//! faster route (Wardrop's user equilibrium), and the Frank-Wolfe gap is what all drivers together lose by not being on
//! their fastest route now.
//!
//! Run it: `cargo run --release --package dualgap --example traffic`

use dualgap::Result;
use dualgap::linalg::{Measured, gamma};
use dualgap::methods::product::{
    Minimum, Objective, Point, Product, ProductSettings, Query, Set, minimise,
};
use dualgap::run::Budget;

#[derive(Clone, Copy)]
struct Link {
    from: usize,
    to: usize,
    free: f64,
    slope: f64,
    power: i32,
}

impl Link {
    /// A road of the Bureau of Public Roads: `t(v) = free (1 + 0.15 (v/capacity)⁴)`.
    fn road(from: usize, to: usize, free: f64, capacity: f64) -> Self {
        Self { from, to, free, slope: 0.15 * free / capacity.powi(4), power: 4 }
    }

    fn time(&self, load: f64) -> f64 {
        self.free + self.slope * load.powi(self.power)
    }

    /// The integral of the time.
    fn potential(&self, load: f64) -> f64 {
        let degree = f64::from(self.power + 1);
        load * (self.free + self.slope / degree * load.powi(self.power))
    }
}

struct Network {
    nodes: usize,
    links: Vec<Link>,
}

impl Network {
    /// The fastest times from a node to all others, and the last link on the way to each: Dijkstra's algorithm, with a
    /// plain search for the nearest node.
    fn fastest(&self, from: usize, times: &[f64]) -> (Vec<f64>, Vec<Option<usize>>) {
        let mut best = vec![f64::INFINITY; self.nodes];
        let (mut last, mut done) = (vec![None; self.nodes], vec![false; self.nodes]);
        best[from] = 0.0;
        while let Some(node) =
            (0..self.nodes).filter(|&v| !done[v]).min_by(|&a, &b| best[a].total_cmp(&best[b]))
        {
            done[node] = true;
            for (e, link) in self.links.iter().enumerate().filter(|(_, link)| link.from == node) {
                if best[node] + times[e] < best[link.to] {
                    best[link.to] = best[node] + times[e];
                    last[link.to] = Some(e);
                }
            }
        }
        (best, last)
    }
}

/// The objective; the image of a point are the loads v of the links.
struct Congestion<'n>(&'n Network);

impl Objective for Congestion<'_> {
    fn value(&self, at: &Point) -> Measured {
        let terms = self.0.links.iter().zip(at.image()).map(|(link, &load)| link.potential(load));
        // All terms are positive. Adding up the load takes an operation for each block, which its fifth power has five
        // times.
        Measured::rounded(terms.sum(), 5 * at.blocks() + self.0.links.len() + 10)
    }

    fn gradient(&self, at: &Point, _: usize, out: &mut [f64]) -> f64 {
        let links = self.0.links.iter().zip(at.image());
        out.iter_mut().zip(links).for_each(|(time, (link, &load))| *time = link.time(load));
        gamma(4 * at.blocks() + 10) * out.iter().fold(0.0, |most: f64, time| most.max(*time))
    }

    fn image_len(&self) -> usize {
        self.0.links.len()
    }

    fn add_image(&self, _: usize, flows: &[f64], loads: &mut [f64]) {
        loads.iter_mut().zip(flows).for_each(|(load, flow)| *load += flow);
    }
}

/// The flows of the drivers from one node to another.
struct Routes<'n> {
    network: &'n Network,
    from: usize,
    to: usize,
    drivers: f64,
}

impl Routes<'_> {
    /// Puts all drivers on the fastest route.
    fn assign(&self, times: &[f64], flows: &mut [f64]) {
        let (_, last) = self.network.fastest(self.from, times);
        flows.fill(0.0);
        let mut node = self.to;
        while let Some(link) = last[node] {
            flows[link] = self.drivers;
            node = self.network.links[link].from;
        }
    }
}

impl Set for Routes<'_> {
    fn dim(&self) -> usize {
        self.network.links.len()
    }

    /// No route without a circle has as many links as there are nodes.
    fn radius(&self) -> f64 {
        self.drivers * self.network.nodes as f64
    }

    fn start(&self, flows: &mut [f64]) {
        let empty: Vec<f64> = self.network.links.iter().map(|link| link.time(0.0)).collect();
        self.assign(&empty, flows);
    }

    fn minimise(&self, query: &Query<'_>, flows: &mut [f64]) -> Result<Minimum> {
        self.assign(query.gradient, flows);
        Ok(Minimum::Exact)
    }

    /// What flows into a node flows out of it, but for the drivers who begin or end there.
    fn defect(&self, flows: &[f64]) -> f64 {
        let mut balance = vec![0.0; self.network.nodes];
        (balance[self.from], balance[self.to]) = (self.drivers, -self.drivers);
        let mut negative = 0.0;
        for (link, flow) in self.network.links.iter().zip(flows) {
            balance[link.from] -= flow;
            balance[link.to] += flow;
            negative += (-flow).max(0.0);
        }
        // Sending what is missing along a route takes at most as many links as there are nodes.
        let missing = balance.iter().map(|x: &f64| x.abs()).sum::<f64>();
        (missing + negative) * self.network.nodes as f64
    }
}

/// Solves the assignment, prints the certificate, and returns the flows.
fn equilibrium(name: &str, network: &Network, trips: &[(usize, usize, f64)]) -> Result<Point> {
    let routes = |&(from, to, drivers): &_| Routes { network, from, to, drivers };
    let problem = Product::new(Congestion(network), trips.iter().map(routes).collect())?;
    let budget = Budget { passes: Some(20_000), ..Budget::relative(1e-4) };
    let report = minimise(&problem, &ProductSettings::default(), &budget, &mut ())?;
    let certificate = report.certificate;
    println!(
        "{name}: {:.4}, at most {:.1e} above the minimum, after {} shortest routes",
        certificate.primal,
        certificate.gap_bound(),
        report.work.oracle_calls
    );
    assert!(certificate.relative_gap_bound() <= 1e-4);
    Ok(report.model)
}

/// The times of a trip: the mean over its drivers, the fastest route, and the slowest of the routes that lead over a link
/// which a twentieth of the drivers use.
struct Times {
    mean: f64,
    fastest: f64,
    slowest: f64,
}

/// Computes the times as an observer with a map would, from the flows alone.
fn times(network: &Network, trips: &[(usize, usize, f64)], flows: &Point) -> Vec<Times> {
    let mut loads = vec![0.0; network.links.len()];
    (0..trips.len()).for_each(|i| {
        loads.iter_mut().zip(flows.block(i)).for_each(|(load, flow)| *load += flow);
    });
    let times: Vec<f64> = network.links.iter().zip(loads).map(|(link, v)| link.time(v)).collect();
    let trip = |(i, &(from, to, drivers)): (usize, &(usize, usize, f64))| {
        let (before, flow) = (network.fastest(from, &times).0, flows.block(i));
        let spent: f64 = flow.iter().zip(&times).map(|(flow, time)| flow * time).sum();
        let over = |(e, link): (usize, &Link)| {
            before[link.from] + times[e] + network.fastest(link.to, &times).0[to]
        };
        let links = network.links.iter().enumerate();
        let used = links.filter(|(e, _)| flow[*e] > drivers / 20.0).map(over);
        Times { mean: spent / drivers, fastest: before[to], slowest: used.fold(0.0, f64::max) }
    };
    trips.iter().enumerate().map(trip).collect()
}

fn main() -> Result<()> {
    // Braess (1968): six drivers from 0 to 3, two routes of 83 minutes each. A bridge from 1 to 2 opens a third route,
    // and all of them take 92 minutes.
    let linear = |from, to, free, slope| Link { from, to, free, slope, power: 1 };
    let mut links = vec![
        linear(0, 1, 0.0, 10.0),
        linear(0, 2, 50.0, 1.0),
        linear(1, 3, 50.0, 1.0),
        linear(2, 3, 0.0, 10.0),
    ];
    let trip = [(0, 3, 6.0)];
    let before = Network { nodes: 4, links: links.clone() };
    links.push(linear(1, 2, 10.0, 1.0));
    let after = Network { nodes: 4, links };
    for (name, network, expected) in
        [("Without the bridge", &before, 83.0), ("With the bridge", &after, 92.0)]
    {
        let flows = equilibrium(name, network, &trip)?;
        let Times { mean, fastest, slowest } = times(network, &trip, &flows)[0];
        println!("  every driver takes {mean:.2} minutes");
        assert!([mean, fastest, slowest].iter().all(|time| (time - expected).abs() < 0.1));
    }

    // A town of four by four crossings with a fast road along its diagonal, and five streams of commuters.
    let mut links = Vec::new();
    let crossing = |row: usize, column: usize| 4 * row + column;
    for row in 0..4 {
        for column in 0..4 {
            let here = crossing(row, column);
            let mut both_ways = |to: usize, free: f64, capacity: f64| {
                links.push(Link::road(here, to, free, capacity));
                links.push(Link::road(to, here, free, capacity));
            };
            if column < 3 {
                both_ways(crossing(row, column + 1), 2.0 + 0.25 * row as f64, 10.0);
            }
            if row < 3 {
                both_ways(crossing(row + 1, column), 2.0 + 0.25 * column as f64, 10.0);
            }
            if row < 3 && row == column {
                both_ways(crossing(row + 1, column + 1), 2.5, 15.0);
            }
        }
    }
    let town = Network { nodes: 16, links };
    let trips = [(0, 15, 30.0), (3, 12, 15.0), (1, 14, 15.0), (4, 11, 12.0), (15, 0, 20.0)];
    let flows = equilibrium("The town", &town, &trips)?;
    for ((from, to, drivers), times) in trips.iter().zip(times(&town, &trips, &flows)) {
        let Times { mean, fastest, slowest } = times;
        println!(
            "  {drivers} drivers from {from} to {to}: {mean:.3} minutes in the mean, routes in use of {fastest:.3} to {slowest:.3}"
        );
        // The equilibrium: all routes in use take the same time, and none is faster.
        assert!(fastest <= mean + 1e-9 && mean <= 1.001 * fastest && slowest <= 1.005 * fastest);
    }
    Ok(())
}
