//! A curve drawn in the terminal.

use std::fmt::Write;

/// The columns and rows of the drawing.
const WIDTH: usize = 60;
const HEIGHT: usize = 10;

/// Draws `(x, y)` with a logarithmic height; `y` must be positive. It connects the points column by column.
pub fn draw(points: &[(f64, f64)], y_label: impl Fn(f64) -> String, x_name: &str) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let heights: Vec<f64> = points.iter().map(|&(_, y)| y.ln()).collect();
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max).max(low + 1e-9);
    let span = (last.0 - first.0).max(f64::MIN_POSITIVE);
    let row_of = |column: usize| {
        // The height at this column, interpolated between the neighbouring points.
        let x = first.0 + span * column as f64 / (WIDTH - 1) as f64;
        let k = points.partition_point(|&(at, _)| at < x).clamp(1, points.len() - 1);
        let (left, right) = (points[k - 1].0, points[k].0);
        let share = ((x - left) / (right - left).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let height = heights[k - 1] + share * (heights[k] - heights[k - 1]);
        ((height - low) / (high - low) * (HEIGHT - 1) as f64).round() as usize
    };
    let rows: Vec<usize> =
        if points.len() == 1 { vec![0; WIDTH] } else { (0..WIDTH).map(row_of).collect() };
    let mut text = String::new();
    for row in (0..HEIGHT).rev() {
        let y = (low + (high - low) * row as f64 / (HEIGHT - 1) as f64).exp();
        let label = if row.is_multiple_of(3) { y_label(y) } else { String::new() };
        let dots: String = rows.iter().map(|&r| if r == row { '•' } else { ' ' }).collect();
        let _ = writeln!(text, "  {label:>8} │{}", dots.trim_end());
    }
    let _ = writeln!(text, "  {:>8} └{}", "", "─".repeat(WIDTH));
    let end = format!("{} {x_name}", last.0);
    let _ = writeln!(text, "  {:>8}  {:<fill$}{end}", "", first.0, fill = WIDTH - end.len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_falling_curve_falls() {
        let text = draw(&[(1.0, 1.0), (2.0, 0.1), (3.0, 0.01)], |y| format!("{y:.2}"), "passes");
        let columns: Vec<usize> = text.lines().filter_map(|line| line.find('•')).collect();
        assert_eq!(columns.len(), HEIGHT);
        assert!(columns.is_sorted(), "{text}");
        assert!(text.contains("1.00") && text.contains("0.01") && text.contains("3 passes"));
    }

    #[test]
    fn few_points_or_none_are_no_trouble() {
        assert_eq!(draw(&[], |_| String::new(), ""), "");
        assert!(draw(&[(1.0, 0.5)], |y| y.to_string(), "passes").contains('•'));
    }
}
