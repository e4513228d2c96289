//! Gates: each turns red where a release is worse than it was, or proves less than was asked for.

mod baseline;
mod certificate;
mod project;
mod table;
