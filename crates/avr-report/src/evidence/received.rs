//! The data that a run takes from outside: received bytes and conversions, one after the other.

use std::collections::BTreeMap;

use avr_isa::DataAddress;
use avr_machine::device::Device;
use avr_machine::simulator::ExactStep;
use avr_verify::Evidence;

/// So many values are listed.
const MAX_VALUES: usize = 64;

/// Registers from which data come: a name for them, the register of the low byte and that of the high one.
const STREAMS: &[(&str, &str, Option<&str>)] = &[
    ("USART", "UDR0", None),
    ("USART1", "UDR1", None),
    ("SPI", "SPDR", None),
    ("TWI", "TWDR", None),
    ("USI", "USIDR", None),
    ("ADC", "ADCL", Some("ADCH")),
];

/// A register from which data come: its name, its address, and that of the high byte where there is one.
pub(crate) type Stream = (&'static str, DataAddress, Option<DataAddress>);

/// The registers of a device from which data come.
pub(crate) fn streams(device: &Device) -> Vec<Stream> {
    let at = |name: &str| Some(device.register(name)?.address);
    let stream = |(name, low, high): (&'static str, &str, Option<&str>)| Some((name, at(low)?, high.and_then(at)));
    STREAMS.iter().copied().filter_map(stream).collect()
}

/// The data that a run takes, a line for each source of which it takes several.
pub(super) fn lines(evidence: &Evidence, device: &Device) -> Vec<String> {
    let steps = evidence.stimulus.exact.as_deref().unwrap_or_default();
    streams(device).into_iter().filter_map(|stream| line(steps, stream)).collect()
}

fn line(steps: &[ExactStep], (name, low, high): Stream) -> Option<String> {
    let (mut values, mut first) = (Vec::new(), 0);
    for step in steps {
        let mut bytes: BTreeMap<DataAddress, u8> = BTreeMap::new();
        for input in &step.inputs {
            *bytes.entry(input.register).or_default() |= input.value;
        }
        if let Some(byte) = bytes.get(&low) {
            first = u16::from(*byte);
            if high.is_none() {
                values.push(first);
            }
        }
        if let Some(byte) = high.and_then(|high| bytes.get(&high)) {
            values.push(u16::from(*byte) << 8 | first);
        }
    }
    let count = values.len();
    let more = if count > MAX_VALUES { ", ..." } else { "" };
    let shown = &values[..count.min(MAX_VALUES)];
    match high {
        _ if count < 2 => None,
        Some(_) => {
            let all: Vec<String> = shown.iter().map(u16::to_string).collect();
            Some(format!("{count} conversions of the {name}: {}{more}", all.join(", ")))
        }
        None => Some(format!("{count} bytes from the {name}: {}{more}", bytes_text(shown))),
    }
}

/// Bytes as a string, if they are printable, or in hexadecimal digits.
fn bytes_text(bytes: &[u16]) -> String {
    let character = |byte: &u16| u8::try_from(*byte).ok().map(char::from);
    let is_text = |c: char| c.is_ascii_graphic() || matches!(c, ' ' | '\n' | '\r' | '\t');
    match bytes.iter().map(|byte| character(byte).filter(|c| is_text(*c))).collect::<Option<String>>() {
        Some(text) => format!("{text:?}"),
        None => bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes_text;

    #[test]
    fn printable_bytes_are_a_string() {
        assert_eq!(bytes_text(&[0x4f, 0x4b, 0x0a]), r#""OK\n""#);
        assert_eq!(bytes_text(&[0x4f, 0x00, 0xff]), "4f 00 ff");
        assert_eq!(bytes_text(&[]), r#""""#);
    }
}
