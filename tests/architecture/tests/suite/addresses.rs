//! Reads the sources of the AVR crates and fails where an address is not of its type. Tests do not count.
//!
//! * An address is multiplied or divided by 2 outside of the module of the address types: a flash word address becomes a byte address,
//!   and the reverse, in one place each. An operand is taken for an address by the names in it; see [`NAMES`].
//! * A data address is a `u16`: a field, a parameter or a result is taken for one by its name, see [`DATA_NAMES`], and maps, sets and
//!   ranges of `u16` are.

use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{
    Attribute, BinOp, Expr, ExprBinary, ExprMethodCall, Field, GenericArgument, ImplItemFn, ItemFn, ItemMod, Lit, Pat,
    PatType, PathArguments, ReturnType, Signature, Type, TypePath,
};

/// The module that has the conversions.
const CONVERSIONS: &str = "avr-isa/src/address.rs";

/// The words of which a name of an address has one.
const NAMES: &[&str] = &[
    "pc",
    "address",
    "addresses",
    "target",
    "vector",
    "start",
    "next",
    "word",
    "handler",
    "head",
    "entry",
    "destination",
    "from",
    "to",
    "flash",
];

/// Names that have such a word and are no addresses.
const OTHERS: &[&str] = &["from_x", "to_x"];

/// The words of which the name of a data address has one, of a cell of a state among them.
const DATA_NAMES: &[&str] =
    &["address", "addresses", "cell", "cells", "position", "register", "registers", "sram", "pointer"];

/// The types whose first argument is an address where it is a `u16`.
const KEYED: &[&str] =
    &["BTreeMap", "BTreeSet", "FxHashMap", "FxHashSet", "HashMap", "HashSet", "Range", "RangeInclusive"];

/// What has such a name and is no data address: the source, the name, and the reason.
const NO_DATA_ADDRESSES: &[(&str, &str, &str)] = &[
    ("avr-machine/src/device/mod.rs", "by_address", "indices of registers"),
    ("avr-machine/src/device/resolve/mod.rs", "index_by_address", "indices of registers"),
    ("avr-report/src/html/mod.rs", "sram", "a number in the data of the page's script"),
];

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut found = attribute.path().is_ident("test");
        if attribute.path().is_ident("cfg") {
            let _ = attribute.parse_nested_meta(|meta| {
                found |= meta.path.is_ident("test");
                Ok(())
            });
        }
        found
    })
}

/// True for the literals `2` and, in shifts, `1`.
fn is_number(expression: &Expr, number: u64) -> bool {
    match expression {
        Expr::Lit(literal) => {
            matches!(&literal.lit, Lit::Int(value) if value.base10_parse::<u64>().is_ok_and(|value| value == number))
        }
        Expr::Paren(inner) => is_number(&inner.expr, number),
        _ => false,
    }
}

/// True where a name in an expression is that of an address. Arguments of calls are no part of the value.
fn names_address(expression: &Expr) -> bool {
    let is_address =
        |name: String| !OTHERS.contains(&name.as_str()) && name.split('_').any(|word| NAMES.contains(&word));
    match expression {
        Expr::Path(path) => path.path.segments.last().is_some_and(|last| is_address(last.ident.to_string())),
        Expr::Field(field) => {
            let own = match &field.member {
                syn::Member::Named(name) => is_address(name.to_string()),
                syn::Member::Unnamed(_) => false,
            };
            own || matches!(field.member, syn::Member::Unnamed(_)) && names_address(&field.base)
        }
        Expr::MethodCall(call) => is_address(call.method.to_string()) || names_address(&call.receiver),
        Expr::Call(call) => match &*call.func {
            // `u32::from(address)` and `Some(address)` are the address.
            Expr::Path(_) => call.args.iter().any(names_address),
            _ => false,
        },
        Expr::Paren(inner) => names_address(&inner.expr),
        Expr::Cast(cast) => names_address(&cast.expr),
        Expr::Unary(unary) => names_address(&unary.expr),
        Expr::Reference(reference) => names_address(&reference.expr),
        Expr::Binary(binary) => names_address(&binary.left) || names_address(&binary.right),
        Expr::Try(inner) => names_address(&inner.expr),
        _ => false,
    }
}

/// Collects the conversions in a source, each as the name of the function that it is in.
#[derive(Default)]
struct Conversions {
    function: String,
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Conversions {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_test(&item.attrs) {
            self.function = item.sig.ident.to_string();
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !is_test(&item.attrs) {
            self.function = item.sig.ident.to_string();
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let (left, right) = (&*binary.left, &*binary.right);
        let found = match binary.op {
            BinOp::Mul(_) | BinOp::MulAssign(_) => {
                is_number(right, 2) && names_address(left) || is_number(left, 2) && names_address(right)
            }
            BinOp::Div(_) | BinOp::DivAssign(_) | BinOp::Rem(_) => is_number(right, 2) && names_address(left),
            BinOp::Shl(_) | BinOp::ShlAssign(_) | BinOp::Shr(_) | BinOp::ShrAssign(_) => {
                is_number(right, 1) && names_address(left)
            }
            _ => false,
        };
        if found {
            self.found.push(self.function.clone());
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        const METHODS: [&str; 6] =
            ["wrapping_mul", "checked_mul", "saturating_mul", "checked_div", "div_ceil", "is_multiple_of"];
        let by_two = call.args.len() == 1 && call.args.first().is_some_and(|argument| is_number(argument, 2));
        if by_two && METHODS.contains(&call.method.to_string().as_str()) && names_address(&call.receiver) {
            self.found.push(self.function.clone());
        }
        visit::visit_expr_method_call(self, call);
    }
}

fn conversions(text: &str) -> Vec<String> {
    let mut found = Conversions::default();
    found.visit_file(&syn::parse_file(text).expect("a source is Rust"));
    found.found
}

/// True if a type has `u16` in it.
fn has_u16(of: &Type) -> bool {
    struct Numbers(bool);
    impl<'ast> Visit<'ast> for Numbers {
        fn visit_type_path(&mut self, path: &'ast TypePath) {
            self.0 |= path.path.is_ident("u16");
            visit::visit_type_path(self, path);
        }
    }
    let mut numbers = Numbers(false);
    numbers.visit_type(of);
    numbers.0
}

/// Collects what is a `u16` and a data address by its name, and maps, sets and ranges of `u16`.
#[derive(Default)]
struct DataAddresses {
    found: Vec<String>,
}

impl DataAddresses {
    fn note(&mut self, name: &str, of: &Type) {
        if name.split('_').any(|word| DATA_NAMES.contains(&word)) && has_u16(of) {
            self.found.push(name.to_owned());
        }
    }
}

impl<'ast> Visit<'ast> for DataAddresses {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if let Some(name) = &field.ident {
            self.note(&name.to_string(), &field.ty);
        }
        visit::visit_field(self, field);
    }

    fn visit_pat_type(&mut self, parameter: &'ast PatType) {
        if let Pat::Ident(name) = &*parameter.pat {
            self.note(&name.ident.to_string(), &parameter.ty);
        }
        visit::visit_pat_type(self, parameter);
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        if let ReturnType::Type(_, of) = &signature.output {
            self.note(&signature.ident.to_string(), of);
        }
        visit::visit_signature(self, signature);
    }

    fn visit_type_path(&mut self, path: &'ast TypePath) {
        if let Some(last) = path.path.segments.last()
            && KEYED.contains(&last.ident.to_string().as_str())
            && let PathArguments::AngleBracketed(arguments) = &last.arguments
            && let Some(GenericArgument::Type(Type::Path(key))) = arguments.args.first()
            && key.path.is_ident("u16")
        {
            self.found.push(format!("{}<u16>", last.ident));
        }
        visit::visit_type_path(self, path);
    }
}

fn data_addresses(text: &str) -> Vec<String> {
    let mut found = DataAddresses::default();
    found.visit_file(&syn::parse_file(text).expect("a source is Rust"));
    found.found
}

/// The sources below a folder, without modules of tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("it can be listed").path();
        let is_of_tests = path.file_stem().is_some_and(|name| name == "tests");
        if path.is_dir() && !is_of_tests {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_of_tests {
            found.push(path);
        }
    }
}

/// The sources of the AVR crates but the module of the address types, each with its name below `crates`.
fn all_sources() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&crates).expect("there are crates") {
        let path = entry.expect("it can be listed").path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("avr-")) {
            sources(&path.join("src"), &mut files);
        }
    }
    assert!(files.len() > 100, "only {} sources were found", files.len());
    let named = files.iter().map(|file| {
        let name = file.strip_prefix(&crates).expect("it is below").display().to_string().replace('\\', "/");
        (name, std::fs::read_to_string(file).expect("a source is text"))
    });
    named.filter(|(name, _)| name != CONVERSIONS).collect()
}

#[test]
fn addresses_are_converted_in_one_place() {
    let mut wrong = Vec::new();
    for (name, text) in all_sources() {
        wrong.extend(conversions(&text).into_iter().map(|function| format!("{name}, in `{function}`")));
    }
    wrong.sort();
    assert!(wrong.is_empty(), "use `FlashWordAddress::byte` or `FlashByteAddress::word`:\n{}", wrong.join("\n"));
}

#[test]
fn data_addresses_have_a_type() {
    let mut wrong = Vec::new();
    let mut excepted = Vec::new();
    for (file, text) in all_sources() {
        for name in data_addresses(&text) {
            match NO_DATA_ADDRESSES.iter().find(|one| one.0 == file && one.1 == name) {
                Some(one) => excepted.push(one),
                None => wrong.push(format!("{file}: `{name}`")),
            }
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "use `DataAddress` or `EepromAddress` instead of `u16`:\n{}", wrong.join("\n"));
    let unused = NO_DATA_ADDRESSES.iter().find(|one| !excepted.contains(one));
    assert!(unused.is_none(), "there is nothing to except any more: {unused:?}");
}

#[track_caller]
fn check(expression: &str, is_conversion: bool) {
    let text = format!("fn f() {{ let _ = {expression}; }}");
    assert_eq!(!conversions(&text).is_empty(), is_conversion, "{expression}");
}

#[test]
fn conversions_are_found_by_names() {
    check("pc * 2", true);
    check("2 * pc", true);
    check("*pc * 2", true);
    check("state.control.pc * 2", true);
    check("2 * simulator.state().control.pc", true);
    check("frame.return_address * 2", true);
    check("u32::from(interrupt.vector) * 2", true);
    check("(address & mask) / 2", true);
    check("address.0 / 2", true);
    check("address % 2 == 0", true);
    check("address << 1", true);
    check("pc as usize >> 1", true);
    check("address.checked_mul(2)?", true);
    check("device.reset_vector(fuses) * 2", true);
    check("length / 2", false);
    check("pc * 4", false);
    check("table.get(pc) * 2", false);
    check("2 * iteration.position(pc)", false);
    check("pc.byte().0", false);
}

#[track_caller]
fn check_data(item: &str, expected: &[&str]) {
    assert_eq!(data_addresses(item), expected, "{item}");
}

#[test]
fn data_addresses_are_found_by_names_and_keys() {
    check_data("struct S { address: u16 }", &["address"]);
    check_data("enum E { V { data_address: Option<u16> } }", &["data_address"]);
    check_data("struct S { cells: Vec<(u16, u8)> }", &["cells"]);
    check_data("trait T { fn get(&self, cell: u16); }", &["cell"]);
    check_data("impl S { fn position(&self) -> u16 { 0 } }", &["position"]);
    check_data("fn f() { let g = |register: u16| 0; }", &["register"]);
    check_data("fn f(read: &dyn Fn(u16), addresses: impl Fn(u16)) {}", &["addresses"]);
    check_data(
        "struct S { initial: BTreeMap<u16, u8>, all: Vec<std::ops::Range<u16>> }",
        &["BTreeMap<u16>", "Range<u16>"],
    );
    check_data("struct S { address: DataAddress, value: u16, words: BTreeMap<u32, u16> }", &[]);
    check_data("fn f(addressed: u16) -> u16 { 0 }", &[]);
}

#[test]
fn tests_do_not_count() {
    assert_eq!(conversions("#[cfg(test)] mod tests { fn f() { let _ = pc * 2; } }"), Vec::<String>::new());
    assert_eq!(conversions("#[test] fn f() { let _ = pc * 2; }"), Vec::<String>::new());
    check_data("#[cfg(test)] mod tests { fn f(address: u16) {} }", &[]);
    check_data("#[test] fn f() { let g = |address: u16| 0; }", &[]);
}
