//! A data file to examples, in place.

use super::header::{DATA_FILE, Header, Kept};
use crate::container::{Fault, MappedFile};
use crate::data::{Classes, DataSet, Examples, Numbers, Targets};
use crate::linalg::{Rows, Values};
use serde_json::Value;
use std::path::Path;

/// Opens a data file and checks all of it. Returns the examples, and their recipe as JSON.
pub fn open(path: &Path) -> Result<(Examples, Value), Fault> {
    let file = MappedFile::open(path, &DATA_FILE)?;
    let Header { recipe, features, names, targets, fingerprint } = file.header()?;
    let values = if file.has::<f32>("values") {
        Values::Single(file.array("values")?)
    } else {
        Values::Double(file.array("values")?)
    };
    let rows = Rows::mapped(file.array("starts")?, file.array("indices")?, values, features)?;
    let targets: Targets = match targets {
        Kept::None => Targets::None,
        Kept::Classes { labels } => {
            Classes::new(file.array::<u32>("classes")?.to_vec(), labels)?.into()
        }
        Kept::Numbers => Numbers::new(file.array::<f64>("numbers")?.to_vec())?.into(),
    };
    let dictionary = names.iter().map(String::as_str).collect();
    let data = Examples::new(rows, targets)?.with_dictionary(dictionary)?;
    if data.fingerprint_like(&fingerprint) != fingerprint {
        return Err("has other examples than the fingerprint in its header says".into());
    }
    Ok((data, recipe))
}
