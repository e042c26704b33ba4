//! Any bytes as a packing problem: every answer has to be right.
#![no_main]

mod pack_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some((problem, weights)) = pack_bytes::problem(bytes) {
        pack_bytes::judge(&problem, &weights);
    }
});
