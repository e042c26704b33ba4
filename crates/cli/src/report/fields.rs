//! Reads fields from the JSON of a plan, which has been validated.

use serde_json::Value;

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

pub(super) fn bytes(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}
