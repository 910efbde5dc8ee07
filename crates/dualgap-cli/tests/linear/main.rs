//! `dualgap train binary` and `dualgap train regression`, and what can be done with their models.
//!
//! Objectives, scores, probabilities and errors are computed here again, from the weights that `inspect` shows.

mod accuracy;
mod advice;
mod appraisals;
mod balls;
mod class_weights;
mod classes;
mod label_sets;
mod low_rank;
mod measurements;
mod numbers;
mod older_models;
mod outputs;
mod predictions;
mod pure_l1;
mod refusals;
mod scaling;
mod spellings;
mod training;
mod unlabelled;
