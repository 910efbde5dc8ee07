//! Model files of version 1, which stored the settings of a run in the place of its task.

use crate::container::Fault;
use crate::data::TargetKind;
use crate::term::ScalarLoss;
use serde_json::{Value, json};

/// The settings of the engine that version 1 stored.
const SETTINGS: [&str; 11] = [
    "solver",
    "step",
    "direction",
    "cache",
    "sampling",
    "shrinking",
    "acceleration",
    "average",
    "batch",
    "seed",
    "option",
];

/// Returns the header that this version has for the same model.
pub(super) fn upgrade(old: &Value) -> Result<Value, Fault> {
    let fields = |value: &Value| {
        serde_json::from_value::<serde_json::Map<String, Value>>(value.clone())
            .map_err(|error| Fault::caused("has a header that makes no sense", error))
    };
    let (mut structure, old_provenance) = (fields(&old["task"])?, fields(&old["provenance"])?);
    let was = |name: &str| old_provenance.get(name).cloned();
    let name = structure.remove("name").unwrap_or_default();
    let ball = was("ball").filter(|ball| !ball.is_null());
    let (lambda, l1) = (was("lambda"), was("l1").unwrap_or(json!(0.0)));
    let (nonnegative, free) = (was("nonnegative").unwrap_or(json!(false)), was("free"));
    let beyond = l1 != json!(0.0) || nonnegative == json!(true) || free.is_some();
    let q_norm = was("q_norm") == Some(json!(true));
    let penalty = match &ball {
        Some(_) if beyond || q_norm => {
            return Err("names another regulariser beside a ball".into());
        }
        Some(ball) => {
            let ball = json!({ "name": ball["name"], "radius": ball["radius"] });
            json!({ "name": "ball", "ball": ball, "mu": lambda })
        }
        None if q_norm && (nonnegative == json!(true) || free.is_some()) => {
            return Err(
                "names a q-norm, and nonnegative or free weights, which it does not go with".into(),
            );
        }
        None if q_norm => json!({ "name": "q_norm", "lambda": lambda, "l1": l1 }),
        None if lambda == Some(json!(0.0)) => {
            json!({ "name": "lasso", "sigma": l1, "nonnegative": nonnegative, "free": free })
        }
        None => {
            json!({ "name": "ridge", "lambda": lambda, "l1": l1, "nonnegative": nonnegative, "free": free })
        }
    };
    let method = if let Some(ball) = &ball {
        json!({
            "family": "ball",
            "method": ball.get("method").cloned().unwrap_or(json!("pdbfw")),
            "steps": ball.get("steps").cloned().unwrap_or(json!({ "name": "search" })),
            "seed": was("seed"),
        })
    } else {
        let mut method = json!({ "family": "dual" });
        for name in SETTINGS {
            if let Some(value) = was(name) {
                method[name] = value;
            }
        }
        method
    };
    let mut provenance = json!({ "method": method });
    for name in ["program", "stop", "passes", "oracle_calls", "examples", "recipe", "fingerprint"] {
        provenance[name] = was(name).unwrap_or(Value::Null);
    }
    of_numbers(&name, &structure, &mut provenance);
    let scaling = was("scale").unwrap_or(json!("none"));
    let mut new = old.clone();
    new["structure"] = name;
    new["task"] = json!({ "structure": structure, "penalty": penalty, "scaling": scaling });
    new["provenance"] = provenance;
    Ok(new)
}

/// Corrects a recipe that gives the target of a model of numbers as a class.
fn of_numbers(name: &Value, structure: &serde_json::Map<String, Value>, provenance: &mut Value) {
    let loss = structure.get("loss").cloned().unwrap_or_default();
    let binary = serde_json::from_value(loss).map_or(true, ScalarLoss::is_binary);
    let recipe = &mut provenance["recipe"];
    if *name != json!("linear") || binary || recipe.is_null() {
        return;
    }
    let read: Option<crate::data::Recipe> = serde_json::from_value(recipe.clone()).ok();
    if read.is_some_and(|read| read.target == TargetKind::Class) {
        recipe["numbers"] = json!(true);
    }
}
