//! The file of a conversion, called a map: how files are read, names and sizes in the header, the grids and their bins
//! as the body of a sealed file in lines.

use super::Conversion;
use crate::container::{Fault, Form, Kind, Reader, Tensor, Writer, read_file};
use crate::data::random_binning::Sizes;
use crate::data::{Alphabet, RandomBinning, Recipe, Sink};
use crate::{Result, Setting};
use serde::{Deserialize, Serialize};
use std::path::Path;

const MAP: Kind = Kind { name: "map", form: Form::Lines, oldest: 1, version: 1 };

#[derive(Serialize, Deserialize)]
struct Header {
    recipe: Recipe,
    labels: Alphabet,
    /// The names of the features; empty if they have none.
    names: Vec<String>,
    features: usize,
    binning: Option<Sizes>,
}

impl Conversion {
    /// Writes the map to the sink that the caller has chosen.
    pub fn save(&self, sink: &mut Sink) -> Result<()> {
        let (sizes, bytes) = self.binning.as_ref().map(RandomBinning::to_bytes).unzip();
        let header = Header {
            recipe: self.recipe.clone(),
            labels: self.alphabet.clone(),
            names: self.dictionary.names().map(String::from).collect(),
            features: self.features,
            binning: sizes,
        };
        let mut writer = Writer::new(&MAP, &header);
        writer.tensor("body", Tensor::bytes(bytes.unwrap_or_default()));
        sink.bytes(&writer.to_bytes()?)
    }

    /// Reads a map.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = read_file(path, 1)?;
        Self::from_bytes(&bytes).map_err(|fault| {
            fault.in_file(path, format!("name a map that was saved as {} says", Setting::SaveMap))
        })
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        let reader = Reader::new(bytes, &MAP)?;
        let Header { recipe, labels, names, features, binning } = reader.header()?;
        let body = reader.bytes("body")?;
        let binning = match binning {
            None if body.is_empty() => None,
            None => return Err("has bins, and no grids".into()),
            Some(sizes) if sizes.dimension != features => {
                return Err("has grids for data of another width".into());
            }
            Some(sizes) => {
                Some(RandomBinning::from_bytes(&sizes, body).ok_or("has grids that are none")?)
            }
        };
        let dictionary = names.iter().map(String::as_str).collect();
        Ok(Self { recipe, alphabet: labels, dictionary, features, binning })
    }
}
