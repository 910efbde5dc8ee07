//! A description, in words and as JSON, of the problem that a model solves: everything that its certificate depends
//! on except the data themselves, which the fingerprint identifies.
//!
//! Two models with equal JSON solve the same problem on the same data: numbers have all their digits, and long lists
//! of numbers appear as the SHA-256 that the model file has of them.

use super::remarks::{Remark, mistakes, on_problem};
use super::{Centring, Model, Provenance, Structure};
use crate::data::csv::Kind;
use crate::data::templates::{Pad, Templates};
use crate::data::{Classes, ColumnRecipe, CsvRecipe, Digest, Examples, Format, Recipe, Scaling};
use crate::structure::Hamming;
use crate::term::{Ball, Free, MulticlassLoss, Regulariser, ScalarLoss};
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
}

/// Describes the problem that a model says it was trained on. The certificate refers to this problem if it was
/// verified.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::model::{describe, fit_linear};
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::structure::Choice;
/// use dualgap::term::ScalarLoss;
///
/// let data = Examples::from_dense_numbers(&[vec![1.0], vec![2.0], vec![3.0]], &[2.0, 4.0, 6.0])?;
/// let settings = Settings { lambda: 0.1, ..Settings::default() };
/// let (loss, budget) = (ScalarLoss::Huber { width: 0.5 }, Budget::relative(0.001));
/// let model = fit_linear(&data, loss, Choice::I, &settings, &budget, &mut ())?.model;
/// let problem = describe(&model);
/// assert_eq!(problem.lines[..2], [("task", "regression".into()), ("loss", "huber (width 0.5)".into())]);
/// assert_eq!(problem.json["penalty"]["lambda"], 0.1);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn describe(model: &Model) -> Description {
    described(model, None)
}

/// Describes the problem as [`describe`] does, and adds the class weights as far as they can be inferred: a model
/// file has only the weights of examples, and `data` are its training examples.
///
/// ```
/// use dualgap::data::{ClassWeights, Examples};
/// use dualgap::model::{describe_with, fit_linear};
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::structure::Choice;
/// use dualgap::term::ScalarLoss;
///
/// let data = Examples::from_dense(&[vec![1.0], vec![-2.0], vec![-3.0]], &["yes", "no", "no"])?;
/// let weights = ClassWeights::Named(vec![("yes".into(), 5.0)]).examples(&data, None)?;
/// let settings = Settings { lambda: 0.1, sample_weights: Some(weights), ..Settings::default() };
/// let budget = Budget::relative(0.001);
/// let model = fit_linear(&data, ScalarLoss::Hinge, Choice::I, &settings, &budget, &mut ())?.model;
/// let problem = describe_with(&model, &data);
/// assert_eq!(problem.json["example_weights"]["by_class"]["yes"], 5.0);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn describe_with(model: &Model, data: &Examples) -> Description {
    let classes = match &model.structure {
        Structure::Multiclass { .. } => true,
        Structure::Linear { loss } => loss.is_binary(),
        _ => false,
    };
    let labels = data.classes().ok().filter(|_| classes).map(Classes::numbers);
    described(model, labels)
}

fn described(model: &Model, labels: Option<&[u32]>) -> Description {
    let Provenance { examples, scale, recipe, fingerprint, .. } = &model.provenance;
    let mut lines = vec![("task", task(model)), ("loss", loss(model))];
    let (costs_line, costs_json) = costs(model);
    lines.extend(costs_line);
    let (weights_line, weights_json) = example_weights(model, labels);
    lines.extend(weights_line);
    lines.extend(penalty(model));
    lines.extend(intercept(model).1);
    lines.push(("examples", examples.to_string()));
    lines.push(("features", features(model)));
    lines.extend(recipe.iter().flat_map(recipe_lines));
    lines.extend(scale_line(*scale));
    let (loss_json, hamming) = match &model.structure {
        Structure::Multiclass { loss, .. } => (json!(loss), None),
        Structure::Chain { hamming } => (json!({ "name": "hamming_hinge" }), Some(hamming)),
        Structure::Linear { loss }
        | Structure::MultiLabel { loss }
        | Structure::MultiOutput { loss }
        | Structure::Completion { loss, .. } => (json!(loss), None),
    };
    let json = json!({
        "task": task_name(model),
        "loss": loss_json,
        "hamming": hamming,
        "costs": costs_json,
        "example_weights": weights_json,
        "penalty": penalty_json(&model.provenance),
        "ball": ball_json(&model.provenance),
        "intercept": intercept(model).0,
        "centre": centre_json(&model.structure),
        "scale": scale,
        "n": examples,
        "labels": model.alphabet.len(),
        "features": model.features,
        "pair_features": model.pair_features,
        "weights": model.dim(),
        "recipe": recipe,
        "fingerprint": fingerprint,
    });
    Description { lines, json, remarks: on_problem(model, labels) }
}

/// Returns the program's name for the task of a model.
pub fn task_name(model: &Model) -> &'static str {
    match model.structure {
        Structure::Multiclass { .. } => "multiclass",
        Structure::MultiLabel { .. } => "multilabel",
        Structure::MultiOutput { .. } => "multioutput",
        Structure::Chain { .. } => "chain",
        Structure::Linear { loss } if loss.is_binary() => "binary",
        Structure::Linear { .. } => "regression",
        Structure::Completion { .. } => "completion",
    }
}

fn task(model: &Model) -> String {
    let (name, labels) = (task_name(model), model.alphabet.names());
    match (&model.structure, labels) {
        (Structure::Linear { loss }, [first, second]) if loss.is_binary() => {
            format!("{name}, {first} or {second}")
        }
        (Structure::Linear { .. }, _) => name.into(),
        (Structure::Completion { items, .. }, _) => {
            format!("{name}, {} users and {} items", model.features, items.len())
        }
        (Structure::MultiOutput { .. }, _) => format!("{name}, {} outputs", labels.len()),
        _ => format!("{name}, {} labels", labels.len()),
    }
}

fn loss(model: &Model) -> String {
    match &model.structure {
        Structure::Multiclass { loss: MulticlassLoss::Hinge, .. } => "hinge".into(),
        Structure::Multiclass { loss: MulticlassLoss::SmoothHinge { width }, .. } => {
            format!("smooth-hinge (width {})", exact(*width))
        }
        Structure::Multiclass { loss: MulticlassLoss::Softmax, .. } => "softmax".into(),
        Structure::Chain { hamming: Hamming::Plain } => "hinge, the number of wrong labels".into(),
        Structure::Chain { hamming: Hamming::Normalized } => {
            "hinge, the fraction of wrong labels".into()
        }
        Structure::Linear { loss } | Structure::Completion { loss, .. } => scalar(*loss),
        Structure::MultiLabel { loss } => format!("{} of every label", scalar(*loss)),
        Structure::MultiOutput { loss } => format!("{} of every output", scalar(*loss)),
    }
}

fn scalar(loss: ScalarLoss) -> String {
    match loss {
        ScalarLoss::Hinge => "hinge".into(),
        ScalarLoss::SmoothHinge { width } => format!("smooth-hinge (width {})", exact(width)),
        ScalarLoss::SquaredHinge => "squared-hinge".into(),
        ScalarLoss::Logistic => "logistic".into(),
        ScalarLoss::Squared => "squared".into(),
        ScalarLoss::Absolute => "absolute".into(),
        ScalarLoss::EpsilonInsensitive { epsilon } => {
            format!("epsilon-insensitive (epsilon {})", exact(epsilon))
        }
        ScalarLoss::Huber { width } => format!("huber (width {})", exact(width)),
    }
}

type Line = Option<(&'static str, String)>;

/// Describes the costs of mistakes; softmax and the tasks that are not multiclass have none.
fn costs(model: &Model) -> (Line, Value) {
    let Structure::Multiclass { costs, loss } = &model.structure else {
        return (None, Value::Null);
    };
    if *loss == MulticlassLoss::Softmax {
        return (None, Value::Null);
    }
    let Some(costs) = costs else {
        return (Some(("costs", "every mistake costs 1".into())), json!({ "name": "zero_one" }));
    };
    let mistakes = || mistakes(costs, model.alphabet.len());
    let (smallest, largest) = range(mistakes());
    let (zeros, digest) = (mistakes().filter(|&cost| cost == 0.0).count(), digest(costs));
    let line = format!(
        "a matrix: mistakes cost from {} to {} (SHA-256 {digest:.16}…)",
        exact(smallest),
        exact(largest)
    );
    let json = json!({
        "name": "matrix", "smallest": smallest, "largest": largest, "zeros": zeros, "digest": digest,
    });
    (Some(("costs", line)), json)
}

/// Describes the products of sample and class weights, which are the weights that a model file has.
fn example_weights(model: &Model, labels: Option<&[u32]>) -> (Line, Value) {
    let Some(weights) = &model.sample_weights else { return (None, Value::Null) };
    let (smallest, largest) = range(weights.iter().copied());
    let (sum, digest) = (weights.iter().sum::<f64>(), digest(weights));
    let by_class = labels.and_then(|labels| by_class(model, weights, labels));
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
fn by_class<'a>(model: &'a Model, weights: &[f64], labels: &[u32]) -> Option<Vec<(&'a str, f64)>> {
    let names = model.alphabet.names();
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

fn penalty(model: &Model) -> Vec<(&'static str, String)> {
    let Provenance { ball, lambda, regulariser, .. } = &model.provenance;
    if let Some(within) = ball {
        let (name, radius) = ball_name(within.ball);
        return vec![("ball", format!("{name}, radius {}", exact(radius))), ("mu", exact(*lambda))];
    }
    let Regulariser { l1, nonnegative, q_norm, .. } = *regulariser;
    let mut lines = vec![("lambda", exact(*lambda))];
    let norm = if q_norm { "(c/2)‖w‖q², in the q-norm" } else { "½‖w‖²" };
    let penalty = match (*lambda > 0.0, l1 > 0.0) {
        (true, true) => format!("lambda·{norm} + {}·‖w‖₁", exact(l1)),
        (false, true) => format!("{}·‖w‖₁", exact(l1)),
        _ => format!("lambda·{norm}"),
    };
    lines.push(("penalty", penalty));
    if nonnegative {
        lines.push(("sign", "no weight is negative".into()));
    }
    lines
}

/// Returns null for a model in a ball.
fn penalty_json(provenance: &Provenance) -> Value {
    let Provenance { ball, lambda, regulariser, .. } = provenance;
    let Regulariser { l1, nonnegative, free, q_norm } = regulariser;
    if ball.is_some() {
        return Value::Null;
    }
    json!({
        "lambda": lambda, "l1": l1, "nonnegative": nonnegative, "free": free, "q_norm": q_norm,
    })
}

/// Returns null for a model with a penalty.
fn ball_json(provenance: &Provenance) -> Value {
    let Some(within) = provenance.ball else { return Value::Null };
    let (name, radius) = ball_name(within.ball);
    json!({ "name": name, "radius": radius, "mu": provenance.lambda })
}

fn ball_name(ball: Ball) -> (&'static str, f64) {
    match ball {
        Ball::L1 { radius } => ("l1", radius),
        Ball::Trace { radius } => ("trace", radius),
    }
}

/// Describes the intercept: a constant feature after those of the file, whose weight is `free` or `penalised`, or
/// none.
fn intercept(model: &Model) -> (Option<&'static str>, Line) {
    let constant = model.provenance.recipe.as_ref().is_some_and(|recipe| recipe.constant);
    if let Some(Free { column, bound }) = model.provenance.regulariser.free {
        let which = if constant && column + 1 == model.features {
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
    let how = match model.provenance.ball {
        Some(_) => "in the ball like any other",
        None => "penalised like any other",
    };
    (Some("penalised"), Some(("intercept", format!("a feature that is always 1, {how}"))))
}

fn features(model: &Model) -> String {
    let pairs = match model.pair_features {
        0 => String::new(),
        pairs => format!(" and {pairs} of label pairs"),
    };
    let format = model.provenance.recipe.as_ref().map(|recipe| recipe.format.name());
    let format = format.map_or(String::new(), |format| format!(", of a {format} file"));
    match &model.structure {
        Structure::Completion { items, centre, .. } => {
            let centre = match centre.centring {
                Centring::None => "not centred".into(),
                Centring::Mean => format!("less their mean, {}", exact(centre.mean)),
                Centring::Effects => format!(
                    "less their mean, {}, and effects of users and items",
                    exact(centre.mean)
                ),
            };
            format!(
                "a weight for each of {} users and {} items; ratings {centre}",
                model.features,
                items.len()
            )
        }
        _ => format!("{}{pairs}{format}", model.features),
    }
}

/// Returns null without ratings. The effects are left out because they follow from the ratings.
fn centre_json(structure: &Structure) -> Value {
    let Structure::Completion { centre, items, .. } = structure else { return Value::Null };
    json!({ "name": centre.centring, "mean": centre.mean, "items": items.len() })
}

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
        Format::Libsvm | Format::Letters => {}
    }
    if let Some(folds) = &recipe.folds {
        let folds: Vec<String> = folds.iter().map(ToString::to_string).collect();
        lines.push(("folds", folds.join(", ")));
    }
    lines
}

fn templates(recipe: &ColumnRecipe) -> String {
    let ColumnRecipe { templates, pad, min_count, lowercase, pick, columns, .. } = recipe;
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
    if *pad == Pad::One {
        text += "; one mark for all tokens outside the sentence";
    }
    if !pick.is_empty() {
        let pick: Vec<String> = pick.iter().map(ToString::to_string).collect();
        let _ = write!(text, "; of columns {}", pick.join(", "));
    }
    text
}

fn table(recipe: &CsvRecipe) -> String {
    let of_kind = |kind: Kind| -> Vec<String> {
        let columns = recipe.columns.iter().filter(|column| column.kind == kind);
        columns.map(|column| column.name.clone()).collect()
    };
    let mut text = format!("label {}", recipe.label.as_deref().unwrap_or("in the last column"));
    for (kind, what) in [(Kind::Number, "numbers"), (Kind::Name, "names")] {
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

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = values.map(|x| (x, x)).reduce(|(a, b), (x, y)| (a.min(x), b.max(y)));
    ends.unwrap_or((0.0, 0.0))
}

/// Returns the digest that the model file has for a tensor of these numbers.
fn digest(values: &[f64]) -> String {
    Digest::of(&values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

/// Formats a number with as many digits as it takes to read it back exactly.
fn exact(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or(text.clone(), Into::into)
}
