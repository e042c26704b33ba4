//! Reads the declarations of shaders compiled by the installed compiler.

use tileheap_shaders::{Binding, Compiler, Error, Interface, Source, Stage, VertexInput};

fn interface(stage: Stage, source: &str) -> Interface {
    let compiler = Compiler::find().expect("glslangValidator or glslc is installed");
    let compiled = compiler.compile_with_interface(Source::Text(source), stage, &[], 3);
    compiled.unwrap_or_else(|error| panic!("{error}")).1
}

fn binding(set: u32, binding: u32, descriptor_type: u32, count: u32, name: &str) -> Binding {
    Binding {
        set,
        binding,
        descriptor_type,
        count,
        name: name.to_owned(),
    }
}

#[test]
fn descriptors_push_constants_and_the_workgroup_size_are_read() {
    let source = "#version 460
        layout(local_size_x = 8, local_size_y = 4) in;
        layout(set = 1, binding = 2) readonly buffer Lights { vec4 lights[]; };
        layout(set = 0, binding = 3) buffer Tiles { uint mask[]; } tiles[2];
        layout(set = 0, binding = 0) uniform Camera { mat4 view; } camera;
        layout(set = 0, binding = 1, r32f) uniform image2D depth;
        layout(push_constant) uniform Push { vec2 size; float scale; } push;
        void main() {
            tiles[1].mask[0] = uint(lights[0].x * camera.view[0].x * push.scale + imageLoad(depth, ivec2(0)).x);
        }";
    let expected = Interface {
        bindings: vec![
            binding(0, 0, 6, 1, "camera"),
            binding(0, 1, 3, 1, "depth"),
            binding(0, 3, 7, 2, "tiles"),
            binding(1, 2, 7, 1, "Lights"),
        ],
        push_constant_bytes: 12,
        local_size: [8, 4, 1],
        vertex_inputs: Vec::new(),
    };
    assert_eq!(interface(Stage::Compute, source), expected);
}

#[test]
fn vertex_attributes_are_read_by_location_and_built_in_variables_are_none() {
    let source = "#version 460
        layout(location = 1) in vec2 uv;
        layout(location = 0) in vec3 position;
        layout(location = 0) out vec2 to_fragment;
        void main() { to_fragment = uv; gl_Position = vec4(position, float(gl_VertexIndex)); }";
    let input = |location, format, size| VertexInput {
        location,
        format,
        size,
    };
    // `VK_FORMAT_R32G32B32_SFLOAT` and `VK_FORMAT_R32G32_SFLOAT`.
    let expected = [input(0, 106, 12), input(1, 103, 8)];
    let found = interface(Stage::Vertex, source);
    assert_eq!(found.vertex_inputs, expected);
    assert_eq!(found.local_size, [0; 3]);
}

#[test]
fn specialization_constants_count_with_their_defaults() {
    let source = "#version 460
        layout(local_size_x_id = 0) in;
        layout(constant_id = 1) const int count = 3;
        layout(binding = 0) buffer Data { float data[count]; };
        void main() { data[gl_LocalInvocationIndex] = float(gl_WorkGroupSize.x); }";
    assert_eq!(
        interface(Stage::Compute, source).bindings,
        [binding(0, 0, 7, 1, "Data")]
    );
}

#[test]
fn newer_versions_are_refused_and_mistakes_have_their_line() {
    let compiler = Compiler::find().expect("glslangValidator or glslc is installed");
    let source = "#version 460\nvoid main() {}\n";
    let error = compiler.compile_with_interface(Source::Text(source), Stage::Fragment, &[], 4);
    assert!(matches!(error, Err(Error::Reflect(_))), "{error:?}");
    let source = "#version 460\nvoid main() { nothing(); }\n";
    let error = compiler.compile(Source::Text(source), Stage::Fragment, &[], 3);
    let error = error.expect_err("no such function").to_string();
    assert!(error.contains(":2:") && error.contains("nothing"), "{error}");
}
