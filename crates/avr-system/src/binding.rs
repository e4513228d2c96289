//! From a system file and its images to machines, wires and formulas over the atoms of all nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::Range;

use avr_image::Image;
use avr_machine::Machine;
use avr_machine::device::{BitKind, BitRef, Device};
use avr_properties::{
    AtomKind, AtomTable, Binding, Event, Property, PropertyError, PropertyKind as NodeProperty, Relation, Setting,
    SpecificationAutomaton, bind,
};
use mu_calculus::{
    AtomId, Comparison, Formula, LinearOperator, NormalForm, ParseError, parse_formula, parse_path, parse_predicate,
};
use three_valued::Truth;

use crate::branching::{as_linear, counts_steps, is_linear_time, over_fair_runs, with_inner_negations};
use crate::composition::Wires;
use crate::conformance::{Answer, Condition, Conformance};
use crate::error::{CONFORMS_FORM, PROPERTY_FORM, SystemError, WIRE_FORM};
use crate::file::{Placed, PropertyKind, SystemFile, WireEntry};
use crate::wire::{End, Line, PinWire, Uart};

/// The reason why a system cannot be bound.
#[derive(Debug)]
pub enum BindError {
    /// Something in the system file.
    System(SystemError),
    /// Something in the property file of a node.
    Node(PropertyError),
}

impl From<SystemError> for BindError {
    fn from(error: SystemError) -> Self {
        Self::System(error)
    }
}

/// The atom that tells that something happened on a wire.
pub(crate) const HAPPENED: AtomId = AtomId(0);

/// An atom of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeAtom {
    pub(crate) node: usize,
    pub(crate) atom: usize,
    /// True if it is an event: it labels the state that a step of its node enters.
    pub(crate) is_event: bool,
}

/// A property over the atoms of all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SystemProperty {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) goal: Goal,
}

/// The question that a property asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// A condition is true in every state.
    Always(Formula<AtomId>),
    /// Something can happen, or a condition is true, in every state.
    Live(Option<Formula<AtomId>>),
    /// A formula of linear time is true of every fair run.
    Linear(Formula<AtomId>),
    /// A formula of branching time is true at the start.
    Branching(Formula<AtomId>),
    /// The events of each run are those that a specification allows.
    Conforms(Conformance),
}

impl Goal {
    /// The atoms that a property speaks of.
    pub(crate) fn atoms(&self) -> BTreeSet<AtomId> {
        let of = |formula: &Formula<AtomId>| formula.atoms().into_iter().copied().collect::<Vec<_>>();
        let all: Vec<AtomId> = match self {
            Self::Always(formula) | Self::Linear(formula) | Self::Branching(formula) => of(formula),
            Self::Live(except) => except.iter().flat_map(of).collect(),
            Self::Conforms(conformance) => {
                let answers = conformance.answers.iter().flatten();
                let conditions = answers.filter_map(|answer| answer.condition.as_ref()).map(|it| it.atom);
                let letters = conformance.letters.iter().map(|(atom, _)| *atom);
                letters.chain(conditions).chain(conformance.data.iter().flatten().flat_map(of)).collect()
            }
        };
        all.into_iter().collect()
    }
}

/// A system whose names are bound.
#[derive(Debug)]
pub struct System<'a> {
    pub(crate) names: Vec<String>,
    pub(crate) images: Vec<&'a Image>,
    pub(crate) machines: Vec<Machine>,
    pub(crate) tables: Vec<AtomTable>,
    pub(crate) wires: Wires,
    pub(crate) properties: Vec<SystemProperty>,
    /// The atoms of all nodes, from number 1 on.
    pub(crate) atoms: Vec<NodeAtom>,
}

impl<'a> System<'a> {
    /// Binds a system file to the settings of its nodes, in the order of the file, and to the specifications that it names, by their
    /// paths there.
    ///
    /// # Errors
    /// If a pin, a UART or a name does not exist, a pin has two sources, or an input is wired and determined otherwise.
    ///
    /// # Panics
    /// If there are fewer settings than nodes.
    pub fn bind(
        file: &SystemFile,
        settings: &[Setting<'a>],
        specifications: &BTreeMap<String, SpecificationAutomaton>,
    ) -> Result<Self, BindError> {
        let names: Vec<String> = file.nodes.iter().map(|node| node.name.text.clone()).collect();
        assert_eq!(names.len(), settings.len(), "each node has a setting");
        let machines = settings.iter().map(Setting::machine).collect::<Result<Vec<_>, _>>().map_err(BindError::Node)?;
        let wires = wires(file, &names, &machines)?;
        let tables = settings.iter().map(|_| AtomTable::new()).collect();
        let mut binder = Binder { names: &names, settings, tables, atoms: Vec::new() };
        let properties = file.properties.iter().map(|entry| {
            let goal = match &entry.kind {
                PropertyKind::Always(check) => Goal::Always(binder.condition(check)?),
                PropertyKind::Never(check) => Goal::Always(Formula::Not(Box::new(binder.condition(check)?))),
                PropertyKind::Ltl(check) => Goal::Linear(binder.path(check)?),
                PropertyKind::Formula(check) => binder.branching(check)?,
                PropertyKind::Conforms { to, alphabet, relation } => match specifications.get(&to.text) {
                    Some(automaton) => Goal::Conforms(binder.conformance((automaton, *relation), to, alphabet)?),
                    None => {
                        let problem = format!("the specification {} was not read", to.text);
                        return Err(wrong(problem, &to.span, CONFORMS_FORM));
                    }
                },
                PropertyKind::Deadlock { except } => {
                    Goal::Live(except.as_ref().map(|except| binder.condition(except)).transpose()?)
                }
            };
            Ok(SystemProperty { name: entry.name.clone(), kind: entry.kind.name(), goal })
        });
        let properties = properties.collect::<Result<Vec<_>, SystemError>>()?;
        let (tables, atoms) = (binder.tables, binder.atoms);
        let images = settings.iter().map(|setting| setting.image).collect();
        Ok(Self { names, images, machines, tables, wires, properties, atoms })
    }

    /// The assumptions about wires, as sentences without full stops.
    #[must_use]
    pub fn assumptions(&self) -> Vec<String> {
        let mut all = vec!["nodes run at any speed".to_owned()];
        for Line { from, to, .. } in &self.wires.lines {
            let (from, to) = (&self.names[*from], &self.names[*to]);
            all.push(format!(
                "{from} and {to} agree on the baud rate and on parity, and characters arrive intact after any time"
            ));
        }
        all
    }
}

/// The wires, with the bits at their ends.
fn wires(file: &SystemFile, names: &[String], machines: &[Machine]) -> Result<Wires, SystemError> {
    let mut wires = Wires::default();
    let node = |name: &str| names.iter().position(|known| known == name).unwrap_or_default();
    for wire in &file.wires {
        match wire {
            WireEntry::Uart { from, to, buffer } => {
                for end in [from, to] {
                    let device = machines[node(&end.text)].device;
                    if Uart::of(device).is_none() {
                        let problem = format!("the device {} of `{}` has no UART", device.name, end.text);
                        return Err(wrong(problem, &end.span, WIRE_FORM));
                    }
                }
                let to_machine = &machines[node(&to.text)];
                let uart = Uart::of(to_machine.device).map(|uart| uart.data);
                if let Some(data) = uart {
                    let hint = "leave out the assumption or the machine in its property file";
                    let data = BitRef { address: data, bit: 0 };
                    not_determined(to_machine, data, 0xff, (&format!("{}.UDR0", to.text), &to.span), hint)?;
                }
                wires.lines.push(Line { from: node(&from.text), to: node(&to.text), buffer: usize::from(*buffer) });
            }
            WireEntry::Pin { from, to, idle } => {
                let from_end = end(from, names, machines, true)?;
                let to_end = end(to, names, machines, false)?;
                if wires.pins.iter().any(|known| known.to == to_end) {
                    let problem = format!("the pin `{}` has two sources, which may drive against each other", to.text);
                    return Err(wrong(problem, &to.span, "leave one of the wires out"));
                }
                let both = wires.pins.iter().any(|known| known.to == from_end || known.from == to_end);
                if both || from_end == to_end {
                    let problem = format!("a wire from `{}` and a wire to it, or the same of `{}`", from.text, to.text);
                    let hint = "lines that both ends drive are not supported yet";
                    return Err(wrong(problem, &from.span, hint));
                }
                if wires.pins.iter().any(|known| known.from == from_end && known.idle != *idle) {
                    let problem =
                        format!("the wires from `{}` have different levels while nothing drives them", from.text);
                    return Err(wrong(problem, &from.span, "they are one line: give all of them the same `idle`"));
                }
                let hint = "leave out the assumption or the machine in its property file";
                let machine = &machines[to_end.node];
                not_determined(machine, to_end.pin, to_end.pin.mask(), (&to.text, &to.span), hint)?;
                wires.pins.push(PinWire { from: from_end, to: to_end, idle: *idle });
            }
        }
    }
    Ok(wires)
}

/// Checks that neither an assumption nor a machine of the environment determines bits that a wire supplies.
fn not_determined(
    machine: &Machine,
    bit: BitRef,
    mask: u8,
    (name, span): (&str, &Range<usize>),
    hint: &'static str,
) -> Result<(), SystemError> {
    let options = machine.options();
    let assumed = options.assumed.get(&bit.address).is_some_and(|assumed| assumed.known_mask() & mask != 0);
    let drives = |drives: &BTreeMap<_, u8>| drives.get(&bit.address).is_some_and(|it| it & mask != 0);
    if assumed {
        return Err(wrong(format!("`{name}` is wired, and its property file assumes its value"), span, hint));
    }
    if options.automata.iter().any(|automaton| drives(&automaton.drives)) {
        return Err(wrong(format!("`{name}` is wired, and a machine of the environment drives it"), span, hint));
    }
    Ok(())
}

fn wrong(problem: String, span: &Range<usize>, hint: &'static str) -> SystemError {
    SystemError { problem, span: span.clone(), hint }
}

/// The end of a wire that a text such as `a.PORTB.0` names.
fn end(text: &Placed, names: &[String], machines: &[Machine], drives: bool) -> Result<End, SystemError> {
    let parts: Vec<&str> = text.text.split('.').collect();
    let [name, register, number] = parts.as_slice() else {
        return Err(wrong(format!("`{}` names no pin", text.text), &text.span, WIRE_FORM));
    };
    let node = names.iter().position(|known| known == name).unwrap_or_default();
    let device = machines[node].device;
    let Some(found) = device.register(register) else {
        let problem = format!("`{}`: the device {} has no register {register}", text.text, device.name);
        return Err(wrong(problem, &text.span, "pins are named by PORTx at the source and PINx at the target"));
    };
    let (wanted, other, does) = if drives { ("PORT", "PIN", "reads") } else { ("PIN", "PORT", "drives") };
    let Some(port) = found.name.strip_prefix(wanted) else {
        let problem = match found.name.strip_prefix(other) {
            Some(_) => format!(
                "`{}` {does} a pin; a wire {} at a bit of {wanted}x",
                text.text,
                if drives { "begins" } else { "ends" }
            ),
            None => format!("`{}` is no pin", text.text),
        };
        return Err(wrong(problem, &text.span, WIRE_FORM));
    };
    let bit = number.parse().ok().filter(|bit| *bit < 8);
    let bits = bit.and_then(|bit| {
        Some((bit_of(device, "PIN", port, bit)?, bit_of(device, "DDR", port, bit)?, bit_of(device, "PORT", port, bit)?))
    });
    let Some((pin, direction, port)) = bits else {
        let problem = format!("`{}`: {register} has no bit {number}", text.text);
        return Err(wrong(problem, &text.span, "bits are numbered from 0 to 7"));
    };
    Ok(End { node, pin, direction, port })
}

/// A bit of a register of a port, if it is there.
fn bit_of(device: &Device, register: &str, port: &str, bit: u8) -> Option<BitRef> {
    let address = device.register(&format!("{register}{port}"))?.address;
    let bit = BitRef { address, bit };
    device.bit_at(bit).filter(|it| it.kind != BitKind::Reserved)?;
    Some(bit)
}

/// Binds conditions over the atoms of all nodes.
struct Binder<'a, 'b> {
    names: &'b [String],
    settings: &'b [Setting<'a>],
    tables: Vec<AtomTable>,
    atoms: Vec<NodeAtom>,
}

impl Binder<'_, '_> {
    /// The condition that a text of the file states.
    fn condition(&mut self, text: &Placed) -> Result<Formula<AtomId>, SystemError> {
        self.bound(text, parse_predicate)
    }

    /// The formula about runs that a text of the file states.
    fn path(&mut self, text: &Placed) -> Result<Formula<AtomId>, SystemError> {
        let formula = self.bound(text, parse_path)?;
        if !is_linear_time(&formula) {
            let problem = "a formula of linear time has no fixed points and no quantifiers".to_owned();
            return Err(wrong(problem, &text.span, PROPERTY_FORM));
        }
        if counts_steps(&formula) {
            let problem = "`X` and `Y` count steps, and nodes take steps at any speed".to_owned();
            return Err(wrong(problem, &text.span, "use F, G, U, R and W"));
        }
        Ok(formula)
    }

    /// The question that a formula of branching time asks.
    fn branching(&mut self, text: &Placed) -> Result<Goal, SystemError> {
        let formula = with_inner_negations(&self.bound(text, parse_formula)?, true);
        Ok(match as_linear(&formula) {
            Some(Formula::Linear(LinearOperator::Always, check)) if check.is_boolean() => Goal::Always(*check),
            Some(path) => Goal::Linear(path),
            None => {
                // Any atom stands for the end of a round here.
                NormalForm::new(&over_fair_runs(&formula, HAPPENED)).map_err(|error| {
                    let hint = "`AF`, `EG`, `A[p U q]`, `E[p R q]` and `E[p W q]` speak of fair runs: they contain no variable of a fixed point around them";
                    wrong(error.to_string(), &text.span, hint)
                })?;
                Goal::Branching(formula)
            }
        })
    }

    /// A specification with its events and data bound to atoms.
    fn conformance(
        &mut self,
        (automaton, relation): (&SpecificationAutomaton, Relation),
        to: &Placed,
        alphabet: &[Placed],
    ) -> Result<Conformance, SystemError> {
        let mut letters: Vec<(usize, Event, AtomId, String)> = Vec::new();
        for text in alphabet {
            let bound = self.condition(text)?;
            let Some((node, event, atom, compares)) = self.as_event(&bound) else {
                return Err(wrong(format!("`{}` is no event", text.text), &text.span, CONFORMS_FORM));
            };
            let is_known = letters.iter().any(|(known, of, ..)| *known == node && *of == event);
            if compares || is_known {
                let problem = if compares { "compares a value" } else { "is there twice" };
                let hint = "an alphabet has events without comparisons, each once";
                return Err(wrong(format!("`{}` {problem}", text.text), &text.span, hint));
            }
            letters.push((node, event, atom, text.text.clone()));
        }
        let (mut data, mut answers) = (Vec::new(), Vec::new());
        for state in &automaton.states {
            let at = |problem: String| {
                let problem = format!("{} in state {}: {problem}", automaton.name, state.name);
                wrong(problem, &to.span, CONFORMS_FORM)
            };
            let mut of = |text: &str| {
                let placed = Placed { text: text.to_owned(), span: to.span.clone() };
                self.condition(&placed).map_err(|error| at(format!("`{text}`: {}", error.problem)))
            };
            let own = state.data.as_ref().map(|text| of(&text.text)).transpose()?;
            let mut moves = Vec::new();
            for it in &state.moves {
                if let Some(on) = &it.on {
                    moves.push((on.text.as_str(), of(&on.text)?, it.to));
                }
            }
            let is_event = |atom: &AtomId| self.node_atom(*atom).is_some_and(|atom| atom.is_event);
            if own.as_ref().is_some_and(|data: &Formula<AtomId>| data.atoms().into_iter().any(is_event)) {
                return Err(at("data speaks of the content of a state, not of events".to_owned()));
            }
            data.push(own);
            let answer = |(text, bound, to): (&str, Formula<AtomId>, usize)| {
                let found = self.as_event(&bound).ok_or_else(|| at(format!("`{text}` is no event")))?;
                let (node, event, atom, compares) = found;
                let letter = letters.iter().position(|(known, of, ..)| *known == node && *of == event);
                let letter = letter.ok_or_else(|| at(format!("the alphabet does not have the event of `{text}`")))?;
                let condition = compares.then(|| Condition { atom, values: self.values(atom) });
                Ok(Answer { letter, condition, to })
            };
            answers.push(moves.into_iter().map(answer).collect::<Result<Vec<_>, SystemError>>()?);
        }
        let letters = letters.into_iter().map(|(_, _, atom, text)| (atom, text)).collect();
        Ok(Conformance { automaton: automaton.clone(), relation, letters, data, answers })
    }

    fn node_atom(&self, atom: AtomId) -> Option<NodeAtom> {
        self.atoms.get(atom.index().checked_sub(1)?).copied()
    }

    /// The node and the event that a condition is, its atom, and true if its value is compared.
    fn as_event(&self, condition: &Formula<AtomId>) -> Option<(usize, Event, AtomId, bool)> {
        let Formula::Atom(number) = condition else { return None };
        let NodeAtom { node, atom, .. } = self.node_atom(*number)?;
        match self.tables[node].atoms().get(atom)?.kind() {
            AtomKind::Event(event, condition) => Some((node, event.clone(), *number, condition.is_some())),
            _ => None,
        }
    }

    /// The truth of the comparison of an event for each byte.
    fn values(&self, number: AtomId) -> Vec<Truth> {
        let found = self.node_atom(number).and_then(|it| self.tables[it.node].atoms().get(it.atom));
        found.map_or_else(|| vec![Truth::Unknown; 256], |atom| atom.truths_of_values())
    }

    fn bound(
        &mut self,
        text: &Placed,
        parse: fn(&str) -> Result<Formula<Comparison>, ParseError>,
    ) -> Result<Formula<AtomId>, SystemError> {
        let (plain, nodes) = without_nodes(&text.text, self.names);
        let at = |span: Range<usize>| {
            // The text stands behind a quote.
            let start = (text.span.start + 1 + span.start).min(text.span.end);
            start..(text.span.start + 1 + span.end).clamp(start, text.span.end)
        };
        let parsed =
            parse(&plain).map_err(|error| wrong(error.kind.to_string(), &at(error.span.range()), PROPERTY_FORM))?;
        let mut conditions = Vec::new();
        let bound = parsed.try_map_atoms(&mut |comparison: &Comparison| {
            let span = comparison.span.range();
            let mut named: Vec<usize> =
                nodes.iter().filter(|(place, _)| span.contains(place)).map(|(_, node)| *node).collect();
            named.dedup();
            let part = &plain[span.clone()];
            let condition = match named.as_slice() {
                [] => {
                    let problem = format!("`{}` speaks of no node", part.trim());
                    Err(wrong(problem, &at(span), "name the node, as in `a.write(UDR0)` or `a.PORTB.0 == 1`"))
                }
                [node] => self.of_node(*node, part).map_err(|problem| wrong(problem, &at(span), PROPERTY_FORM)),
                _ => {
                    let problem = "one comparison speaks of two nodes".to_owned();
                    Err(wrong(problem, &at(span), "compare each node with a number, and combine with && and ||"))
                }
            };
            conditions.push(condition?);
            Ok(AtomId(conditions.len() as u32 - 1))
        })?;
        Ok(with_conditions(&bound, &conditions))
    }

    /// The condition about a node that a text without its name states.
    fn of_node(&mut self, node: usize, text: &str) -> Result<Formula<AtomId>, String> {
        let Setting { image, device, start, file, .. } = self.settings[node];
        let binding = Binding {
            device,
            image,
            start: file.start_address(device, start),
            ends_paths: file.ends_paths(),
            stacks: &file.stacks,
            boot_start: file.boot_start(device),
        };
        let property = Property::new(text, NodeProperty::Formula { check: text.to_owned() });
        let bound = bind(&property, &file.definitions, &binding, &mut self.tables[node]);
        let bound = bound.map_err(|error| error.kind().to_string())?;
        if !bound.formula.is_boolean() {
            return Err("a condition speaks of single states".to_owned());
        }
        let table = &self.tables[node];
        let kinds = || bound.atoms.iter().map(|atom| table.get(*atom).kind());
        // SOUND: the machine of a node keeps no note of the start.
        if kinds().any(|kind| *kind == AtomKind::InStartup) {
            return Err("`in_startup` is not supported in systems".to_owned());
        }
        bound.formula.try_map_atoms(&mut |atom: &AtomId| -> Result<AtomId, String> {
            let is_event = matches!(table.get(*atom).kind(), AtomKind::Event(..));
            let wanted = NodeAtom { node, atom: atom.index(), is_event };
            let known = self.atoms.iter().position(|known| *known == wanted);
            let number = known.unwrap_or_else(|| {
                self.atoms.push(wanted);
                self.atoms.len() - 1
            });
            Ok(AtomId(number as u32 + 1))
        })
    }
}

/// A formula with these conditions in place of its atoms, which are their numbers.
fn with_conditions(formula: &Formula<AtomId>, conditions: &[Formula<AtomId>]) -> Formula<AtomId> {
    match formula {
        Formula::Atom(number) => conditions[number.index()].clone(),
        _ => {
            let child = &mut |child: &Formula<AtomId>| Ok::<_, Infallible>(with_conditions(child, conditions));
            formula.try_map_children(child).unwrap_or_else(|never| match never {})
        }
    }
}

/// A text in which the names of nodes before dots are blank, and the places of what follows them, with the numbers of the nodes.
fn without_nodes(text: &str, names: &[String]) -> (String, Vec<(usize, usize)>) {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    let (mut plain, mut nodes) = (text.to_owned(), Vec::new());
    let (mut at, mut is_quoted) = (0, false);
    while at < bytes.len() {
        if bytes[at] == b'"' {
            is_quoted = !is_quoted;
        }
        if is_quoted || !is_word(bytes[at]) {
            at += 1;
            continue;
        }
        let end = (at..bytes.len()).find(|place| !is_word(bytes[*place])).unwrap_or(bytes.len());
        let node = names.iter().position(|name| name == &text[at..end]);
        let is_first = at == 0 || bytes[at - 1] != b'.';
        if let Some(node) = node.filter(|_| is_first && bytes.get(end) == Some(&b'.')) {
            plain.replace_range(at..=end, &" ".repeat(end + 1 - at));
            nodes.push((end + 1, node));
        }
        at = end.max(at + 1);
    }
    (plain, nodes)
}

#[cfg(test)]
mod tests {
    use super::without_nodes;

    #[test]
    fn names_of_nodes_are_taken_off() {
        let names = ["a".to_owned(), "b2".to_owned()];
        let check = |text: &str, plain: &str, nodes: &[(usize, usize)]| {
            assert_eq!(without_nodes(text, &names), (plain.to_owned(), nodes.to_vec()));
        };
        check("a.PORTB.0 == 1", "  PORTB.0 == 1", &[(2, 0)]);
        check("a.write(UDR0) && b2.a == 3", "  write(UDR0) &&    a == 3", &[(2, 0), (20, 1)]);
        check("c.a == 1 || \"a.b\" == 2", "c.a == 1 || \"a.b\" == 2", &[]);
    }
}
