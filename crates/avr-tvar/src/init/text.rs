//! The text of the property file.

use std::fmt::Write;

use avr_image::FlashByteAddress;
use avr_machine::Use;
use avr_report::Escaped;
use avr_verify::{PropertyResult, Verdict};

use super::Findings;
use super::library::is_library_name;

/// So many names of a kind are listed.
const MAX_NAMES: usize = 40;
/// The width of lists in characters.
const WIDTH: usize = 100;

impl Findings<'_> {
    /// The whole file.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let firmware = self.arguments.firmware.display().to_string();
        let firmware = Escaped(&firmware);
        put(
            &mut text,
            &format!("// Properties of {firmware}, to begin with. `docs/properties.md` describes the language."),
        );
        put(&mut text, &format!("//   avr-tvar props THIS_FILE {firmware}     checks this file"));
        put(&mut text, &format!("//   avr-tvar verify {firmware} THIS_FILE    verifies the properties"));
        put(&mut text, "(");
        self.device_lines(&mut text);
        self.name_lines(&mut text);
        self.definition_lines(&mut text);
        put(&mut text, "    // What is assumed of inputs and interrupts, for example that a pin is not connected:");
        put(&mut text, "    // assume: [\"PINB & 0x01 == 0\"],");
        put(&mut text, "");
        self.property_lines(&mut text);
        put(&mut text, ")");
        text
    }

    fn device_lines(&self, text: &mut String) {
        let origin = match (&self.arguments.device, &self.image.device) {
            (Some(_), _) => "as the command line says",
            (None, Some(_)) => "as the image says",
            (None, None) => "assumed, because the image does not say",
        };
        put(text, &format!("    // {origin}"));
        put(text, &format!("    device: \"{}\",", self.device.name));
        if let Some(start) = self.arguments.start {
            put(text, &format!("    start: {start:#06x},"));
        }
        put(text, "");
        if !self.stacks.is_empty() {
            put(text, "    // The program sets SP into these variables: they are taken for the stacks of tasks.");
            put(text, "    stacks: [");
            for stack in &self.stacks {
                put(text, &format!("        (symbol: {}),", quoted(stack)));
            }
            put(text, "    ],");
            put(text, "");
        }
    }

    /// The names that formulas can use.
    fn name_lines(&self, text: &mut String) {
        put(text, "    // Formulas can speak of registers, flags, memory, and of these:");
        let symbols = &self.image.symbols;
        let functions = symbols.code().filter(|symbol| is_own(&symbol.name) && !is_library_name(symbol.base_name()));
        list(text, "functions", functions.map(|symbol| symbol.base_name().to_owned()));
        let variables = symbols.data().filter(|symbol| is_own(&symbol.name) && symbol.size > 0);
        list(text, "variables", variables.map(|symbol| symbol.base_name().to_owned()));
        list(text, "I/O read", self.registers(|used| used.reads));
        list(text, "I/O written", self.registers(|used| used.writes));
        list(text, "interrupt handlers", self.handlers());
        put(text, "");
    }

    fn registers(&self, is_used: impl Fn(Use) -> bool) -> impl Iterator<Item = String> {
        let used = self.survey.named.iter().filter(move |(_, used)| is_used(**used));
        used.filter_map(|(address, _)| Some(self.device.register_at(*address)?.name.to_owned()))
    }

    /// The interrupts with a handler of their own, as avr-libc names handlers.
    fn handlers(&self) -> impl Iterator<Item = String> {
        let place = |name: &str| self.image.symbols.find(name).ok().map(|symbol| symbol.place);
        let default = place("__bad_interrupt");
        let handled = move |number: u8| place(&format!("__vector_{number}")).is_some_and(|own| Some(own) != default);
        self.device.interrupts.iter().filter(move |one| handled(one.number)).map(|one| one.name.to_owned())
    }

    fn definition_lines(&self, text: &mut String) {
        put(text, "    // Names for formulas. The loops of the program, by the address of their first instruction:");
        put(text, "    define: {");
        for one in &self.loops {
            let line = self.image.source_line(FlashByteAddress(one.head));
            let comment = line.map_or(String::new(), |line| format!("    // {}", Escaped(&line.shown())));
            put(text, &format!("        \"{}\": \"pc == {:#06x}\",{comment}", one.name, one.head));
        }
        put(text, "    },");
        put(text, "");
    }

    fn property_lines(&self, text: &mut String) {
        put(text, "    properties: [");
        let mut results = self.results.properties.iter();
        put(text, "        // No hazard ever happens: `docs/hazards.md` lists them.");
        let mut told = results.next().and_then(not_holding);
        if let Some(why) = &told {
            put(text, &format!("        // {}", Escaped(why)));
        }
        put(text, "        Inherent(),");
        self.stack_lines(text);
        if !self.loops.is_empty() {
            put(text, "        // Whatever happens, the program can get back to its loops.");
        }
        for (one, result) in self.loops.iter().zip(results) {
            let entry = format!("Recovery(name: \"can always get back to {0}\", to: \"{0}\")", one.name);
            Self::entry(text, &entry, result, &mut told);
        }
        put(text, "    ],");
    }

    fn stack_lines(&self, text: &mut String) {
        let bound = self.results.stack;
        match (bound.upper, bound.lower) {
            (Some(upper), lower) => {
                let exact = if lower == Some(upper) { ", and some run needs them" } else { "" };
                put(
                    text,
                    &format!(
                        "        // The stack takes {upper} bytes at most at present{exact}; raise it when you need more."
                    ),
                );
                put(text, &format!("        Stack(max_bytes: {upper}),"));
            }
            (None, Some(lower)) => {
                put(text, &format!("        // No bound of the stack was proved; some run needs {lower} bytes."));
                put(text, &format!("        // Stack(max_bytes: {lower}),"));
            }
            (None, None) => put(text, "        // No bound of the stack was proved: Stack(max_bytes: 100),"),
        }
        for stack in &self.results.stacks {
            let (name, room) = (quoted(&stack.symbol), stack.room);
            match stack.bound.upper {
                Some(upper) => {
                    put(text, &format!("        // Of {room} bytes:"));
                    put(text, &format!("        Stack(of: {name}, max_bytes: {upper}),"));
                }
                None => put(
                    text,
                    &format!("        // Of {room} bytes, no bound was proved: Stack(of: {name}, margin: 0),"),
                ),
            }
        }
    }

    /// An entry as it is if it holds, and as a comment if not. A reason is given once where several in a row have it.
    fn entry(text: &mut String, entry: &str, result: &PropertyResult, told: &mut Option<String>) {
        let why = not_holding(result);
        match &why {
            None => put(text, &format!("        {entry},")),
            Some(why) => {
                if told.as_ref() != Some(why) {
                    put(text, &format!("        // {}", Escaped(why)));
                }
                put(text, &format!("        // {entry},"));
            }
        }
        *told = why;
    }
}

/// The reason why a property does not hold; none if it holds.
fn not_holding(result: &PropertyResult) -> Option<String> {
    match (&result.verdict, &result.detail) {
        (Verdict::Holds, _) => None,
        (Verdict::Violated, Some(detail)) => Some(format!("violated at present: {detail}")),
        (Verdict::Violated, None) => Some("violated at present".to_owned()),
        (Verdict::Unknown(unknown), _) => Some(format!("not decided: {}", unknown.reason)),
    }
}

/// True if a name is the programmer's: names that begin with an underscore and a dot belong to the tools.
fn is_own(name: &str) -> bool {
    name.starts_with("_Z") || !name.starts_with(['_', '.'])
}

/// A list of names as comments, in as many lines as it takes; nothing if there are none.
fn list(text: &mut String, title: &str, names: impl Iterator<Item = String>) {
    let mut all: Vec<String> = names.map(|name| Escaped(&name).to_string()).collect();
    let more = all.len().saturating_sub(MAX_NAMES);
    all.truncate(MAX_NAMES);
    if more > 0 {
        all.push(format!("and {more} more"));
    }
    let mut line = String::new();
    let mut title = title;
    for name in all {
        if !line.is_empty() && line.len() + name.len() > WIDTH {
            put(text, &format!("    //   {title:<20}{line}"));
            (title, line) = ("", String::new());
        }
        line.push_str(if line.is_empty() { "" } else { ", " });
        line.push_str(&name);
    }
    if !line.is_empty() {
        put(text, &format!("    //   {title:<20}{line}"));
    }
}

/// A name as a string of the property file.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.escape_default())
}

fn put(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}
