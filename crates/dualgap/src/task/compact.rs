//! Weights and names in few bytes.
//!
//! Of large arrays, most of whose numbers are zero, a file has the others alone:
//!
//! ```text
//! NAME.places   [bytes]   the zeros before each number that is not zero, as numbers of seven bits to a byte, the lowest
//!                         first; every byte but the last of a number has its highest bit set
//! NAME.values   [m]       the numbers, of 32 bits where all of them are exact in these, or else of 64
//! ```
//!
//! The names of many features are compressed: `names.packed` is a zlib stream of the length of each, written in the same
//! way, and of their text one after the other.
//!
//! Numbers that [`quantised`](super::quantised) has rounded are stored as integers and scales, with or without places.
//!
//! Places only ever go up, so no file can say one twice; one beyond the end is a fault. What a file unpacks to is at most
//! [`MOST`] times as large as the file has it.

use super::Model;
use super::prove::primal;
use super::quantised;
use crate::Result;
use crate::container::{Fault, Reader, Tensor};
use crate::data::Dictionary;
use crate::linalg::memory::reserve_check;
use crate::linalg::{Measured, PackedRows};
use crate::run::{Budget, Certificate, Stop};
use crate::structure::Structure;
use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{BufRead, BufReader, BufWriter, IntoInnerError, Read, Write};

/// Arrays of fewer numbers are stored as they are: any reader of safetensors sees them.
const SMALL: usize = 1 << 14;

/// How many times as large as in the file something may be in memory. Deflate reaches no more.
const MOST: usize = 1032;

/// Whether an array of weights is stored without its zeros.
pub(super) fn is_sparse(numbers: &[f64]) -> bool {
    let stored = numbers.iter().filter(|x| x.to_bits() != 0).count();
    // A place takes a byte or two, a number four or eight.
    numbers.len() >= SMALL && stored <= numbers.len() / 2 && stored >= numbers.len() / MOST * 2
}

/// Whether the format of version 2 has this array and these names as they are.
pub(super) fn is_plain(arrays: &[(&'static str, Vec<usize>, &[f64])], names: &Dictionary) -> bool {
    names.len() < SMALL && arrays.iter().all(|(_, _, numbers)| !is_sparse(numbers))
}

/// Whether an array is stored as integers.
pub(super) fn is_quantised(numbers: &[f64]) -> bool {
    if is_sparse(numbers) {
        quantised::is_quantised(&stored(numbers))
    } else {
        quantised::is_quantised(numbers)
    }
}

/// Returns the numbers that are stored of an array without its zeros.
pub(super) fn stored(numbers: &[f64]) -> Vec<f64> {
    // A zero with a sign is a number like any other: what is read is what was written, bit for bit.
    numbers.iter().copied().filter(|x| x.to_bits() != 0).collect()
}

/// Hands over an array of weights as one tensor or more.
pub(super) fn put_weights(
    put: &mut dyn FnMut(&str, Tensor),
    name: &str,
    shape: &[usize],
    numbers: &[f64],
) {
    if !is_sparse(numbers) {
        if !quantised::put(put, name, numbers) {
            put(name, Tensor::f64(shape, numbers));
        }
        return;
    }
    let (mut places, values, mut zeros) = (Vec::new(), stored(numbers), 0);
    for &x in numbers {
        if x.to_bits() == 0 {
            zeros += 1;
        } else {
            push(&mut places, zeros);
            zeros = 0;
        }
    }
    put(&format!("{name}.places"), Tensor::bytes(places));
    if quantised::put(put, name, &values) {
        return;
    }
    let narrow = values.iter().all(|&x| is_single(x));
    let values = if narrow { Tensor::f32(&values) } else { Tensor::f64(&[values.len()], &values) };
    put(&format!("{name}.values"), values);
}

/// Reads an array of weights, in either form, and appends it to others.
pub(super) fn take_weights(
    file: &Reader<'_>,
    name: &str,
    shape: &[usize],
    weights: &mut Vec<f64>,
) -> Result<(), Fault> {
    let size = shape.iter().try_fold(1_usize, |size, &side| size.checked_mul(side));
    if !file.has(&format!("{name}.places")) {
        let part = if quantised::has(file, name) {
            let part = quantised::take(file, name)?;
            let fits = size == Some(part.len());
            fits.then_some(part).ok_or_else(|| format!("has another number of `{name}`"))?
        } else {
            file.f64(name, shape)?
        };
        weights.try_reserve_exact(part.len()).map_err(|_| "has no room in memory")?;
        weights.extend_from_slice(&part);
        return Ok(());
    }
    let stored = Stored::take(file, name, size)?;
    let size = stored.size;
    reserve_check(size)?;
    let begin = weights.len();
    if begin == 0 {
        *weights = vec![0.0; size]; // pages of zeros that nothing is written to cost nothing
    } else {
        weights.resize(begin + size, 0.0);
    }
    let mut next = begin;
    stored.each(|zeros, value| {
        let place = next.checked_add(zeros);
        match place.and_then(|place| Some((place, weights.get_mut(place)?))) {
            Some((place, weight)) => {
                *weight = value;
                next = place + 1;
                true
            }
            None => false,
        }
    })
}

/// Reads a matrix of weights without its zeros, by features and labels; `None` if the file has it in another form.
pub(super) fn take_packed(
    file: &Reader<'_>,
    name: &str,
    shape: &[usize],
) -> Result<Option<PackedRows>, Fault> {
    let &[features, labels] = shape else { return Ok(None) };
    if !file.has(&format!("{name}.places")) || labels == 0 || labels > usize::from(u16::MAX) {
        return Ok(None);
    }
    let stored = Stored::take(file, name, features.checked_mul(labels))?;
    if u32::try_from(stored.count()).is_err() {
        return Ok(None);
    }
    reserve_check(features / 2 + 2 * stored.count())?;
    let mut packed = PackedRows::new(features, labels, stored.count(), stored.is_single());
    stored.each(|zeros, value| packed.push(zeros, value))?;
    packed.finish();
    Ok(Some(packed))
}

/// What a file has of an array without its zeros.
struct Stored<'f> {
    file: &'f Reader<'f>,
    name: &'f str,
    /// The number of weights, zeros included.
    size: usize,
    places: &'f [u8],
    integers: Option<Vec<f64>>,
}

impl<'f> Stored<'f> {
    /// Reads what there is of an array of this size, if there is such a size.
    fn take(file: &'f Reader<'_>, name: &'f str, size: Option<usize>) -> Result<Self, Fault> {
        let places = file.bytes(&format!("{name}.places"))?;
        let integers =
            quantised::has(file, name).then(|| quantised::take(file, name)).transpose()?;
        let mut stored = Self { file, name, size: 0, places, integers };
        let size = size.filter(|&size| size / MOST <= stored.count());
        stored.size = size.ok_or_else(|| stored.altered())?;
        Ok(stored)
    }

    fn altered(&self) -> Fault {
        format!("has places of `{}` that make no sense", self.name).into()
    }

    fn values(&self) -> String {
        format!("{}.values", self.name)
    }

    /// The number of weights that are not zero.
    fn count(&self) -> usize {
        match &self.integers {
            Some(integers) => integers.len(),
            None => self.file.side(&self.values()).unwrap_or(0),
        }
    }

    /// Whether 32 bits hold every weight.
    fn is_single(&self) -> bool {
        self.integers.is_none() && self.file.is_single(&self.values())
    }

    /// Hands over the number of zeros before each weight, and the weight. A weight that is not taken is a fault.
    fn each(self, mut put: impl FnMut(usize, f64) -> bool) -> Result<(), Fault> {
        let (mut places, mut sound) = (self.places, true);
        let altered = self.altered();
        let mut put = |value: f64| {
            let zeros = match places.split_first() {
                Some((&byte, rest)) if byte < 0x80 => {
                    places = rest;
                    Some(byte.into())
                }
                _ => pop(&mut places),
            };
            sound = sound && zeros.is_some_and(|zeros| put(zeros, value));
        };
        let values = self.values();
        match self.integers {
            Some(integers) => integers.into_iter().for_each(put),
            None => self.file.each_float(&values, &mut put)?,
        }
        if sound && places.is_empty() { Ok(()) } else { Err(altered) }
    }
}

/// Hands over the names of features, compressed if there are many.
pub(super) fn put_features(put: &mut dyn FnMut(&str, Tensor), names: &Dictionary) -> Result<()> {
    if names.len() < SMALL {
        crate::structure::names::put_names(put, "names", names);
        return Ok(());
    }
    let mut lengths = Vec::new();
    names.names().for_each(|name| push(&mut lengths, name.len()));
    // Every write has its price, and a name is short.
    let encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut packed = BufWriter::with_capacity(1 << 16, encoder);
    let written = packed.write_all(&lengths).and_then(|()| {
        names.names().try_for_each(|name| packed.write_all(name.as_bytes()))?;
        packed.into_inner().map_err(IntoInnerError::into_error)?.finish()
    });
    let packed =
        written.map_err(|error| crate::Error::setting(error.to_string()).caused_by(error))?;
    put("names.packed", Tensor::bytes(packed));
    Ok(())
}

/// Reads the names of `count` features, in either form; `None` if the file has none.
pub(super) fn take_features(file: &Reader<'_>, count: usize) -> Result<Option<Dictionary>, Fault> {
    if !file.has("names.packed") {
        let named = file.has("names.text");
        let take = || crate::structure::names::take_names(file, "names", Some(count));
        return named.then(take).transpose();
    }
    let packed = file.bytes("names.packed")?;
    let altered = || Fault::from(format!("does not have distinct names for its {count} features"));
    let most = packed.len().saturating_mul(MOST);
    reserve_check(most.min(packed.len().saturating_mul(16)) / 8)?;
    let broken = |error| Fault::caused("has names that cannot be unpacked", error);
    let mut unpacked =
        BufReader::with_capacity(1 << 16, ZlibDecoder::new(packed).take(most as u64));
    // Every length takes a byte at least, so that a file that says too many of them ends first.
    let (mut ends, mut end) = (Vec::new(), 0_usize);
    ends.try_reserve_exact(count.min(packed.len().saturating_mul(16)))
        .map_err(|_| "has no room in memory")?;
    for _ in 0..count {
        let length = read_number(&mut unpacked).map_err(broken)?.ok_or_else(altered)?;
        end = end.checked_add(length).ok_or_else(altered)?;
        ends.push(end);
    }
    // Each name needs its text, its place in a table, and its hash.
    reserve_check(12 * count)?;
    let mut text = Vec::with_capacity(end.min(packed.len().saturating_mul(16)));
    unpacked.read_to_end(&mut text).map_err(broken)?;
    let text = String::from_utf8(text).map_err(|_| "has names that are no text")?;
    Dictionary::of_text(text, ends).map(Some).ok_or_else(altered)
}

/// Reads a number of seven bits to a byte; `None` if the stream ends or there is no such number.
fn read_number(bytes: &mut impl BufRead) -> std::io::Result<Option<usize>> {
    // Nearly always it is whole in what the buffer has.
    let buffer = bytes.fill_buf()?;
    let mut rest = buffer;
    if let Some(number) = pop(&mut rest) {
        let used = buffer.len() - rest.len();
        bytes.consume(used);
        return Ok(Some(number));
    }
    let mut digits = Vec::new();
    for byte in bytes.take(usize::BITS.div_ceil(7).into()).bytes() {
        digits.push(byte?);
        if digits.last().is_some_and(|byte| *byte < 0x80) {
            break;
        }
    }
    Ok(pop(&mut &digits[..]))
}

/// Appends a number, seven bits to a byte.
fn push(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number from the front.
fn pop(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = usize::from(byte & 0x7f);
        number |= part.checked_shl(shift).filter(|shifted| shifted >> shift == part)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Whether 32 bits hold a number exactly.
fn is_single(x: f64) -> bool {
    f64::from(x as f32).to_bits() == x.to_bits()
}

impl<S: Structure> Model<S> {
    /// Whether the file of the model would be much smaller if its weights were rounded to 32 bits.
    pub fn gains_by_rounding(&self) -> bool {
        let arrays = self.arrays();
        self.low_rank.is_none()
            && self.support.is_none()
            && arrays.iter().any(|(_, _, numbers)| is_sparse(numbers))
            && !self.weights.iter().all(|&x| is_single(x))
    }

    /// Prepares a model to be saved: rounds the weights of a large and sparse one to 32 bits, if its structure is saved so
    /// ([`Structure::COMPACT`]). A run that has reached the tolerance of its budget stays within it; after any other `stop` the
    /// gap grows by a thousandth at most. Returns whether it was done; if not, the model is as before.
    pub fn compact(&mut self, data: &S::Data, budget: &Budget, stop: Stop) -> Result<bool> {
        if !S::COMPACT || !self.gains_by_rounding() {
            return Ok(false);
        }
        let before = self.certificate.gap_bound();
        self.round_to_single(data, |new| {
            let within = |gap: f64| new.gap_bound() <= gap;
            if stop != Stop::GapReached {
                return within(1.001 * before);
            }
            let relative = budget.relative.is_some_and(|share| within(share * new.primal.abs()));
            relative || budget.absolute.is_some_and(within)
        })
    }

    /// Rounds the weights to 32 bits if the certificate of the rounded weights is accepted: the primal value is computed
    /// again from the data that the model was trained on, and the dual value stays. Returns whether it was done; if not, the
    /// model is as before.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Multiclass;
    /// use dualgap::task::{Plan, Task};
    /// use dualgap::term::Penalty;
    ///
    /// let data = Examples::from_dense(&[vec![1.0, 0.3], vec![0.1, 1.0]], &["cat", "dog"])?;
    /// let task = Task::new(Multiclass::default(), Penalty::ridge(0.1));
    /// let mut model = task.fit(&data, Plan::new(Budget::relative(1e-3)))?.model;
    /// assert!(model.round_to_single(&data, |new| new.relative_gap_bound() <= 1e-3)?);
    /// assert!(model.weights.iter().all(|&x| f64::from(x as f32) == x));
    /// model.certify(&data)?;
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn round_to_single(
        &mut self,
        data: &S::Data,
        accept: impl FnOnce(&Certificate) -> bool,
    ) -> Result<bool> {
        let rounded: Vec<f64> = self.weights.iter().map(|&x| f64::from(x as f32)).collect();
        let in_place = self.low_rank.is_none() && self.support.is_none();
        if !in_place || !self.certificate.certified || rounded.iter().any(|x| !x.is_finite()) {
            return Ok(false);
        }
        let Certificate { dual, rounding_error, .. } = self.certificate;
        let exact = std::mem::replace(&mut self.weights, rounded);
        // How much of the rounding error is the dual value's is not known; all of it bounds that.
        let dual = Measured { value: dual, error: rounding_error };
        let proved = primal(self, data).and_then(|primal| primal.certificate(dual));
        match proved {
            Ok(certificate) if certificate.certified && accept(&certificate) => {
                self.certificate = certificate;
                Ok(true)
            }
            proved => {
                self.weights = exact;
                proved.map(|_| false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{Form, Kind, Writer};

    const KIND: Kind =
        Kind { name: "test", form: Form::Tensors { main: false }, oldest: 1, version: 1 };

    /// Writes tensors and reads an array of this many numbers from them.
    fn read(tensors: Vec<(String, Tensor)>, size: usize) -> Result<Vec<f64>, Fault> {
        let header = serde_json::json!({});
        let mut writer = Writer::new(&KIND, &header);
        tensors.into_iter().for_each(|(name, tensor)| writer.tensor(&name, tensor));
        let bytes = writer.to_bytes().unwrap();
        let mut weights = Vec::new();
        take_weights(&Reader::new(&bytes, &KIND)?, "w", &[size], &mut weights)?;
        Ok(weights)
    }

    fn put(numbers: &[f64]) -> Vec<(String, Tensor)> {
        let mut tensors = Vec::new();
        let mut put = |name: &str, tensor: Tensor| tensors.push((name.to_string(), tensor));
        put_weights(&mut put, "w", &[numbers.len()], numbers);
        tensors
    }

    /// Numbers, most of them zero, with runs of zeros of very different lengths.
    fn sparse(size: usize, value: f64) -> Vec<f64> {
        let mut numbers = vec![0.0; size];
        (0..size).filter(|i| i % 7 == 3 || i % 1000 < 5).for_each(|i| numbers[i] = value);
        numbers[size / 3..size / 2].fill(0.0);
        numbers
    }

    #[test]
    fn what_is_read_is_what_was_written_bit_for_bit() {
        for (value, width) in [(0.1, 8), (0.5, 4), (-0.0, 4), (f64::MIN_POSITIVE, 8)] {
            let numbers = sparse(SMALL, value);
            let tensors = put(&numbers);
            assert_eq!(tensors.len(), 2, "without zeros");
            let values = numbers.iter().filter(|x| x.to_bits() != 0).count();
            assert_eq!(tensors[1].1.len(), values * width, "{value}");
            let read = read(tensors, SMALL).unwrap();
            assert!(read.iter().zip(&numbers).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
        // Small or full arrays, and those that are nearly empty, stay as they are.
        assert_eq!(put(&sparse(SMALL - 1, 0.5)).len(), 1);
        assert_eq!(put(&vec![1.0; SMALL]).len(), 1);
        assert_eq!(put(&vec![0.0; SMALL]).len(), 1);
    }

    #[test]
    fn forged_places_are_refused() {
        let values = || ("w.values".to_string(), Tensor::f32(&[1.0, 2.0]));
        let places = |bytes: &[u8]| ("w.places".to_string(), Tensor::bytes(bytes.to_vec()));
        assert_eq!(read(vec![places(&[1, 2]), values()], 5).unwrap(), [0.0, 1.0, 0.0, 0.0, 2.0]);
        let endless = [0xff; 20];
        for (bytes, size, what) in [
            (&[1_u8, 3][..], 5, "beyond the end"),
            (&[1, 2], 4, "beyond the end"),
            (&[1], 5, "fewer places than numbers"),
            (&[1, 2, 0], 5, "more places than numbers"),
            (&[1, 0x82], 5, "cut off"),
            (&endless, 5, "a number of too many bits"),
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0], 5, "an overflow"),
            (&[1, 2], 1 << 40, "far more zeros than the file has bytes"),
        ] {
            assert!(read(vec![places(bytes), values()], size).is_err(), "{what}");
        }
        assert!(read(vec![places(&[1, 2])], 5).is_err(), "no numbers");
        let infinite = ("w.values".to_string(), Tensor::f32(&[1.0, f64::INFINITY]));
        assert!(read(vec![places(&[1, 2]), infinite], 5).is_err(), "not finite");
    }

    #[test]
    fn numbers_of_any_size_come_back() {
        let numbers = [0, 1, 127, 128, 300, 16_383, 16_384, usize::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|&number| push(&mut bytes, number));
        let mut rest = &bytes[..];
        let read: Vec<usize> = std::iter::from_fn(|| pop(&mut rest)).collect();
        assert_eq!(read, numbers);
    }

    #[test]
    fn many_names_are_packed_and_forged_ones_refused() {
        let names: Dictionary = (0..SMALL + 5).map(|k| format!("Uw{}:n{k}é", k % 3)).collect();
        let pack = |names: &Dictionary| {
            let header = serde_json::json!({});
            let mut writer = Writer::new(&KIND, &header);
            put_features(&mut |name, tensor| writer.tensor(name, tensor), names).unwrap();
            writer.to_bytes().unwrap()
        };
        let bytes = pack(&names);
        let file = Reader::new(&bytes, &KIND).unwrap();
        assert!(file.has("names.packed") && bytes.len() < 4 * SMALL);
        assert_eq!(take_features(&file, SMALL + 5).unwrap().unwrap(), names);
        for count in [0, SMALL + 4, SMALL + 6, usize::MAX] {
            assert!(take_features(&file, count).is_err(), "{count}");
        }
        let few: Dictionary = ["a", "b"].into_iter().collect();
        let bytes = pack(&few);
        let file = Reader::new(&bytes, &KIND).unwrap();
        assert!(file.has("names.text"));
        assert_eq!(take_features(&file, 2).unwrap().unwrap(), few);
        let header = serde_json::json!({});
        let mut writer = Writer::new(&KIND, &header);
        writer.tensor("names.packed", Tensor::bytes(b"no stream".to_vec()));
        let bytes = writer.to_bytes().unwrap();
        assert!(take_features(&Reader::new(&bytes, &KIND).unwrap(), 1).is_err());
    }
}
