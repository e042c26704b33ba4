//! The placement engine: lives, sizes and alignments in, offsets out.
