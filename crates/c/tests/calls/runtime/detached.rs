//! Detached recorders attach to the frame that they came from, as long as it is being recorded.

use tileheap::plan::PlanOptions;
use tileheap::runtime::detached::DetachedRecorder;
use tileheap::runtime::import::ImportedImage;
use tileheap::runtime::{Capabilities, DynamicFrame, Imports};
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::runtime_rig::{Rig, on_fake};

fn begin(rig: &Rig, frames: &mut DynamicFrame) -> DetachedRecorder {
    let images = [ImportedImage {
        resource: rig.described.output,
        image: rig.outputs[0].0,
        view: rig.outputs[0].1,
    }];
    let imports = Imports {
        images: &images,
        ..Imports::default()
    };
    let selected = frames.select(&rig.described.frame.to_builder()).unwrap();
    on_fake!(selected.begin(&imports)).unwrap().detach()
}

#[test]
fn recorders_that_are_out_of_date_or_foreign_do_not_attach() {
    let rig = Rig::new(Config::modern(), Capabilities::empty());
    let device = rig.runtime().unwrap();
    let frames = || device.dynamic_frame(PlanOptions::default()).unwrap();
    let (mut frames, mut others) = (frames(), frames());
    let first = begin(&rig, &mut frames);
    let foreign = begin(&rig, &mut others);
    assert!(frames.attach(&foreign).is_none() && frames.share(&foreign).is_none());
    assert!(frames.share(&first).is_some());
    assert!(frames.selected().is_none(), "it has begun");
    // A recorder that is dropped has no effect: it can be attached again.
    assert_eq!(frames.attach(&first).unwrap().number().0, 0);

    let second = begin(&rig, &mut frames);
    assert!(frames.attach(&first).is_none(), "another frame has begun");
    // Submission fails before anything is submitted.
    assert!(on_fake!(frames.attach(&second).unwrap().submit()).is_err());
    let recorder = frames.attach(&second).unwrap();
    assert_eq!(recorder.number().0, 0);
    let recorder = rig.record_begun(recorder).unwrap();
    on_fake!(recorder.submit()).unwrap();
    assert!(frames.attach(&second).is_none(), "it was submitted");

    // Another description, and the first one again.
    let third = begin(&rig, &mut frames);
    let mut smaller = rig.described.frame.to_builder();
    smaller.set_base_extent(ash::vk::Extent2D {
        width: 64,
        height: 64,
    });
    frames.select(&smaller).unwrap();
    assert!(frames.attach(&third).is_none() && frames.share(&third).is_none());
    frames.select(&rig.described.frame.to_builder()).unwrap();
    assert!(frames.attach(&third).is_none(), "it was selected again");
    assert!(frames.selected().is_some());
    drop((frames, others));
    let _ = on_fake!(rig.device.device_wait_idle());
    on_fake!(device.destroy());
    assert_eq!(rig.problems(), [""; 0]);
}
