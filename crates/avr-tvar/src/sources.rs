//! The sources of the firmware, for reports that show them.

use std::path::{Path, PathBuf};

use avr_image::Image;
use avr_report::{SourceFile, source_paths};

use crate::inputs::{Inputs, Role};

/// The endings of sources. The image names the files, and may come from anywhere: nothing else is read because it says so.
const ENDINGS: &[&str] =
    &["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "ino", "inc", "s", "S", "asm", "rs", "adb", "ads"];
/// Sources are looked for so many folders above the firmware.
const ABOVE: usize = 2;

/// The sources that are found, in the order of their paths: in the folders that were named, beside the firmware and a little above it, and
/// where the compiler had them.
pub(crate) fn read(inputs: &mut Inputs, image: &Image, firmware: &Path, folders: &[PathBuf]) -> Vec<SourceFile> {
    let mut all = Vec::new();
    for path in source_paths(image) {
        let found = candidates(&path, firmware, folders).into_iter().find(|candidate| candidate.is_file());
        let input = found.and_then(|place| inputs.read(Role::Source, &place).ok());
        if let Some(text) = input.as_ref().and_then(|input| input.text()) {
            all.push(SourceFile { path, text: text.to_owned() });
        }
    }
    all
}

/// The places where a source may be, the most likely first. `path` is that of the compiler.
fn candidates(path: &str, firmware: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    let has_ending =
        Path::new(path).extension().and_then(|ending| ending.to_str()).is_some_and(|it| ENDINGS.contains(&it));
    if !has_ending {
        return Vec::new();
    }
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let ends: Vec<PathBuf> = (0..parts.len()).map(|first| parts[first..].iter().collect()).collect();
    let inside = |folder: &Path| ends.iter().map(|end| folder.join(end)).collect::<Vec<_>>();
    let beside = firmware.parent().unwrap_or(Path::new(""));
    let mut all: Vec<PathBuf> = folders.iter().flat_map(|folder| inside(folder)).collect();
    all.extend(inside(beside));
    // Higher up a name alone says too little.
    let above = (1..=ABOVE).map(|level| (0..level).fold(beside.to_owned(), |folder, _| folder.join("..")));
    all.extend(above.flat_map(|folder| inside(&folder).into_iter().rev().skip(1).rev().collect::<Vec<_>>()));
    all.push(PathBuf::from(path));
    all
}

#[cfg(test)]
mod tests {
    use super::candidates;
    use std::path::{Path, PathBuf};

    #[track_caller]
    fn check(path: &str, folders: &[&str], expected: &[&str]) {
        let folders: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
        let found = candidates(path, Path::new("build/a.elf"), &folders);
        assert_eq!(found, expected.iter().map(PathBuf::from).collect::<Vec<_>>());
    }

    #[test]
    fn sources_are_looked_for_beside_the_firmware() {
        check("main.c", &[], &["build/main.c", "main.c"]);
        check("main.c", &["src"], &["src/main.c", "build/main.c", "main.c"]);
        let above = ["build/../lib/a.h", "build/../../lib/a.h"];
        check("../lib/a.h", &[], &["build/lib/a.h", "build/a.h", above[0], above[1], "../lib/a.h"]);
    }

    #[test]
    fn only_sources_are_read_because_an_image_names_them() {
        check("/etc/passwd", &[], &[]);
        check("/home/x/.ssh/id_rsa", &["src"], &[]);
        check("a.c/b", &[], &[]);
    }
}
