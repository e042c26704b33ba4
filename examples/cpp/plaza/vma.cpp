/* The Vulkan Memory Allocator, compiled once. */
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>
