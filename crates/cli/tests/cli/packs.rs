//! `tileheap pack`: answers, the table with offsets, and exit statuses.

use crate::run::{Run, contains, place, tileheap, tileheap_with};

const TABLE: &str = "id,lower,upper,size,weight\na,0,3,4,1\nb,3,9,4,1\nc,0,9,4,3\n";

fn pack(input: impl AsRef<[u8]>, options: &[&str]) -> Run {
    tileheap_with(input.as_ref(), &[&["pack", "-"], options].concat())
}

#[test]
fn a_table_is_packed() {
    let out = place("packed.csv");
    pack(TABLE, &["-o", &out]).shows(&["height     8 B", "no packing is lower", "found by   "]);
    let written = std::fs::read_to_string(out).unwrap();
    assert!(
        written.starts_with("id,lower,upper,size,weight,offset\na,0,3,4,1,"),
        "{written}"
    );
    for strategy in ["greedy-by-size", "nnc"] {
        pack(TABLE, &["--strategy", strategy]).shows(&["height     8 B"]);
    }
    pack(TABLE, &["--json"]).shows(&["\"found_by\": \""]);
    pack(TABLE, &["--time", "2s"]).shows(&["no packing is lower"]);
    pack(TABLE, &["--time", "soon"]).names(2, &["500ms"]);
}

#[test]
fn a_json_file_has_pools_and_penalties() {
    let text = r#"{
        "format": "tileheap-pools", "version": 1,
        "pools": [{ "name": "sram", "capacity": 8, "reserved": [{ "offset": 0, "size": 4, "lifetimes": [[6, 9]] }] }],
        "items": [
            { "id": "a", "lifetimes": [[0, 3], [6, 9]], "size": 4 },
            { "id": "b", "lifetimes": [[3, 6]], "size": 4 },
            { "id": "c", "lifetimes": [[3, 6]], "size": 4 },
            { "id": "d", "lifetimes": [[3, 6]], "size": 4, "pools": ["sram"] }
        ],
        "exclusive": [["c", "d"]],
        "penalties": [["a", "b", 2], ["a", "c", 1]]
    }"#;
    pack(text, &[]).shows(&["sram: 8 B of 8 B", "cost       1"]);
    pack(text, &["--json"]).shows(&["\"pool\": \"sram\""]);
    pack(text.replace("[\"c\", \"d\"]", "[\"c\", \"x\"]"), &[]).names(2, &["`x`"]);
    pack(text.replace("exclusive", "exclusiv"), &[]).names(2, &["exclusiv"]);
    let tight = text.replace("\"capacity\": 8", "\"capacity\": 7");
    assert_eq!(pack(tight, &[]).status, 1);
}

#[test]
fn a_small_budget_gives_a_packing_without_a_capacity() {
    let row = |id: u64| {
        let lower = id * 7 % 991;
        format!("{id},{lower},{},{}", lower + 1 + id % 50, 1 + id * id % 7919)
    };
    let rows: Vec<String> = (0..3000).map(row).collect();
    let table = format!("id,lower,upper,size\n{}\n", rows.join("\n"));
    pack(table, &["--budget", "1"]).shows(&["height"]);
}

#[test]
fn what_does_not_fit_is_named() {
    let run = pack(TABLE, &["--capacity", "7"]);
    assert_eq!(run.status, 1);
    contains(run.out, &["proved: infeasible", "conflict   2 items"]);
    let selected = pack(TABLE, &["--capacity", "7", "--select", "--json"]);
    selected.shows(&["\"weight\": 3", "\"proved\""]);
}

#[test]
fn bad_tables_are_located() {
    for (text, part) in [
        ("id,lower,upper,size\na,0,1,x\n", ":2: size `x`"),
        ("id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\n", ":2: "),
        ("id,lower,upper,size\na,0,2,4\na,1,3,4\n", ":3: id `a`"),
        ("id,lower,upper,size\n\"a,0,2,4\n", ":2: a quoted field"),
    ] {
        pack(text, &[]).names(2, &[part]);
    }
    for command in ["pack", "tensors"] {
        let no_text = tileheap_with(b"id,lower,upper,size\na,0,1,\xff\n", &[command, "-"]);
        no_text.names(2, &[":2: ", "not UTF-8"]);
        tileheap(&[command, "no/such.csv"]).names(2, &["`no/such.csv`", "CSV"]);
    }
}
