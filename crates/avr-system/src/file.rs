//! System files: nodes, the wires between them, and the properties of the whole.

use std::ops::Range;

use avr_machine::{ron_message, ron_offset};
use avr_properties::Relation;
use ron::extensions::Extensions;
use ron::value::RawValue;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::{CONFORMS_FORM, FILE_FORM, PROPERTY_FORM, SystemError, WIRE_FORM};

/// The most nodes of a system.
pub const MAX_NODES: usize = 16;
/// The characters that a receiver keeps behind its shift register, where the wire does not say.
const BUFFER: u16 = 2;
/// The most characters that a receiver can be said to keep.
const MAX_BUFFER: u16 = 64;

/// A text of the file with the bytes that it takes there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The text.
    pub text: String,
    /// The bytes of the file, with quotes.
    pub span: Range<usize>,
}

/// A system as its file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemFile {
    /// The nodes, in the order of the file.
    pub nodes: Vec<NodeEntry>,
    /// The wires, in the order of the file.
    pub wires: Vec<WireEntry>,
    /// The properties, in the order of the file.
    pub properties: Vec<PropertyEntry>,
}

/// A node as the file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeEntry {
    /// The name.
    pub name: Placed,
    /// The path of the firmware.
    pub firmware: Placed,
    /// The path of the property file whose settings count.
    pub properties: Option<Placed>,
    /// The name of the device.
    pub device: Option<Placed>,
}

/// A wire as the file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireEntry {
    /// A serial line from the transmitter of a node to the receiver of another.
    Uart {
        /// The sending node.
        from: Placed,
        /// The receiving node.
        to: Placed,
        /// The characters that the receiver keeps behind its shift register, from 1 to 64.
        buffer: u16,
    },
    /// A pin that drives a pin.
    Pin {
        /// The bit that drives, as in `a.PORTB.0`.
        from: Placed,
        /// The bit that is read, as in `b.PIND.2`.
        to: Placed,
        /// The level that a resistor gives the wire while nothing drives it.
        idle: Option<bool>,
    },
}

/// A property as the file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyEntry {
    /// The name for reports.
    pub name: String,
    /// The kind.
    pub kind: PropertyKind,
    /// The bytes of the entry.
    pub span: Range<usize>,
}

/// The kinds of properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// Something can still happen on the wires, except where this condition holds.
    Deadlock {
        /// States in which nothing need happen any more.
        except: Option<Placed>,
    },
    /// A condition that is true in every state.
    Always(Placed),
    /// A condition that is true in no state.
    Never(Placed),
    /// A formula of linear time that is true of every fair run.
    Ltl(Placed),
    /// A formula of branching time that is true at the start.
    Formula(Placed),
    /// The events of each run are those that a specification allows.
    Conforms {
        /// The path of the specification file.
        to: Placed,
        /// The events that are seen.
        alphabet: Vec<Placed>,
        /// The relation that is asked for.
        relation: Relation,
    },
}

impl PropertyKind {
    /// The name in files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Deadlock { .. } => "Deadlock",
            Self::Always(_) => "Always",
            Self::Never(_) => "Never",
            Self::Ltl(_) => "Ltl",
            Self::Formula(_) => "Formula",
            Self::Conforms { .. } => "Conforms",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "")]
struct Content<'a> {
    #[serde(borrow)]
    nodes: Pairs<'a>,
    #[serde(borrow)]
    wires: Vec<&'a RawValue>,
    #[serde(borrow)]
    properties: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "")]
struct NodeContent<'a> {
    #[serde(borrow)]
    firmware: &'a RawValue,
    #[serde(borrow, default)]
    properties: Option<&'a RawValue>,
    #[serde(borrow, default)]
    device: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
enum WireContent<'a> {
    Uart {
        #[serde(borrow)]
        from: &'a RawValue,
        #[serde(borrow)]
        to: &'a RawValue,
        #[serde(borrow, default)]
        buffer: Option<&'a RawValue>,
    },
    Pin {
        #[serde(borrow)]
        from: &'a RawValue,
        #[serde(borrow)]
        to: &'a RawValue,
        #[serde(borrow, default)]
        idle: Option<&'a RawValue>,
    },
    Spi {},
    Twi {},
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
enum PropertyContent<'a> {
    Deadlock {
        #[serde(borrow, default)]
        except: Option<&'a RawValue>,
    },
    #[serde(borrow)]
    Always(&'a RawValue),
    #[serde(borrow)]
    Never(&'a RawValue),
    #[serde(borrow)]
    Ltl(&'a RawValue),
    #[serde(borrow)]
    Formula(&'a RawValue),
    Conforms {
        #[serde(borrow)]
        to: &'a RawValue,
        #[serde(borrow)]
        alphabet: Vec<&'a RawValue>,
        #[serde(borrow, default)]
        by: Option<&'a RawValue>,
    },
}

/// The entries of a map, in the order of the file.
struct Pairs<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;

        impl<'de> Visitor<'de> for Map {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map such as { \"a\": (firmware: \"a.elf\") }")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Map)
    }
}

/// The text of a file, of which parts are read.
struct Reader<'a> {
    text: &'a str,
}

impl SystemFile {
    /// Reads the text of a system file. Pins, conditions and paths are checked where they are bound.
    ///
    /// # Errors
    /// If the text is no system: no RON, a node that does not exist, a wire from a node to itself.
    pub fn parse(text: &str) -> Result<Self, SystemError> {
        let reader = Reader { text };
        let content: Content<'_> = reader.part(text, FILE_FORM)?;
        let nodes = reader.nodes(&content.nodes)?;
        let wires = content.wires.iter().map(|raw| reader.wire(raw, &nodes)).collect::<Result<Vec<_>, _>>()?;
        reader.check_lines(&wires, &content.wires)?;
        if content.properties.is_empty() {
            let problem = "nothing is asked of the system: the list of properties is empty";
            return Err(reader.error(problem.to_owned(), reader.whole(), PROPERTY_FORM));
        }
        let properties = content.properties.iter().map(|raw| reader.property(raw)).collect::<Result<_, _>>()?;
        Ok(Self { nodes, wires, properties })
    }
}

impl SystemFile {
    /// The paths of the specifications that properties name, in the order of the file.
    pub fn specifications(&self) -> impl Iterator<Item = &Placed> {
        self.properties.iter().filter_map(|property| match &property.kind {
            PropertyKind::Conforms { to, .. } => Some(to),
            _ => None,
        })
    }
}

impl<'a> Reader<'a> {
    fn error(&self, problem: String, span: Range<usize>, hint: &'static str) -> SystemError {
        SystemError { problem, span, hint }
    }

    fn whole(&self) -> Range<usize> {
        self.first(self.text)
    }

    /// The first sign of a part.
    fn first(&self, part: &str) -> Range<usize> {
        let trimmed = part.trim_start();
        let start = self.span(trimmed).start;
        start..start + trimmed.chars().next().map_or(0, char::len_utf8)
    }

    fn span(&self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len());
        start..(start + part.len()).min(self.text.len())
    }

    /// Reads a part of the text.
    fn part<T: Deserialize<'a>>(&self, part: &'a str, hint: &'static str) -> Result<T, SystemError> {
        let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
        options.from_str(part).map_err(|error| {
            let base = self.span(part).start;
            let [start, end] = [error.span.start, error.span.end].map(|place| base + ron_offset(part, place));
            let span = if start < end { start..end } else { self.first(part) };
            self.error(ron_message(&error.code), span, hint)
        })
    }

    fn value<T: DeserializeOwned>(
        &self,
        raw: &'a RawValue,
        hint: &'static str,
    ) -> Result<(T, Range<usize>), SystemError> {
        let part = raw.trim().get_ron();
        Ok((self.part(part, hint)?, self.span(part)))
    }

    fn placed(&self, raw: &'a RawValue, hint: &'static str) -> Result<Placed, SystemError> {
        self.value(raw, hint).map(|(text, span)| Placed { text, span })
    }

    fn nodes(&self, pairs: &Pairs<'a>) -> Result<Vec<NodeEntry>, SystemError> {
        let mut nodes: Vec<NodeEntry> = Vec::new();
        for (key, raw) in &pairs.0 {
            let name = self.placed(key, FILE_FORM)?;
            if !is_name(&name.text) {
                let problem = format!("`{}` is no name of a node", name.text);
                return Err(self.error(problem, name.span, "a name has letters, digits and `_`, not a digit first"));
            }
            if nodes.iter().any(|known| known.name.text == name.text) {
                let problem = format!("the node `{}` is there twice", name.text);
                return Err(self.error(problem, name.span, "give each node a name of its own"));
            }
            if nodes.len() == MAX_NODES {
                let problem = format!("a system has at most {MAX_NODES} nodes");
                return Err(self.error(problem, name.span, "verify parts of the system apart"));
            }
            let content: NodeContent<'_> = self.part(raw.trim().get_ron(), FILE_FORM)?;
            let optional = |raw: Option<&'a RawValue>| raw.map(|raw| self.placed(raw, FILE_FORM)).transpose();
            let firmware = self.placed(content.firmware, FILE_FORM)?;
            let (properties, device) = (optional(content.properties)?, optional(content.device)?);
            nodes.push(NodeEntry { name, firmware, properties, device });
        }
        if nodes.is_empty() {
            return Err(self.error("the system has no nodes".to_owned(), self.whole(), FILE_FORM));
        }
        Ok(nodes)
    }

    fn wire(&self, raw: &'a RawValue, nodes: &[NodeEntry]) -> Result<WireEntry, SystemError> {
        let part = raw.trim().get_ron();
        if ["Spi", "Twi"].iter().any(|name| part.starts_with(name)) {
            let problem = format!("wires of the kind {} are not supported yet", &part[..3]);
            let start = self.span(part).start;
            return Err(self.error(problem, start..start + 3, WIRE_FORM));
        }
        match self.part(part, WIRE_FORM)? {
            WireContent::Uart { from, to, buffer } => {
                let [from, to] = [self.placed(from, WIRE_FORM)?, self.placed(to, WIRE_FORM)?];
                [&from, &to].into_iter().try_for_each(|node| self.known_node(&node.text, &node.span, nodes))?;
                self.other_end(&from.text, &to.text, self.span(part))?;
                let buffer = match buffer {
                    None => BUFFER,
                    Some(raw) => {
                        let (buffer, span): (u16, _) = self.value(raw, WIRE_FORM)?;
                        if buffer == 0 || buffer > MAX_BUFFER {
                            let problem = format!("a buffer has 1 to {MAX_BUFFER} characters");
                            return Err(self.error(problem, span, "the receivers of these devices have 2"));
                        }
                        buffer
                    }
                };
                Ok(WireEntry::Uart { from, to, buffer })
            }
            WireContent::Pin { from, to, idle } => {
                let [from, to] = [self.placed(from, WIRE_FORM)?, self.placed(to, WIRE_FORM)?];
                for end in [&from, &to] {
                    let Some((node, _)) = end.text.split_once('.') else {
                        let problem = format!("`{}` names no pin", end.text);
                        return Err(self.error(problem, end.span.clone(), WIRE_FORM));
                    };
                    self.known_node(node, &end.span, nodes)?;
                }
                let node = |end: &Placed| end.text.split('.').next().unwrap_or_default().to_owned();
                self.other_end(&node(&from), &node(&to), self.span(part))?;
                let idle = match idle {
                    None => None,
                    Some(raw) => match self.value::<u8>(raw, WIRE_FORM)? {
                        (level @ (0 | 1), _) => Some(level == 1),
                        (_, span) => {
                            let problem = "the level of a wire is 0 or 1".to_owned();
                            return Err(self.error(problem, span, WIRE_FORM));
                        }
                    },
                };
                Ok(WireEntry::Pin { from, to, idle })
            }
            WireContent::Spi {} | WireContent::Twi {} => {
                let problem = "wires of this kind are not supported yet".to_owned();
                Err(self.error(problem, self.span(part), WIRE_FORM))
            }
        }
    }

    fn known_node(&self, name: &str, span: &Range<usize>, nodes: &[NodeEntry]) -> Result<(), SystemError> {
        if nodes.iter().any(|node| node.name.text == name) {
            return Ok(());
        }
        let known: Vec<&str> = nodes.iter().map(|node| node.name.text.as_str()).collect();
        let problem = format!("there is no node `{name}`; the nodes are {}", known.join(", "));
        Err(self.error(problem, span.clone(), "name one of the nodes, or add this one to `nodes`"))
    }

    fn other_end(&self, from: &str, to: &str, span: Range<usize>) -> Result<(), SystemError> {
        if from != to {
            return Ok(());
        }
        let problem = format!("the wire leads from `{from}` to `{to}`");
        Err(self.error(problem, span, "wires join different nodes"))
    }

    /// Checks that each transmitter and receiver is used once.
    fn check_lines(&self, wires: &[WireEntry], raw: &[&'a RawValue]) -> Result<(), SystemError> {
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for (wire, raw) in wires.iter().zip(raw) {
            let WireEntry::Uart { from, to, .. } = wire else { continue };
            let span = self.span(raw.trim().get_ron());
            if senders.contains(&&from.text) {
                let problem = format!("the transmitter of `{}` leads to two receivers", from.text);
                return Err(self.error(problem, span, "a line with several receivers is not supported yet"));
            }
            if receivers.contains(&&to.text) {
                let problem =
                    format!("the receiver of `{}` has two sources, which may drive against each other", to.text);
                return Err(self.error(problem, span, "leave one of the wires out"));
            }
            senders.push(&from.text);
            receivers.push(&to.text);
        }
        Ok(())
    }

    /// The relation that a property asks for.
    fn relation(&self, by: Option<&'a RawValue>) -> Result<Relation, SystemError> {
        let Some(raw) = by else { return Ok(Relation::Simulation) };
        let named = self.placed(raw, CONFORMS_FORM)?;
        Relation::named(&named.text)
            .ok_or_else(|| self.error(format!("there is no relation '{}'", named.text), named.span, CONFORMS_FORM))
    }

    fn property(&self, raw: &'a RawValue) -> Result<PropertyEntry, SystemError> {
        let part = raw.trim().get_ron();
        let kind = match self.part(part, PROPERTY_FORM)? {
            PropertyContent::Deadlock { except } => {
                PropertyKind::Deadlock { except: except.map(|raw| self.placed(raw, PROPERTY_FORM)).transpose()? }
            }
            PropertyContent::Always(raw) => PropertyKind::Always(self.placed(raw, PROPERTY_FORM)?),
            PropertyContent::Never(raw) => PropertyKind::Never(self.placed(raw, PROPERTY_FORM)?),
            PropertyContent::Ltl(raw) => PropertyKind::Ltl(self.placed(raw, PROPERTY_FORM)?),
            PropertyContent::Formula(raw) => PropertyKind::Formula(self.placed(raw, PROPERTY_FORM)?),
            PropertyContent::Conforms { to, alphabet, by } => {
                let relation = self.relation(by)?;
                let placed = |raw: &&'a RawValue| self.placed(raw, PROPERTY_FORM);
                let (to, alphabet) =
                    (self.placed(to, PROPERTY_FORM)?, alphabet.iter().map(placed).collect::<Result<Vec<_>, _>>()?);
                if alphabet.is_empty() {
                    let problem = "the alphabet is empty: every system conforms to every specification".to_owned();
                    return Err(self.error(problem, self.span(part), CONFORMS_FORM));
                }
                PropertyKind::Conforms { to, alphabet, relation }
            }
        };
        let name = match &kind {
            PropertyKind::Deadlock { except: None } => "Deadlock()".to_owned(),
            PropertyKind::Deadlock { except: Some(except) } => format!("Deadlock(except: \"{}\")", except.text),
            PropertyKind::Always(check)
            | PropertyKind::Never(check)
            | PropertyKind::Ltl(check)
            | PropertyKind::Formula(check) => {
                format!("{}(\"{}\")", kind.name(), check.text)
            }
            PropertyKind::Conforms { to, relation: Relation::Simulation, .. } => {
                format!("Conforms(to: \"{}\")", to.text)
            }
            PropertyKind::Conforms { to, relation, .. } => {
                format!("Conforms(to: \"{}\", by: \"{}\")", to.text, relation.name())
            }
        };
        Ok(PropertyEntry { name, kind, span: self.span(part) })
    }
}

/// True if a text can name a node.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
