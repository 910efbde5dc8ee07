//! Column files, from training to labels.

mod attributes;
mod features;
mod labels;
mod large;
mod mistakes;
mod pairs;
mod spellings;
mod streams;
mod usual;
mod viterbi;
