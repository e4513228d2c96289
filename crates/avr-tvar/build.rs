//! Takes a digest of the sources that the program is built from: the crates, their build scripts and tables. Two builds
//! of the same sources have the same digest, on any machine.
//!
//! A package of this crate has no other crates beside it. There the digest is taken of the crate and of `Cargo.lock`, which
//! names the others with their digests.

use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use sha2::{Digest, Sha256};

/// The root of the workspace, relative to this crate.
const ROOT: &str = "../..";
/// Parts of a crate that count.
const PARTS: &[&str] = &["src", "build", "build.rs", "Cargo.toml"];
/// Parts of the workspace that count beside the crates.
const SHARED: &[&str] = &["isa-tables", "Cargo.toml", LOCK];
/// The versions and digests of all dependencies.
const LOCK: &str = "Cargo.lock";

fn main() {
    match run() {
        Ok(digest) => println!("cargo::rustc-env=AVR_TVAR_SOURCES={digest}"),
        Err(error) => {
            println!("cargo::error={error}");
            process::exit(1);
        }
    }
}

fn run() -> Result<String, String> {
    let directory = env::var("CARGO_MANIFEST_DIR").map_err(|error| format!("CARGO_MANIFEST_DIR: {error}"))?;
    let package = Path::new(&directory);
    let workspace = package.join(ROOT);
    let is_packaged = !workspace.join("crates").is_dir();
    let (root, parts) =
        if is_packaged { (package.to_owned(), parts_of_package(package)) } else { parts_of(workspace)? };
    let mut files = Vec::new();
    for part in parts.iter().filter(|part| part.exists()) {
        println!("cargo::rerun-if-changed={}", part.display());
        collect(part, &mut files)?;
    }
    digest(&root, files)
}

/// The parts of the workspace that count, with its root.
fn parts_of(workspace: PathBuf) -> Result<(PathBuf, Vec<PathBuf>), String> {
    let mut parts: Vec<PathBuf> = SHARED.iter().map(|name| workspace.join(name)).collect();
    for package in entries(&workspace.join("crates"))? {
        parts.extend(PARTS.iter().map(|name| package.join(name)));
    }
    Ok((workspace, parts))
}

/// The parts of an unpacked package that count.
fn parts_of_package(package: &Path) -> Vec<PathBuf> {
    PARTS.iter().chain([&LOCK]).map(|name| package.join(name)).collect()
}

/// The files below a path. Those that editors leave do not count.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in entries(path)? {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with('.') && !name.ends_with('~') {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let paths = || fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    paths().map_err(|error| format!("cannot read {}: {error}", directory.display()))
}

/// The digest over paths relative to the root, with `/` between their parts, and contents, in the order of the paths.
fn digest(root: &Path, files: Vec<PathBuf>) -> Result<String, String> {
    let relative = |file: &Path| {
        let parts = file.strip_prefix(root).unwrap_or(file).components();
        parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>().join("/")
    };
    let mut named: Vec<(String, PathBuf)> = files.into_iter().map(|file| (relative(&file), file)).collect();
    named.sort();
    let mut digest = Sha256::new();
    for (name, file) in named {
        let content = fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        for part in [name.as_bytes(), &content] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
