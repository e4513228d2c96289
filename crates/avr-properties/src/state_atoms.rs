//! Atoms that are names.

/// The atoms that are names, which no definition may have.
pub const STATE_ATOMS: [&str; 6] = ["in_interrupt", "sp_torn", "sleeping", IN_STARTUP, IN_APPLICATION, HAZARD];
/// The atom of states before the main program.
pub(crate) const IN_STARTUP: &str = "in_startup";
/// The atom of states in which execution is below the boot section.
pub(crate) const IN_APPLICATION: &str = "in_application";
/// The atom of the inherent property.
pub(crate) const HAZARD: &str = "hazard";

/// True if a definition must not have this name.
pub(crate) fn is_reserved(name: &str) -> bool {
    STATE_ATOMS.contains(&name)
}
