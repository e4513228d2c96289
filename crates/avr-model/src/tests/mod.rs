//! Tests of the whole system on images.

mod obligations;
mod predicates;
mod published;
mod values;
