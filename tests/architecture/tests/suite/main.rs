//! Checks of the sources: dependencies of crates and modules, addresses, words, pages.
//!
//! One program for all: each would take its time to link.

mod addresses;
mod checker;
mod dependencies;
mod documents;
mod glossary;
mod modules;
mod release;
