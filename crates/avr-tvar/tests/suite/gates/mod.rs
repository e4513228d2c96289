//! Gates: each turns red where a release is worse than it was, or proves less than was asked for.

#[cfg(unix)]
mod action;
mod baseline;
mod certificate;
mod project;
#[cfg(unix)]
mod table;
