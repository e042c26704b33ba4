//! The output of examples, and the pictures that they wrote.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Output};

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the example prints UTF-8")
}

/// The output of a program that succeeds, without messages of the emulator.
pub(crate) fn printed(mut command: Command) -> String {
    command.env("VK_TILEHEAP_EMULATOR_LOG", "true");
    let output = command.output().expect("cargo runs");
    let (printed, complaints) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {complaints}{printed}");
    assert!(!complaints.contains("TILEHEAP-"), "{command:?}: {complaints}");
    printed.to_owned()
}

/// The output of a failing run: one line.
pub(crate) fn complaint(output: &Output) -> String {
    let complaints = text(&output.stderr);
    assert!(!output.status.success(), "{}", text(&output.stdout));
    assert_eq!(complaints.lines().count(), 1, "{complaints}");
    assert!(complaints.starts_with("error: "), "{complaints}");
    complaints.to_owned()
}

/// Width, height and RGBA texels.
pub(crate) type Picture = (u32, u32, Vec<[u8; 4]>);

pub(crate) fn read_picture(path: &Path) -> Picture {
    let picture = BufReader::new(File::open(path).expect("the picture was written"));
    let mut reader = png::Decoder::new(picture)
        .read_info()
        .expect("the picture is a PNG");
    let size = reader.output_buffer_size();
    let mut bytes = vec![0; size.expect("a picture that fits in memory")];
    let info = reader.next_frame(&mut bytes).expect("the PNG is whole");
    let texels = bytes
        .chunks_exact(4)
        .map(|texel| [texel[0], texel[1], texel[2], texel[3]]);
    (info.width, info.height, texels.collect())
}
