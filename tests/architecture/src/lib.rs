//! Holds the tests of the shape of the workspace; see `tests/`.
#![forbid(unsafe_code)]
