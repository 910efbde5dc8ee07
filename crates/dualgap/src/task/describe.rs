//! A description, in words and as JSON, of the problem that a model solves: everything that its certificate depends
//! on except the data themselves, which the fingerprint identifies.
//!
//! Two models with equal JSON solve the same problem on the same data: numbers have all their digits, and long lists
//! of numbers appear as the SHA-256 that the model file has of them.

use super::{Model, Over, Provenance};
use crate::container::Digest;
use crate::data::csv::CsvKind;
use crate::data::templates::{Pad, Templates};
use crate::data::{
    ClassWeights, Classes, ColumnRecipe, CsvRecipe, Encoding, Format, Hashing, Recipe, Scaling,
    SchemeUse,
};
use crate::structure::remarks::{Remark, on_weights};
use crate::structure::words::{digest, exact, range};
use crate::structure::{Names, Structure, Words};
use crate::term::{Ball, Free, Penalty, Regulariser};
use serde_json::{Value, json};
use std::fmt::Write;

/// The largest number of names or numbers in a line; the JSON has all of them.
const LISTED: usize = 20;

/// The description of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Names and values for people, in reading order.
    pub lines: Vec<(&'static str, String)>,
    /// The same for machines: an object with the fields that `docs/command-line.md` lists.
    pub json: Value,
    /// Remarks on the problem; see [`Remark`].
    pub remarks: Vec<Remark>,
}

impl Description {
    /// Returns the description without λ: the problem of a path.
    #[must_use]
    pub fn at_every_lambda(mut self) -> Self {
        self.lines.retain(|(name, _)| *name != "lambda");
        self.json["penalty"]["lambda"] = Value::Null;
        self
    }

    /// Returns the problem of a path over λ, σ or radii: without what is varied.
    #[must_use]
    pub fn at_every(self, over: Over) -> Self {
        let mut problem = if over == Over::Radius { self } else { self.at_every_lambda() };
        match over {
            Over::Lambda => {}
            Over::L1 => {
                problem.lines.retain(|(name, _)| *name != "penalty");
                problem.json["penalty"]["l1"] = Value::Null;
            }
            Over::Radius => {
                let name = |(name, told): &mut (&str, String)| {
                    if *name == "ball" {
                        told.truncate(told.find(',').unwrap_or(told.len()));
                    }
                };
                problem.lines.iter_mut().for_each(name);
                problem.json["ball"]["radius"] = Value::Null;
            }
        }
        problem
    }
}

impl<S: Structure> Model<S> {
    /// Describes the problem that the model says it was trained on. The certificate refers to this problem if it was
    /// verified.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Linear;
    /// use dualgap::task::{Plan, Task};
    /// use dualgap::term::{Penalty, ScalarLoss};
    ///
    /// let data = Examples::from_dense_numbers(&[vec![1.0], vec![2.0], vec![3.0]], &[2.0, 4.0, 6.0])?;
    /// let task = Task::new(Linear::new(ScalarLoss::Huber { width: 0.5 }), Penalty::ridge(0.1));
    /// let model = task.fit(&data, Plan::new(Budget::relative(0.001)))?.model;
    /// let problem = model.describe(None);
    /// assert_eq!(problem.lines[..2], [("task", "regression".into()), ("loss", "huber (width 0.5)".into())]);
    /// assert_eq!(problem.json["penalty"]["lambda"], 0.1);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    ///
    /// With the training data it also tells the weights of classes, which a model file of sample weights alone has not.
    pub fn describe(&self, data: Option<&S::Data>) -> Description {
        let classes = data.and_then(|data| self.task.structure.classes(data));
        let weights = match (classes, &self.task.class_weights) {
            (Some(classes), Some(weights)) => {
                weights.weigh(classes, self.sample_weights.as_deref()).ok()
            }
            _ => self.sample_weights.clone(),
        };
        let facts = Facts {
            provenance: &self.provenance,
            names: &self.names,
            penalty: self.task.penalty,
            scaling: self.task.scaling,
            class_weights: self.task.class_weights.as_ref(),
            dim: self.dim(),
        };
        let words = self.task.structure.describe(&self.names);
        facts.described(words, weights.as_deref(), classes.map(Classes::numbers))
    }
}

/// What is said of a model of any structure: compiled once, and not for each of them.
struct Facts<'a> {
    provenance: &'a Provenance,
    names: &'a Names,
    penalty: Penalty,
    scaling: Scaling,
    class_weights: Option<&'a ClassWeights>,
    dim: usize,
}

impl Facts<'_> {
    fn described(
        &self,
        words: Words,
        weights: Option<&[f64]>,
        labels: Option<&[u32]>,
    ) -> Description {
        let Provenance { examples, recipe, fingerprint, .. } = self.provenance;
        let (names, scaling) = (self.names, self.scaling);
        let mut lines = vec![("task", words.summary()), ("loss", words.loss.clone())];
        lines.extend(words.lines.iter().cloned());
        let (weights_line, weights_json) = example_weights(weights, names, labels);
        lines.extend(weights_line);
        lines.extend(class_weights_line(self.class_weights, weights));
        lines.extend(penalty(self.penalty));
        lines.extend(self.intercept().1);
        lines.push(("examples", examples.to_string()));
        lines.push(("features", words.features.clone().unwrap_or_else(|| self.features())));
        lines.extend(recipe.iter().flat_map(recipe_lines));
        lines.extend(scale_line(scaling));
        let mut remarks = words.remarks;
        remarks.extend(weights.iter().flat_map(|weights| on_weights(weights, labels, names)));
        let mut json = json!({
            "task": words.task,
            "loss": null,
            "hamming": null,
            "rescaling": null,
            "beam": null,
            "kernel": null,
            "costs": null,
            "example_weights": weights_json,
            "class_weights": self.class_weights,
            "penalty": penalty_json(self.penalty),
            "ball": ball_json(self.penalty),
            "intercept": self.intercept().0,
            "centre": null,
            "scale": scaling,
            "n": examples,
            "labels": names.alphabet.len(),
            "features": names.features,
            "pair_features": names.pair_features,
            "weights": self.dim,
            "recipe": recipe,
            "fingerprint": fingerprint,
        });
        for (name, value) in words.json {
            json[name] = value;
        }
        Description { lines, json, remarks }
    }

    fn intercept(&self) -> (Option<&'static str>, Line) {
        let constant = self.provenance.recipe.as_ref().is_some_and(|recipe| recipe.constant);
        if let Some(Free { column, bound }) = self.penalty.free() {
            let which = if constant && column + 1 == self.names.features {
                "of a feature that is always 1".into()
            } else {
                format!("of feature {}", column + 1)
            };
            let line = format!("the weight {which}, without penalty, within ±{}", exact(bound));
            return (Some("free"), Some(("intercept", line)));
        }
        if !constant {
            return (None, None);
        }
        let how = match self.penalty.ball() {
            Some(_) => "in the ball like any other",
            None => "penalised like any other",
        };
        (Some("penalised"), Some(("intercept", format!("a feature that is always 1, {how}"))))
    }

    fn features(&self) -> String {
        let pairs = match self.names.pair_features {
            0 => String::new(),
            pairs => format!(" and {pairs} of label pairs"),
        };
        let format = self.provenance.recipe.as_ref().map(|recipe| recipe.format.of_file());
        let format = format.map_or(String::new(), |file| format!(", of {file}"));
        format!("{}{pairs}{format}", self.names.features)
    }
}

type Line = Option<(&'static str, String)>;

/// Describes the products of sample and class weights, as far as they are known.
fn example_weights(
    weights: Option<&[f64]>,
    names: &Names,
    labels: Option<&[u32]>,
) -> (Line, Value) {
    let Some(weights) = weights else { return (None, Value::Null) };
    let (smallest, largest) = range(weights.iter().copied());
    let (sum, digest) = (weights.iter().sum::<f64>(), digest(weights));
    let by_class = labels.and_then(|labels| by_class(names, weights, labels));
    let mut line = if smallest == largest {
        format!("{} for every example", exact(smallest))
    } else {
        format!("from {} to {}, {} in all", exact(smallest), exact(largest), exact(sum))
    };
    if let Some(classes) = &by_class {
        let told = classes.iter().map(|(name, weight)| format!("{name}: {}", exact(*weight)));
        let _ = write!(line, "; the same within every class: {}", listed(told.collect()));
    }
    let _ = write!(line, " (SHA-256 {digest:.16}…)");
    let by_class: Option<serde_json::Map<String, Value>> = by_class
        .map(|classes| classes.into_iter().map(|(name, w)| (name.to_string(), json!(w))).collect());
    let json = json!({
        "smallest": smallest, "largest": largest, "sum": sum, "by_class": by_class, "digest": digest,
    });
    (Some(("example weights", line)), json)
}

/// Returns the weight of each class if all its examples have the same; classes without examples are left out.
fn by_class<'a>(names: &'a Names, weights: &[f64], labels: &[u32]) -> Option<Vec<(&'a str, f64)>> {
    let names = names.alphabet.names();
    let mut found = vec![None; names.len()];
    for (&weight, &label) in weights.iter().zip(labels) {
        let of_class = found.get_mut(label as usize)?;
        if *of_class.get_or_insert(weight) != weight {
            return None;
        }
    }
    let classes = names.iter().zip(found);
    Some(classes.filter_map(|(name, weight)| Some((&name[..], weight?))).collect())
}

/// Describes class weights where the weights of the examples do not tell them.
fn class_weights_line(class_weights: Option<&ClassWeights>, weights: Option<&[f64]>) -> Line {
    match class_weights {
        Some(ClassWeights::Named(classes)) if weights.is_none() => {
            let told = classes.iter().map(|(name, weight)| format!("{name}: {}", exact(*weight)));
            Some(("class weights", listed(told.collect())))
        }
        Some(ClassWeights::Balanced) => Some(("class weights", "balanced".into())),
        _ => None,
    }
}

fn penalty(penalty: Penalty) -> Vec<(&'static str, String)> {
    let norm = |lambda: f64, norm: &str, l1: f64| {
        let l1 = if l1 > 0.0 { format!(" + {}·‖w‖₁", exact(l1)) } else { String::new() };
        let penalty = format!("lambda·{norm}{l1}");
        vec![("lambda", exact(lambda)), ("penalty", penalty)]
    };
    let mut lines = match penalty {
        Penalty::Ridge { lambda, l1, .. } => norm(lambda, "½‖w‖²", l1),
        Penalty::QNorm { lambda, l1 } => norm(lambda, "(c/2)‖w‖q², in the q-norm", l1),
        Penalty::Lasso { sigma, .. } => vec![("penalty", format!("{}·‖w‖₁", exact(sigma)))],
        Penalty::Ball { ball, mu } => {
            let (name, radius) = ball_name(ball);
            vec![("ball", format!("{name}, radius {}", exact(radius))), ("mu", exact(mu))]
        }
    };
    if let Penalty::Ridge { nonnegative: true, .. } | Penalty::Lasso { nonnegative: true, .. } =
        penalty
    {
        lines.push(("sign", "no weight is negative".into()));
    }
    lines
}

/// Returns null for a model in a ball. λ is zero where the l1 norm is alone.
fn penalty_json(penalty: Penalty) -> Value {
    let Some((lambda, regulariser)) = penalty.regulariser() else { return Value::Null };
    let Regulariser { l1, nonnegative, free, q_norm } = regulariser;
    json!({
        "lambda": lambda, "l1": l1, "nonnegative": nonnegative, "free": free, "q_norm": q_norm,
    })
}

/// Returns null for a model with a penalty.
fn ball_json(penalty: Penalty) -> Value {
    let Penalty::Ball { ball, mu } = penalty else { return Value::Null };
    let (name, radius) = ball_name(ball);
    json!({ "name": name, "radius": radius, "mu": mu })
}

fn ball_name(ball: Ball) -> (&'static str, f64) {
    match ball {
        Ball::L1 { radius } => ("l1", radius),
        Ball::Simplex { radius } => ("simplex", radius),
        Ball::Trace { radius } => ("trace", radius),
    }
}

/// Describes the intercept: a constant feature after those of the file, whose weight is `free` or `penalised`, or
/// none.
/// Describes how a file becomes features, and which part of it is used.
fn recipe_lines(recipe: &Recipe) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    match &recipe.format {
        Format::Columns(columns) => lines.push(("templates", templates(columns))),
        Format::Csv(csv) => lines.push(("table", table(csv))),
        Format::Ratings(ratings) => {
            let held = ratings.held_out.map(|held| (held.count, held.seed));
            lines.extend(held.map(|(count, seed)| {
                ("held out", format!("{count} ratings, drawn by seed {seed}, are left out"))
            }));
        }
        Format::Libsvm
        | Format::Letters
        | Format::Attributes
        | Format::Edges
        | Format::Bitext
        | Format::Own => {}
    }
    if let Some(folds) = &recipe.folds {
        let folds: Vec<String> = folds.iter().map(ToString::to_string).collect();
        lines.push(("folds", folds.join(", ")));
    }
    if let Some([begin, end]) = recipe.range {
        lines.push(("range", format!("the examples from {begin} to before {end}, from 0 on")));
    }
    lines
}

/// Describes what hashing cost.
fn hashed(hashing: Hashing) -> String {
    let Hashing { bits, features, .. } = hashing;
    let rate = 100.0 * hashing.collision_rate();
    format!(
        "{features} features hashed to {bits} bits, {rate:.1} % of them share their number with another"
    )
}

fn templates(recipe: &ColumnRecipe) -> String {
    let ColumnRecipe {
        templates,
        pad,
        min_count,
        lowercase,
        pick,
        columns,
        encoding,
        hash,
        scheme,
        ..
    } = recipe;
    let preset = "paper-conll2000";
    let mut text = if templates.is_empty() || *templates == ColumnRecipe::standard(*columns) {
        "standard".into()
    } else if ColumnRecipe::preset(preset).is_some_and(|preset| preset.templates == *templates) {
        preset.into()
    } else {
        let count = Templates::parse(templates).map_or(0, |templates| templates.len());
        let digest = Digest::of(templates.as_bytes());
        format!("{count} for single labels, of a file (SHA-256 {digest:.16}…)")
    };
    if *min_count > 1 {
        let _ = write!(text, "; features that occur less than {min_count} times are left out");
    }
    if *lowercase {
        text += "; cells in lower case";
    }
    if *encoding == Encoding::Latin1 {
        text += "; text in Latin-1";
    }
    if *pad == Pad::One {
        text += "; one mark for all tokens outside the sentence";
    }
    if !pick.is_empty() {
        let pick: Vec<String> = pick.iter().map(ToString::to_string).collect();
        let _ = write!(text, "; of columns {}", pick.join(", "));
    }
    if let Some(hashing) = hash {
        let _ = write!(text, "; {}", hashed(*hashing));
    }
    if let Some(SchemeUse { model, file }) = scheme {
        let of_file = file.map_or(String::new(), |file| format!(", in the file {}", file.name()));
        let _ = write!(text, "; labels as {}{of_file}", model.name());
    }
    text
}

fn table(recipe: &CsvRecipe) -> String {
    let of_kind = |kind: CsvKind| -> Vec<String> {
        let columns = recipe.columns.iter().filter(|column| column.kind == kind);
        columns.map(|column| column.name.clone()).collect()
    };
    let mut text = format!("label {}", recipe.label.as_deref().unwrap_or("in the last column"));
    for (kind, what) in [(CsvKind::Number, "numbers"), (CsvKind::Name, "names")] {
        let columns = of_kind(kind);
        if !columns.is_empty() {
            let _ = write!(text, "; {what}: {}", listed(columns));
        }
    }
    text
}

fn scale_line(scale: Scaling) -> Line {
    let by = match scale {
        Scaling::None => return None,
        Scaling::Max => "largest magnitude",
        Scaling::Rms => "root mean square",
    };
    Some(("columns", format!("divided by their {by}; the problem is that of the quotients")))
}

fn listed(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &more
}
