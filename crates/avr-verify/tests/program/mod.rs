//! Programs that tests write as machine words.

use avr_image::{Image, LoadOptions};

/// The image of a program from flash address 0 on, by way of Intel HEX.
pub(crate) fn image(words: &[u16]) -> Image {
    let mut text = String::new();
    for (line, words) in words.chunks(8).enumerate() {
        let mut bytes = vec![2 * words.len() as u8, (line >> 4) as u8, (line << 4) as u8, 0];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.push(bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_sub(*byte)));
        let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        text.push_str(&format!(":{digits}\n"));
    }
    text.push_str(":00000001FF\n");
    Image::parse("program.hex", text.as_bytes(), &LoadOptions::new(0x8000, 0x400)).expect("the image is valid")
}
