//! Reads arbitrary bytes with each reader: none panics, and the judge's bounds are consistent with the sizes.
#![no_main]

use tileheap_tensor::import::onnx::{OnnxOptions, read_onnx};
use tileheap_tensor::import::tvm::TvmGraph;
use tileheap_tensor::import::{read_graph, read_lines, read_records};
use tileheap_tensor::judge::{ReadOptions, judge, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(judged) = read(bytes, &ReadOptions::default()).and_then(judge) {
        for arena in &judged.arenas {
            assert!(arena.bound <= arena.packed, "{arena:?}");
            assert!(!judged.is_sound() || arena.bound <= arena.used, "{arena:?}");
        }
    }
    let _ = read_onnx(bytes, &OnnxOptions::default());
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = read_graph(text);
        let _ = read_lines(text);
        let _ = read_records(text);
        let _ = TvmGraph::read(text, &[]);
    }
});
