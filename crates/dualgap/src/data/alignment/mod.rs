//! Word alignment: which words of a sentence and of its translation belong together.
//!
//! An [`Aligner`] learns from bitext, without any links, what translates what. It makes a graph of every pair of
//! sentences, a [`Matchings`](super::Matchings) with all words of one side as rows and all words of the other as
//! columns, whose edges have features in the manner of Taskar, Lacoste-Julien and Klein (2005): association scores,
//! posteriors of hidden Markov models in both directions, distance, spelling, frequency, and the same of neighbouring
//! edges. What the features are worth is learned from links, like any other matching.
//!
//! - `bitext`: the three files of sentences and links.
//! - `spelling`: words as they are compared: case, accents, cognates.
//! - `corpus`: text in numbers, and how often words occur together.
//! - `hmm`: posteriors of the links of a pair, by Vogel's model and by IBM Model 1.
//! - `lexicon`: what was learned of one view of the words, in the form that a model keeps.
//! - `learn`: from text to a lexicon, by expectation maximisation in which both directions agree.
//! - `features`: the features of an edge.
//! - `aligner`: all of it together; `file`: its form in a model file.
//!
//! Features of an edge are made by additions, multiplications, divisions and square roots alone. Those are exact to the
//! last bit by IEEE 754, so the features, and with them the fingerprint of a data set, are the same on every machine.

mod aligner;
mod bitext;
mod corpus;
mod features;
mod file;
mod hmm;
mod learn;
mod lexicon;
mod spelling;

pub use aligner::Aligner;
pub use bitext::{Bitext, WordLink};
