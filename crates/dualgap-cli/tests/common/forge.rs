//! A model file taken apart and put together again, as a forger would who has read the format.
//!
//! ```text
//! 8 bytes   the length of the header, little-endian
//! header    JSON: the place of every tensor, and __metadata__.dualgap = {"seal": …, "header": {…}} as text
//! data      the tensors
//! ```

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Clone)]
pub struct Tensor {
    pub dtype: String,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

#[derive(Clone)]
pub struct ModelFile {
    /// The SHA-256 of `header`, if nobody has lied.
    pub seal: String,
    /// The text of our own header.
    pub header: String,
    pub tensors: BTreeMap<String, Tensor>,
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The three parts as a file, whatever they say.
pub fn container(header_length: u64, header: &str, data: &[u8]) -> Vec<u8> {
    [&header_length.to_le_bytes()[..], header.as_bytes(), data].concat()
}

impl ModelFile {
    pub fn parse(file: &[u8]) -> Self {
        let (length, rest) = file.split_at(8);
        let length = u64::from_le_bytes(length.try_into().unwrap()) as usize;
        let (header, data) = rest.split_at(length);
        let header: Map<String, Value> = serde_json::from_slice(header).unwrap();
        let sealed = header["__metadata__"]["dualgap"].as_str().unwrap();
        let tensors =
            header.iter().filter(|(name, _)| *name != "__metadata__").map(|(name, at)| {
                let numbers = |key: &str| -> Vec<usize> {
                    at[key]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|x| x.as_u64().unwrap() as usize)
                        .collect()
                };
                let (dtype, range) =
                    (at["dtype"].as_str().unwrap().into(), numbers("data_offsets"));
                let bytes = data[range[0]..range[1]].to_vec();
                (name.clone(), Tensor { dtype, shape: numbers("shape"), bytes })
            });
        // The header's text must stay as it is: the seal is of its bytes.
        let text = sealed.split_once(",\"header\":").unwrap().1;
        let seal = serde_json::from_str::<Value>(sealed).unwrap()["seal"].as_str().unwrap().into();
        let text = text.strip_suffix('}').unwrap().to_string();
        let file = Self { seal, header: text, tensors: tensors.collect() };
        assert_eq!(file.seal, sha256(file.header.as_bytes()), "the file is honest to begin with");
        file
    }

    /// The places of the tensors and the metadata, and the tensors' bytes.
    pub fn parts(&self) -> (Value, Vec<u8>) {
        let sealed = format!("{{\"seal\":\"{}\",\"header\":{}}}", self.seal, self.header);
        let mut header = Map::from_iter([("__metadata__".into(), json!({"dualgap": sealed}))]);
        let mut data = Vec::new();
        for (name, tensor) in &self.tensors {
            let offsets = [data.len(), data.len() + tensor.bytes.len()];
            data.extend_from_slice(&tensor.bytes);
            let place =
                json!({"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": offsets});
            header.insert(name.clone(), place);
        }
        (header.into(), data)
    }

    /// The file, with digests and seal as they are, right or wrong.
    pub fn bytes(&self) -> Vec<u8> {
        let (header, data) = self.parts();
        let mut header = header.to_string();
        header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
        container(header.len() as u64, &header, &data)
    }

    /// The file with every digest and the seal made to fit.
    pub fn sealed(&self) -> Vec<u8> {
        let digests: Map<String, Value> = self
            .tensors
            .iter()
            .map(|(name, tensor)| (name.clone(), sha256(&tensor.bytes).into()))
            .collect();
        self.with_header(|header| header["digests"] = digests.into()).bytes()
    }

    /// The same file with other contents of the header, and a seal that fits them.
    pub fn with_header(&self, change: impl FnOnce(&mut Value)) -> Self {
        let mut header: Value = serde_json::from_str(&self.header).unwrap();
        change(&mut header);
        self.with_header_text(&header.to_string())
    }

    pub fn with_header_text(&self, header: &str) -> Self {
        Self { seal: sha256(header.as_bytes()), header: header.into(), ..self.clone() }
    }

    pub fn header(&self) -> Value {
        serde_json::from_str(&self.header).unwrap()
    }

    pub fn floats(&self, name: &str) -> Vec<f64> {
        self.words(name).into_iter().map(f64::from_bits).collect()
    }

    pub fn words(&self, name: &str) -> Vec<u64> {
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        self.tensors[name].bytes.chunks_exact(8).map(word).collect()
    }

    pub fn set_floats(&mut self, name: &str, values: &[f64]) {
        self.set_words(name, &values.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    }

    /// Also sets the shape, where there is only one side to it.
    pub fn set_words(&mut self, name: &str, words: &[u64]) {
        let tensor = self.tensors.get_mut(name).unwrap();
        if let [length] = &mut tensor.shape[..] {
            *length = words.len();
        }
        tensor.bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    }

    /// All weights in the order of the objective.
    pub fn weights(&self) -> Vec<f64> {
        if self.tensors.contains_key("weights") {
            return self.floats("weights");
        }
        ["emissions", "start", "end", "transitions"].iter().flat_map(|n| self.floats(n)).collect()
    }
}

/// A penalty of every kind as a header has it, each with a method that goes with it.
pub fn penalties() -> [(Value, Value); 5] {
    let dual = json!({
        "family": "dual", "solver": "bcfw", "step": "line-search", "sampling": "permuted",
        "average": "none", "batch": 1, "seed": 0,
    });
    let ball = json!({"family": "ball", "method": "pdbfw", "steps": {"name": "search"}, "seed": 0});
    let in_ball =
        |name: &str| json!({"name": "ball", "ball": {"name": name, "radius": 0.8}, "mu": 0.01});
    [
        (json!({"name": "ridge", "lambda": 0.125}), dual.clone()),
        (json!({"name": "lasso", "sigma": 0.125}), dual.clone()),
        (json!({"name": "q_norm", "lambda": 0.125}), dual),
        (in_ball("l1"), ball.clone()),
        (in_ball("trace"), ball),
    ]
}

impl ModelFile {
    /// The same model with every kind of penalty that is not its own, each with its own method and with one that goes
    /// with the penalty. The numbers of the model's own penalty are kept where the other has them, too.
    pub fn with_other_penalties(&self) -> Vec<Self> {
        let own = self.header()["task"]["penalty"].clone();
        let kind = |penalty: &Value| (penalty["name"].clone(), penalty["ball"]["name"].clone());
        let others = penalties().into_iter().filter(|(other, _)| kind(other) != kind(&own));
        others
            .flat_map(|(mut penalty, method)| {
                for (name, number) in own.as_object().unwrap() {
                    if penalty[name].is_number() {
                        penalty[name] = number.clone();
                    }
                }
                if own["name"] == "ball" && penalty["name"] == "ball" {
                    penalty["ball"]["radius"] = own["ball"]["radius"].clone();
                }
                let unfit = self.with_header(|h| h["task"]["penalty"] = penalty.clone());
                let fit = unfit.with_header(|h| h["provenance"]["method"] = method);
                [unfit, fit]
            })
            .collect()
    }
}
