//! `NoHang`: every wait of the code can be left.

use super::pattern::{conjunction, exists_eventually, globally, implies, not};
use super::{Binder, Bound};
use crate::atom::AtomKind;
use crate::code_place::code_at;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::waits::{Wait, Waits};
use avr_image::{FlashByteAddress, Image};
use mu_calculus::Formula;

/// The most waits that notes name one by one.
const MOST_NAMED: usize = 40;

impl Binder<'_> {
    /// `AG (pc in L -> EF !(pc in L))` for each wait L, but for those at some places.
    pub(super) fn no_hang(&mut self, except: &[(String, String)]) -> Result<Bound, PropertyError> {
        let start = FlashByteAddress(self.start).word();
        let Waits { mut list, not_followed } = Waits::new(self.image, self.device, start);
        for (name, why) in except {
            let code = code_at(self.image, name);
            if code.is_empty() {
                let nearest = self.image.symbols.nearest(name);
                return Err(PropertyErrorKind::UnknownPlace { name: name.clone(), nearest }.error());
            }
            let before = list.len();
            list.retain(|wait| !code.contains(&wait.head.word()));
            if list.len() == before {
                return Err(PropertyErrorKind::NoWait(name.clone()).error());
            }
            self.notes.push(format!("waits of {name} are not looked at: {why}"));
        }
        if !list.is_empty() {
            let named = list.iter().take(MOST_NAMED).map(|wait| described(self.image, wait.head));
            let more = list.len().saturating_sub(MOST_NAMED);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let count = if list.len() == 1 { "1 wait".to_owned() } else { format!("{} waits", list.len()) };
            self.notes.push(format!("{count}: {}{more}", named.collect::<Vec<_>>().join(", ")));
        }
        if let Some(first) = not_followed.first() {
            let place = described(self.image, *first);
            self.notes.push(format!("waits to which only indirect jumps lead, as that at {place}, are not listed"));
        }
        let parts: Vec<Bound> = list.iter().map(|wait| self.can_be_left(wait)).collect();
        self.own_text = Some(text(&list));
        Ok(if parts.is_empty() { globally(Formula::Constant(true)) } else { conjunction(parts) })
    }

    fn can_be_left(&mut self, wait: &Wait) -> Bound {
        let inside = Formula::Atom(self.atom(&format!("pc in {}", name(wait)), AtomKind::PcAmong(wait.code.clone())));
        globally(implies(inside.clone(), exists_eventually(not(inside))))
    }
}

/// The text of the formula.
fn text(waits: &[Wait]) -> String {
    let one = |wait: &Wait| format!("AG (pc in {0} -> EF !(pc in {0}))", name(wait));
    match waits {
        [] => "AG true".to_owned(),
        waits => waits.iter().map(one).collect::<Vec<_>>().join(" && "),
    }
}

/// The name of a wait, as reports have it. No property file can name it.
fn name(wait: &Wait) -> String {
    format!("wait@{:#06x}..{:#06x}", wait.head.0, wait.last.0)
}

/// A place of the code in words.
fn described(image: &Image, at: FlashByteAddress) -> String {
    let function = image.symbols.function_at(at).map(|located| located.symbol.display_name());
    let line = image
        .source_line(at)
        .map(|line| format!("{}:{}", line.file.rsplit('/').next().unwrap_or(line.file), line.line));
    let place = [function.map(str::to_owned), line].into_iter().flatten().collect::<Vec<_>>().join(" at ");
    if place.is_empty() { format!("{:#06x}", at.0) } else { format!("{:#06x} ({place})", at.0) }
}
