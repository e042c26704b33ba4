// Doubles numbers on Dawn (npm `webgpu`), and draws a triangle; prints hashes of both.
import { createHash } from "node:crypto";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);
const gpu = create(["backend=vulkan", "enable-dawn-features=allow_unsafe_apis"]);
const adapter = await gpu.requestAdapter();
const device = await adapter.requestDevice();
const module = device.createShaderModule({
  code: `
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
@compute @workgroup_size(64) fn twice(@builtin(global_invocation_id) at: vec3u) { numbers[at.x] = numbers[at.x] * 2u + at.x; }
@vertex fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
  return vec4f(f32(index & 1u) * 1.6 - 0.8, f32(index >> 1u) * 1.6 - 0.8, 0.0, 1.0);
}
@fragment fn paint(@builtin(position) at: vec4f) -> @location(0) vec4f { return vec4f(at.xy / 128.0, 0.25, 1.0); }`,
});
const compute = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "twice" } });
const render = device.createRenderPipeline({
  layout: "auto",
  vertex: { module, entryPoint: "corner" },
  fragment: { module, entryPoint: "paint", targets: [{ format: "rgba8unorm" }] },
});
const numbers = device.createBuffer({ label: "numbers", size: 4096, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
const texture = device.createTexture({
  label: "picture",
  size: [128, 128],
  format: "rgba8unorm",
  usage: GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC,
});
const back = device.createBuffer({ size: 4096 + 65536, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
const group = device.createBindGroup({ layout: compute.getBindGroupLayout(0), entries: [{ binding: 0, resource: { buffer: numbers } }] });
for (let frame = 0; frame < 4; ++frame) {
  const encoder = device.createCommandEncoder();
  const work = encoder.beginComputePass();
  work.setPipeline(compute);
  work.setBindGroup(0, group);
  work.dispatchWorkgroups(16);
  work.end();
  const drawing = encoder.beginRenderPass({
    colorAttachments: [{ view: texture.createView(), loadOp: "clear", storeOp: "store", clearValue: [0, 0, 0, 1] }],
  });
  drawing.setPipeline(render);
  drawing.draw(3);
  drawing.end();
  encoder.copyBufferToBuffer(numbers, 0, back, 0, 4096);
  encoder.copyTextureToBuffer({ texture }, { buffer: back, offset: 4096, bytesPerRow: 512 }, [128, 128]);
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
}
await back.mapAsync(GPUMapMode.READ);
console.log(createHash("sha256").update(Buffer.from(back.getMappedRange())).digest("hex"));
process.exit(0);
