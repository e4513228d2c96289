//! Errors in system files.

use std::fmt;
use std::ops::Range;

/// Something wrong in a system file, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemError {
    /// The problem, as a sentence without a capital and a full stop.
    pub problem: String,
    /// The bytes of the text that are wrong.
    pub span: Range<usize>,
    /// Advice.
    pub hint: &'static str,
}

/// Advice on the form of a whole file.
pub const FILE_FORM: &str =
    "a system file is ( nodes: { \"a\": (firmware: \"a.elf\"), … }, wires: [ … ], properties: [ Deadlock() ] )";
/// Advice on wires.
pub(crate) const WIRE_FORM: &str =
    "a wire is Uart(from: \"a\", to: \"b\") or Pin(from: \"a.PORTB.0\", to: \"b.PIND.2\")";
/// Advice on conformance.
pub(crate) const CONFORMS_FORM: &str = "write Conforms(to: \"protocol.spec.ron\", alphabet: [\"a.write(UDR0)\", \"b.write(UDR0)\"]), with by: \"traces\" for inclusion of traces";
/// Advice on properties.
pub(crate) const PROPERTY_FORM: &str = "a property is Deadlock(), Always(\"a.PORTB.0 == 0\"), Never(\"a.x == 1 && b.x == 1\"), Ltl(\"G (a.write(UDR0) -> F b.read(UDR0))\") or Formula(\"AG EF a.PORTB.0 == 1\")";

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for SystemError {}
