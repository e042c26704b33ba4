//! The exported functions, called as C calls them.

mod c;
mod described;
mod documents;
mod misuse;
mod planning;
mod rules;
mod threads;
