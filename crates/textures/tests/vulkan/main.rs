//! Texture caches on Vulkan: on a driver that keeps books, what they call and leave behind; on a real one, every texel.

use tileheap_testkit as support;
use tileheap_testkit::fake_driver;
use tileheap_testkit::gpu;
use tileheap_testkit::validation;

mod books;
mod failures;
mod rig;
mod texels;
