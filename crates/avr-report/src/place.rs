//! Source places of results, for reports that are shown beside the source.

use std::collections::BTreeSet;
use std::path::Path;

use avr_image::{FlashByteAddress, Image, without_detours};
use avr_verify::PropertyResult;

/// A source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The path as the compiler recorded it, without detours.
    pub(crate) file: String,
    /// The line, counted from 1.
    pub(crate) line: u32,
}

impl Source {
    /// The source line of a flash byte address, where debug information tells.
    pub(crate) fn at(image: &Image, pc: u32) -> Option<Self> {
        let line = image.source_line(FlashByteAddress(pc))?;
        (line.line > 0).then(|| Self { file: without_detours(line.file), line: line.line })
    }
}

/// The paths of all sources of which there is code, as the compiler recorded them, without detours.
#[must_use]
pub fn source_paths(image: &Image) -> BTreeSet<String> {
    let files: BTreeSet<&str> =
        image.program.words().filter_map(|(address, _)| Some(image.source_line(address.byte())?.file)).collect();
    files.into_iter().map(without_detours).collect()
}

impl Source {
    /// The file where it is: the recorded path, else that path in a folder above the image, nearest first. None if it is
    /// nowhere.
    pub(crate) fn existing(&self, image: &str) -> Option<String> {
        let file = Path::new(&self.file);
        let above = Path::new(image).ancestors().skip(1).map(|folder| folder.join(file));
        let found = std::iter::once(file.to_owned()).chain(above).find(|path| path.is_file())?;
        found.to_str().map(without_detours)
    }
}

/// The flash byte address of the last instruction of the run that shows a result.
pub(crate) fn address(result: &PropertyResult) -> Option<u32> {
    let evidence = result.evidence.as_ref()?;
    evidence.narrative.last.last().map(|line| line.pc)
}
