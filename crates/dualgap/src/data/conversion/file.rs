//! The file of a conversion, called a map: how files are read, names and sizes in the header, the grids and their bins
//! as the body of a sealed file in lines.

use super::{AtomProducts, Conversion, DegreeTwo, FeatureMap};
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
    /// Whether the body has pairs of features, or atoms, in the place of grids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Body>,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Body {
    DegreeTwo,
    Atoms,
}

impl Conversion {
    /// Writes the map to the sink that the caller has chosen.
    pub fn save(&self, sink: &mut Sink) -> Result<()> {
        let (sizes, body, bytes) = match &self.map {
            FeatureMap::Own => (None, None, Vec::new()),
            FeatureMap::Binning(binning) => {
                let (sizes, bytes) = binning.to_bytes();
                (Some(sizes), None, bytes)
            }
            FeatureMap::DegreeTwo(map) => (None, Some(Body::DegreeTwo), map.to_bytes()),
            FeatureMap::Atoms(atoms) => (None, Some(Body::Atoms), atoms.to_bytes()),
        };
        let header = Header {
            recipe: self.recipe.clone(),
            labels: self.alphabet.clone(),
            names: self.dictionary.names().map(String::from).collect(),
            features: self.features,
            binning: sizes,
            body,
        };
        let mut writer = Writer::new(&MAP, &header);
        writer.tensor("body", Tensor::bytes(bytes));
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
        let Header { recipe, labels, names, features, binning, body: kind } = reader.header()?;
        let body = reader.bytes("body")?;
        let map = match binning {
            None if kind == Some(Body::DegreeTwo) => FeatureMap::DegreeTwo(
                DegreeTwo::from_bytes(features, body)
                    .ok_or("has pairs of features that are none")?,
            ),
            None if kind == Some(Body::Atoms) => FeatureMap::Atoms(
                AtomProducts::from_bytes(features, body).ok_or("has atoms that are none")?,
            ),
            None if body.is_empty() => FeatureMap::Own,
            None => return Err("has bins, and no grids".into()),
            Some(sizes) if sizes.dimension != features => {
                return Err("has grids for data of another width".into());
            }
            Some(sizes) => {
                let binning = RandomBinning::from_bytes(&sizes, body);
                FeatureMap::Binning(binning.ok_or("has grids that are none")?)
            }
        };
        let dictionary = names.iter().map(String::as_str).collect();
        Ok(Self { recipe, alphabet: labels, dictionary, features, map })
    }
}
