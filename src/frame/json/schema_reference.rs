//! The guide's reference of frame documents, generated from their schema.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::AccessKind;

/// A section for the document and for each type below it, in the order in which they occur.
pub(super) fn reference(schema: &Value) -> String {
    let mut text = String::new();
    let mut names = vec!["Frame".to_owned()];
    let mut next = 0;
    while let Some(name) = names.get(next).cloned() {
        next += 1;
        let of = if next == 1 {
            schema
        } else {
            &schema["$defs"][&name]
        };
        if let Some(section) = section(of) {
            let description = of["description"].as_str().expect("a description");
            _ = write!(text, "### {name}\n\n{description}\n\n{section}\n");
        }
        references(of, &mut |found| {
            if !names.iter().any(|name| name == found) {
                names.push(found.to_owned());
            }
        });
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// Calls `found` with the name of every type that a schema refers to, except in `$defs`.
fn references(schema: &Value, found: &mut dyn FnMut(&str)) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str().filter(|_| key == "$ref") {
                    Some(target) => found(target.rsplit('/').next().expect("a name")),
                    None if key == "$defs" => {}
                    None => references(value, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

/// The fields of an object, or the accepted values, as a table; `None` for Vulkan names.
fn section(schema: &Value) -> Option<String> {
    if let Some(fields) = schema["properties"].as_object() {
        let required: Vec<&Value> = schema["required"].as_array().into_iter().flatten().collect();
        let mut table = "| field | value | |\n|---|---|---|\n".to_owned();
        let is_required = |name: &str| required.iter().any(|it| *it == name);
        for needed in [true, false] {
            for (name, field) in fields.iter().filter(|(name, _)| is_required(name) == needed) {
                let mark = if needed { ", required" } else { "" };
                let description = field["description"].as_str().unwrap_or_default();
                _ = writeln!(table, "| `{name}`{mark} | {} | {description} |", form(field));
            }
        }
        return Some(table);
    }
    let values = ["oneOf", "anyOf", "enum"]
        .iter()
        .find_map(|key| schema[key].as_array())?;
    if values[0]["enum"].is_array() {
        return None;
    }
    let mut table = "| value | |\n|---|---|\n".to_owned();
    for value in values {
        let kind = AccessKind::ALL
            .iter()
            .find(|kind| serde_json::json!(kind) == *value);
        let noun = kind.map_or("", |kind| kind.noun());
        let description = value["description"].as_str().unwrap_or(noun);
        _ = writeln!(table, "| {} | {description} |", form(value));
    }
    Some(table)
}

/// The accepted forms of a value, in a few words.
fn form(schema: &Value) -> String {
    if let Some(target) = schema["$ref"].as_str() {
        let name = target.rsplit('/').next().expect("a name");
        return match name.strip_prefix("Vk") {
            Some(_) => format!("name of `{name}`"),
            None => format!("[{name}](#{})", name.to_lowercase()),
        };
    }
    if schema.is_string() {
        return format!("`{schema}`");
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
        return values.join(", ");
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        return forms.iter().map(form).collect::<Vec<_>>().join(" or ");
    }
    let count = |key: &str| schema[key].as_u64();
    match schema["type"].as_str() {
        Some("array") if schema["prefixItems"].is_array() => {
            let items = schema["prefixItems"].as_array().expect("a list").iter();
            format!("list of {}", items.map(form).collect::<Vec<_>>().join(", "))
        }
        Some("array") => {
            let items = form(&schema["items"]);
            let items = match items.as_str() {
                "whole number" | "integer" | "number" => items + "s",
                _ => items.replacen("name of", "names of", 1),
            };
            match (count("minItems"), count("maxItems")) {
                (Some(least), Some(most)) if least == most => format!("list of {least} {items}"),
                (Some(least), Some(most)) => format!("list of {least} to {most} {items}"),
                _ => format!("list of {items}"),
            }
        }
        Some("object") => {
            let fields = schema["properties"].as_object().expect("fields").iter();
            let fields: Vec<String> = fields
                .map(|(name, value)| format!("`{name}`: {}", form(value)))
                .collect();
            format!("object with {}", fields.join(", "))
        }
        Some("integer") if schema["minimum"].as_i64() == Some(0) => "whole number".to_owned(),
        Some("integer") => "integer".to_owned(),
        Some("boolean") => "`true` or `false`".to_owned(),
        Some(other) => other.to_owned(),
        None => "anything".to_owned(),
    }
}
