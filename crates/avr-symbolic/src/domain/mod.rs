//! The value domain: bits that are Boolean functions of variables.

pub(crate) mod arithmetic;
pub(crate) mod assignment;
pub(crate) mod bit;
pub(crate) mod byte;
pub(crate) mod facts;
pub(crate) mod graph;
pub(crate) mod word;
