//! Measures the pass on images: `invariants IMAGE [PROPERTY FILE]...` prints a row of a table for each image.

#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use avr_image::{Image, LoadOptions};
use avr_invariant::{Options, analyse};
use avr_machine::device::Device;
use avr_properties::{PropertyFile, Setting};

fn main() {
    let device = Device::named("atmega328p").expect("the device exists");
    let verbose = std::env::var("VERBOSE").is_ok();
    for argument in std::env::args().skip(1) {
        let (path, properties) = argument.split_once(',').unwrap_or((&argument, ""));
        let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
        let Ok(image) = Image::load(Path::new(path), &options) else {
            println!("| {path} | refused |");
            continue;
        };
        let text = std::fs::read_to_string(properties).unwrap_or_else(|_| "()".to_owned());
        let file = PropertyFile::parse("properties", &text).expect("it is a property file");
        let setting = Setting { image: &image, device, start: None, file: &file, eeprom: &BTreeMap::new() };
        let machine = setting.machine().expect("the property file fits the image");
        let begun = Instant::now();
        let found = analyse(&machine, &Options::default());
        let time = begun.elapsed();
        let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let [pages, blocks] = found.map.store.sizes();
        let states = found.map.entries.len();
        let row = match &found.outcome {
            Ok(claims) => {
                if verbose {
                    claims.marks.iter().for_each(|mark| println!("  {mark:x?}"));
                    claims.depths.iter().for_each(|(owner, depth)| println!("  {owner:?} {depth:x?}"));
                }
                let bound = claims.stack_bound().map_or("-".to_owned(), |bound| bound.to_string());
                format!("closed | {} | {bound}", claims.marks.len())
            }
            Err(gap) => format!("open: {gap} | - | -"),
        };
        println!("| {name} | {row} | {states} | {} | {pages}/{blocks} | {:.3} s |", found.steps, time.as_secs_f64());
    }
}
