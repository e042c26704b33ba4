//! A reader of FlatBuffers that checks every offset.
//!
//! ```text
//! root ─► table: offset of its vtable, fields …      vtable: its size, the table's size, the place of each field in the table or 0
//! ```
//! Errors name the field; a file that refers to its parts over and over is refused before it takes much memory.
//!
//! Source: flatbuffers.dev, "FlatBuffer Internals".

use std::cell::Cell;

use tileheap_json::clip;

use crate::error::{Error, Result};

/// Maximum number of vector elements read from a file.
const MAX_ELEMENTS: usize = 1 << 22;

/// The bytes of a file, with the number of elements read so far.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    format: &'static str,
    elements: Cell<usize>,
}

/// A field: its number in the schema, and its name for error messages.
pub(super) type Field = (u16, &'static str);

impl<'a> File<'a> {
    pub(super) fn new(bytes: &'a [u8], format: &'static str) -> File<'a> {
        let elements = Cell::new(0);
        File {
            bytes,
            format,
            elements,
        }
    }

    pub(super) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// An error about the file.
    pub(super) fn invalid(&self, problem: impl ToString) -> Error {
        Error::parse(self.format, problem)
    }

    /// The root table.
    pub(super) fn root(&self) -> Result<Table<'_>> {
        let at = self.offset(0, "the root table")?;
        self.table(at, "the root table")
    }

    fn read<const N: usize>(&self, at: usize, name: &str) -> Result<[u8; N]> {
        let end = at.checked_add(N);
        let bytes = end.and_then(|end| self.bytes.get(at..end));
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or_else(|| self.out_of_bounds(at, name))
    }

    fn out_of_bounds(&self, at: usize, name: &str) -> Error {
        let size = self.bytes.len();
        self.invalid(format!("{name} at byte {at} is outside the file of {size} bytes"))
    }

    /// Follows a relative offset.
    fn offset(&self, at: usize, name: &str) -> Result<usize> {
        let relative = u32::from_le_bytes(self.read(at, name)?) as usize;
        at.checked_add(relative)
            .ok_or_else(|| self.out_of_bounds(at, name))
    }

    fn table(&self, at: usize, name: &str) -> Result<Table<'_>> {
        let back = i64::from(i32::from_le_bytes(self.read(at, name)?));
        let vtable = i64::try_from(at).unwrap_or(i64::MAX).checked_sub(back);
        let vtable = vtable.and_then(|at| usize::try_from(at).ok());
        let vtable = vtable.ok_or_else(|| self.out_of_bounds(at, name))?;
        let size = usize::from(u16::from_le_bytes(self.read(vtable, name)?));
        Ok(Table {
            file: self,
            at,
            vtable,
            size,
        })
    }

    /// The position of the first element and the length of a vector with elements of `size` bytes.
    fn vector(&self, at: usize, size: usize, name: &str) -> Result<(usize, usize)> {
        let start = self.offset(at, name)?;
        let count = u32::from_le_bytes(self.read(start, name)?) as usize;
        let first = start + 4;
        let end = count.checked_mul(size).and_then(|bytes| bytes.checked_add(first));
        if end.is_none_or(|end| end > self.bytes.len()) {
            let bytes = self.bytes.len();
            let problem = format!("{name} has {count} elements, more than fit in the file of {bytes} bytes");
            return Err(self.invalid(problem));
        }
        Ok((first, count))
    }

    /// Counts elements towards the limit of the file.
    fn count(&self, count: usize, name: &str) -> Result<()> {
        let elements = self.elements.get().saturating_add(count);
        self.elements.set(elements);
        if elements > MAX_ELEMENTS {
            let problem = format!("the file has more than {MAX_ELEMENTS} elements, counted up to {name}");
            return Err(self.invalid(problem));
        }
        Ok(())
    }
}

/// A table of the file.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    file: &'a File<'a>,
    at: usize,
    vtable: usize,
    size: usize,
}

impl<'a> Table<'a> {
    /// The position of a field, if present.
    fn place(&self, (slot, name): Field) -> Result<Option<usize>> {
        let entry = 4 + 2 * usize::from(slot);
        if entry + 2 > self.size {
            return Ok(None);
        }
        let place = u16::from_le_bytes(self.file.read(self.vtable + entry, name)?);
        Ok((place != 0).then_some(self.at + usize::from(place)))
    }

    fn scalar<const N: usize>(&self, field: Field) -> Result<Option<[u8; N]>> {
        let place = self.place(field)?;
        place.map(|at| self.file.read(at, field.1)).transpose()
    }

    /// A byte; 0 if the field is missing.
    pub(super) fn u8(&self, field: Field) -> Result<u8> {
        Ok(self.scalar(field)?.map_or(0, u8::from_le_bytes))
    }

    /// A `u32`; 0 if the field is missing.
    pub(super) fn u32(&self, field: Field) -> Result<u32> {
        Ok(self.scalar(field)?.map_or(0, u32::from_le_bytes))
    }

    /// An `i32`; 0 if the field is missing.
    pub(super) fn i32(&self, field: Field) -> Result<i32> {
        Ok(self.scalar(field)?.map_or(0, i32::from_le_bytes))
    }

    /// A `u64`; 0 if the field is missing.
    pub(super) fn u64(&self, field: Field) -> Result<u64> {
        Ok(self.scalar(field)?.map_or(0, u64::from_le_bytes))
    }

    /// A table in a field; `None` if it is missing.
    pub(super) fn table(&self, field: Field) -> Result<Option<Table<'a>>> {
        let Some(place) = self.place(field)? else {
            return Ok(None);
        };
        let at = self.file.offset(place, field.1)?;
        self.file.table(at, field.1).map(Some)
    }

    /// The tables of a vector; empty if it is missing.
    pub(super) fn tables(&self, field: Field) -> Result<Vec<Table<'a>>> {
        let Some(place) = self.place(field)? else {
            return Ok(Vec::new());
        };
        let (first, count) = self.file.vector(place, 4, field.1)?;
        self.file.count(count, field.1)?;
        let table = |index: usize| {
            let at = self.file.offset(first + 4 * index, field.1)?;
            self.file.table(at, field.1)
        };
        (0..count).map(table).collect()
    }

    /// The elements of a vector of 32-bit integers; empty if it is missing.
    pub(super) fn ints(&self, field: Field) -> Result<Vec<i32>> {
        let Some(place) = self.place(field)? else {
            return Ok(Vec::new());
        };
        let (first, count) = self.file.vector(place, 4, field.1)?;
        self.file.count(count, field.1)?;
        let int = |index: usize| Ok(i32::from_le_bytes(self.file.read(first + 4 * index, field.1)?));
        (0..count).map(int).collect()
    }

    /// The elements of a vector of 64-bit integers; empty if it is missing.
    pub(super) fn longs(&self, field: Field) -> Result<Vec<i64>> {
        let Some(place) = self.place(field)? else {
            return Ok(Vec::new());
        };
        let (first, count) = self.file.vector(place, 8, field.1)?;
        self.file.count(count, field.1)?;
        let int = |index: usize| Ok(i64::from_le_bytes(self.file.read(first + 8 * index, field.1)?));
        (0..count).map(int).collect()
    }

    /// The bytes of a vector; empty if it is missing.
    pub(super) fn bytes(&self, field: Field) -> Result<&'a [u8]> {
        let Some(place) = self.place(field)? else {
            return Ok(&[]);
        };
        let (first, count) = self.file.vector(place, 1, field.1)?;
        Ok(&self.file.bytes[first..first + count])
    }

    /// A string, clipped to one line; empty if it is missing.
    pub(super) fn text(&self, field: Field) -> Result<String> {
        Ok(clip(&String::from_utf8_lossy(self.bytes(field)?)))
    }
}
