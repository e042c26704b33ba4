//! Memory pools and storage policies of tensor runtimes.
