//! `tileheap judge` on plans with findings.

use crate::run::{scratch, tileheap_in};

#[test]
fn findings_are_named_with_buffers_bytes_and_steps() {
    let folder = scratch("judge");
    std::fs::create_dir_all(&folder).unwrap();
    let table = "id,lower,upper,size,offset,alignment\na,0,3,8,0,\nb,2,5,8,4,4\nc,6,7,2,1,2\n";
    std::fs::write(folder.join("bad.csv"), table).unwrap();
    let run = tileheap_in(&folder, b"", &["judge", "bad.csv"]);
    assert_eq!((run.status, run.err.as_str()), (3, ""));
    for part in [
        "`a` (line 2) and `b` (line 3) share 4 B at offset 4 B of arena 0, in step 2",
        "`c` (line 4) is at offset 1 B of arena 0, which is not a multiple of 2 B",
        "Found 1 overlap and 1 buffer fault",
        "uses 12 B; 0.75 of the bound, 16 B; tileheap needs 16 B",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let run = tileheap_in(&folder, b"", &["judge", "bad.csv", "--json"]);
    assert_eq!(run.status, 3);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(found["sound"], false);
    assert_eq!(found["overlaps"][0]["bytes"], 4);
    assert_eq!(found["faults"][0]["fault"], "misaligned");
}
