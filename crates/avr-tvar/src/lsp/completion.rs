//! Completion: the words that can stand at a place.

use avr_machine::HazardKind;
use avr_machine::device::Device;
use avr_properties::{FILE_FIELDS, FindingKind, PropertyFile, entry_fields, entry_kinds};
use avr_report::meaning_of_kind;
use lsp_types::{CompletionItem, CompletionItemKind, InsertTextFormat};

use super::context::{Context, Frame};
use super::names::{self, Name, Sort};
use super::project::{Project, Target};

/// The words that can stand at a byte of a text.
pub(super) fn items(text: &str, offset: usize, project: &mut Project) -> Vec<CompletionItem> {
    let context = Context::at(text, offset);
    match &context.literal {
        Some((literal, index)) => in_text(&literal.value[..*index], &context, (text, project)),
        None => outside(&context),
    }
}

/// The words outside of texts: fields, and the kinds of entries.
fn outside(context: &Context) -> Vec<CompletionItem> {
    let Some((frame, key)) = context.innermost() else { return Vec::new() };
    match (frame, key) {
        (Frame { bracket: '[', .. }, "properties") => entry_kinds().iter().map(|kind| entry(kind)).collect(),
        (Frame { bracket: '[', .. }, "environment") => plain(["reset", "brown_out"], CompletionItemKind::ENUM_MEMBER),
        (Frame { bracket: '[', .. }, "assume") => vec![snippet("never", "never($1)", "the interrupt never comes")],
        (Frame { bracket: '(', key, .. }, _) if !key.is_empty() => Vec::new(),
        (Frame { bracket: '(', .. }, "fuses") => fields(&["low", "high", "extended"]),
        (Frame { bracket: '(', name, .. }, _) if name.is_empty() => fields(FILE_FIELDS),
        (Frame { bracket: '(', name, .. }, _) => entry_fields(name).map_or_else(Vec::new, fields),
        _ => Vec::new(),
    }
}

fn fields(names: &[&str]) -> Vec<CompletionItem> {
    let field = |name: &&str| CompletionItem {
        insert_text: Some(format!("{name}: ")),
        ..item(name, CompletionItemKind::FIELD, "")
    };
    names.iter().map(field).collect()
}

/// A kind of entry with the fields that say something of their own.
fn entry(kind: &str) -> CompletionItem {
    let own = entry_fields(kind).unwrap_or_default().iter().filter(|field| !["name", "under", "from"].contains(field));
    let value = |(field, number): (&&str, usize)| match *field {
        "max_bytes" => format!("{field}: ${number}"),
        "between" => format!("{field}: [\"${number}\"]"),
        _ => format!("{field}: \"${number}\""),
    };
    // The other fields of these can be left out.
    let count = match kind {
        "Stack" | "StaysAfter" => 1,
        "NoHang" => 0,
        _ => usize::MAX,
    };
    let values: Vec<String> = own.take(count).zip(1..).map(value).collect();
    snippet(kind, &format!("{kind}({})", values.join(", ")), meaning_of_kind(kind))
}

/// The words in a text, behind what stands there before the cursor.
fn in_text(before: &str, context: &Context, (text, project): (&str, &mut Project)) -> Vec<CompletionItem> {
    let is_key = context.innermost().is_some_and(|(frame, _)| frame.bracket == '{' && frame.key.is_empty());
    match context.key() {
        "device" if context.is_in_file() => plain(Device::names(), CompletionItemKind::ENUM_MEMBER),
        "from" => plain(["main", "reset"], CompletionItemKind::ENUM_MEMBER),
        "eeprom" | "name" => Vec::new(),
        "allow" if !is_key => Vec::new(),
        "define" if is_key => Vec::new(),
        "allow" | "forbid" => plain(hazards(), CompletionItemKind::ENUM_MEMBER),
        _ => {
            let file = PropertyFile::parse("this file", text).ok();
            let Ok(target) = project.target(file.as_ref()) else { return Vec::new() };
            formula(before, &target, file.as_ref())
        }
    }
}

fn hazards() -> impl Iterator<Item = &'static str> {
    HazardKind::ALL.iter().map(|kind| kind.name()).chain(FindingKind::ALL.map(FindingKind::name))
}

/// The names in a formula: parts behind a dot, else everything.
fn formula(before: &str, target: &Target, file: Option<&PropertyFile>) -> Vec<CompletionItem> {
    let path = path_before(before);
    if let Some((base, _)) = path.rsplit_once('.') {
        return names::parts(target, base).iter().map(of_name).collect();
    }
    let definitions = file.iter().flat_map(|file| file.definitions.iter());
    let definitions = definitions.map(|(name, text)| item(name, CompletionItemKind::VARIABLE, text));
    names::all(target).iter().map(of_name).chain(definitions).collect()
}

/// The name that ends at the end of a text, with dots and indices.
pub(super) fn path_before(text: &str) -> &str {
    let is_part = |c: char| c == '_' || c == '.' || c.is_ascii_alphanumeric() || c == '[' || c == ']';
    let start = text.rfind(|c| !is_part(c)).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let path = &text[start..];
    // An open bracket in front begins a path of its own.
    match path.rfind('[') {
        Some(open) if !path[open..].contains(']') => &path[open + 1..],
        _ => path,
    }
}

fn of_name(name: &Name) -> CompletionItem {
    let kind = match name.sort {
        Sort::Register => CompletionItemKind::FIELD,
        Sort::Bit | Sort::Member => CompletionItemKind::PROPERTY,
        Sort::Variable => CompletionItemKind::VARIABLE,
        Sort::Function => CompletionItemKind::FUNCTION,
        Sort::Interrupt => CompletionItemKind::EVENT,
        Sort::Constant => CompletionItemKind::CONSTANT,
        Sort::Keyword => CompletionItemKind::KEYWORD,
    };
    item(&name.text, kind, &name.meaning)
}

fn plain<'a>(names: impl IntoIterator<Item = &'a str>, kind: CompletionItemKind) -> Vec<CompletionItem> {
    names.into_iter().map(|name| item(name, kind, "")).collect()
}

fn item(name: &str, kind: CompletionItemKind, meaning: &str) -> CompletionItem {
    let detail = (!meaning.is_empty()).then(|| meaning.to_owned());
    CompletionItem { label: name.to_owned(), kind: Some(kind), detail, ..CompletionItem::default() }
}

fn snippet(name: &str, text: &str, meaning: &str) -> CompletionItem {
    CompletionItem {
        insert_text: Some(text.to_owned()),
        insert_text_format: Some(InsertTextFormat::SNIPPET),
        ..item(name, CompletionItemKind::CLASS, meaning)
    }
}
