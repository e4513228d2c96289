//! Three-valued bits and bytes, and the traits that a value domain implements.
//!
//! A *value domain* says what a machine stores in a bit and in a byte. Semantics that are written once against
//! [`BitDomain`] and [`ByteDomain`] run with concrete values (`bool`, `u8`: simulation and replay), with three-valued
//! ones ([`Truth`], [`TvByte`]: verification), with provenance ([`ProvenanceBit`], [`ProvenanceByte`]: finding out where an
//! unknown bit came from), with value numbers ([`NumberedByte`]: invariants), and with concrete values and their sources
//! ([`TracedByte`]: the inputs that a value was computed from).
//!
//! This crate knows neither a machine nor a logic.
#![forbid(unsafe_code)]

mod byte;
mod concrete;
mod domain;
pub mod fault;
mod numbered;
mod provenance;
mod traced;
mod truth;
mod word;

pub use byte::TvByte;
pub use domain::{BitDomain, ByteDomain, Signedness, Sum};
pub use numbered::NumberedByte;
pub use provenance::{Origin, Provenance, ProvenanceBit, ProvenanceByte};
pub use traced::{Sources, TracedByte};
pub use truth::Truth;
pub use word::{TvSum, TvWord};
