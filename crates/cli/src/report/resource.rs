//! The facts of a resource of a plan: lifetime, placements, reason, savings, accesses.

use serde_json::Value;

use super::chart::{Item, Kind};
use super::fields::{bytes, list, text};
use super::words::amount;

/// The chart's item for a resource.
pub(super) fn item(resource: &Value) -> Item {
    let places = list(&resource["placements"]);
    let kind = match places.first().map(|place| text(&place["memory"])) {
        Some("tile") => Kind::Tile,
        Some("lazy") => Kind::Lazy,
        Some("arena") => Kind::Arena,
        _ => Kind::Own,
    };
    let size = places.iter().map(|place| bytes(&place["size"])).max();
    let mut facts = Vec::new();
    let mut fact = |name, value: String| facts.push((name, value));
    if !places.is_empty() {
        fact("lifetime", lifetime(places));
    }
    for placement in placements(places) {
        fact("placement", placement);
    }
    if kind == Kind::Tile && places.len() > 1 {
        let objects = places.iter().filter_map(|place| place["object"].as_u64());
        let objects: Vec<String> = objects.map(|object| object.to_string()).collect();
        fact(
            "aliased images",
            format!("one in each of the objects {}", objects.join(", ")),
        );
    }
    fact("reason", text(&resource["reason"]["text"]).to_owned());
    if let Some(savings) = resource["reason"]["savings"].as_u64() {
        fact("savings", format!("{} per frame", amount(savings)));
    }
    let accesses = list(&resource["accesses"]).iter().map(described);
    fact("accesses", accesses.collect::<Vec<_>>().join("; "));
    Item {
        name: text(&resource["name"]).to_owned(),
        kind,
        size: size.unwrap_or(0),
        facts,
        changed: false,
    }
}

/// The passes of the lifetime: from the first pass of any placement to the last.
fn lifetime(places: &[Value]) -> String {
    let first = places.iter().min_by_key(|place| bytes(&place["first"]));
    let last = places.iter().max_by_key(|place| bytes(&place["end"]));
    let first = first.map_or("", |place| text(&place["first_pass"]));
    let last = last.map_or("", |place| text(&place["last_pass"]));
    match (first, last) {
        ("", _) => "whole frame".to_owned(),
        (first, last) if first == last => first.to_owned(),
        (first, last) => format!("{first} … {last}"),
    }
}

/// The placements without duplicates, since the images of a ladder share one.
fn placements(places: &[Value]) -> Vec<String> {
    let mut listed: Vec<String> = Vec::new();
    for place in places {
        let home = match (text(&place["memory"]), place["object"].as_u64()) {
            (_, None) => "external memory".to_owned(),
            ("tile", _) => "tile memory".to_owned(),
            ("lazy", _) => "lazily allocated".to_owned(),
            ("arena", Some(object)) => format!("arena, object {object}"),
            (_, Some(object)) => format!("dedicated allocation, object {object}"),
        };
        let (offset, size) = (bytes(&place["offset"]), bytes(&place["size"]));
        let mut words = home;
        if place["object"].is_u64() {
            words += &format!(", {} at offset {offset}", amount(size));
        }
        if !listed.contains(&words) {
            listed.push(words);
        }
    }
    listed
}

/// Describes an access: `lighting: color attachment`.
fn described(access: &Value) -> String {
    let previous = if access["version"] == "previous" {
        ", of the previous frame"
    } else {
        ""
    };
    let (pass, kind) = (text(&access["pass"]), text(&access["kind"]).replace('_', " "));
    format!("{pass}: {kind}{previous}")
}
