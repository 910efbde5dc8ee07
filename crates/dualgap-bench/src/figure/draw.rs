//! A figure as SVG: panels side by side with one legend, drawn by plotters.
//!
//! Logarithmic axes are linear axes of the logarithm, with ticks at powers of ten, so all panels are of one type. plotters
//! rounds to whole pixels, so the drawing is made at four times its size and shown smaller.

use super::axis::Axis;
use super::curves::{Curve, Role, Spread};
use dualgap::{Error, Result};
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::element::{DashedPathElement, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

/// A figure: its name in files, what it shows, and its panels row by row.
#[derive(Clone, Debug)]
pub struct Figure {
    pub name: &'static str,
    pub title: String,
    pub columns: usize,
    pub panels: Vec<Panel>,
    /// Lines below the legend: where the optimum is known from, and what else a reader has to know.
    pub notes: Vec<String>,
}

/// Curves over one pair of axes.
#[derive(Clone, Debug)]
pub struct Panel {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub curves: Vec<Curve>,
    /// A horizontal line and what it is: below it nothing is proved.
    pub level: Option<(f64, String)>,
}

/// Pixels of the drawing for one of the picture.
const SCALE: u32 = 4;

/// Sizes in pixels of the picture.
const PANEL: (u32, u32) = (390, 270);
const TITLE: u32 = 34;
const LINE: u32 = 20;
const LETTERS: u32 = 12;

/// About how wide a letter is, for the places of the legend's entries.
const LETTER_WIDTH: f64 = 6.6;

/// Colours that people with colour-blindness can tell apart (Okabe and Ito), and a few darker ones.
const COLOURS: [RGBColor; 12] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(110, 80, 60),
    RGBColor(90, 60, 150),
    RGBColor(150, 150, 40),
    RGBColor(160, 30, 60),
    RGBColor(60, 110, 60),
    RGBColor(120, 120, 120),
];
const DARK: RGBColor = RGBColor(60, 60, 60);
const GREY: RGBColor = RGBColor(140, 140, 140);
const LIGHT: RGBColor = RGBColor(225, 225, 225);

fn big(pixels: u32) -> i32 {
    (pixels * SCALE).cast_signed()
}

fn font(size: u32, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", big(size)).into_font().color(&colour)
}

/// The error of a drawing, which no backend of text can have but the type allows.
fn failed(error: impl std::fmt::Display) -> Error {
    Error::setting(format!("the figure cannot be drawn: {error}"))
}

impl Figure {
    /// The names of all curves, in the order in which they appear first.
    pub fn legend(&self) -> Vec<(&str, Role)> {
        let mut names: Vec<(&str, Role)> = Vec::new();
        for curve in self.panels.iter().flat_map(|panel| &panel.curves) {
            if names.iter().all(|&(name, _)| name != curve.name) {
                names.push((&curve.name, curve.role));
            }
        }
        names
    }

    /// Whether any method has several runs.
    fn has_bands(&self) -> bool {
        self.panels.iter().flat_map(|panel| &panel.curves).any(|curve| curve.runs > 1)
    }

    /// The colour of a method is the same in all panels.
    fn colour(&self, name: &str) -> RGBColor {
        let drawn = self.legend().into_iter().filter(|&(_, role)| role != Role::Promise);
        let place = drawn.into_iter().position(|(other, _)| other == name);
        place.map_or(GREY, |place| COLOURS[place % COLOURS.len()])
    }

    /// The entries of the legend in lines that fit.
    fn legend_lines(&self, width: u32) -> Vec<Vec<(u32, &str, Role)>> {
        let (mut lines, mut at) = (vec![Vec::new()], LINE);
        for (name, role) in self.legend() {
            let wide = (LETTER_WIDTH * name.chars().count() as f64) as u32 + 46;
            if at + wide > width && at > LINE {
                lines.push(Vec::new());
                at = LINE;
            }
            if let Some(line) = lines.last_mut() {
                line.push((at, name, role));
            }
            at += wide;
        }
        lines
    }

    /// The whole drawing.
    pub fn svg(&self) -> Result<String> {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns);
        let width = PANEL.0 * columns as u32;
        let legend = self.legend_lines(width);
        let below = LINE * (legend.len() + self.notes.len()) as u32 + LINE;
        let height = TITLE + PANEL.1 * rows as u32 + below;
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, (width * SCALE, height * SCALE))
                .into_drawing_area();
            root.fill(&WHITE).map_err(failed)?;
            let middle = font(15, BLACK).pos(Pos::new(HPos::Center, VPos::Center));
            root.draw(&Text::new(self.title.as_str(), (big(width / 2), big(TITLE / 2)), middle))
                .map_err(failed)?;
            for (k, panel) in self.panels.iter().enumerate() {
                let (row, column) = ((k / columns) as u32, (k % columns) as u32);
                let left = big(column * PANEL.0);
                let top = big(TITLE + row * PANEL.1);
                let area = root.clone().shrink((left, top), (big(PANEL.0), big(PANEL.1)));
                self.panel(panel, &area).map_err(failed)?;
            }
            let mut y = big(TITLE + PANEL.1 * rows as u32 + LINE / 2);
            for line in legend {
                for (x, name, role) in line {
                    self.entry(&root, (big(x), y), name, role).map_err(failed)?;
                }
                y += big(LINE);
            }
            let left = font(LETTERS - 1, DARK).pos(Pos::new(HPos::Left, VPos::Center));
            for note in &self.notes {
                let place = (big(LINE), y + big(4));
                root.draw(&Text::new(note.as_str(), place, left.clone())).map_err(failed)?;
                y += big(LINE - 3);
            }
            root.present().map_err(failed)?;
        }
        let drawn = format!("width=\"{}\" height=\"{}\"", width * SCALE, height * SCALE);
        Ok(text.replacen(&drawn, &format!("width=\"{width}\" height=\"{height}\""), 1))
    }

    /// A line in the colour of the method, and its name.
    fn entry<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, plotters::coord::Shift>,
        (x, y): (i32, i32),
        name: &str,
        role: Role,
    ) -> std::result::Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let colour = self.colour(name);
        let ends = [(x, y), (x + big(24), y)];
        if role == Role::Promise {
            area.draw(&DashedPathElement::new(ends, big(4), big(3), GREY.stroke_width(SCALE + 2)))?;
        } else {
            if role == Role::Stochastic && self.has_bands() {
                let corners = [(x, y - big(5)), (x + big(24), y + big(5))];
                area.draw(&Rectangle::new(corners, colour.mix(0.2).filled()))?;
            }
            area.draw(&PathElement::new(ends, colour.stroke_width(2 * SCALE)))?;
        }
        let left = font(LETTERS, DARK).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(name, (x + big(30), y), left))
    }

    fn panel<B: DrawingBackend>(
        &self,
        panel: &Panel,
        area: &DrawingArea<B, plotters::coord::Shift>,
    ) -> std::result::Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let curves: Vec<(&Curve, Vec<Spread>)> =
            panel.curves.iter().map(|curve| (curve, shown(panel, curve))).collect();
        let spreads = || curves.iter().flat_map(|(_, spreads)| spreads);
        let ((left, right), across) = panel.x.range(spreads().map(|spread| spread.x));
        // A promise may be far away: the methods decide what is in the picture.
        let runs = curves.iter().filter(|(curve, _)| curve.role != Role::Promise);
        let heights = runs.flat_map(|(_, spreads)| spreads).flat_map(|s| [s.low, s.high]);
        let ((bottom, top), up) = panel.y.range(heights);
        let style = font(LETTERS, DARK);
        let mut chart = ChartBuilder::on(area)
            .margin(big(8))
            .caption(panel.title.as_str(), font(13, BLACK))
            .x_label_area_size(big(38))
            .y_label_area_size(big(58))
            .build_cartesian_2d(
                Ticked { range: left..right, at: across },
                Ticked { range: bottom..top, at: up },
            )?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(LIGHT.stroke_width(SCALE))
            .axis_style(GREY.stroke_width(SCALE))
            .x_desc(panel.x.name)
            .y_desc(panel.y.name)
            .label_style(style.clone())
            .axis_desc_style(style)
            .x_label_formatter(&|x| panel.x.label(*x))
            .y_label_formatter(&|y| panel.y.label(*y))
            .draw()?;
        let inside = |y: f64| y.clamp(bottom, top);
        if let Some((level, what)) = &panel.level
            && let Some(y) = panel.y.place(*level).filter(|y| (bottom..=top).contains(y))
        {
            let ends = [(left, y), (right, y)];
            let stroke = GREY.stroke_width(SCALE);
            chart.draw_series([DashedPathElement::new(ends, big(2), big(3), stroke)])?;
            let style = font(LETTERS - 2, GREY).pos(Pos::new(HPos::Left, VPos::Bottom));
            let from = left + 0.02 * (right - left);
            chart.draw_series([Text::new(what.clone(), (from, y), style)])?;
        }
        for (curve, spreads) in &curves {
            let colour = self.colour(&curve.name);
            if curve.role == Role::Stochastic && curve.runs > 1 {
                let there = spreads.iter().map(|s| (s.x, inside(s.high)));
                let back = spreads.iter().rev().map(|s| (s.x, inside(s.low)));
                let around: Vec<(f64, f64)> = there.chain(back).collect();
                chart.draw_series([Polygon::new(around, colour.mix(0.18).filled())])?;
            }
        }
        for (curve, spreads) in &curves {
            let seen = spreads.iter().filter(|s| (bottom..=top).contains(&s.median));
            let line: Vec<(f64, f64)> = seen.map(|s| (s.x, s.median)).collect();
            if curve.role == Role::Promise {
                let stroke = GREY.stroke_width(SCALE + 2);
                chart.draw_series([DashedPathElement::new(line, big(4), big(3), stroke)])?;
            } else {
                let stroke = self.colour(&curve.name).stroke_width(2 * SCALE - 1);
                chart.draw_series([PathElement::new(line, stroke)])?;
            }
        }
        Ok(())
    }
}

/// The places of a curve that the axes can show.
fn shown(panel: &Panel, curve: &Curve) -> Vec<Spread> {
    let place = |s: &Spread| {
        Some(Spread {
            x: panel.x.place(s.x)?,
            low: panel.y.place(s.low)?,
            median: panel.y.place(s.median)?,
            high: panel.y.place(s.high)?,
        })
    };
    curve.spreads.iter().filter_map(place).collect()
}

/// A range with ticks of our own choice.
struct Ticked {
    range: Range<f64>,
    at: Vec<f64>,
}

impl Ranged for Ticked {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.at.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}
