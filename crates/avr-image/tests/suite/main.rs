//! Images: what is read, what is refused, and that altered ones do no harm.
//!
//! One program for all: each would take its time to link.

mod built;
mod debug_limits;
mod images;
mod mutation;
mod refusals;
