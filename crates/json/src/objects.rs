//! Reads structures only from JSON objects, not from lists of their fields.
//!
//! `serde_json` also reads a structure from a list of its fields, without their names, and compiles that code for every structure: 0.1 MB of
//! libtileheap.so. No document of tileheap is written that way.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// Deserializes a document.
///
/// # Errors
/// The first error, with its position.
pub(super) fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let document = T::deserialize(Objects(&mut deserializer))?;
    deserializer.end()?;
    Ok(document)
}

/// A wrapper for deserializers, visitors, accesses and seeds that reads structures only from objects.
struct Objects<T>(T);

macro_rules! forward {
    ($($function:ident)*) => {$(
        fn $function<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$function(Objects(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Objects<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Objects(visitor))
    }

    forward! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string
        deserialize_bytes deserialize_byte_buf deserialize_option deserialize_unit deserialize_seq deserialize_map
        deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_unit_struct(name, Objects(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, Objects(visitor))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(length, Objects(visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple_struct(name, length, Objects(visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, Objects(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! values {
    ($($function:ident($value:ty))*) => {$(
        fn $function<E: serde::de::Error>(self, value: $value) -> Result<V::Value, E> {
            self.0.$function(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Objects<V> {
    type Value = V::Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(to)
    }

    values! {
        visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) visit_borrowed_str(&'de str) visit_string(String)
        visit_bytes(&[u8])
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Objects(from))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Objects(from))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Objects(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Objects(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Objects(variant))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Objects<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Objects(from))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(Objects(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Objects<A> {
    type Error = A::Error;
    type Variant = Objects<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let (value, contents) = self.0.variant_seed(Objects(seed))?;
        Ok((value, Objects(contents)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Objects(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(length, Objects(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.newtype_variant_seed(Fields(visitor))
    }
}

/// Reads the fields of a variant from an object.
struct Fields<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Fields<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        from.deserialize_map(Objects(self.0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Point {
        x: i32,
        y: Option<f32>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        Empty,
        At(Point),
        Line(Point, Point),
        Box { first: Point, sides: [u8; 2] },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Document {
        name: String,
        shapes: Vec<Shape>,
        named: BTreeMap<String, Point>,
        #[serde(flatten)]
        rest: BTreeMap<String, bool>,
    }

    /// Checks that `from_str` and `serde_json` read equal values from a text, or reject it with the same message.
    fn same<'de, T: Deserialize<'de> + PartialEq + fmt::Debug>(text: &'de str) {
        let (found, expected) = (from_str::<T>(text), serde_json::from_str::<T>(text));
        let in_words = |result: Result<T, serde_json::Error>| result.map_err(|error| error.to_string());
        assert_eq!(in_words(found), in_words(expected), "{text}");
    }

    #[test]
    fn objects_are_read_as_by_serde_json() {
        same::<Document>(
            r#"{ "name": "é", "shapes": ["empty", { "at": { "x": -1, "y": 0.5 } }, { "line": [{ "x": 1, "y": null }, { "x": 2 }] },
                { "box": { "first": { "x": 0 }, "sides": [3, 4] } }], "named": { "a": { "x": 5 } }, "more": true }"#,
        );
        for wrong in [
            r#"{ "name": 1 }"#,
            r#"{ "name": "a", "shapes": [{ "at": 7 }] }"#,
            r#"{ "name": "a", "shapes": ["round"] }"#,
            r#"{ "name": "a", "shapes": [{ "box": { "first": { "x": 0 }, "sides": [3] } }] }"#,
            r#"{ "name": "a", "shapes": [{ "at": { "x": 1, "z": 2 } }] }"#,
            r#"{ "name": "a", "shapes": [], "named": {"#,
            r#"{ "name": "a", "shapes": [], "named": {} } 1"#,
            "[",
        ] {
            same::<Document>(wrong);
        }
    }

    #[test]
    fn lists_of_fields_are_refused() {
        let error = |text| from_str::<Shape>(text).unwrap_err().to_string();
        assert_eq!(
            error(r#"{ "at": [1, 2] }"#),
            "invalid type: sequence, expected struct Point at line 1 column 8"
        );
        assert!(
            error(r#"{ "box": [{ "x": 1 }, [2, 3]] }"#)
                .starts_with("invalid type: sequence, expected struct variant Shape::Box")
        );
    }
}
