//! What a figure leaves: the picture, its numbers, its tables, and what was asserted or compared on the way.

use super::draw::{Figure, Panel};
use dualgap::container::write_atomically;
use dualgap::{Error, Result};
use std::path::Path;

/// A figure with all that belongs to it.
#[derive(Debug)]
pub struct Outcome {
    pub figure: Figure,
    pub tables: Vec<Table>,
    pub remarks: Vec<Remark>,
}

/// A table, written to a csv file of its own.
#[derive(Debug)]
pub struct Table {
    /// What follows the figure's name in that of the file.
    pub name: &'static str,
    pub header: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
}

/// A sentence, and whether it is true.
#[derive(Debug)]
pub enum Remark {
    /// It has to be: a published number, or one that is known exactly.
    Assertion(String, bool),
    /// The paper says so: it may be otherwise here.
    Claim(String, bool),
}

impl Outcome {
    pub fn of(figure: Figure) -> Self {
        Self { figure, tables: Vec::new(), remarks: Vec::new() }
    }

    /// Writes `NAME.svg`, `NAME.csv` and a csv file for every table into a folder.
    pub fn write(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::setting(format!("the folder {} cannot be made: {error}", folder.display()))
        })?;
        let name = self.figure.name;
        write_atomically(&folder.join(format!("{name}.svg")), self.figure.svg()?.as_bytes())?;
        let numbers = numbers(&self.figure.panels)?;
        write_atomically(&folder.join(format!("{name}.csv")), &numbers)?;
        for table in &self.tables {
            let file = folder.join(format!("{name}-{}.csv", table.name));
            write_atomically(&file, &lines(&table.header, &table.rows)?)?;
        }
        Ok(())
    }

    /// Prints tables as they go into the book, then the remarks. Returns how many assertions do not hold.
    pub fn report(&self) -> usize {
        for table in &self.tables {
            println!(
                "\n| {} |\n|{}",
                table.header.join(" | "),
                " --- |".repeat(table.header.len())
            );
            table.rows.iter().for_each(|row| println!("| {} |", row.join(" | ")));
        }
        println!();
        for remark in &self.remarks {
            match remark {
                Remark::Assertion(text, true) => println!("  holds      {text}"),
                Remark::Assertion(text, false) => println!("  IS BROKEN  {text}"),
                Remark::Claim(text, true) => println!("  agrees     {text}"),
                Remark::Claim(text, false) => println!("  differs    {text}"),
            }
        }
        self.remarks.iter().filter(|remark| matches!(remark, Remark::Assertion(_, false))).count()
    }
}

/// The numbers of all curves, a line for every place.
pub fn numbers(panels: &[Panel]) -> Result<Vec<u8>> {
    let header =
        ["panel", "x_axis", "y_axis", "method", "role", "runs", "x", "best", "median", "worst"];
    let mut rows = Vec::new();
    for panel in panels {
        for curve in &panel.curves {
            let of = [&panel.title, panel.x.name, panel.y.name, &curve.name, curve.role.name()];
            for spread in &curve.spreads {
                let values = [spread.x, spread.low, spread.median, spread.high];
                let mut row: Vec<String> = of.iter().map(ToString::to_string).collect();
                row.push(curve.runs.to_string());
                row.extend(values.map(|value| value.to_string()));
                rows.push(row);
            }
        }
    }
    lines(&header, &rows)
}

fn lines(header: &[&str], rows: &[Vec<String>]) -> Result<Vec<u8>> {
    let failed = |error: csv::Error| Error::setting(format!("the csv cannot be made: {error}"));
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(header).map_err(failed)?;
    rows.iter().try_for_each(|row| out.write_record(row)).map_err(failed)?;
    out.into_inner().map_err(|error| Error::setting(format!("the csv cannot be made: {error}")))
}

#[cfg(test)]
mod tests {
    use super::super::axis::Axis;
    use super::super::curves::{Curve, Role};
    use super::*;

    fn outcome() -> Outcome {
        let runs = [vec![(1.0, 0.5), (2.0, 0.125)], vec![(1.0, 0.25), (2.0, 0.0625)]];
        let panel = |title: &str| Panel {
            title: title.into(),
            x: Axis::linear("effective passes"),
            y: Axis::logarithmic("suboptimality"),
            curves: vec![
                Curve::new("one, by \"chance\"", Role::Stochastic, &runs),
                Curve::new("all <at once>", Role::Batch, &runs[..1]),
                Curve::new("promised", Role::Promise, &[vec![(1.0, 1e9), (2.0, 1e8)]]),
            ],
            level: Some((0.1, "proved".into())),
        };
        let figure = Figure {
            name: "test-figure",
            title: "A figure".into(),
            columns: 2,
            panels: vec![panel("left, λ = 1"), panel("right")],
            notes: vec!["a note".into()],
        };
        let table = Table {
            name: "order",
            header: vec!["a", "b"],
            rows: vec![vec!["1".into(), "x,y".into()]],
        };
        Outcome { tables: vec![table], ..Outcome::of(figure) }
    }

    #[test]
    fn the_picture_names_every_method_once_and_its_axes_in_every_panel() {
        let svg = outcome().figure.svg().unwrap();
        let count = |what: &str| svg.matches(what).count();
        for name in ["one, by", "all &lt;at once&gt;", "promised"] {
            assert_eq!(count(name), 1, "{name}");
        }
        for text in ["effective passes", "suboptimality", "proved"] {
            assert_eq!(count(text), 2, "{text}");
        }
        for text in ["A figure", "left, λ = 1", "right", "a note"] {
            assert_eq!(count(text), 1, "{text}");
        }
        // A band in each panel, of the one method that has several runs; no number went astray.
        assert_eq!(count("<polygon"), 2);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        outcome().write(folder.path()).unwrap();
        let read = |name: &str| {
            let mut reader = csv::Reader::from_path(folder.path().join(name)).unwrap();
            reader.records().collect::<std::result::Result<Vec<_>, _>>().unwrap()
        };
        let rows = read("test-figure.csv");
        assert_eq!(rows.len(), 2 * 3 * 2);
        assert_eq!((&rows[0][0], &rows[0][3]), ("left, λ = 1", "one, by \"chance\""));
        let values: Vec<f64> = (6..10).map(|k| rows[1][k].parse().unwrap()).collect();
        assert_eq!(values, [2.0, 0.0625, 0.093_75, 0.125]);
        assert_eq!(&read("test-figure-order.csv")[0][1], "x,y");
        assert!(folder.path().join("test-figure.svg").exists());
    }
}
