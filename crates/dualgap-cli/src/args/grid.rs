//! The λ to try: a list, or a grid on a logarithmic scale.

use super::values::{parse_grid, parse_lambda};
use clap::Args;
use dualgap::task::{Strength, grid};
use dualgap::{Error, Result};

#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct GridArgs {
    /// The λ to try, in mean loss + λ/2·‖w‖²: numbers or multiples of 1/n, such as 1,0.1,10/n.
    #[arg(long, value_name = "X|a/n,…", value_delimiter = ',', value_parser = parse_lambda, allow_hyphen_values = true, conflicts_with_all = ["from", "to", "count"])]
    pub lambdas: Vec<Strength>,
    /// In the place of a list: the largest λ of a grid.
    #[arg(long, value_name = "X|a/n", default_value = "100/n", value_parser = parse_lambda, allow_hyphen_values = true)]
    pub from: Strength,
    /// The smallest λ of the grid.
    #[arg(long, value_name = "X|a/n", default_value = "0.1/n", value_parser = parse_lambda, allow_hyphen_values = true)]
    pub to: Strength,
    /// How many λ the grid has, each the same multiple of the next.
    #[arg(long, value_name = "M", default_value_t = 7, value_parser = parse_grid)]
    pub count: usize,
}

impl GridArgs {
    /// Whether λ = 0 is in the grid.
    pub fn has_zero(&self) -> bool {
        self.lambdas.contains(&Strength::Value(0.0))
    }

    /// Returns the λ; `total` is the total weight of the examples.
    pub fn resolve(&self, total: f64) -> Result<Vec<f64>> {
        if !self.lambdas.is_empty() {
            return Ok(self.lambdas.iter().map(|lambda| lambda.resolve(total)).collect());
        }
        let (from, to) = (self.from.resolve(total), self.to.resolve(total));
        if !(from > 0.0 && to > 0.0) {
            return Err(Error::setting(
                "a grid has no lambda of 0, since its scale is logarithmic; --lambdas may name it",
            ));
        }
        grid(from, to, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(from: f64, to: f64, count: usize) -> GridArgs {
        let (from, to) = (Strength::PerExample(from), Strength::Value(to));
        GridArgs { lambdas: Vec::new(), from, to, count }
    }

    #[test]
    fn a_grid_has_its_ends_and_equal_ratios() {
        let values = grid(100.0, 0.003, 5).resolve(50.0).unwrap();
        assert_eq!((values.len(), values[0], values[4]), (5, 2.0, 0.003));
        for pair in values.windows(2) {
            assert!((pair[1] / pair[0] - (0.003_f64 / 2.0).powf(0.25)).abs() < 1e-12);
        }
        let wide = grid(1e300, 1e-300, 3).resolve(1.0).unwrap();
        assert!((wide[1] - 1.0).abs() < 1e-9, "{wide:?}");
        assert!(grid(1.0, 0.0, 3).resolve(1.0).is_err());
    }
}
