//! A serializer of indented JSON that compiles to little code per type.
//!
//! The text is that of `serde_json::to_string_pretty`, whose serializer is compiled again for the fields of every structure: 0.2 MB of
//! libtileheap.so. Here everything except the call of each value's own function is compiled once.

use std::fmt::Write;

use serde::ser::{self, Error as _, Serialize};

/// Serializes a document as text, without a line break at the end.
///
/// # Errors
/// For a map whose keys are neither strings nor integers, and errors of a value's own function.
pub(super) fn to_string<T: Serialize + ?Sized>(document: &T) -> Result<String, serde_json::Error> {
    let mut text = Text::default();
    document.serialize(&mut text)?;
    Ok(text.written)
}

/// The text so far, and the indentation depth of the current line.
#[derive(Default)]
struct Text {
    written: String,
    depth: usize,
    /// True if the open array or object has no elements yet.
    is_empty: bool,
}

impl Text {
    fn line(&mut self) {
        self.written.push('\n');
        for _ in 0..self.depth {
            self.written.push_str("  ");
        }
    }

    fn open(&mut self, bracket: char) {
        self.written.push(bracket);
        self.depth += 1;
        self.is_empty = true;
    }

    /// Begins an element of an array, or a key of an object.
    fn element(&mut self) {
        if !self.is_empty {
            self.written.push(',');
        }
        self.line();
    }

    fn close(&mut self, bracket: char) {
        self.depth -= 1;
        if !self.is_empty {
            self.line();
        }
        self.written.push(bracket);
        self.is_empty = false;
    }

    fn string(&mut self, value: &str) {
        self.written
            .push_str(&serde_json::to_string(value).expect("serializing a string cannot fail"));
    }

    fn key(&mut self, name: &str) {
        self.element();
        self.string(name);
        self.written.push_str(": ");
    }

    /// Writes a key that was serialized as JSON text: a string as it is, a number or boolean as a string.
    fn written_key(&mut self, key: &str) -> Written {
        self.element();
        match key.as_bytes() {
            [b'"', ..] => self.written.push_str(key),
            [b'0'..=b'9' | b'-' | b't' | b'f', ..] => self.string(key),
            _ => return Err(serde_json::Error::custom("key must be a string")),
        }
        self.written.push_str(": ");
        Ok(())
    }

    /// Ends an element.
    fn end(&mut self) {
        self.is_empty = false;
    }

    /// Opens the object of a variant with contents.
    fn variant(&mut self, name: &str) {
        self.open('{');
        self.key(name);
    }

    fn float(&mut self, text: Result<String, serde_json::Error>) {
        self.written
            .push_str(&text.expect("serializing a number cannot fail"));
    }
}

type Written = Result<(), serde_json::Error>;

impl<'a> ser::Serializer for &'a mut Text {
    type Ok = ();
    type Error = serde_json::Error;
    type SerializeSeq = Elements<'a>;
    type SerializeTuple = Elements<'a>;
    type SerializeTupleStruct = Elements<'a>;
    type SerializeTupleVariant = Elements<'a>;
    type SerializeMap = Elements<'a>;
    type SerializeStruct = Elements<'a>;
    type SerializeStructVariant = Elements<'a>;

    fn serialize_bool(self, value: bool) -> Written {
        self.written.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Written {
        let _ = write!(self.written, "{value}");
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Written {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Written {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Written {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Written {
        let _ = write!(self.written, "{value}");
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Written {
        self.float(serde_json::to_string(&value));
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Written {
        self.float(serde_json::to_string(&value));
        Ok(())
    }

    fn serialize_char(self, value: char) -> Written {
        self.string(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Written {
        self.string(value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Written {
        ser::Serializer::collect_seq(self, value)
    }

    fn serialize_none(self) -> Written {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        self.written.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Written {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Written {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Written {
        self.variant(variant);
        value.serialize(&mut *self)?;
        self.end();
        self.close('}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements<'a>, serde_json::Error> {
        self.open('[');
        Ok(Elements(self))
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements<'a>, serde_json::Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements<'a>, serde_json::Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements<'a>, serde_json::Error> {
        self.variant(variant);
        self.serialize_seq(None)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Elements<'a>, serde_json::Error> {
        self.open('{');
        Ok(Elements(self))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Elements<'a>, serde_json::Error> {
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements<'a>, serde_json::Error> {
        self.variant(variant);
        self.serialize_map(None)
    }
}

/// The elements of an open array, or the fields of an open object.
struct Elements<'a>(&'a mut Text);

impl Elements<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.0.element();
        value.serialize(&mut *self.0)?;
        self.0.end();
        Ok(())
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Written {
        self.0.key(name);
        value.serialize(&mut *self.0)?;
        self.0.end();
        Ok(())
    }

    fn close(self, bracket: char) -> Written {
        self.0.close(bracket);
        Ok(())
    }

    /// Closes the contents of a variant, and its object.
    fn close_variant(self, bracket: char) -> Written {
        self.0.close(bracket);
        self.0.close('}');
        Ok(())
    }
}

macro_rules! arrays {
    ($($trait:ident: $function:ident, $end:ident;)*) => {$(
        impl ser::$trait for Elements<'_> {
            type Ok = ();
            type Error = serde_json::Error;

            fn $function<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
                self.element(value)
            }

            fn end(self) -> Written {
                self.$end(']')
            }
        }
    )*};
}

arrays! {
    SerializeSeq: serialize_element, close;
    SerializeTuple: serialize_element, close;
    SerializeTupleStruct: serialize_field, close;
    SerializeTupleVariant: serialize_field, close_variant;
}

macro_rules! objects {
    ($($trait:ident: $end:ident;)*) => {$(
        impl ser::$trait for Elements<'_> {
            type Ok = ();
            type Error = serde_json::Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Written {
                self.field(name, value)
            }

            fn end(self) -> Written {
                self.$end('}')
            }
        }
    )*};
}

objects! {
    SerializeStruct: close;
    SerializeStructVariant: close_variant;
}

impl ser::SerializeMap for Elements<'_> {
    type Ok = ();
    type Error = serde_json::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Written {
        let mut text = Text::default();
        key.serialize(&mut text)?;
        self.0.written_key(&text.written)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        value.serialize(&mut *self.0)?;
        self.0.end();
        Ok(())
    }

    fn end(self) -> Written {
        self.close('}')
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(serde::Serialize)]
    struct Unit;

    #[derive(serde::Serialize)]
    struct Newtype(u8);

    #[derive(serde::Serialize)]
    struct Pair(i64, &'static str);

    #[derive(serde::Serialize)]
    enum Kind {
        Unit,
        Newtype(f32),
        Empty(),
        Tuple(u64, char),
        Struct { a: Option<u8>, b: Vec<Kind> },
    }

    #[derive(serde::Serialize)]
    struct Flat {
        before: bool,
        #[serde(flatten)]
        rest: BTreeMap<String, i32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        none: Option<u8>,
    }

    fn same<T: Serialize + ?Sized>(value: &T) {
        let expected = serde_json::to_string_pretty(value);
        assert_eq!(to_string(value).unwrap(), expected.unwrap());
    }

    #[test]
    fn the_text_is_that_of_serde_json() {
        let kinds = || {
            vec![
                Kind::Unit,
                Kind::Newtype(0.1),
                Kind::Empty(),
                Kind::Tuple(u64::MAX, 'é'),
                Kind::Struct {
                    a: None,
                    b: Vec::new(),
                },
            ]
        };
        same(&kinds());
        let b = vec![Kind::Struct {
            a: Some(7),
            b: kinds(),
        }];
        same(&Kind::Struct { a: Some(1), b });
        same(&(Unit, Newtype(3), Pair(i64::MIN, "a\"\\\n\u{1}\u{2028}ü"), ()));
        same(&[[0.1, -0.0], [1e300, 1.0], [f64::NAN, f64::INFINITY]]);
        same(&[f32::MAX, 16_777_216.0, 1e-7]);
        same(&Vec::<Vec<u8>>::new());
        same(&vec![Vec::new(), vec![1], Vec::<u8>::new()]);
        same(&BTreeMap::from([
            (1, BTreeMap::new()),
            (2, BTreeMap::from([("b", [true, false])])),
        ]));
        same(&BTreeMap::from([(true, 'x'), (false, 'y')]));
        let rest = BTreeMap::from([("one".to_owned(), 1), ("two".to_owned(), 2)]);
        same(&Flat {
            before: true,
            rest,
            none: None,
        });
        same(&serde_json::json!({ "a": [1, -2, 0.5, null, { "b": {} }], "c": "text", "d": [] }));
        same("text");
    }

    #[test]
    fn keys_of_other_types_are_errors() {
        let of_lists = BTreeMap::from([([1, 2], 3)]);
        let error = to_string(&of_lists).unwrap_err().to_string();
        assert_eq!(error, serde_json::to_string(&of_lists).unwrap_err().to_string());
    }
}
