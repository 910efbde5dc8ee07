//! The numbers to try: a list of λ, σ or radii, or a grid on a logarithmic scale.

use super::values::{parse_end, parse_grid, parse_lambda, parse_positive, parse_sigma};
use crate::choices::OverName;
use clap::Args;
use dualgap::structure::Structure;
use dualgap::task::{Grid, Over, PenaltySpec, Strength, TaskSpec};
use dualgap::{Error, Result};

#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct GridArgs {
    /// The λ to try, in mean loss + λ/2·‖w‖²: numbers or multiples of 1/n, such as 1,0.1,10/n.
    #[arg(long, value_name = "X|a/n,…", value_delimiter = ',', value_parser = parse_lambda, allow_hyphen_values = true, conflicts_with_all = ["from", "to", "count", "over", "l1s", "radii"])]
    pub lambdas: Vec<Strength>,
    /// The σ to try, in … + σ·‖w‖₁: numbers, multiples of 1/n, or fractions such as 0.1max,0.01max of the smallest σ with
    /// which all weights are zero.
    #[arg(long, value_name = "S|fmax,…", value_delimiter = ',', value_parser = parse_sigma, allow_hyphen_values = true, conflicts_with_all = ["from", "to", "count", "over", "radii"])]
    pub l1s: Vec<Strength>,
    /// The radii to try, with weights in a ball.
    #[arg(long, value_name = "R,…", value_delimiter = ',', value_parser = parse_positive, allow_hyphen_values = true, conflicts_with_all = ["from", "to", "count", "over"])]
    pub radii: Vec<f64>,
    #[command(flatten)]
    pub ends: EndArgs,
    /// How many numbers the grid has, each the same multiple of the next [default: 7, of chains 4; for l1 13, for radius
    /// 9].
    #[arg(long, value_name = "M", value_parser = parse_grid)]
    pub count: Option<usize>,
}

/// What a grid or a path is over, and from where to where.
#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct EndArgs {
    /// What is varied [default: lambda; with weights in a ball, radius].
    #[arg(long, value_enum)]
    pub over: Option<OverName>,
    /// From this number: a λ, a/n; of l1 also a fraction such as 1max [default: 100/n; of l1 1max; of radius what the data
    /// suggest] …
    #[arg(long, value_name = "X|a/n|fmax", value_parser = parse_end, allow_hyphen_values = true)]
    pub from: Option<Strength>,
    /// … to this one; either may be the larger [default: 0.1/n; of l1 0.001max; of radius what the data suggest].
    #[arg(long, value_name = "X|a/n|fmax", value_parser = parse_end, allow_hyphen_values = true)]
    pub to: Option<Strength>,
    /// With --over l1: λ, a number, a/n, or a multiple such as 0.1l1 of σ [default: 0, pure l1].
    #[arg(long, value_name = "X|a/n|fl1", value_parser = parse_lambda, allow_hyphen_values = true)]
    pub lambda: Option<Strength>,
}

/// The default ends of λ.
const FROM: Strength = Strength::PerExample(100.0);
const TO: Strength = Strength::PerExample(0.1);

/// How many λ a grid has by default, unless the task says otherwise.
pub const COUNT: usize = 7;

impl EndArgs {
    /// Returns what is varied, given the penalty of the task.
    pub fn over(&self, penalty: PenaltySpec) -> Over {
        match self.over {
            Some(over) => over.into(),
            None if matches!(penalty, PenaltySpec::Ball { .. }) => Over::Radius,
            None => Over::Lambda,
        }
    }

    /// Returns λ and σ of the problem, in which the number that is varied is any.
    pub fn strengths(&self, over: Option<Over>, l1: Strength) -> (Strength, Strength) {
        match over {
            Some(Over::L1) => (self.lambda.unwrap_or(Strength::NONE), Strength::FractionOfMax(1.0)),
            _ => (Strength::PerExample(1.0), l1),
        }
    }

    /// Returns an error for options that do not go with what is varied.
    pub fn check(&self, over: Option<Over>, has_l1: bool, has_radius: bool) -> Result<()> {
        if over == Some(Over::L1) && has_l1 {
            return Err(Error::setting("the l1 penalty is varied: leave --l1 out"));
        }
        if over != Some(Over::L1) && self.lambda.is_some() {
            return Err(Error::setting(
                "--lambda goes with --over l1: λ itself is varied between --from and --to",
            ));
        }
        if has_radius {
            return Err(Error::setting("the radius is varied: leave --radius out"));
        }
        Ok(())
    }

    /// Returns the two ends of λ.
    pub fn lambdas(&self) -> [Strength; 2] {
        [self.from.unwrap_or(FROM), self.to.unwrap_or(TO)]
    }

    /// Returns the numbers between the two ends.
    pub fn resolve<S: Structure>(
        &self,
        spec: &TaskSpec<S>,
        data: &S::Data,
        count: Option<usize>,
        usual: usize,
    ) -> Result<Grid> {
        let over = self.over(spec.penalty);
        let named = |strength| spec.number(data, over, strength);
        if over == Over::Lambda {
            let [from, to] = self.lambdas().map(named);
            return of_ends(over, from?, to?, count.unwrap_or(usual));
        }
        let suggested = || spec.default_grid(data, over);
        if let (None, None, None) = (self.from, self.to, count) {
            return suggested();
        }
        let (from, to, most) = match (self.from, self.to) {
            (Some(from), Some(to)) => (named(from)?, named(to)?, None),
            (from, to) => {
                let grid = suggested()?.values;
                let (first, last) = (grid[0], grid[grid.len() - 1]);
                let from = from.map_or(Ok(first), named)?;
                (from, to.map_or(Ok(last), named)?, Some(grid.len()))
            }
        };
        of_ends(over, from, to, count.or(most).unwrap_or(if over == Over::L1 { 13 } else { 9 }))
    }
}

fn of_ends(over: Over, from: f64, to: f64, count: usize) -> Result<Grid> {
    if !(from > 0.0 && to > 0.0) {
        return Err(Error::setting(
            "a grid has no number that is 0, since its scale is logarithmic; --lambdas may name it",
        ));
    }
    Ok(Grid { over, values: Grid::spaced(from, to, count)? })
}

impl GridArgs {
    /// Returns what was asked to be varied.
    pub fn over(&self) -> Option<Over> {
        match (self.ends.over, self.l1s.is_empty(), self.radii.is_empty()) {
            (Some(over), ..) => Some(over.into()),
            (None, false, _) => Some(Over::L1),
            (None, _, false) => Some(Over::Radius),
            (None, true, true) => None,
        }
    }

    /// Whether λ = 0 is in the grid.
    pub fn has_zero(&self) -> bool {
        self.lambdas.contains(&Strength::NONE)
    }

    /// Whether nothing was said about the numbers to try.
    pub fn is_default(&self) -> bool {
        let EndArgs { from, to, .. } = &self.ends;
        let listed = !self.lambdas.is_empty() || !self.l1s.is_empty() || !self.radii.is_empty();
        !listed && from.is_none() && to.is_none() && self.count.is_none()
    }

    /// Returns the numbers to try; a grid of λ has the `usual` count unless another was given.
    pub fn resolve<S: Structure>(
        &self,
        spec: &TaskSpec<S>,
        data: &S::Data,
        usual: usize,
    ) -> Result<Grid> {
        let of_list = |over: Over, strengths: &[Strength]| {
            let values = strengths.iter().map(|&strength| spec.number(data, over, strength));
            Ok(Grid { over, values: values.collect::<Result<_>>()? })
        };
        if !self.radii.is_empty() {
            return Ok(Grid { over: Over::Radius, values: self.radii.clone() });
        }
        if self.l1s.contains(&Strength::NONE) {
            return Err(Error::setting("an l1 penalty of 0 is none: leave it out of --l1s"));
        }
        match (&self.lambdas[..], &self.l1s[..]) {
            ([], []) => self.ends.resolve(spec, data, self.count, usual),
            ([], l1s) => of_list(Over::L1, l1s),
            (lambdas, _) => of_list(Over::Lambda, lambdas),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dualgap::data::Examples;
    use dualgap::structure::Linear;
    use dualgap::task::Task;
    use dualgap::term::{Penalty, ScalarLoss};

    fn values(over: OverName, from: &str, to: &str, count: usize) -> Result<Vec<f64>> {
        let rows = vec![vec![1.0]; 50];
        let data = Examples::from_dense_numbers(&rows, &[2.0; 50])?;
        let penalty = match over {
            OverName::Radius => Penalty::l1_ball(1.0, 0.0),
            _ => Penalty::elastic_net(1.0, 1.0),
        };
        let spec = TaskSpec::from(Task::new(Linear::new(ScalarLoss::Squared), penalty));
        let (from, to) = (Some(from.parse()?), Some(to.parse()?));
        let ends = EndArgs { over: Some(over), from, to, lambda: None };
        Ok(ends.resolve(&spec, &data, Some(count), COUNT)?.values)
    }

    #[test]
    fn a_grid_has_its_ends_and_equal_ratios() {
        let lambdas = values(OverName::Lambda, "100/n", "0.003", 5).unwrap();
        assert_eq!((lambdas.len(), lambdas[0], lambdas[4]), (5, 2.0, 0.003));
        for pair in lambdas.windows(2) {
            assert!((pair[1] / pair[0] - (0.003_f64 / 2.0).powf(0.25)).abs() < 1e-12);
        }
        let wide = values(OverName::Lambda, "1e300", "1e-300", 3).unwrap();
        assert!((wide[1] - 1.0).abs() < 1e-9, "{wide:?}");
        assert!(values(OverName::Lambda, "1", "0", 3).is_err());
        assert!(values(OverName::Lambda, "0.1max", "1", 3).is_err());
    }

    #[test]
    fn fractions_are_those_of_the_largest_l1() {
        // |Σ y x| / n = 2.
        assert_eq!(values(OverName::L1, "1max", "0.5", 2).unwrap(), [2.0, 0.5]);
        assert_eq!(values(OverName::Radius, "1", "4", 3).unwrap(), [1.0, 2.0, 4.0]);
        assert!(values(OverName::Radius, "1max", "4", 3).is_err());
    }
}
