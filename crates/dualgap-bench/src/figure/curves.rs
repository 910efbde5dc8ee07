//! Curves: what several runs of one method come to together.

/// One run: numbers against effort, in the order of the effort.
pub type Trace = Vec<(f64, f64)>;

/// What the runs of a method have in common, which decides how they are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One example a step, in random order: a run for every seed, the worst and the best shaded.
    Stochastic,
    /// All examples a step: one run, of which the lower envelope is drawn, since such a method knows its best point.
    Batch,
    /// One run, drawn as it is.
    Single,
    /// What a theorem promises: dashed.
    Promise,
}

impl Role {
    /// Its name in csv files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stochastic => "stochastic",
            Self::Batch => "batch",
            Self::Single => "single",
            Self::Promise => "promise",
        }
    }
}

/// The runs of a method at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub x: f64,
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

/// The runs of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub name: String,
    pub role: Role,
    pub runs: usize,
    pub spreads: Vec<Spread>,
}

/// A curve has at most so many places: more are not to be seen, and make the file of a drawing large.
const MOST: usize = 72;

impl Curve {
    /// The band of these runs, where all of them are known.
    pub fn new(name: impl Into<String>, role: Role, runs: &[Trace]) -> Self {
        let spreads = match role {
            Role::Batch => band(&runs.iter().map(|run| lower_envelope(run)).collect::<Vec<_>>()),
            Role::Stochastic | Role::Single | Role::Promise => band(runs),
        };
        Self { name: name.into(), role, runs: runs.len(), spreads: thinned(spreads) }
    }

    /// The median at `x`, if the runs went so far.
    pub fn at(&self, x: f64) -> Option<f64> {
        let medians: Trace = self.spreads.iter().map(|s| (s.x, s.median)).collect();
        interpolate(&medians, x)
    }

    /// The median at the last place.
    pub fn last(&self) -> Option<(f64, f64)> {
        self.spreads.last().map(|spread| (spread.x, spread.median))
    }
}

/// The value of a run at `x`, on the line between its neighbours; `None` outside of the run.
pub fn interpolate(run: &[(f64, f64)], x: f64) -> Option<f64> {
    let after = run.partition_point(|&(at, _)| at < x);
    let &(right, to) = run.get(after)?;
    if right == x {
        return Some(to);
    }
    let &(left, from) = run.get(after.checked_sub(1)?)?;
    Some(from + (x - left) / (right - left) * (to - from))
}

/// The best so far at every place of a run.
pub fn lower_envelope(run: &[(f64, f64)]) -> Trace {
    let mut best = f64::INFINITY;
    let lowered = run.iter().map(|&(x, y)| {
        best = best.min(y);
        (x, best)
    });
    lowered.collect()
}

/// The first x at which a run is at most `level`.
pub fn first_below(run: &[(f64, f64)], level: f64) -> Option<f64> {
    run.iter().find(|&&(_, y)| y <= level).map(|&(x, _)| x)
}

/// Least, median and largest of the runs, at every place of any of them where all are known.
pub fn band(runs: &[Trace]) -> Vec<Spread> {
    let mut places: Vec<f64> = runs.iter().flatten().map(|&(x, _)| x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let spread = |x: f64| {
        let mut values: Vec<f64> =
            runs.iter().map(|run| interpolate(run, x)).collect::<Option<_>>()?;
        values.sort_by(f64::total_cmp);
        let (&low, &high) = (values.first()?, values.last()?);
        Some(Spread { x, low, median: median(&values)?, high })
    };
    places.into_iter().filter_map(spread).collect()
}

/// Of sorted values: the one in the middle, or the mean of the two that are.
fn median(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some(f64::midpoint(sorted[half - 1], upper)) }
}

/// At most [`MOST`] places. The first half of them stays as it is, since that is where curves bend; of the others every so
/// many, and the last.
fn thinned(spreads: Vec<Spread>) -> Vec<Spread> {
    if spreads.len() <= MOST {
        return spreads;
    }
    let (last, kept) = (spreads.len() - 1, MOST / 2);
    let stride = (last - kept).div_ceil(MOST - kept - 1);
    let stays = |k: usize| k < kept || (k - kept).is_multiple_of(stride) || k == last;
    spreads.into_iter().enumerate().filter(|&(k, _)| stays(k)).map(|(_, spread)| spread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_between_two_places_is_on_the_line_between_them() {
        let run = [(1.0, 8.0), (2.0, 4.0), (4.0, 0.0)];
        assert_eq!(interpolate(&run, 1.0), Some(8.0));
        assert_eq!(interpolate(&run, 1.25), Some(7.0));
        assert_eq!(interpolate(&run, 3.0), Some(2.0));
        assert_eq!(interpolate(&run, 4.0), Some(0.0));
        assert_eq!((interpolate(&run, 0.5), interpolate(&run, 4.5)), (None, None));
        assert_eq!(interpolate(&[], 1.0), None);
    }

    #[test]
    fn a_band_is_the_least_the_middle_and_the_largest_where_all_runs_are_known() {
        let runs = [
            vec![(1.0, 5.0), (3.0, 1.0)],
            vec![(1.0, 7.0), (2.0, 2.0), (3.0, 2.0)],
            vec![(2.0, 9.0), (4.0, 9.0)],
        ];
        let spread = |x, low, median, high| Spread { x, low, median, high };
        // At 1 and at 4 one of the runs is not known.
        assert_eq!(band(&runs), [spread(2.0, 2.0, 3.0, 9.0), spread(3.0, 1.0, 2.0, 9.0)]);
        // Of two runs the median is their mean.
        let both = band(&runs[..2]);
        let expected =
            [spread(1.0, 5.0, 6.0, 7.0), spread(2.0, 2.0, 2.5, 3.0), spread(3.0, 1.0, 1.5, 2.0)];
        assert_eq!(both, expected);
    }

    #[test]
    fn only_batch_methods_are_drawn_by_their_lower_envelope() {
        let run = vec![(1.0, 4.0), (2.0, 6.0), (3.0, 3.0), (4.0, 5.0)];
        assert_eq!(lower_envelope(&run), [(1.0, 4.0), (2.0, 4.0), (3.0, 3.0), (4.0, 3.0)]);
        let medians = |role| {
            let curve = Curve::new("it", role, std::slice::from_ref(&run));
            curve.spreads.iter().map(|spread| spread.median).collect::<Vec<_>>()
        };
        assert_eq!(medians(Role::Batch), [4.0, 4.0, 3.0, 3.0]);
        assert_eq!(medians(Role::Stochastic), [4.0, 6.0, 3.0, 5.0]);
        assert_eq!(first_below(&run, 3.5), Some(3.0));
        assert_eq!(first_below(&run, 2.5), None);
    }

    #[test]
    fn a_long_curve_keeps_its_ends() {
        let run: Trace = (0..1000).map(|k| (f64::from(k), f64::from(1000 - k))).collect();
        let curve = Curve::new("long", Role::Stochastic, std::slice::from_ref(&run));
        assert!(curve.spreads.len() <= MOST, "{}", curve.spreads.len());
        assert_eq!(curve.spreads[1].x, 1.0);
        assert_eq!(curve.last(), Some((999.0, 1.0)));
        assert_eq!(curve.at(500.5), Some(499.5));
    }
}
