//! Decodes arbitrary bytes as a packing problem and checks every answer.
#![no_main]

mod pack_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some((problem, weights)) = pack_bytes::problem(bytes) {
        pack_bytes::judge(&problem, &weights);
    }
});
