//! Packing strategies of other planners, and generators of packing problems.
