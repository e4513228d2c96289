//! Tests of the whole system on images.

mod obligations;
mod published;
mod values;
