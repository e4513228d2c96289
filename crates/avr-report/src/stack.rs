//! The worst-case stack as text, in the manner of `avr-size -C`, and as one JSON object.

use std::fmt::Write;

use avr_image::{Image, without_detours};
use avr_machine::Machine;
use avr_machine::device::Device;
use avr_verify::{Cycle, Fit, Routine, Segment, WorstCase};
use serde::Serialize;

use crate::escape::{Escaped, json_text};
use crate::evidence::{JsonEvidence, add_evidence};
use crate::fields::{Firmware, basis_name, firmware};
use crate::json::JsonTaskStack;
use crate::names::{Names, routine_name};
use crate::place::Source;
use crate::report::{StoppedBy, Subject};
use crate::table::{Align, Table};
use crate::text::task_stack;

/// The name and version of the format.
const SCHEMA: &str = "avr-tvar/stack/1";
/// The longest repetition in a call string that is folded, in routines.
const MAX_PATTERN: usize = 8;

/// The worst-case stack of an image, ready to be rendered.
#[derive(Clone, Copy, Debug)]
pub struct StackReport<'a> {
    /// The image.
    pub image: &'a Image,
    /// The device that it was analysed for.
    pub device: &'a Device,
    /// The machine that was analysed: the text repeats the run on it, for the values of variables of several bytes.
    pub machine: Option<&'a Machine>,
    /// The answer.
    pub worst_case: &'a WorstCase,
    /// The limit that stopped the work, if one did.
    pub stopped_by: Option<StoppedBy>,
    /// The most memory in use at any time, in bytes.
    pub peak_memory_bytes: u64,
}

#[derive(Serialize)]
struct JsonStackReport<'a> {
    schema: &'static str,
    firmware: Firmware<'a>,
    verdict: &'static str,
    lower: Option<u32>,
    upper: Option<u32>,
    exact: Option<u32>,
    basis: &'static str,
    room: JsonRoom,
    margin: u32,
    free: Option<u32>,
    /// The stacks of tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stacks: Vec<JsonTaskStack<'a>>,
    chain: Vec<JsonSegment>,
    run: Option<JsonEvidence>,
    routines: Vec<JsonRoutine>,
    cycles: Vec<JsonCycle>,
    stopped_by: Option<&'static str>,
    reasons: &'a [String],
    assumptions: &'a [String],
    peak_memory_bytes: u64,
}

#[derive(Serialize)]
struct JsonRoom {
    start: u16,
    end: u16,
    bytes: u32,
    static_data_known: bool,
}

#[derive(Serialize)]
struct JsonSegment {
    routine: String,
    handler: bool,
    pc: u32,
    line: Option<String>,
    bytes: u32,
}

#[derive(Serialize)]
struct JsonRoutine {
    routine: String,
    handler: bool,
    /// Flash byte address of a function.
    address: Option<u32>,
    own: u32,
    total: u32,
    callers: Vec<String>,
}

#[derive(Serialize)]
struct JsonCycle {
    routines: Vec<String>,
    kind: &'static str,
    times: usize,
    bounded: bool,
    /// True if the run shows it.
    shown: bool,
}

impl StackReport<'_> {
    /// The memory that the stack takes, the deepest call string, what each routine takes, and a line that sums it up:
    /// `stack: fits, lower 35, upper 35, room 2039, free 2004`.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.told_stop().map_or_else(String::new, |stop| format!("{stop}\n"));
        self.add_head(&mut text);
        self.add_chain(&mut text);
        self.add_routines(&mut text);
        for cycle in self.cycles() {
            let (kind, times) = (cycle.kind, cycle.times);
            let routines = Escaped(&cycle.routines.join(" -> ")).to_string();
            let told = match (cycle.bounded, cycle.shown) {
                (true, true) => format!("{kind}: {routines}, at most {times} times"),
                (true, false) => format!("{kind} that the proof does not exclude: {routines}, at most {times} times"),
                (false, true) => format!("{kind}: {routines}, without a bound that is known, at least {times} times"),
                (false, false) => format!("{kind} that may be in no run: {routines}, seen {times} times"),
            };
            put(&mut text, format_args!("{told}\n"));
        }
        for reason in &self.worst_case.reasons {
            put(&mut text, format_args!("because {}\n", Escaped(reason)));
        }
        for assumption in &self.worst_case.assumptions {
            put(&mut text, format_args!("assuming {}\n", Escaped(assumption)));
        }
        text + &self.summary() + "\n"
    }

    /// One JSON object over several lines, with a line end. `docs/schema/stack-1.json` describes it.
    ///
    /// # Panics
    /// Never: the object consists of strings, numbers and lists.
    #[must_use]
    pub fn json(&self) -> String {
        let found = self.worst_case;
        let room = found.room;
        let report = JsonStackReport {
            schema: SCHEMA,
            firmware: firmware(self.image, self.device.name),
            verdict: self.verdict(),
            lower: found.bound.lower,
            upper: found.bound.upper,
            exact: found.bound.exact(),
            basis: basis_name(found.basis),
            room: JsonRoom {
                start: room.start.0,
                end: room.end.0,
                bytes: room.bytes(),
                static_data_known: room.is_known,
            },
            margin: found.margin,
            free: found.free(),
            stacks: found.stacks.iter().map(JsonTaskStack::from).collect(),
            chain: found.chain.iter().map(|segment| self.segment(segment)).collect(),
            run: found.run.as_ref().and_then(|run| JsonEvidence::new(run, self.image, self.device.name)),
            routines: self.routines(),
            cycles: self.cycles(),
            stopped_by: self.stopped_by.map(StoppedBy::name),
            reasons: &found.reasons,
            assumptions: &found.assumptions,
            peak_memory_bytes: self.peak_memory_bytes,
        };
        json_text(&report)
    }

    /// The line about a limit that the user did not choose and that left it open whether the stack fits.
    fn told_stop(&self) -> Option<String> {
        let is_open = self.worst_case.fit == Fit::Unknown;
        self.stopped_by.filter(|_| is_open)?.told("whether the stack fits is unknown")
    }

    /// The line that a gate can look for.
    fn summary(&self) -> String {
        let known = |bytes: Option<u32>| bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
        let WorstCase { bound, room, .. } = self.worst_case;
        let free = known(self.worst_case.free());
        let (lower, upper) = (known(bound.lower), known(bound.upper));
        format!("stack: {}, lower {lower}, upper {upper}, room {}, free {free}", self.verdict(), room.bytes())
    }

    fn verdict(&self) -> &'static str {
        match self.worst_case.fit {
            Fit::Fits => "fits",
            Fit::Overflows => "overflows",
            Fit::Unknown => "unknown",
        }
    }

    fn names(&self) -> Names<'_> {
        Names { image: self.image, device: self.device }
    }

    fn add_head(&self, text: &mut String) {
        let WorstCase { bound, room, margin, .. } = self.worst_case;
        put(text, format_args!("AVR Stack Usage\n---------------\nDevice: {}\n\n", self.device.name));
        let share = |bytes: u32| 100.0 * f64::from(bytes) / f64::from(room.bytes().max(1));
        let origin = if room.is_known { "the end of static data" } else { "the start of the SRAM" };
        let range = format!("(of {} bytes from {:#06x}, {origin}, to {:#06x})", room.bytes(), room.start, room.end);
        match (bound.exact(), bound.upper, bound.lower) {
            (Some(bytes), ..) => {
                put(text, format_args!("Stack: {bytes:>8} bytes ({:.1}% Full)\n{range}\n", share(bytes)));
            }
            (None, Some(upper), lower) => {
                put(text, format_args!("Stack: {upper:>8} bytes ({:.1}% Full) or less\n{range}\n", share(upper)));
                let lower = lower.map_or("no run that needs a number of bytes is known".to_owned(), |lower| {
                    format!("some run needs {lower} bytes")
                });
                put(text, format_args!("{lower}\n"));
            }
            (None, None, Some(lower)) => {
                put(text, format_args!("Stack: {lower:>8} bytes ({:.1}% Full) or more\n{range}\n", share(lower)));
            }
            (None, None, None) => put(text, format_args!("Stack: not known\n{range}\n")),
        }
        if let Some(free) = self.worst_case.free() {
            put(text, format_args!("\nFree:  {free:>8} bytes in every run\n"));
        }
        if *margin > 0 {
            put(text, format_args!("({margin} bytes must stay free)\n"));
        }
        for (number, task) in self.worst_case.stacks.iter().enumerate() {
            let label = if number == 0 { "\nTasks: " } else { "       " };
            put(text, format_args!("{label}{}\n", Escaped(&task_stack(task))));
        }
    }

    fn add_chain(&self, text: &mut String) {
        let found = self.worst_case;
        if found.chain.is_empty() {
            return;
        }
        match &found.run {
            Some(run) if run.end.hazard.is_some() => text.push_str("\nOn the stack before it overflows:\n"),
            Some(_) if found.run_depth() < found.bound.lower || found.run_depth() < found.bound.upper => {
                text.push_str("\nOn the stack at the end of the deepest run that was found:\n");
            }
            Some(_) => text.push_str("\nOn the stack where it is deepest:\n"),
            None => text.push_str("\nOn the stack where it may be deepest, which no run shows:\n"),
        }
        let mut table = Table::new([
            ("bytes", Align::Right),
            ("depth", Align::Right),
            ("address", Align::Right),
            ("routine", Align::Left),
        ]);
        let (mut depth, mut index) = (0, 0);
        while let Some(segment) = found.chain.get(index) {
            depth += segment.bytes;
            let JsonSegment { routine, line, .. } = self.segment(segment);
            let place = line.map_or(String::new(), |line| format!(" at {}", without_detours(&line)));
            let address = format!("{:#06x}", segment.pc);
            table.add([segment.bytes.to_string(), depth.to_string(), address, format!("{routine}{place}")]);
            index += 1;
            let (length, times) = repetition(&found.chain, index);
            if times > 1 {
                let repeated = &found.chain[index..index + length * times];
                let bytes: u32 = repeated.iter().map(|segment| segment.bytes).sum();
                depth += bytes;
                let what = if length == 1 { "the same".to_owned() } else { format!("the last {length}") };
                table.add([bytes.to_string(), depth.to_string(), String::new(), format!("{what} {times} times more")]);
                index += repeated.len();
            }
        }
        add_table(text, &table);
        if let Some(run) = &found.run {
            text.push_str("\nThe run that leads there:\n");
            let (image, device, machine) = (self.image, self.device.name, self.machine);
            add_evidence(text, "  ", run, Subject { image, device, machine, sources: &[] });
        }
    }

    fn add_routines(&self, text: &mut String) {
        if self.worst_case.survey.routines.is_empty() {
            return;
        }
        text.push_str("\nWhat routines take at most, with their return address; total with what they call:\n");
        if !self.worst_case.survey.complete {
            text.push_str("(of what was explored, which is not all of the program)\n");
        }
        let mut table = Table::new([
            ("own", Align::Right),
            ("total", Align::Right),
            ("routine", Align::Left),
            ("called by", Align::Wrapped),
        ]);
        for routine in self.routines() {
            let callers = routine.callers.join(", ");
            table.add([routine.own.to_string(), routine.total.to_string(), routine.routine, callers]);
        }
        add_table(text, &table);
        text.push('\n');
    }

    fn segment(&self, segment: &Segment) -> JsonSegment {
        let source = Source::at(self.image, segment.pc);
        JsonSegment {
            routine: routine_name(&self.names(), segment.routine),
            handler: is_handler(segment.routine),
            pc: segment.pc,
            line: source.map(|source| format!("{}:{}", source.file, source.line)),
            bytes: segment.bytes,
        }
    }

    /// The routines with their stack usage, the largest total first.
    fn routines(&self) -> Vec<JsonRoutine> {
        let names = self.names();
        let mut all: Vec<JsonRoutine> = Vec::new();
        for (routine, usage) in &self.worst_case.survey.routines {
            all.push(JsonRoutine {
                routine: routine_name(&names, *routine),
                handler: is_handler(*routine),
                address: address(*routine),
                own: usage.own,
                total: usage.total,
                callers: usage.callers.iter().map(|caller| routine_name(&names, *caller)).collect(),
            });
        }
        all.sort_by_key(|routine| std::cmp::Reverse(routine.total));
        all
    }

    fn cycles(&self) -> Vec<JsonCycle> {
        let names = self.names();
        let bounded = self.worst_case.bound.upper.is_some();
        let one = |(cycle, times): (&Cycle, &usize)| {
            let mut routines: Vec<String> = cycle.routines.iter().map(|one| routine_name(&names, *one)).collect();
            routines.extend(routines.first().cloned());
            let nests = cycle.routines.iter().any(|routine| is_handler(*routine));
            let shown = self.worst_case.cycles_shown.get(cycle);
            // Without a bound for all runs, only what the run shows is certain.
            let times = shown.filter(|_| !bounded).unwrap_or(times);
            let kind = if nests { "nesting" } else { "recursion" };
            JsonCycle { routines, kind, times: *times, bounded, shown: shown.is_some() }
        };
        // A limit may have ended the work before the run's own cycles were seen in the whole.
        let mut all = self.worst_case.survey.cycles.clone();
        for (cycle, times) in &self.worst_case.cycles_shown {
            let known = all.entry(cycle.clone()).or_default();
            *known = (*known).max(*times);
        }
        all.iter().map(one).collect()
    }
}

/// The repetition of the segments before a place in those after it: the length of the pattern, and the number of times
/// it comes.
fn repetition(chain: &[Segment], place: usize) -> (usize, usize) {
    let repeats = |length: usize| {
        let pattern = place.checked_sub(length).map(|start| &chain[start..place])?;
        let times = chain[place..].chunks(length).take_while(|chunk| *chunk == pattern).count();
        Some((length, times))
    };
    (1..=MAX_PATTERN).filter_map(repeats).find(|(_, times)| *times > 1).unwrap_or((1, 0))
}

fn is_handler(routine: Routine) -> bool {
    matches!(routine, Routine::Handler(_))
}

fn address(routine: Routine) -> Option<u32> {
    match routine {
        Routine::Function(address) => Some(address),
        Routine::Handler(_) => None,
    }
}

fn add_table<const N: usize>(text: &mut String, table: &Table<N>) {
    for line in table.rows().flatten() {
        put(text, format_args!("  {line}\n"));
    }
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::repetition;
    use avr_verify::{Routine, Segment};

    #[track_caller]
    fn check(pcs: &[u32], place: usize, expected: (usize, usize)) {
        let segment = |pc: &u32| Segment { routine: Routine::Function(0), pc: *pc, bytes: 2 };
        assert_eq!(repetition(&pcs.iter().map(segment).collect::<Vec<_>>(), place), expected);
    }

    #[test]
    fn repetitions_in_a_call_string_are_found() {
        check(&[1, 2, 2, 2, 3], 2, (1, 2));
        check(&[1, 2, 2, 3], 2, (1, 0));
        check(&[1, 2, 1, 2, 1, 2], 2, (2, 2));
        check(&[1, 2, 1, 2, 1, 2], 1, (1, 0));
        check(&[1], 1, (1, 0));
        check(&[], 0, (1, 0));
    }
}
