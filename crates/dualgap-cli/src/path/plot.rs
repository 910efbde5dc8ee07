//! `path.svg`: bounds on the optimum at every λ, the gap of every model, and the test errors.
//!
//! The colours have medium brightness on a transparent background, so they are legible on light and dark pages.

use super::told::{Entry, Told};
use dualgap::run::{Interval, Reach, Tolerance};
use dualgap::structure::evaluation::ErrorKind;
use dualgap::task::Over;
use std::fmt::Write;

const GREY: &str = "#767676";
const BLUE: &str = "#2f7fc1";
const ORANGE: &str = "#c8641e";
const GREEN: &str = "#2e8b57";

/// The drawing, and where its panels lie in it.
const WIDTH: f64 = 760.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 740.0;
const TOP: f64 = 34.0;
const HEIGHT: f64 = 190.0;
const BETWEEN: f64 = 54.0;

/// Points of a curve from one end of a model's interval to the other, and of all of them where there are many.
const POINTS: usize = 24;
const ALL_POINTS: usize = 2400;

/// Returns the whole drawing; models are in the order of the path.
pub fn svg(told: &Told, models: &[(Entry, Reach)]) -> String {
    let low = told.covered_from.unwrap_or(told.from);
    let x = Scale::new(low.ln(), told.to.ln(), LEFT, RIGHT);
    let tested = models.iter().any(|(entry, _)| entry.test_error.is_some());
    let panels = if tested { 3 } else { 2 };
    let height = TOP + f64::from(panels) * (HEIGHT + BETWEEN) - 20.0;
    let mut drawing = Drawing { x, label: "λ", text: String::new() };
    let _ = write!(
        drawing.text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"{GREY}\">\n\
         <title>{} models for every lambda from {} to {}</title>\n",
        models.len(),
        told.to,
        low
    );
    drawing.values(models, TOP);
    drawing.gaps(told, models, TOP + HEIGHT + BETWEEN);
    if tested {
        let what = match told.error_kind {
            ErrorKind::RootMeanSquare => "test error (rms)",
            _ => "test error",
        };
        let errors = models.iter().filter_map(|(entry, _)| Some((entry.lambda, entry.test_error?)));
        drawing.errors(what, errors.collect(), TOP + 2.0 * (HEIGHT + BETWEEN));
    }
    drawing.text.push_str("</svg>\n");
    drawing.text
}

/// Returns the drawing of a path over a grid: the optimum between the two values of every model, the number of weights that
/// are not zero, and the test errors.
pub fn grid_svg(told: &Told) -> String {
    let models = &told.models;
    let ends = models.iter().map(|entry| entry.value().ln());
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let tested = models.iter().any(|entry| entry.test_error.is_some());
    let height = TOP + (if tested { 3.0 } else { 2.0 }) * (HEIGHT + BETWEEN) - 20.0;
    let label = if told.over == Over::L1 { "σ" } else { "r" };
    let x = Scale::new(low, high, LEFT, RIGHT);
    let mut drawing = Drawing { x, label, text: String::new() };
    let _ = write!(
        drawing.text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"{GREY}\">\n\
         <title>{} models for {} from {} to {}</title>\n",
        models.len(),
        told.over.name(),
        told.to,
        told.from
    );
    let points = |of: fn(&Entry) -> f64| -> Vec<(f64, f64)> {
        models.iter().map(|entry| (entry.value(), of(entry))).collect()
    };
    let (upper, lower) = (points(|entry| entry.primal), points(|entry| entry.dual));
    let y = Scale::upward(upper.iter().chain(&lower).map(|&(_, value)| value), TOP);
    drawing.panel(
        "optimal value: certified to lie between the curves at every dot",
        y,
        TOP,
        number,
    );
    drawing.curve("upper", &upper, y, BLUE);
    drawing.curve("lower", &lower, y, BLUE);
    upper.iter().for_each(|&(at, value)| drawing.dot("model", at, value, y, BLUE));
    let (weights, top) = (points(|entry| entry.weights as f64), TOP + HEIGHT + BETWEEN);
    let y = Scale::upward([0.0].into_iter().chain(weights.iter().map(|&(_, count)| count)), top);
    drawing.panel("weights that are not zero", y, top, number);
    drawing.curve("weights", &weights, y, ORANGE);
    weights.iter().for_each(|&(at, value)| drawing.dot("at", at, value, y, ORANGE));
    if tested {
        let errors = models.iter().filter_map(|entry| Some((entry.value(), entry.test_error?)));
        drawing.errors("test error", errors.collect(), TOP + 2.0 * (HEIGHT + BETWEEN));
    }
    drawing.text.push_str("</svg>\n");
    drawing.text
}

/// A linear map to the drawing.
#[derive(Clone, Copy)]
struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    fn new(from: f64, to: f64, start: f64, end: f64) -> Self {
        // A single number is drawn in the middle.
        let (from, to) = if from < to { (from, to) } else { (from - 0.5, from + 0.5) };
        Self { from, to, start, end }
    }

    /// Returns the scale from the bottom of a panel to its top, with some margin.
    fn upward(values: impl Iterator<Item = f64>, top: f64) -> Self {
        let (low, high) =
            values.fold((f64::INFINITY, 0.0_f64), |(low, high), y| (low.min(y), high.max(y)));
        // The scale includes zero unless it is far away.
        let low = if low < 0.6 * high { 0.0 } else { low - 0.1 * (high - low) };
        let room = if high > low { 0.06 * (high - low) } else { 1.0 };
        Self::new(low, high + room, top + HEIGHT, top)
    }

    fn at(self, value: f64) -> f64 {
        self.start + (value - self.from) / (self.to - self.from) * (self.end - self.start)
    }

    /// Returns two to eight round numbers.
    fn ticks(self) -> Vec<f64> {
        let rough = (self.to - self.from) / 7.0;
        let unit = 10_f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].into_iter().find(|k| k * unit >= rough).unwrap_or(10.0) * unit;
        let first = (self.from / step).ceil();
        let at = |k: u32| (first + f64::from(k)) * step;
        (0..12).map(at).take_while(|&y| y <= self.to).collect()
    }

    /// Returns ticks for logarithms: powers of ten, and multiples of them if there are few, but no more than fit.
    fn decades(self) -> Vec<f64> {
        let ten = std::f64::consts::LN_10;
        let decades = (self.to - self.from) / ten;
        let multiples: &[f64] = match decades {
            d if d < 1.0 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            d if d < 2.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let stride = (decades / 10.0).ceil().max(1.0) as i32;
        let powers = (self.from / ten).floor() as i32..=(self.to / ten).ceil() as i32;
        powers
            .filter(|power| power % stride == 0)
            .flat_map(|power| multiples.iter().map(move |k| k * 10_f64.powi(power)))
            .filter(|lambda| (self.from - 1e-9..=self.to + 1e-9).contains(&lambda.ln()))
            .collect()
    }
}

/// Returns λ from one end of an interval to the other, for one of this many models.
fn along(Interval { from, to }: Interval, models: usize) -> impl Iterator<Item = f64> {
    let points = (ALL_POINTS / models.max(1)).clamp(2, POINTS);
    (0..=points).map(move |k| {
        let share = k as f64 / points as f64;
        (from.ln() + share * (to / from).ln()).exp().clamp(from, to)
    })
}

/// Returns the primal and the dual value of a model's certificate; those of a path are known to be finite.
fn values(reach: &Reach, lambda: f64) -> (f64, f64) {
    reach.certificate(lambda).map_or((f64::NAN, f64::NAN), |c| (c.primal, c.dual))
}

struct Drawing {
    /// Of ln λ, or of what else is varied, ...
    x: Scale,
    /// ... and its letter.
    label: &'static str,
    text: String,
}

impl Drawing {
    /// Draws the best primal and the best dual value at every λ. Both are valid at any λ, so the optimum lies
    /// between them.
    fn values(&mut self, models: &[(Entry, Reach)], top: f64) {
        let mut band: Vec<(f64, f64, f64)> = Vec::new();
        for (k, (entry, _)) in models.iter().enumerate() {
            // No model further away is better.
            let near = &models[k.saturating_sub(1)..(k + 2).min(models.len())];
            for lambda in along(entry.interval, models.len()) {
                let all = near.iter().map(|(_, reach)| values(reach, lambda));
                let (upper, lower) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |best, here| {
                    (best.0.min(here.0), best.1.max(here.1))
                });
                band.push((lambda, upper, lower));
            }
        }
        band.sort_by(|a, b| a.0.total_cmp(&b.0));
        let y = Scale::upward(band.iter().flat_map(|&(_, upper, lower)| [upper, lower]), top);
        self.panel("optimal value P*(λ): certified to lie in the band", y, top, number);
        let upper: Vec<(f64, f64)> = band.iter().map(|&(l, upper, _)| (l, upper)).collect();
        let lower: Vec<(f64, f64)> = band.iter().map(|&(l, _, lower)| (l, lower)).collect();
        let around = upper.iter().chain(lower.iter().rev()).copied();
        let points = self.points(around, y);
        let _ = writeln!(
            self.text,
            "<polygon class=\"band\" points=\"{points}\" fill=\"{BLUE}\" fill-opacity=\"0.3\"/>"
        );
        self.curve("upper", &upper, y, BLUE);
        self.curve("lower", &lower, y, BLUE);
        for (entry, reach) in models {
            self.dot("model", entry.lambda, values(reach, entry.lambda).0, y, BLUE);
        }
    }

    /// Draws the gap of every model over its interval, relative to the tolerance.
    fn gaps(&mut self, told: &Told, models: &[(Entry, Reach)], top: f64) {
        let (limit, what) = match told.tolerance {
            Tolerance::Relative(share) => (share, "certified gap / P of each model"),
            Tolerance::Absolute(gap) => (gap, "certified gap of each model"),
        };
        let bound = |reach: &Reach, lambda: f64| {
            reach.certificate(lambda).map_or(f64::NAN, |c| told.tolerance.bound(&c))
        };
        let y = Scale::upward([0.0, limit].into_iter(), top);
        self.panel(what, y, top, number);
        let level = y.at(limit);
        let _ = writeln!(
            self.text,
            "<line class=\"tolerance\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{level:.2}\" y2=\"{level:.2}\" \
             stroke=\"{GREY}\" stroke-dasharray=\"5 4\"/>"
        );
        for (entry, reach) in models {
            let curve: Vec<(f64, f64)> = along(entry.interval, models.len())
                .map(|lambda| (lambda, bound(reach, lambda)))
                .collect();
            self.curve("gap", &curve, y, ORANGE);
            self.dot("at", entry.lambda, bound(reach, entry.lambda), y, ORANGE);
        }
    }

    /// Draws the error of every model.
    fn errors(&mut self, what: &str, tested: Vec<(f64, f64)>, top: f64) {
        let y = Scale::upward(tested.iter().map(|&(_, error)| error), top);
        self.panel(what, y, top, number);
        self.curve("errors", &tested, y, GREEN);
        for (lambda, error) in tested {
            self.dot("error", lambda, error, y, GREEN);
        }
    }

    /// Draws a frame with its axes.
    fn panel(&mut self, title: &str, y: Scale, top: f64, label: impl Fn(f64) -> String) {
        let bottom = top + HEIGHT;
        let _ = write!(
            self.text,
            "<text x=\"{LEFT}\" y=\"{:.0}\" font-size=\"13\">{title}</text>\n\
             <path d=\"M{LEFT} {top}V{bottom}H{RIGHT}\" fill=\"none\" stroke=\"{GREY}\"/>\n",
            top - 8.0
        );
        for value in y.ticks() {
            let at = y.at(value);
            let _ = write!(
                self.text,
                "<path d=\"M{LEFT} {at:.2}H{RIGHT}\" stroke=\"{GREY}\" stroke-opacity=\"0.25\"/>\n\
                 <text x=\"{:.0}\" y=\"{:.2}\" text-anchor=\"end\">{}</text>\n",
                LEFT - 8.0,
                at + 4.0,
                label(value)
            );
        }
        for lambda in self.x.decades() {
            let at = self.x.at(lambda.ln());
            let _ = write!(
                self.text,
                "<path d=\"M{at:.2} {bottom}v5\" stroke=\"{GREY}\"/>\n\
                 <text x=\"{at:.2}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>\n",
                bottom + 18.0,
                number(lambda)
            );
        }
        let _ = writeln!(
            self.text,
            "<text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            RIGHT + 8.0,
            bottom + 4.0,
            self.label
        );
    }

    fn points(&self, points: impl Iterator<Item = (f64, f64)>, y: Scale) -> String {
        let place = |(l, v): (f64, f64)| format!("{:.2},{:.2}", self.x.at(l.ln()), y.at(v));
        points.map(place).collect::<Vec<_>>().join(" ")
    }

    fn curve(&mut self, class: &str, points: &[(f64, f64)], y: Scale, colour: &str) {
        let points = self.points(points.iter().copied(), y);
        let _ = writeln!(
            self.text,
            "<polyline class=\"{class}\" points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>"
        );
    }

    fn dot(&mut self, class: &str, lambda: f64, value: f64, y: Scale, colour: &str) {
        let (x, y) = (self.x.at(lambda.ln()), y.at(value));
        let _ = writeln!(
            self.text,
            "<circle class=\"{class}\" cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"3\" fill=\"{colour}\"/>"
        );
    }
}

/// Returns the shortest label of a tick.
fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".into()
    } else if (1e-3..1e5).contains(&size) {
        let text = format!("{x:.6}");
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        let text = format!("{x:.3e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        for (from, to) in [(0.0, 0.0101), (0.3, 0.46), (0.0, 1e-9), (5.0, 5e6), (0.999, 1.0)] {
            let ticks = Scale::new(from, to, 100.0, 0.0).ticks();
            assert!((2..=8).contains(&ticks.len()), "{from} {to} {ticks:?}");
            assert!(ticks.iter().all(|&y| (from..=to).contains(&y)), "{from} {to} {ticks:?}");
        }
        let decades = Scale::new(1e-4_f64.ln(), 0.1_f64.ln(), 0.0, 1.0).decades();
        assert_eq!(
            decades.iter().map(|&x| number(x)).collect::<Vec<_>>(),
            ["1e-4", "0.001", "0.01", "0.1"]
        );
        for (from, to) in [(1e-3, 1e-3), (0.11, 0.12), (1e-300, 1e300), (0.9e-5, 3.0)] {
            let count = Scale::new(f64::ln(from), f64::ln(to), 0.0, 1.0).decades().len();
            assert!(count <= 13, "{from} {to} {count}");
        }
    }

    #[test]
    fn labels_are_short() {
        for (x, told) in
            [(0.0, "0"), (0.25, "0.25"), (1e-5, "1e-5"), (2000.0, "2000"), (3e7, "3e7")]
        {
            assert_eq!(number(x), told);
        }
    }
}
