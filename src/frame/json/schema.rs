//! The JSON Schema of frame documents, generated from the types that read them.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::{AccessKind, ReadReach};
use super::document::Document;
use crate::frame::tables::PassKind;
use crate::names::{self, Vocabulary};

/// The schema of a Vulkan enumerant, which is written as its name.
pub(in crate::frame) struct Name<T>(PhantomData<T>);

impl<T: Vocabulary> JsonSchema for Name<T> {
    fn schema_name() -> Cow<'static, str> {
        T::TYPE.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let all: Vec<&str> = names::all::<T>().map(|(name, _)| name).collect();
        json_schema!({
            "description": format!("The name of a `{}` value, or its number in hexadecimal.", T::TYPE),
            "anyOf": [{ "enum": all }, { "type": "string", "pattern": "^0x[0-9A-Fa-f]{1,16}$" }],
        })
    }
}

/// The schema of a set of Vulkan flag bits, which is written as a list of their names.
pub(in crate::frame) struct Bits<T>(PhantomData<T>);

impl<T: Vocabulary> JsonSchema for Bits<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}s", T::TYPE).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": generator.subschema_for::<Name<T>>() })
    }
}

fn words<T: Serialize>(values: &[T]) -> Value {
    json!(values)
}

/// The schema of [`PassKind`].
pub(super) struct PassKinds;

impl JsonSchema for PassKinds {
    fn schema_name() -> Cow<'static, str> {
        "PassKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The kind of commands that a pass records.",
            "enum": words(&[PassKind::Render, PassKind::Compute, PassKind::Transfer]),
        })
    }
}

/// The schema of [`AccessKind`].
pub(super) struct AccessKinds;

impl JsonSchema for AccessKinds {
    fn schema_name() -> Cow<'static, str> {
        "AccessKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The kind of access to a resource.",
            "enum": words(&AccessKind::ALL),
        })
    }
}

/// The schema of [`ReadReach`].
pub(super) struct Reach;

impl JsonSchema for Reach {
    fn schema_name() -> Cow<'static, str> {
        "Reach".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let texels = generator.subschema_for::<u32>();
        json_schema!({
            "description": "The maximum distance from the pixel at which a read may occur, in texels of the resource that is read.",
            "anyOf": [texels, { "const": words(&[ReadReach::Anywhere])[0] }],
        })
    }
}

/// The value of `oneOf` that requires exactly one of two fields.
pub(super) fn one_of(fields: [&str; 2]) -> Value {
    json!(fields.map(|field| json!({ "required": [field] })))
}

/// The schema of frame documents, as published for editors and for the guide.
pub(super) fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = tidied(generator.into_root_schema_for::<Document>().to_value());
    schema["title"] = "tileheap frame".into();
    schema
}

/// The schema with limits in place of Rust's types, plain text in place of links, and without `null`, which stands for fields that are left out.
fn tidied(value: Value) -> Value {
    let Value::Object(fields) = value else {
        return match value {
            Value::Array(all) => all.into_iter().map(tidied).collect(),
            other => other,
        };
    };
    let mut tidy = serde_json::Map::new();
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("description", Value::String(text)) => _ = tidy.insert(key, plain(&text).into()),
            ("format", Value::String(kind)) => match kind.as_str() {
                "uint32" => _ = tidy.insert("maximum".to_owned(), u32::MAX.into()),
                "int32" => {
                    tidy.insert("minimum".to_owned(), i32::MIN.into());
                    tidy.insert("maximum".to_owned(), i32::MAX.into());
                }
                "uint64" | "float" => {}
                other => panic!("the schema has the format {other}"),
            },
            ("type", Value::Array(mut types)) => {
                types.retain(|name| name != "null");
                let one = types.pop().filter(|_| types.is_empty());
                tidy.insert(key, one.expect("a nullable type has exactly one other type"));
            }
            ("anyOf", Value::Array(mut forms)) => {
                forms.retain(|form| *form != json!({ "type": "null" }));
                match forms.len() {
                    1 => tidy.extend(tidied(forms.remove(0)).as_object().expect("a schema").clone()),
                    _ => _ = tidy.insert(key, tidied(forms.into())),
                }
            }
            ("default", Value::Null) => {}
            // Names of fields and values that are not schemas.
            ("properties" | "$defs", Value::Object(all)) => {
                let all = all.into_iter().map(|(name, value)| (name, tidied(value)));
                tidy.insert(key, Value::Object(all.collect()));
            }
            (_, value) => _ = tidy.insert(key, tidied(value)),
        }
    }
    Value::Object(tidy)
}

/// The first paragraph of a comment on one line, with the text of each link in place of the link.
fn plain(comment: &str) -> String {
    let paragraph = comment.split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    let mut rest = line.as_str();
    while let Some((before, link)) = rest.split_once("[`") {
        let (name, after) = link.split_once("`]").expect("a closed link");
        let after = after
            .strip_prefix('(')
            .map_or(after, |target| target.split_once(')').expect("a closed target").1);
        text += &format!("{before}`{name}`");
        rest = after;
    }
    text + rest
}

#[test]
fn comments_become_plain_text() {
    let comment = "Asks its [`Hooks`](crate::runtime::Hooks) for\nstructures [`A::b`].\n\nMore.";
    assert_eq!(plain(comment), "Asks its `Hooks` for structures `A::b`.");
}
