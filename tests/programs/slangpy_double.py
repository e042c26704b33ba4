"""Doubles numbers with slangpy on Vulkan, and prints their sum."""
import numpy as np
import slangpy as spy

device = spy.Device(type=spy.DeviceType.vulkan)
module = device.load_module_from_source(
    "double",
    """
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint3 at: SV_DispatchThreadID, RWStructuredBuffer<uint> numbers) { numbers[at.x] = numbers[at.x] * 2 + at.x; }
""",
)
kernel = device.create_compute_kernel(device.link_program([module], [module.entry_point("main")]))
usage = spy.BufferUsage.unordered_access | spy.BufferUsage.shader_resource
numbers = device.create_buffer(size=4096, struct_size=4, usage=usage, data=np.ones(1024, dtype=np.uint32))
for _ in range(4):
    kernel.dispatch(thread_count=[1024, 1, 1], numbers=numbers)
print(numbers.to_numpy().view(np.uint32).sum())
