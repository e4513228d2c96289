//! Input-based three-valued abstraction refinement of systems that generate states.
#![forbid(unsafe_code)]
