//! Reads the sources of the crates and fails when modules depend on each other in a circle: across folders in any, inside a folder in one
//! of more than [`LARGEST_CIRCLE`] files.
//!
//! A module depends on another where it names it or something in it: in `use` declarations and in paths. Re-exports are resolved to the
//! module of the item and are no dependencies of the module that re-exports: a `lib.rs` or `mod.rs` may show what is below it. Tests do
//! not count. The folder of a module is the first one below `src`; a file beside `lib.rs` is a folder of its own, but a circle of such
//! files alone is one inside the folder `src`.

use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

/// The most files of one folder that may depend on each other in a circle.
const LARGEST_CIRCLE: usize = 4;

/// A module by the names that lead to it from the root of its crate.
type Name = Vec<String>;

/// One module of a crate.
#[derive(Default)]
struct Module {
    /// The first folder below `src`, or the file itself.
    folder: String,
    /// The names that it re-exports, with the paths that they stand for.
    exports: BTreeMap<String, Name>,
    /// The modules whose items it re-exports all.
    globs: Vec<Name>,
    /// The paths that it names, each from the root of the crate.
    paths: BTreeSet<Name>,
    /// The modules in it.
    children: BTreeSet<String>,
}

/// The modules of a crate.
struct Modules(BTreeMap<Name, Module>);

fn is_test(attributes: &[Attribute]) -> bool {
    let tests = |attribute: &Attribute| {
        let mut found = false;
        if attribute.path().is_ident("cfg") {
            let _ = attribute.parse_nested_meta(|meta| {
                found |= meta.path.is_ident("test");
                Ok(())
            });
        }
        found
    };
    attributes.iter().any(tests)
}

impl Modules {
    /// Reads the sources of a crate from its folder `src`.
    fn read(source: &Path) -> Self {
        let mut modules = Self(BTreeMap::new());
        let root = [source.join("lib.rs"), source.join("main.rs")].into_iter().find(|file| file.is_file());
        modules.add(source, &root.expect("a crate has a root"), Vec::new());
        modules
    }

    /// Reads a file and the files of the modules that it declares.
    fn add(&mut self, source: &Path, file: &Path, name: Name) {
        let text = std::fs::read_to_string(file).expect("a source is text");
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let declared = parsed.items.iter().filter_map(|item| match item {
            Item::Mod(module) if module.content.is_none() && !is_test(&module.attrs) => Some(module.ident.to_string()),
            _ => None,
        });
        let children: BTreeSet<String> = declared.collect();
        let folder = name.first().cloned().unwrap_or_default();
        let mut reader =
            Reader { at: &name, module: Module { folder, children: children.clone(), ..Module::default() } };
        reader.visit_file(&parsed);
        let module = reader.module;
        let below = if name.is_empty() { source.to_owned() } else { source.join(name.join("/")) };
        for child in children {
            let files = [below.join(format!("{child}.rs")), below.join(&child).join("mod.rs")];
            let path: PathBuf = files.into_iter().find(|file| file.is_file()).expect("a module has a file");
            self.add(source, &path, [name.clone(), vec![child]].concat());
        }
        self.0.insert(name, module);
    }

    /// The module that a path leads to: that of the item, if it is re-exported on the way.
    fn target(&self, path: &[String], steps: usize) -> Name {
        let mut at = Name::new();
        for (index, segment) in path.iter().enumerate() {
            let module = &self.0[&at];
            if module.children.contains(segment) {
                at.push(segment.clone());
                continue;
            }
            let rest = &path[index + 1..];
            if let Some(export) = module.exports.get(segment).filter(|_| steps > 0) {
                return self.target(&[export.clone(), rest.to_vec()].concat(), steps - 1);
            }
            let from_glob = module
                .globs
                .iter()
                .find(|glob| self.0.get(*glob).is_some_and(|module| module.exports.contains_key(segment)));
            return match from_glob.filter(|_| steps > 0) {
                Some(glob) => self.target(&[glob.clone(), path[index..].to_vec()].concat(), steps - 1),
                None => at,
            };
        }
        at
    }

    /// The dependencies between modules.
    fn dependencies(&self) -> Vec<(&Name, Name)> {
        let of = |(name, module): (&'_ Name, &'_ Module)| -> Vec<Name> {
            module.paths.iter().map(|path| self.target(path, 8)).filter(|target| target != name).collect()
        };
        self.0
            .iter()
            .flat_map(|(name, module)| of((name, module)).into_iter().map(move |target| (name, target)))
            .collect()
    }

    /// The circles: of folders, and of more than [`LARGEST_CIRCLE`] files.
    fn circles(&self) -> Vec<String> {
        let dependencies = self.dependencies();
        let (mut folders, mut files) = (DiGraphMap::<&str, ()>::new(), DiGraphMap::<&str, ()>::new());
        let names: BTreeMap<&Name, String> = self.0.keys().map(|name| (name, name.join("::"))).collect();
        for (from, to) in &dependencies {
            let (here, there) = (&self.0[*from].folder, &self.0[to].folder);
            if here != there {
                folders.add_edge(here.as_str(), there.as_str(), ());
            } else {
                files.add_edge(names[from].as_str(), names[to].as_str(), ());
            }
        }
        let circle = |graph: &DiGraphMap<&str, ()>, most: usize, what: &str| -> Vec<String> {
            let large = kosaraju_scc(graph).into_iter().filter(|component| component.len() > most);
            large
                .map(|mut component| {
                    component.sort_unstable();
                    let inside: Vec<String> = graph
                        .all_edges()
                        .filter(|(from, to, ())| component.contains(from) && component.contains(to))
                        .map(|(from, to, ())| format!("{from} -> {to}"))
                        .collect();
                    format!("{what} in a circle: {}", inside.join(", "))
                })
                .collect()
        };
        let is_file = |folder: &&str| self.0.values().filter(|module| module.folder == **folder).count() == 1;
        let across = kosaraju_scc(&folders).into_iter().filter(|one| one.len() > 1 && !one.iter().all(is_file)).count();
        let most = if across == 0 { LARGEST_CIRCLE } else { 1 };
        [circle(&folders, most, "folders"), circle(&files, LARGEST_CIRCLE, "files")].concat()
    }
}

/// Collects the paths that a file names.
struct Reader<'a> {
    at: &'a Name,
    module: Module,
}

impl Reader<'_> {
    /// A path from the root of the crate; none if it leads out of it.
    fn absolute(&self, path: &[String]) -> Option<Name> {
        let (first, rest) = path.split_first()?;
        let mut base = self.at.clone();
        let mut rest = rest;
        match first.as_str() {
            "crate" => base.clear(),
            "self" => {}
            "super" => {
                base.pop();
                while rest.first().is_some_and(|next| next == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            child if self.module.children.contains(child) => rest = path,
            _ => return None,
        }
        Some([base, rest.to_vec()].concat())
    }

    fn add_use(&mut self, tree: &UseTree, before: &[String], is_export: bool) {
        let with = |name: &syn::Ident| [before.to_vec(), vec![name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.add_use(&path.tree, &with(&path.ident), is_export),
            UseTree::Group(group) => group.items.iter().for_each(|inner| self.add_use(inner, before, is_export)),
            UseTree::Glob(_) => match self.absolute(before) {
                Some(path) if is_export => self.module.globs.push(path),
                Some(path) => _ = self.module.paths.insert(path),
                None => {}
            },
            UseTree::Name(name) => {
                let whole = if name.ident == "self" { before.to_vec() } else { with(&name.ident) };
                self.add_named(&whole, whole.last().cloned().unwrap_or_default(), is_export);
            }
            UseTree::Rename(rename) => self.add_named(&with(&rename.ident), rename.rename.to_string(), is_export),
        }
    }

    fn add_named(&mut self, path: &[String], name: String, is_export: bool) {
        let Some(path) = self.absolute(path) else { return };
        if is_export {
            self.module.exports.insert(name, path);
        } else {
            self.module.paths.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_test(&item.attrs) {
            self.add_use(&item.tree, &[], !matches!(item.vis, Visibility::Inherited));
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1
            && let Some(path) = self.absolute(&segments)
        {
            self.module.paths.insert(path);
        }
        visit::visit_path(self, path);
    }
}

/// The crates with their circles.
fn all_circles() -> Vec<(String, Vec<String>)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let mut names: Vec<String> = std::fs::read_dir(&crates)
        .expect("there are crates")
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    let circles = |name: String| {
        let circles = Modules::read(&crates.join(&name).join("src")).circles();
        (name, circles)
    };
    names.into_iter().map(circles).collect()
}

#[test]
fn modules_depend_on_each_other_in_no_large_circle() {
    let mut wrong = Vec::new();
    for (name, circles) in all_circles() {
        wrong.extend(circles.into_iter().map(|circle| format!("{name}: {circle}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The circles of a crate with these files.
fn circles(name: &str, files: &[(&str, &str)]) -> Vec<String> {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&root);
    for (file, text) in files {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }
    Modules::read(&root).circles()
}

#[test]
fn circles_across_folders_are_found() {
    let lib = ("lib.rs", "mod a;\nmod b;\npub use b::two::Two;\n#[cfg(test)]\nmod tests { use crate::a::One; }");
    let one = ("a/mod.rs", "mod one;\npub use one::One;");
    let two = ("b/mod.rs", "pub mod two;");
    let uses_facade = ("a/one.rs", "use crate::Two;\npub struct One(Two);");
    assert_eq!(
        circles("no-circle", &[lib, one, two, uses_facade, ("b/two.rs", "pub struct Two;")]),
        Vec::<String>::new()
    );
    let back = ("b/two.rs", "pub struct Two;\nfn back() { let _ = crate::a::One::new(); }");
    assert_eq!(circles("circle", &[lib, one, two, uses_facade, back]), ["folders in a circle: a -> b, b -> a"]);
}

#[test]
fn small_circles_of_files_are_no_fault() {
    let names = ["a", "b", "c", "d", "e"];
    let declared = names.map(|name| format!("mod {name};")).concat();
    let texts: Vec<String> =
        (0..5).map(|index| format!("use super::{}::X;\npub struct X;", names[(index + 1) % 5])).collect();
    let files: Vec<String> = names.iter().map(|name| format!("m/{name}.rs")).collect();
    let mut all = vec![("lib.rs", "mod m;"), ("m/mod.rs", declared.as_str())];
    all.extend(files.iter().map(String::as_str).zip(texts.iter().map(String::as_str)));
    assert_eq!(circles("five", &all).len(), 1);
    let open = ("m/e.rs", "pub struct X;");
    all.pop();
    all.push(open);
    assert_eq!(circles("open", &all).len(), 0);
}
