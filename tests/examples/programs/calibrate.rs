//! `examples/calibrate`: writes a profile with costs if there is tile memory.

use tileheap::profile::DeviceProfile;
use tileheap_testkit::{emulate, example, own_file};

use super::output::printed;

#[test]
fn a_device_with_tile_memory_gets_a_profile_with_costs() {
    let path = own_file("calibrated.json");
    let mut command = example("calibrate");
    command.args("--rounds 6 --size 192x128 --triangles 50 --output".split(' '));
    command.arg(&path);
    if !emulate(&mut command, "adreno-830") {
        return;
    }
    let printed = printed(command);
    for wanted in [
        "feature enabled ",
        "bound, not used ",
        "on, merged ",
        "the times say nothing",
    ] {
        assert!(printed.contains(wanted), "{printed}");
    }
    let profile = std::fs::read_to_string(&path).expect("the profile was written");
    let profile = DeviceProfile::from_json(&profile).expect("a profile");
    assert!(profile.tile.is_some() && profile.costs.is_some());
    assert!(profile.source.contains("emulated by"), "{}", profile.source);
}
