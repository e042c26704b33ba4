/* A Gpu that tileheap's runtime uses. */
#pragma once

#include "gpu.hpp"
#include "vma_blocks.hpp"

namespace plaza {

/** Members are destroyed from the last to the first. */
class RuntimeGpu {
    /** Extensions and features for tileheap; alive until the tileheap::Device is created. */
    tileheap::DeviceAdditions additions_;

public:
    explicit RuntimeGpu(bool tile_memory);
    RuntimeGpu(const RuntimeGpu &) = delete;
    RuntimeGpu &operator=(const RuntimeGpu &) = delete;

    /** The parameters of `device`, without its allocator. */
    ThDeviceDesc desc() const;

    const Gpu gpu;
    const ThDeviceQueue queue;
    VmaBlocks blocks;
    /** Dynamic frames must be destroyed before it. */
    tileheap::Device device;
};

} // namespace plaza
