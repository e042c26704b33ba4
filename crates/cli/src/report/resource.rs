//! What is to be said of a resource of a plan: its life, homes, reason, worth, uses, and what would admit it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::chart::{Item, Kind};
use super::fields::{bytes, list, text};
use super::words::{amount, plainly};

/// The item of a resource; passes by name; `advice` where it was asked for, and for the resource.
pub(super) fn item(passes: &BTreeMap<&str, &Value>, resource: &Value, advice: Option<&[String]>) -> Item {
    let places = list(&resource["placements"]);
    let kind = match places.first().map(|place| text(&place["home"])) {
        Some("tile") => Kind::Tile,
        Some("lazy") => Kind::Lazy,
        Some("arena") => Kind::Arena,
        _ => Kind::Own,
    };
    let size = places.iter().map(|place| bytes(&place["size"])).max();
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
    if !places.is_empty() {
        fact("life", life(places));
    }
    for place in stays(places) {
        fact("home", place);
    }
    if kind == Kind::Tile && places.len() > 1 {
        let objects = places.iter().filter_map(|place| place["object"].as_u64());
        let objects: Vec<String> = objects.map(|object| object.to_string()).collect();
        fact(
            "alias images",
            format!("one in each of the objects {}", objects.join(", ")),
        );
    }
    fact("why", text(&resource["reason"]["text"]).to_owned());
    if let Some(worth) = resource["reason"]["worth"].as_u64() {
        fact("worth", format!("{} a frame", amount(worth)));
    }
    match advice {
        Some([]) => fact("would admit it", "no single change that was tried".to_owned()),
        Some(changes) => changes
            .iter()
            .for_each(|change| fact("would admit it", change.clone())),
        None => {}
    }
    let uses = list(&resource["accesses"])
        .iter()
        .map(|access| used(passes, resource, access));
    fact("used in", uses.collect::<Vec<_>>().join("; "));
    Item {
        name: text(&resource["name"]).to_owned(),
        kind,
        size: size.unwrap_or(0),
        facts,
        changed: false,
    }
}

/// From the first pass of any stay to the last of any.
fn life(places: &[Value]) -> String {
    let first = places.iter().min_by_key(|place| bytes(&place["first"]));
    let last = places.iter().max_by_key(|place| bytes(&place["end"]));
    let first = first.map_or("", |place| text(&place["first_pass"]));
    let last = last.map_or("", |place| text(&place["last_pass"]));
    match (first, last) {
        ("", _) => "the whole frame".to_owned(),
        (first, last) if first == last => first.to_owned(),
        (first, last) => format!("{first} … {last}"),
    }
}

/// Each place once, however many images a ladder has there.
fn stays(places: &[Value]) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for place in places {
        let home = match (text(&place["home"]), place["object"].as_u64()) {
            (_, None) => "the caller's memory".to_owned(),
            ("tile", _) => "tile memory".to_owned(),
            ("lazy", _) => "lazily allocated".to_owned(),
            ("arena", Some(object)) => format!("arena, object {object}"),
            (_, Some(object)) => format!("an allocation of its own, object {object}"),
        };
        let (offset, size) = (bytes(&place["offset"]), bytes(&place["size"]));
        let mut words = home;
        if place["object"].is_u64() {
            words += &format!(", {} at offset {offset}", amount(size));
        }
        if !said.contains(&words) {
            said.push(words);
        }
    }
    said
}

/// `lighting: color attachment (load, store)`.
fn used(passes: &BTreeMap<&str, &Value>, resource: &Value, access: &Value) -> String {
    let name = text(&access["pass"]);
    let planned = passes.get(name).map_or(&[][..], |pass| list(&pass["accesses"]));
    let planned = planned
        .iter()
        .find(|planned| planned["resource"] == resource["name"]);
    let previous = if access["version"] == "previous" {
        ", the frame before's"
    } else {
        ""
    };
    format!(
        "{name}: {}{previous}{}",
        text(&access["kind"]).replace('_', " "),
        planned.map_or(String::new(), operations)
    )
}

/// ` (clear, store)`.
pub(super) fn operations(access: &Value) -> String {
    let short = |value: &Value, prefix: &str| Some(plainly(value.as_str()?.strip_prefix(prefix)?, ""));
    let load = short(&access["load_op"], "VK_ATTACHMENT_LOAD_OP_");
    let store = short(&access["store_op"], "VK_ATTACHMENT_STORE_OP_");
    match (load, store) {
        (Some(load), Some(store)) => format!(" ({load}, {store})"),
        _ => String::new(),
    }
}
