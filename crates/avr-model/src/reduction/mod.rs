//! Reductions: states and steps that need not be looked at because no goal can tell.
//!
//! Each is a module of its own; [`passes::Passes`] has those that take part.

pub(crate) mod case_merge;
pub(crate) mod followed_path;
pub(crate) mod handler_footprint;
pub(crate) mod handler_summaries;
pub(crate) mod interface;
pub(crate) mod notes;
pub(crate) mod partial_order;
pub mod passes;
pub(crate) mod path_compression;
pub(crate) mod path_expansion;
pub(crate) mod precision_reads;
pub(crate) mod reduced_step;
pub mod repeated_steps;
pub mod skipped_paths;
pub(crate) mod successors;
pub(crate) mod summary_access;
pub(crate) mod summary_table;
pub mod visibility;
