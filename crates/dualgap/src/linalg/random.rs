//! The only generator of the project: ChaCha with eight rounds, seeded, the same on every platform and in every
//! later version. A test compares it with the published vector.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// A seeded stream of random numbers.
///
/// ```
/// # use dualgap::linalg::Random;
/// let (mut a, mut b) = (Random::new(7), Random::new(7));
/// assert_eq!(a.below(1000), b.below(1000));
/// ```
#[derive(Debug, Serialize, Deserialize)]
#[serde(from = "State", into = "State")]
pub struct Random(ChaCha8Rng);

/// What a checkpoint has of a stream, since the first of them.
#[derive(Serialize, Deserialize)]
#[serde(rename = "ChaCha8Rng")]
struct State {
    seed: [u8; 32],
    stream: u64,
    /// The number of 32-bit words that were drawn.
    word_pos: u128,
}

impl From<Random> for State {
    fn from(Random(stream): Random) -> Self {
        Self::of(&stream)
    }
}

impl State {
    fn of(stream: &ChaCha8Rng) -> Self {
        let (seed, word_pos) = (stream.get_seed(), stream.get_word_pos());
        Self { seed, stream: stream.get_stream(), word_pos }
    }
}

impl Clone for Random {
    fn clone(&self) -> Self {
        State::of(&self.0).into()
    }
}

impl From<State> for Random {
    fn from(state: State) -> Self {
        let mut stream = ChaCha8Rng::from_seed(state.seed);
        stream.set_stream(state.stream);
        stream.set_word_pos(state.word_pos);
        Self(stream)
    }
}

impl Random {
    /// Returns the stream of this seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Returns an integer below `bound`, each with the same probability.
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "there is no number below zero");
        let bound = bound as u64;
        // Lemire's multiplication method; the rejection makes it exactly uniform. Its threshold takes a division, and it is
        // below the bound: hardly any draw needs it.
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as usize;
            }
        }
    }

    /// Returns a number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (f64::EPSILON / 2.0)
    }

    /// Puts the items in a random order, each with the same probability.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// [`shuffle`](Self::shuffle) with two draws from every number of the stream, which is twice as fast: of k items each order
    /// has the same probability up to a factor of 1 ± k²/2³².
    pub(crate) fn shuffle_few<T>(&mut self, items: &mut [T]) {
        let mut word = 0;
        for last in (1..items.len()).rev() {
            if word == 0 {
                word = self.0.next_u64();
            }
            let place = ((word >> 32) * (last as u64 + 1)) >> 32;
            items.swap(last, place as usize);
            word <<= 32; // the lower half is the next draw, and zero after it
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        // The published test vector of ChaCha8: key and nonce of zeros.
        let mut zeros = ChaCha8Rng::from_seed([0; 32]);
        let expected = [0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6];
        assert_eq!(zeros.next_u64().to_le_bytes(), expected);
        // `below` uses the high part of a product with the generator's words, one by one.
        let mut direct = ChaCha8Rng::seed_from_u64(0);
        let mut random = Random::new(0);
        for _ in 0..10 {
            let expected = ((u128::from(direct.next_u64()) * 1_000_003) >> 64) as usize;
            assert_eq!(random.below(1_000_003), expected);
        }
    }

    #[test]
    fn a_stream_goes_on_where_it_was_stored() {
        // The bytes are those of earlier checkpoints: the seed, the stream, and the words drawn, as varints.
        let bytes = postcard::to_stdvec(&Random::new(3)).unwrap();
        assert_eq!((bytes.len(), &bytes[32..]), (34, &[0, 0][..]));
        for draws in [0, 1, 7, 8, 31, 32, 33, 100, 1000] {
            let mut random = Random::new(3);
            for _ in 0..draws {
                random.unit();
            }
            let stored = postcard::to_stdvec(&random).unwrap();
            let mut again: Random = postcard::from_bytes(&stored).unwrap();
            assert_eq!(again.0.get_word_pos(), 2 * draws);
            assert!((0..100).all(|_| random.unit().to_bits() == again.unit().to_bits()), "{draws}");
        }
    }

    #[test]
    fn every_order_of_three_items_is_about_equally_frequent() {
        let mut random = Random::new(1);
        let mut counts = std::collections::HashMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Six standard deviations of a binomial with p = 1/6.
        assert!(counts.values().all(|&count: &i32| (count - 1000).abs() < 180), "{counts:?}");
    }
}
