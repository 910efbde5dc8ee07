//! How columns become features: templates and their options, in a form that a model file stores.

use super::templates::{Pad, Templates};
use super::{Encoding, Hashing, SchemeUse};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How columns become features.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnRecipe {
    /// The templates as text, in the manner of CRF++: `U0:%x[0,0]`; empty for [`ColumnRecipe::standard`].
    pub templates: String,
    /// The text in place of tokens outside the sentence.
    pub pad: Pad,
    /// Features that occur less often in the training data are dropped. Zero before they are read lets the file decide: two
    /// from 20,000 tokens on, else one.
    pub min_count: u32,
    /// Whether templates see cells in lower case, except for their shape.
    pub lowercase: bool,
    /// The columns of the file to use, in this order, the label last; all of them if empty.
    #[serde(default)]
    pub pick: Vec<usize>,
    /// How the bytes of a file become characters.
    #[serde(default, skip_serializing_if = "Encoding::is_utf8")]
    pub encoding: Encoding,
    /// Features by a hash of their names, if they go without names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hashing>,
    /// The scheme of the labels that a model is trained on, if it is not that of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<SchemeUse>,
    /// Whether tabs separated the columns of the training data.
    #[serde(default)]
    pub tabs: bool,
    /// The number of columns of the training data, of those in use and with the label; zero before they are read.
    pub columns: usize,
}

impl Default for ColumnRecipe {
    /// Reasonable features for any columns.
    fn default() -> Self {
        Self {
            templates: String::new(),
            pad: Pad::ByDistance,
            min_count: 1,
            lowercase: false,
            pick: Vec::new(),
            encoding: Encoding::Utf8,
            hash: None,
            scheme: None,
            tabs: false,
            columns: 0,
        }
    }
}

/// The features of Lacoste-Julien et al. (2013) for CoNLL-2000: words in lower case and parts of speech.
const PAPER_CONLL2000: &str = "\
U00:%lower[-2,0]
U01:%lower[-1,0]
U02:%lower[0,0]
U03:%lower[1,0]
U04:%lower[2,0]
U05:%lower[-1,0]|%lower[0,0]
U06:%lower[0,0]|%lower[1,0]
U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]|%x[-1,1]
U16:%x[-1,1]|%x[0,1]
U17:%x[0,1]|%x[1,1]
U18:%x[1,1]|%x[2,1]
U20:%x[-2,1]|%x[-1,1]|%x[0,1]
U21:%x[-1,1]|%x[0,1]|%x[1,1]
U22:%x[0,1]|%x[1,1]|%x[2,1]
U99:
B
";

impl ColumnRecipe {
    /// Returns the preset of this name.
    pub fn preset(name: &str) -> Option<Self> {
        (name == "paper-conll2000").then(|| Self {
            templates: PAPER_CONLL2000.into(),
            pad: Pad::One,
            min_count: 3,
            ..Self::default()
        })
    }

    /// Returns a recipe with templates from a text, such as a CRF++ template file; `name` is its name in error
    /// messages.
    pub fn from_templates(name: &str, templates: String) -> Result<Self> {
        parse(name, &templates)?;
        Ok(Self { templates, ..Self::default() })
    }

    /// Returns templates for a file with this many columns, the last of which is the label: the words of the
    /// context, their shape and affixes, and the other columns of the context.
    pub fn standard(columns: usize) -> String {
        let mut templates = String::new();
        let mut add = |name: &str, body: &str| {
            templates.extend(["U", name, ":", body, "\n"]);
        };
        for offset in -2..=2 {
            add(&format!("w{offset}"), &format!("%lower[{offset},0]"));
        }
        add("w-1w0", "%lower[-1,0]|%lower[0,0]");
        add("w0w1", "%lower[0,0]|%lower[1,0]");
        add("w-1w1", "%lower[-1,0]|%lower[1,0]");
        add("form", "%x[0,0]");
        for offset in -1..=1 {
            add(&format!("shape{offset}"), &format!("%shape[{offset},0]"));
        }
        add("shapes", "%shape[-1,0]|%shape[0,0]|%shape[1,0]");
        for n in 1..=4 {
            add(&format!("prefix{n}"), &format!("%prefix{n}[0,0]"));
            add(&format!("suffix{n}"), &format!("%suffix{n}[0,0]"));
        }
        for c in 1..columns.saturating_sub(1) {
            for offset in -2..=2 {
                add(&format!("c{c}.{offset}"), &format!("%x[{offset},{c}]"));
            }
            for offset in -2..=1 {
                let next = offset + 1;
                add(&format!("c{c}.{offset}{next}"), &format!("%x[{offset},{c}]|%x[{next},{c}]"));
            }
            add(&format!("c{c}.tri"), &format!("%x[-1,{c}]|%x[0,{c}]|%x[1,{c}]"));
            add(&format!("w-1c{c}"), &format!("%lower[-1,0]|%x[0,{c}]"));
            add(&format!("w1c{c}"), &format!("%x[0,{c}]|%lower[1,0]"));
        }
        add("bias", "");
        templates.push_str("B\n");
        templates
    }

    /// Returns the place in the file of the `k`-th column in use.
    pub fn place(&self, k: usize) -> usize {
        if self.pick.is_empty() { k } else { self.pick.get(k).copied().unwrap_or(usize::MAX) }
    }

    /// Returns the number of columns that a file needs for the first `count` columns in use.
    pub(super) fn width(&self, count: usize) -> usize {
        (0..count).map(|k| self.place(k).saturating_add(1)).max().unwrap_or(0)
    }

    /// Parses the templates and replaces the columns of their macros by those of the file. The templates may refer
    /// to all columns in use except the label.
    pub(super) fn parse(&self) -> Result<Templates> {
        let templates = parse("the templates", &self.templates)?;
        if templates.columns() >= self.columns.max(2) {
            let (named, there) = (templates.columns() - 1, self.columns.max(1) - 1);
            return Err(Error::setting(format!(
                "the templates name column {named}, counted from 0, and there are {there} beside \
                 the label"
            )));
        }
        let templates = templates.moved(|k| self.place(k));
        Ok(if self.lowercase { templates.lowercased() } else { templates })
    }
}

fn parse(name: &str, templates: &str) -> Result<Templates> {
    Templates::parse(templates).map_err(|(line, message)| {
        Error::line(name, line, message, "a template is a line such as U00:%x[0,0]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_presets_can_be_used() {
        let preset = ColumnRecipe::preset("paper-conll2000").unwrap();
        assert_eq!(Templates::parse(&preset.templates).unwrap().len(), 20); // 19 templates and a constant
        assert!(ColumnRecipe::preset("no such preset").is_none());
        for columns in 2..5 {
            let templates = Templates::parse(&ColumnRecipe::standard(columns)).unwrap();
            assert_eq!(templates.columns(), columns - 1);
        }
    }
}
