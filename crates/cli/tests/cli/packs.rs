//! `tileheap pack`: answers, the table with offsets, and exit statuses.

use crate::run::{scratch, tileheap, tileheap_with};

const TABLE: &[u8] = b"id,lower,upper,size,weight\na,0,3,4,1\nb,3,9,4,1\nc,0,9,4,3\n";

#[test]
fn a_table_is_packed() {
    let out = scratch("packed.csv");
    let text = tileheap_with(TABLE, &["pack", "-", "-o", out.to_str().unwrap()]).good();
    assert!(
        text.contains("height     8 B") && text.contains("no packing is lower"),
        "{text}"
    );
    let written = std::fs::read_to_string(out).unwrap();
    assert!(
        written.starts_with("id,lower,upper,size,weight,offset\na,0,3,4,1,"),
        "{written}"
    );
}

#[test]
fn strategies_of_other_planners_are_known_by_name() {
    for strategy in ["greedy-by-size", "nnc"] {
        let text = tileheap_with(TABLE, &["pack", "-", "--strategy", strategy]).good();
        assert!(text.contains("height     8 B"), "{strategy}: {text}");
    }
    for (arguments, found) in [
        (&["pack", "-"][..], "found by   "),
        (&["pack", "-", "--json"], "\"found_by\": \""),
    ] {
        assert!(tileheap_with(TABLE, arguments).good().contains(found));
    }
}

#[test]
fn a_json_file_has_pools_and_penalties() {
    let json = br#"{
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
    let text = tileheap_with(json, &["pack", "-"]).good();
    assert!(
        text.contains("sram: 8 B of 8 B") && text.contains("cost       1"),
        "{text}"
    );
    let text = tileheap_with(json, &["pack", "-", "--json"]).good();
    assert!(text.contains("\"pool\": \"sram\""), "{text}");
    let text = String::from_utf8_lossy(json);
    let wrong = text.replace("[\"c\", \"d\"]", "[\"c\", \"x\"]");
    assert!(
        tileheap_with(wrong.as_bytes(), &["pack", "-"])
            .bad(2)
            .contains("`x`")
    );
    let wrong = text.replace("exclusive", "exclusiv");
    assert!(
        tileheap_with(wrong.as_bytes(), &["pack", "-"])
            .bad(2)
            .contains("exclusiv")
    );
    let tight = text.replace("\"capacity\": 8", "\"capacity\": 7");
    assert_eq!(tileheap_with(tight.as_bytes(), &["pack", "-"]).status, 1);
}

#[test]
fn a_time_limits_the_search() {
    let text = tileheap_with(TABLE, &["pack", "-", "--time", "2s"]).good();
    assert!(text.contains("no packing is lower"), "{text}");
    let text = tileheap_with(TABLE, &["pack", "-", "--time", "soon"]).bad(2);
    assert!(text.contains("500ms"), "{text}");
}

#[test]
fn a_small_budget_gives_a_packing_without_a_capacity() {
    let rows: Vec<String> = (0..3000)
        .map(|id| {
            format!(
                "{id},{},{},{}",
                id * 7 % 991,
                id * 7 % 991 + 1 + id % 50,
                1 + id * id % 7919
            )
        })
        .collect();
    let table = format!("id,lower,upper,size\n{}\n", rows.join("\n"));
    let text = tileheap_with(table.as_bytes(), &["pack", "-", "--budget", "1"]).good();
    assert!(text.contains("height"), "{text}");
}

#[test]
fn what_does_not_fit_is_named() {
    let run = tileheap_with(TABLE, &["pack", "-", "--capacity", "7"]);
    assert_eq!(run.status, 1);
    assert!(
        run.out.contains("proved: infeasible") && run.out.contains("conflict   2 items"),
        "{}",
        run.out
    );
    let text = tileheap_with(TABLE, &["pack", "-", "--capacity", "7", "--select", "--json"]).good();
    assert!(
        text.contains("\"weight\": 3") && text.contains("\"proved\""),
        "{text}"
    );
}

#[test]
fn bad_tables_are_located() {
    let message = tileheap_with(b"id,lower,upper,size\na,0,1,x\n", &["pack", "-"]).bad(2);
    assert!(message.contains(":2: size `x`"), "{message}");
    let two = b"id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\n";
    assert!(tileheap_with(two, &["pack", "-"]).bad(2).contains(":2: "));
    let twice = b"id,lower,upper,size\na,0,2,4\na,1,3,4\n";
    assert!(tileheap_with(twice, &["pack", "-"]).bad(2).contains(":3: id `a`"));
    let open = b"id,lower,upper,size\n\"a,0,2,4\n";
    assert!(
        tileheap_with(open, &["pack", "-"])
            .bad(2)
            .contains(":2: a quoted field")
    );
    for command in ["pack", "tensors"] {
        let no_text = tileheap_with(b"id,lower,upper,size\na,0,1,\xff\n", &[command, "-"]).bad(2);
        assert!(
            no_text.contains(":2: ") && no_text.contains("not UTF-8"),
            "{no_text}"
        );
        let missing = tileheap(&[command, "no/such.csv"]).bad(2);
        assert!(
            missing.contains("`no/such.csv`") && missing.contains("CSV"),
            "{missing}"
        );
    }
}
