//! Reports on the sample `branch`, as verification answers.

use std::collections::BTreeMap;
use std::path::Path;

use avr_image::{Image, LoadOptions};
use avr_machine::Machine;
use avr_machine::device::Device;
use avr_properties::{PropertyFile, Setting};
use avr_report::{Report, ReportOrigin};
use avr_verify::{Request, Results};

/// Renders what verification answers about an image of the sample, without times, after `change`. `name` is the name that the
/// image has in the report.
pub fn with_report<T>(
    (image, name): (&str, &str),
    properties: &str,
    change: impl FnOnce(&mut Results),
    render: impl FnOnce(&Report<'_>, &Machine) -> T,
) -> T {
    let device = Device::named("atmega328p-gpio").expect("the device exists");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware-samples/branch").join(image);
    let mut image = Image::load(path, &LoadOptions::new(device.memory.flash_bytes, 1024)).expect("a sample");
    image.name = name.to_owned();
    let file = PropertyFile::parse("p.ron", properties).expect("the properties are right");
    let request = Request::of(&image, device, &file);
    let mut results = avr_verify::verify(&request).expect("the names exist");
    results.properties.iter_mut().for_each(|result| result.statistics.time = Default::default());
    results.exploration = None;
    change(&mut results);
    let setting = Setting { image: &image, device, start: None, file: &file, eeprom: &BTreeMap::new() };
    let mut specification = setting.specification().expect("the names exist");
    // The change may give properties other names.
    for (property, result) in specification.properties.iter_mut().zip(&results.properties) {
        property.name.clone_from(&result.name);
    }
    let machine = avr_verify::machine(&request).expect("there are no assumptions");
    let report = Report {
        image: &image,
        device: device.name,
        results: &results,
        specification: Some(&specification),
        stopped_by: None,
        peak_memory_bytes: 0,
        machine: Some(&machine),
        baseline: None,
        origin: ReportOrigin::default(),
    };
    render(&report, &machine)
}
