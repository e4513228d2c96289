//! Values on the command line that have units.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

/// The time that a command takes at most if nothing else is said.
pub(crate) const DEFAULT_TIME: Duration = Duration::from_secs(60);

/// A limit on time that a user chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLimit {
    /// No limit.
    Never,
    /// The time from the start of the process.
    After(Duration),
}

/// Below this the program itself does not fit.
pub(crate) const MIN_MEMORY: usize = 32 << 20;

/// Reads a duration: `10s`, `2m`, `1.5h`, `500ms`, or seconds without a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let seconds = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("'{unit}' is no unit of time; use ms, s, m or h, as in 10s")),
    };
    let number: f64 = number.parse().map_err(|_| format!("'{number}' is no number; write for example 10s or 2m"))?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| "out of range".to_owned())
}

/// Reads a limit on time: a duration, or `none`.
pub(crate) fn time_limit(text: &str) -> Result<TimeLimit, String> {
    match text {
        "none" => Ok(TimeLimit::Never),
        _ => duration(text).map(TimeLimit::After).map_err(|reason| format!("{reason}; `none` is no limit")),
    }
}

/// The most states that a location can be asked to distinguish.
const MOST_ENUMERATED: usize = 4096;

/// Reads a number of states that a location distinguishes.
pub(crate) fn enumerated(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse::<NonZeroUsize>().ok().filter(|number| number.get() <= MOST_ENUMERATED);
    number.ok_or_else(|| format!("it is a number from 1 to {MOST_ENUMERATED}"))
}

/// The clock of a part whose clock nobody names, in hertz.
pub(crate) const DEFAULT_CLOCK: NonZeroU32 = NonZeroU32::new(16_000_000).expect("it is not 0");

/// Reads a frequency: `16MHz`, `8M`, `32.768kHz`, or hertz without a unit.
pub(crate) fn frequency(text: &str) -> Result<NonZeroU32, String> {
    let (number, unit) = split(text);
    let hertz = match unit {
        "" | "Hz" => 1.0,
        "k" | "kHz" => 1e3,
        "M" | "MHz" => 1e6,
        _ => return Err(format!("'{unit}' is no unit of frequency; use Hz, kHz or MHz, as in 16MHz")),
    };
    let number: f64 = number.parse().map_err(|_| format!("'{number}' is no number; write for example 16MHz"))?;
    let hertz = (number * hertz).round();
    let hertz = if hertz >= 1.0 && hertz <= f64::from(u32::MAX) { NonZeroU32::new(hertz as u32) } else { None };
    hertz.ok_or_else(|| "a clock has at least 1 Hz, and at most 4 GHz".to_owned())
}

/// Reads a number of bytes: `1G`, `512M`, `64MiB` (all powers of 1024), `2GB` (powers of 1000), or plain bytes.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let (number, unit) = split(text);
    let bytes: u64 = match unit {
        "" | "B" => 1,
        "K" | "k" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        "T" | "TiB" => 1 << 40,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return Err(format!("'{unit}' is no unit of memory; use K, M or G, as in 512M")),
    };
    let number: f64 = number.parse().map_err(|_| format!("'{number}' is no number; write for example 512M or 2G"))?;
    let bytes = number * bytes as f64;
    if bytes >= MIN_MEMORY as f64 && bytes < usize::MAX as f64 {
        return Ok(bytes as usize);
    }
    Err(format!("the limit must be at least {}M, which the program needs for itself", MIN_MEMORY >> 20))
}

/// Reads an address: decimal, or hexadecimal after `0x`.
pub(crate) fn address(text: &str) -> Result<u32, String> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let parsed = hexadecimal.map_or_else(|| text.parse(), |digits| u32::from_str_radix(digits, 16));
    parsed.map_err(|_| format!("'{text}' is no address; write it in bytes, as in 0x7e00"))
}

/// The number and the unit.
fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim())
}

#[cfg(test)]
mod tests {
    use super::{TimeLimit, address, duration, frequency, size, time_limit};
    use std::time::Duration;

    #[test]
    fn frequencies_have_units() {
        let check = |text, hertz| assert_eq!(frequency(text).map(|it| it.get()), Ok(hertz), "{text}");
        check("16MHz", 16_000_000);
        check("8M", 8_000_000);
        check("32.768kHz", 32_768);
        check("1", 1);
        for wrong in ["", "0", "-1", "16mhz", "5GHz", "5000MHz", "fast"] {
            assert!(frequency(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_have_units() {
        let check = |text, milliseconds| assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        check("10s", 10_000);
        check("2m", 120_000);
        check("500ms", 500);
        check("7", 7_000);
        check("0.25", 250);
        check("1.5h", 5_400_000);
        check("0", 0);
        for wrong in ["", "s", "-1s", "1x", "1e99999", "1..5", "ten"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_limit_on_time_may_be_none() {
        assert_eq!(time_limit("none"), Ok(TimeLimit::Never));
        assert_eq!(time_limit("2m"), Ok(TimeLimit::After(Duration::from_secs(120))));
        assert!(time_limit("never").is_err());
    }

    #[test]
    fn sizes_have_units() {
        let check = |text, bytes| assert_eq!(size(text), Ok(bytes), "{text}");
        check("1G", 1 << 30);
        check("512M", 512 << 20);
        check("1GiB", 1 << 30);
        check("2GB", 2_000_000_000);
        check("1.5 G", 3 << 29);
        check("40000000", 40_000_000);
        for wrong in ["", "G", "1", "31M", "-1G", "1X", "99999999T"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_are_decimal_or_hexadecimal() {
        let check = |text, value| assert_eq!(address(text), Ok(value), "{text}");
        check("0x7e00", 0x7e00);
        check("0X7E00", 0x7e00);
        check("128", 128);
        for wrong in ["", "0x", "7e00", "-2", "0x100000000"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
