//! Parts of images on a real driver: every scene draws, dispatches or clears part by part, and a last pass sums their contents.

use ash::vk;
use tileheap::frame::tables::ViewDesc;
use tileheap::frame::{ClearValue, ImageDesc, LoadOp};

use super::scene::{EXTENT, R32, Scene};
use tileheap_testkit::frames::rect;

fn layered(format: vk::Format, mip_levels: u32, array_layers: u32) -> ImageDesc {
    ImageDesc {
        mip_levels,
        array_layers,
        ..ImageDesc::new(format, EXTENT)
    }
}

const ADD_FOUR: &str = include_str!("shaders/add_four.glsl");

#[test]
fn bloom_is_drawn_level_by_level_in_one_image_or_in_one_each() {
    for separate_levels in [false, true] {
        let mut scene = Scene::new();
        let mut desc = layered(R32, 4, 1);
        desc.separate_levels = separate_levels;
        let bloom = scene.image(desc);
        let column = "layout(location = 0) out float value; void main() { value = floor(gl_FragCoord.x); }";
        scene.draw(&[], column, |pass| pass.color(bloom, LoadOp::DontCare));
        for level in 1..4 {
            scene.draw(&[bloom], ADD_FOUR, |pass| {
                let pass = pass.sampled(bloom).level(level - 1);
                pass.color(bloom, LoadOp::DontCare).level(level)
            });
        }
        let last = "layout(set = 0, binding = 0) uniform texture2D last;";
        let texel = "texelFetch(last, ivec2(0), 0).r";
        scene.add_up(&[bloom], last, texel, |pass| pass.sampled(bloom).level(3));
        // All 64 texels: columns 0 and 1 twice, then 0 to 3 four times each, then all.
        scene.run(&[224.0]);
    }
}

#[test]
fn shadow_cascades_are_drawn_layer_by_layer() {
    let mut scene = Scene::new();
    let shadows = scene.image(layered(vk::Format::D32_SFLOAT, 1, 3));
    for layer in 0..3 {
        let clear = LoadOp::Clear(ClearValue::DepthStencil(0.25 * (layer + 1) as f32, 0));
        scene.clear(|pass| pass.depth(shadows, clear).layer(layer));
    }
    let sum = "i < 3 ? texelFetch(image, ivec3(7, 7, i), 0).r : 0.0";
    scene.expect(shadows, "texture2DArray", sum, &[0.25, 0.5, 0.75]);
}

#[test]
fn the_faces_of_a_cube_are_drawn_one_by_one() {
    let mut scene = Scene::new();
    let cube = scene.image(ImageDesc {
        flags: vk::ImageCreateFlags::CUBE_COMPATIBLE,
        ..layered(R32, 1, 6)
    });
    for face in 0..6 {
        let clear = LoadOp::Clear(ClearValue::Float([face as f32; 4]));
        scene.clear(|pass| pass.color(cube, clear).layer(face));
    }
    let faces = ViewDesc {
        view_type: Some(vk::ImageViewType::TYPE_2D_ARRAY),
        format: None,
    };
    scene.add_up(
        &[cube],
        "layout(set = 0, binding = 0) uniform texture2DArray faces;",
        "i < 6 ? texelFetch(faces, ivec3(1, 2, i), 0).r : 0.0",
        |pass| pass.sampled(cube).viewed(faces),
    );
    scene.run(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn a_depth_pyramid_is_dispatched_level_by_level() {
    let mut scene = Scene::new();
    let pyramid = scene.image(layered(R32, 3, 1));
    let fill = "layout(local_size_x = 8, local_size_y = 8) in;
        layout(set = 0, binding = 0, r32f) uniform writeonly image2D top;
        void main() {
            ivec2 at = ivec2(gl_LocalInvocationID.xy);
            imageStore(top, at, vec4(at.x + 8 * at.y));
        }";
    let farthest = include_str!("shaders/farthest.glsl");
    scene.dispatch(&[pyramid], fill, |pass| pass.storage_write(pyramid).level(0));
    for level in 1..3 {
        scene.dispatch(&[pyramid], farthest, |pass| {
            let pass = pass.sampled(pyramid).level(level - 1);
            pass.storage_write(pyramid).level(level)
        });
    }
    let sum = "i < 3 ? texelFetch(image, ivec2(1), i).r : 0.0";
    scene.expect(pyramid, "texture2D", sum, &[9.0, 27.0, 63.0]);
}

#[test]
fn a_volume_is_drawn_slice_by_slice() {
    let mut scene = Scene::new();
    let (width, height, depth) = (4, 4, 3);
    let volume = scene.image(ImageDesc {
        image_type: vk::ImageType::TYPE_3D,
        ..ImageDesc::new(R32, vk::Extent3D { width, height, depth })
    });
    for slice in 0..3 {
        let clear = LoadOp::Clear(ClearValue::Float([slice as f32 + 0.5; 4]));
        scene.clear(|pass| pass.color(volume, clear).layer(slice));
    }
    // The first one again, after the others have been drawn.
    let clear = LoadOp::Clear(ClearValue::Float([9.0; 4]));
    scene.clear(|pass| pass.color(volume, clear).layer(0));
    let sum = "i < 3 ? texelFetch(image, ivec3(3, 2, i), 0).r : 0.0";
    scene.expect(volume, "texture3D", sum, &[9.0, 1.5, 2.5]);
}

/// In one layout throughout: each pass only waits for the slices that it reads or writes, as synchronization validation verifies.
#[test]
fn slices_of_a_volume_are_computed_from_one_another() {
    let mut scene = Scene::new();
    let (width, height, depth) = (4, 4, 4);
    let volume = scene.image(ImageDesc {
        image_type: vk::ImageType::TYPE_3D,
        ..ImageDesc::new(R32, vk::Extent3D { width, height, depth })
    });
    let shader = |value: &str, to: u32| {
        format!(
            "layout(local_size_x = 4, local_size_y = 4) in;
            layout(set = 0, binding = 0, r32f) uniform image3D volume;
            float of(int slice) {{ return imageLoad(volume, ivec3(gl_LocalInvocationID.xy, slice)).r; }}
            void main() {{ imageStore(volume, ivec3(gl_LocalInvocationID.xy, {to}), vec4({value})); }}"
        )
    };
    scene.dispatch(&[volume], &shader("1.5", 0), |pass| {
        pass.storage_write(volume).layer(0)
    });
    scene.dispatch(&[volume], &shader("2.0 * of(0)", 1), |pass| {
        pass.storage_write(volume).layer(1).storage_read(volume).layer(0)
    });
    scene.dispatch(&[volume], &shader("7.0", 2), |pass| {
        pass.storage_write(volume).layer(2)
    });
    scene.dispatch(&[volume], &shader("of(0) + of(1)", 0), |pass| {
        pass.storage_update(volume).layer(0).storage_read(volume).layer(1)
    });
    scene.dispatch(&[volume], &shader("of(0) + of(2)", 3), |pass| {
        let pass = pass.storage_write(volume).layer(3).storage_read(volume).layer(0);
        pass.storage_read(volume).layer(2)
    });
    let sum = "i < 4 ? texelFetch(image, ivec3(3, 2, i), 0).r : 0.0";
    scene.expect(volume, "texture3D", sum, &[4.5, 3.0, 7.0, 11.5]);
}

#[test]
fn two_views_are_drawn_at_once() {
    let mut scene = Scene::new();
    let eyes = scene.image(layered(R32, 1, 2));
    let eye = "layout(location = 0) out float value; void main() { value = 3.0 + gl_ViewIndex; }";
    scene.draw(&[], eye, |pass| pass.color(eyes, LoadOp::DontCare).views(0b11));
    let sum = "i < 2 ? texelFetch(image, ivec3(5, 5, i), 0).r : 0.0";
    scene.expect(eyes, "texture2DArray", sum, &[3.0, 4.0]);
}

#[test]
fn depth_is_sampled_while_stencil_is_cleared() {
    let mut scene = Scene::new();
    let both = scene.image(ImageDesc::new(vk::Format::D32_SFLOAT_S8_UINT, EXTENT));
    let seen = scene.image(ImageDesc::new(R32, EXTENT));
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    let clear = |stencil| LoadOp::Clear(ClearValue::DepthStencil(0.375, stencil));
    scene.clear(|pass| pass.depth(both, clear(1)));
    let copy = "layout(set = 0, binding = 0) uniform texture2D depth;
        layout(location = 0) out float value;
        void main() { value = texelFetch(depth, ivec2(gl_FragCoord.xy), 0).r; }";
    scene.draw(&[both], copy, |pass| {
        let pass = pass
            .sampled(both)
            .aspect(depth)
            .depth_read_only(both)
            .aspect(depth);
        let pass = pass.depth(both, clear(9)).aspect(stencil);
        pass.color(seen, LoadOp::DontCare)
    });
    scene.add_up(
        &[seen, both],
        "layout(set = 0, binding = 0) uniform texture2D seen;
         layout(set = 0, binding = 1) uniform utexture2D both;",
        "i == 0 ? texelFetch(seen, ivec2(3), 0).r : i == 1 ? float(texelFetch(both, ivec2(3), 0).r) : 0.0",
        |pass| pass.sampled(seen).sampled(both).aspect(stencil),
    );
    scene.run(&[0.375, 9.0]);
}

#[test]
fn a_render_area_leaves_the_rest_alone() {
    let mut scene = Scene::new();
    let image = scene.image(ImageDesc::new(R32, EXTENT));
    let clear = |value| LoadOp::Clear(ClearValue::Float([value; 4]));
    let area = rect(2, 0, 4, 8);
    scene.clear(|pass| pass.color(image, clear(1.0)));
    scene.clear(|pass| pass.color(image, clear(2.0)).area(area));
    // A smaller part of it in the frame.
    scene.clear(|pass| pass.color(image, clear(3.0)).area(area));
    scene.in_area(rect(3, 0, 2, 8));
    let sum = "texelFetch(image, ivec2(i, 4), 0).r";
    scene.expect(image, "texture2D", sum, &[1.0, 1.0, 2.0, 3.0, 3.0, 2.0, 1.0, 1.0]);
}

/// One pass draws, and one reads an input attachment: a render pass object in every mode.
#[test]
fn an_area_of_the_frame_leaves_the_rest_alone() {
    let mut scene = Scene::new();
    let [image, sum] = [0; 2].map(|_| scene.image(ImageDesc::new(R32, EXTENT)));
    let clear = |value| LoadOp::Clear(ClearValue::Float([value; 4]));
    let area = rect(1, 2, 4, 3);
    scene.clear(|pass| pass.color(image, clear(1.0)).color(sum, clear(7.0)));
    let column = "layout(location = 0) out float value; void main() { value = gl_FragCoord.x; }";
    scene.draw(&[], column, |pass| pass.color(image, LoadOp::Load));
    scene.in_area(area);
    let add = "layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput image;
        layout(location = 0) out float value;
        void main() { value = 20.0 + subpassLoad(image).r; }";
    scene.draw(&[image], add, |pass| pass.color(sum, LoadOp::Load).input(image));
    scene.in_area(area);
    let found = "texelFetch(image, ivec2(i, 2), 0).r + 100.0 * texelFetch(image, ivec2(i, 5), 0).r";
    scene.expect(
        sum,
        "texture2D",
        found,
        &[707.0, 721.5, 722.5, 723.5, 724.5, 707.0, 707.0, 707.0],
    );
}
