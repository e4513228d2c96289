//! The pipeline: from a request to results.
//!
//! [`property_groups`] decides unlike properties apart, and [`verified`] decides those of one group. [`portfolio`]
//! tries one system after the other, beside a second strategy ([`race`]), and [`property_result`] says what was decided of each property. [`recoveries`] proves by claims what is open then,
//! and [`confined`] refutes by closed sets.

pub(crate) mod confined;
pub(crate) mod goals;
pub(crate) mod hardware_run;
pub(crate) mod machine;
pub(crate) mod needed_predicates;
pub(crate) mod observer;
pub(crate) mod pass_timer;
pub(crate) mod portfolio;
pub(crate) mod property_class;
pub(crate) mod property_groups;
pub(crate) mod property_result;
pub(crate) mod race;
pub(crate) mod recoveries;
pub(crate) mod specification_states;
pub(crate) mod startup_remark;
pub(crate) mod verified;

pub use property_groups::verify;
