//! The runtime on the fake driver: memory allocations, order between plans, and safe programs that once caused harm.

mod areas;
mod binding;
mod depth_resolves;
mod dynamic;
mod foreign;
mod hooks;
mod images;
mod lost;
mod merges;
mod names;
mod order;
mod recording;
mod safe;
mod targets;
mod threads;
mod tiles;

use tileheap::plan::PlanOptions;
use tileheap::runtime::{BoundFrame, Capabilities, Device};
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::runtime_rig::{self, on_fake};

/// A device of the fake driver, and the runtime on it.
pub(crate) struct Rig {
    pub(crate) fake: runtime_rig::Rig,
    pub(crate) tile: Device,
}

impl Rig {
    pub(crate) fn new(config: Config) -> Rig {
        let fake = runtime_rig::Rig::new(config, Capabilities::empty());
        let tile = fake.runtime().unwrap();
        Rig { fake, tile }
    }

    /// The rig's frame, bound with these options.
    pub(crate) fn bind(&self, options: &PlanOptions) -> BoundFrame {
        let plan = self.tile.plan(&self.fake.described.frame, options).unwrap();
        self.tile.bind(&plan).unwrap()
    }

    /// Runs one frame to completion.
    pub(crate) fn run(&self, bound: &mut BoundFrame) {
        let number = self.fake.frame(bound).unwrap();
        assert!(bound.wait(number, u64::MAX).unwrap());
    }
}

/// Destroys the runtime and checks that nothing is left.
impl Drop for Rig {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            on_fake!(self.tile.clone().destroy());
            assert_eq!(self.fake.problems(), [""; 0]);
        }
    }
}
