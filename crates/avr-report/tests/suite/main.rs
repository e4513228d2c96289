//! Reports in all formats.
//!
//! One program for all: each would take its time to link.

mod branch;
mod culprit;
mod dot;
mod evidence;
mod formats;
mod render;
mod sarif;
mod systems;
