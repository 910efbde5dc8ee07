//! An axis of a panel: its name, its scale, and its ticks.

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    pub name: &'static str,
    pub logarithmic: bool,
    /// The least and the largest value that are shown; by default all of them.
    pub limits: (Option<f64>, Option<f64>),
}

/// At most so many labels along an axis.
const LABELS: f64 = 6.0;

impl Axis {
    pub const fn linear(name: &'static str) -> Self {
        Self { name, logarithmic: false, limits: (None, None) }
    }

    pub const fn logarithmic(name: &'static str) -> Self {
        Self { name, logarithmic: true, limits: (None, None) }
    }

    /// The same axis from `least` on.
    pub const fn from(self, least: f64) -> Self {
        Self { limits: (Some(least), self.limits.1), ..self }
    }

    /// The same axis up to `most`.
    pub const fn to(self, most: f64) -> Self {
        Self { limits: (self.limits.0, Some(most)), ..self }
    }

    /// Where a value is along the axis, or `None` if it has no place there.
    pub fn place(self, value: f64) -> Option<f64> {
        let place = if self.logarithmic { value.log10() } else { value };
        place.is_finite().then_some(place)
    }

    /// The ends of the axis for values at these places, and where its labels are.
    pub fn range(self, places: impl Iterator<Item = f64>) -> ((f64, f64), Vec<f64>) {
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| {
            (low.min(at), high.max(at))
        });
        let end = |limit: Option<f64>, of_data: f64| {
            limit.and_then(|limit| self.place(limit)).unwrap_or(of_data)
        };
        let (low, high) = (end(self.limits.0, low), end(self.limits.1, high));
        let (low, high) = match high - low {
            room if room > 0.0 && room.is_finite() => {
                // A linear axis begins at zero if that is near.
                let near_zero = !self.logarithmic && low >= 0.0 && low < 0.5 * room;
                (if near_zero { 0.0 } else { low - 0.03 * room }, high + 0.03 * room)
            }
            _ if low.is_finite() && high.is_finite() => (low - 0.5, high + 0.5),
            _ => (0.0, 1.0),
        };
        let step = if self.logarithmic {
            ((high - low) / LABELS).ceil().max(1.0)
        } else {
            round_step((high - low) / LABELS)
        };
        let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
        let ticks: Vec<f64> = (first..=last).map(|k| k as f64 * step).collect();
        // Less than a decade has no two powers of ten in it.
        if self.logarithmic && ticks.len() < 2 {
            let parts = [1.0, 2.0, 3.0, 5.0, 7.0].map(f64::log10);
            let decades = low.floor() as i64..=high.ceil() as i64;
            let all = decades.flat_map(|decade| parts.map(|part| decade as f64 + part));
            return ((low, high), all.filter(|at| (low..=high).contains(at)).collect());
        }
        ((low, high), ticks)
    }

    /// The label of a tick at this place.
    pub fn label(self, place: f64) -> String {
        if !self.logarithmic {
            return short(place);
        }
        if (place - place.round()).abs() > 1e-9 {
            return short(10_f64.powf(place));
        }
        match place.round() as i32 {
            exponent @ -2..=3 => short(10_f64.powi(exponent)),
            exponent => format!("10{}", raised(exponent)),
        }
    }
}

/// 1, 2 or 5 times a power of ten, at least `rough`.
fn round_step(rough: f64) -> f64 {
    let unit = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().find(|k| k * unit >= rough).unwrap_or(10.0) * unit
}

/// A number in as few digits as tell ticks apart.
fn short(x: f64) -> String {
    let text = format!("{x:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// An exponent in small raised digits.
fn raised(exponent: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => c.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(c),
    };
    exponent.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_powers_of_ten_on_a_logarithmic_axis() {
        let axis = Axis::logarithmic("gap");
        let places = [3e-5, 0.7].map(|y| axis.place(y).unwrap());
        let ((low, high), ticks) = axis.range(places.into_iter());
        assert!(low < -4.5 && high > -0.155);
        let labels: Vec<String> = ticks.iter().map(|&t| axis.label(t)).collect();
        assert_eq!(labels, ["10⁻⁴", "10⁻³", "0.01", "0.1"]);
        assert_eq!(axis.place(0.0), None);
        // Less than a decade.
        let (_, ticks) = axis.range([0.12_f64, 0.6].map(f64::log10).into_iter());
        let labels: Vec<String> = ticks.iter().map(|&t| axis.label(t)).collect();
        assert_eq!(labels, ["0.2", "0.3", "0.5"]);
    }

    #[test]
    fn ticks_of_a_linear_axis_are_round_and_limits_are_kept() {
        let axis = Axis::linear("passes").to(50.0);
        let ((low, high), ticks) = axis.range([1.0, 173.0].into_iter());
        assert!(low == 0.0 && (50.0..55.0).contains(&high), "{low} {high}");
        assert_eq!(ticks, [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        // No values, or only one, are no reason to fail.
        assert_eq!(Axis::linear("x").range(std::iter::empty()).0, (0.0, 1.0));
        assert_eq!(Axis::linear("x").range([2.0].into_iter()).0, (1.5, 2.5));
    }
}
