//! Names as the programmer wrote them, from the names in the symbol table.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, ParseOptions};

/// Longer names stay mangled: hostile ones take long to parse.
const MAX_MANGLED_BYTES: usize = 1024;
/// Longer results are dropped: back references let a short name expand without bound.
const MAX_DEMANGLED_BYTES: usize = 4096;
/// Depth at which the C++ parser gives up; real names stay below 30.
const MAX_DEPTH: u32 = 64;

/// A demangled name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demangled {
    /// With its parameter list, where the mangling has one: `sensor::Filter::step(int)`.
    pub(crate) full: String,
    /// Without it: `sensor::Filter::step`.
    pub(crate) base: String,
}

/// Demangles a C++ or Rust name; `None` where the name is not mangled.
pub(crate) fn demangle(name: &str) -> Option<Demangled> {
    if name.len() > MAX_MANGLED_BYTES || !name.starts_with("_Z") && !name.starts_with("_R") {
        return None;
    }
    rust(name).or_else(|| cpp(name))
}

fn rust(name: &str) -> Option<Demangled> {
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    let mut full = Bounded::default();
    // The alternate form leaves out the hash.
    write!(full, "{demangled:#}").ok()?;
    Some(Demangled { base: full.text.clone(), full: full.text })
}

fn cpp(name: &str) -> Option<Demangled> {
    let options = ParseOptions::default().recursion_limit(MAX_DEPTH);
    let symbol = cpp_demangle::BorrowedSymbol::new_with_options(name.as_bytes(), &options).ok()?;
    let options = DemangleOptions::new().no_return_type().recursion_limit(MAX_DEPTH);
    let render = |options: &DemangleOptions| {
        let mut out = Bounded::default();
        symbol.structured_demangle(&mut out, options).ok()?;
        Some(out.text)
    };
    Some(Demangled { full: render(&options)?, base: render(&options.no_params())? })
}

/// Text that refuses to grow beyond the limit.
#[derive(Default)]
struct Bounded {
    text: String,
}

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.text.len() + part.len() > MAX_DEMANGLED_BYTES {
            return Err(fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<(&str, &str)>) {
        let found = demangle(name);
        assert_eq!(found.as_ref().map(|found| (found.full.as_str(), found.base.as_str())), expected, "{name}");
    }

    #[test]
    fn names_of_both_languages() {
        check("main", None);
        check("__vector_16", None);
        check("_Zebra", None);
        check("_ZN6sensor6Filter4stepEi", Some(("sensor::Filter::step(int)", "sensor::Filter::step")));
        check("_ZN6sensor6Filter4stepEh", Some(("sensor::Filter::step(unsigned char)", "sensor::Filter::step")));
        check("_Z5clampIiET_S0_", Some(("clamp<int>(int)", "clamp<int>")));
        check("_ZN6sensorL5limitE", Some(("sensor::limit", "sensor::limit")));
        check("_ZN12_GLOBAL__N_14stepEv", Some(("(anonymous namespace)::step()", "(anonymous namespace)::step")));
        check("_ZN6sensor4main17h0123456789abcdefE", Some(("sensor::main", "sensor::main")));
        check("_RNvCs1234_6sensor4main", Some(("sensor::main", "sensor::main")));
    }

    #[test]
    fn hostile_names_stay_short() {
        let doubling: String = (0..200).map(|index| format!("S{index}_S{index}_")).collect();
        for name in [format!("_Z1fILi1E{doubling}E"), "_ZN".repeat(300), format!("_Z{}v", "P".repeat(900))] {
            let longest = demangle(&name).map_or(0, |found| found.full.len());
            assert!(longest <= MAX_DEMANGLED_BYTES);
        }
    }
}
