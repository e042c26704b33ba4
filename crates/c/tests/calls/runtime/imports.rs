//! Imports that do not match the frame: each is named by its array and its index.

use std::ptr::{null, null_mut};

use ash::vk;
use tileheap_c::imports::*;
use tileheap_c::recording::*;
use tileheap_c::status::Status;
use tileheap_testkit::assert_says;
use tileheap_testkit::fake_driver::Config;

use super::super::c::{call, sized};
use super::engine::*;

#[test]
fn imports_that_do_not_match_are_errors() {
    let engine = Engine::new(Config::modern());
    let good = engine.output(0);
    let as_image = |resource| [ImportedImage { resource, ..good }];
    let view_of = |range| {
        [ImportedView {
            resource: OUTPUT,
            range,
            view: good.view,
        }]
    };
    let (none, internal) = (as_image(7), as_image(0));
    let late = view_of(vk::ImageSubresourceRange {
        base_mip_level: 1,
        ..Default::default()
    });
    let many = view_of(vk::ImageSubresourceRange {
        base_array_layer: 0,
        layer_count: 7,
        ..Default::default()
    });
    let buffers = [ImportedBuffer {
        resource: OUTPUT,
        reserved: 0,
        buffer: vk::Handle::from_raw(1),
        offset: 0,
        size: 4,
        address: 0,
    }];
    let semaphores = [1, 0].map(|semaphore| {
        [ImportedSemaphore {
            semaphore,
            reserved: 0,
            handle: vk::Handle::from_raw(1),
            value: 0,
        }]
    });
    let twice = [good, good];
    let null_image = [ImportedImage {
        image: vk::Image::null(),
        ..good
    }];
    let marked = [ImportedImage { reserved: 3, ..good }];
    let whole = vk::ImageSubresourceRange {
        layer_count: 1,
        level_count: 1,
        ..Default::default()
    };
    let views_twice = [view_of(whole)[0]; 2];
    let views = |views: &[ImportedView]| Imports {
        view_count: 1,
        views: views.as_ptr(),
        ..sized()
    };
    let signals = |semaphores: &[ImportedSemaphore]| Imports {
        semaphore_count: 1,
        semaphores: semaphores.as_ptr(),
        ..sized()
    };
    let of_buffers = Imports {
        buffer_count: 1,
        buffers: buffers.as_ptr(),
        ..sized()
    };
    let null_images = Imports {
        image_count: 1,
        ..sized()
    };
    let small = Imports {
        struct_size: 12,
        ..sized()
    };
    let wrongs = [
        (imports(&none), Status::ErrorInvalidArgument, "resource 7"),
        (imports(&internal), Status::ErrorInvalidArgument, "albedo"),
        (views(&late), Status::ErrorInvalidArgument, "level 1"),
        (
            views(&many),
            Status::ErrorInvalidArgument,
            "layer 0 with a count of 7",
        ),
        (of_buffers, Status::ErrorInvalidArgument, "output"),
        (
            signals(&semaphores[0]),
            Status::ErrorInvalidArgument,
            "semaphore 1",
        ),
        (signals(&semaphores[1]), Status::ErrorInvalidArgument, "done"),
        (
            null_images,
            Status::ErrorNullPointer,
            "ThImports.images is null, but imageCount is 1",
        ),
        (
            imports(&null_image),
            Status::ErrorNullPointer,
            "ThImports.images[0].image is null",
        ),
        (
            imports(&marked),
            Status::ErrorInvalidArgument,
            "ThImports.images[0].reserved is 3",
        ),
        (
            imports(&twice),
            Status::ErrorInvalidArgument,
            "elements 0 and 1 of the imported images are both for `output`",
        ),
        (
            Imports {
                view_count: 2,
                views: views_twice.as_ptr(),
                ..sized()
            },
            Status::ErrorInvalidArgument,
            "elements 0 and 1 of the imported views are both for `output`",
        ),
        (small, Status::ErrorStructSize, "ThImports"),
    ];
    for (imports, expected, words) in &wrongs {
        engine.select().unwrap();
        let begun = call(|error| th!(begin_frame(engine.frame, imports, null_mut(), error)));
        let (status, message) = begun.unwrap_err();
        assert_eq!(status, *expected, "{message}");
        assert_says(message, &[words]);
    }
    engine.select().unwrap();
    engine.begin().unwrap();
    for (imports, expected, words) in &wrongs {
        let late = call(|error| th!(import_resources(engine.frame, imports, error)));
        let (status, message) = late.unwrap_err();
        assert_eq!(status, *expected, "{message}");
        assert_says(message, &[words]);
    }
    let none = call(|error| th!(import_resources(engine.frame, null(), error)));
    assert_eq!(none.unwrap_err().0, Status::ErrorNullPointer);
    engine.end();
}
