//! The weights of other programs: numbers in lines, or a model file of LIBLINEAR.

use dualgap::data::Source;
use dualgap::structure::Names;
use dualgap::{Error, Result};
use std::path::Path;

/// Weights as a file has them.
#[derive(Debug)]
pub struct WeightFile {
    /// A row for each feature, all with as many numbers as there are scores.
    rows: Vec<Vec<f64>>,
    liblinear: Option<Header>,
}

/// What the header of LIBLINEAR's model says about the order of its weights.
#[derive(Debug, Default)]
struct Header {
    solver: String,
    /// The labels in the order of the columns; of two, the single column is for the first.
    labels: Vec<String>,
    /// The value of the column behind the features, or a negative number if there is none.
    bias: f64,
}

impl WeightFile {
    /// Reads a file, or returns an error that names the line.
    pub fn read(mut source: Source<'_>) -> Result<Self> {
        const REMEDY: &str =
            "a line has a finite number for each score of a feature, and all lines have as many";
        let liblinear = if source.head()?.trim_start().starts_with("solver_type") {
            Some(Header::read(&mut source)?)
        } else {
            None
        };
        let mut rows: Vec<Vec<f64>> = Vec::new();
        while let Some(line) = source.next_line()? {
            let line = line.trim().to_string();
            if line.is_empty() {
                continue;
            }
            let numbers = line.split_ascii_whitespace().map(|word| word.parse::<f64>().ok());
            let row: Option<Vec<f64>> =
                numbers.map(|number| number.filter(|number| number.is_finite())).collect();
            match row {
                Some(row) if rows.first().is_none_or(|first| first.len() == row.len()) => {
                    rows.push(row);
                }
                _ => return Err(source.error(format!("`{line}` are no weights"), REMEDY)),
            }
        }
        if rows.is_empty() {
            return Err(source.file_error("has no weights", REMEDY));
        }
        Ok(Self { rows, liblinear })
    }

    /// Returns the weights in the order of a model with these names, which has `count` of them; `constant` says whether
    /// the last feature is an intercept.
    pub fn arranged(
        mut self,
        path: &Path,
        names: &Names,
        count: usize,
        constant: bool,
    ) -> Result<Vec<f64>> {
        let scores = count.checked_div(names.features).unwrap_or(0).max(1);
        if let Some(header) = self.liblinear.take() {
            header.check(path, scores, constant)?;
            self.widen(names.features, constant);
            if scores == 1 {
                header.orient(path, &mut self.rows, names)?;
            } else {
                header.sort(path, &mut self.rows, names)?;
            }
        }
        let columns = self.rows[0].len();
        if (self.rows.len(), columns) != (names.features, scores) {
            let message = format!(
                "has {} lines of {columns}, and the problem has {} features of {scores}",
                self.rows.len(),
                names.features
            );
            let intercept = if constant { ", the intercept last" } else { "" };
            let remedy =
                format!("give a line for each feature, with a number for each score{intercept}");
            return Err(Error::file(path, message, remedy));
        }
        Ok(self.rows.concat())
    }

    /// Adds zeros for features that LIBLINEAR has not met, before the intercept.
    fn widen(&mut self, features: usize, constant: bool) {
        let columns = self.rows[0].len();
        let end = self.rows.len() - usize::from(constant && !self.rows.is_empty());
        let missing = features.saturating_sub(self.rows.len());
        self.rows.splice(end..end, std::iter::repeat_n(vec![0.0; columns], missing));
    }
}

impl Header {
    fn read(source: &mut Source<'_>) -> Result<Self> {
        let mut header = Self { bias: -1.0, ..Self::default() };
        while let Some(line) = source.next_line()? {
            let line = line.trim().to_string();
            let (name, value) = line.split_once(' ').unwrap_or((&line, ""));
            match name {
                "w" => return Ok(header),
                "solver_type" => header.solver = value.into(),
                "label" => header.labels = value.split_whitespace().map(String::from).collect(),
                "bias" => {
                    header.bias =
                        value.trim().parse().ok().filter(|b: &f64| b.is_finite()).ok_or_else(
                            || {
                                source
                                    .error(format!("`{value}` is no bias"), "it is a number, or -1")
                            },
                        )?;
                }
                _ => {}
            }
        }
        Err(source.file_error(
            "has the header of a LIBLINEAR model, and no weights",
            "the weights follow a line `w`: is the file whole?",
        ))
    }

    /// Returns an error if the problem is none that LIBLINEAR's weights are for.
    fn check(&self, path: &Path, scores: usize, constant: bool) -> Result<()> {
        if self.bias >= 0.0 && !constant {
            return Err(Error::file(
                path,
                format!("was trained with -B {}, and the problem has no intercept", self.bias),
                "give --intercept=penalised",
            ));
        }
        if self.bias >= 0.0 && self.bias != 1.0 {
            return Err(Error::file(
                path,
                format!("was trained with -B {}: the column of its intercept is not 1", self.bias),
                "train with -B 1, or give the data such a column and leave the intercept out",
            ));
        }
        if self.bias < 0.0 && constant {
            return Err(Error::file(
                path,
                "was trained without -B, and the problem has an intercept",
                "leave --intercept out",
            ));
        }
        if scores > 1 && self.solver != "MCSVM_CS" {
            return Err(Error::file(
                path,
                format!("has a problem of its own for each class, by the solver {}", self.solver),
                "appraise each column as binary, or take LIBLINEAR's -s 4 for all classes at once",
            ));
        }
        Ok(())
    }

    /// Turns the sign of weights that are for the first class here.
    fn orient(&self, path: &Path, rows: &mut [Vec<f64>], names: &Names) -> Result<()> {
        let ([first, _], [low, high]) = (&self.labels[..], names.alphabet.names()) else {
            return Ok(()); // of numbers
        };
        if same(first, low) {
            rows.iter_mut().flatten().for_each(|w| *w = -*w);
        } else if !same(first, high) {
            return Err(self.strange(path, names));
        }
        Ok(())
    }

    /// Brings the columns into the order of the classes.
    fn sort(&self, path: &Path, rows: &mut [Vec<f64>], names: &Names) -> Result<()> {
        let place = |name: &String| self.labels.iter().position(|label| same(label, name));
        let order: Option<Vec<usize>> = names.alphabet.names().iter().map(place).collect();
        let fits = rows.iter().all(|row| row.len() == self.labels.len());
        let Some(order) = order.filter(|_| fits) else { return Err(self.strange(path, names)) };
        rows.iter_mut().for_each(|row| *row = order.iter().map(|&k| row[k]).collect());
        Ok(())
    }

    fn strange(&self, path: &Path, names: &Names) -> Error {
        let (own, data) = (self.labels.join(" "), names.alphabet.names().join(" "));
        let message = format!("has the labels {own}, and the data have {data}");
        Error::file(path, message, "give the data that it was trained on")
    }
}

/// Whether a label of LIBLINEAR, a whole number, is that of the data.
fn same(label: &str, name: &str) -> bool {
    label == name
        || label
            .parse::<f64>()
            .is_ok_and(|label| name.parse::<f64>().is_ok_and(|name| name == label))
}
