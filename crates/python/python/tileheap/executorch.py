"""ExecuTorch's memory planning by tileheap.

    MemoryPlanningPass(memory_planning_algo=tileheap.executorch.plan_memory)

Source: the interface in `exir/memory_planning.py` of ExecuTorch 1.5.1, `apply_algo`. Nothing of ExecuTorch is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import STEPS, Error, Problem, pack


def plan_memory(
    alignment: int,
    specs: Iterable[Any],
    graph_module: Any = None,
    graph_signature: Any = None,
    extra_padding: int = 0,
    *,
    strategy: str = "auto",
    steps: int | None = STEPS,
) -> list[int]:
    """Gives every spec its `mem_id`, `mem_offset` and `mem_obj_id`; returns the bytes of each pool, those of pool 0 being 0.

    The pool is the spec's `mem_id`, or 1. A spec with a `storage_base` is at its `storage_base_offset` in that one's bytes and
    keeps them alive. The first bytes of each pool are left to submodules: `graph_module.input_mem_buffer_sizes`. Specs of a pool
    that share bytes, directly or through others, have one `mem_obj_id`. Lifetimes are closed intervals of node indices.

    Raises `tileheap.Error`, whose `item` is the index of a spec.
    """
    specs = list(specs)
    for spec in specs:
        spec.realign(alignment)
    index_of = {id(spec): index for index, spec in enumerate(specs)}
    # By root: the specs within its bytes, with the offset from its first byte.
    families: dict[int, list[tuple[Any, int]]] = {}
    for index, spec in enumerate(specs):
        root, offset = _root(index, specs, index_of, alignment)
        families.setdefault(root, []).append((spec, offset))
    pools: dict[int, list[int]] = {}
    for root in families:
        mem_id = specs[root].mem_id
        pools.setdefault(1 if mem_id is None else mem_id, []).append(root)
    sizes = list(getattr(graph_module, "input_mem_buffer_sizes", None) or [])
    sizes += [0] * (max([1, *pools]) + 1 - len(sizes))
    for pool, roots in pools.items():
        problem = Problem(
            spans=[_span(families[root]) for root in roots],
            sizes=[specs[root].allocated_memory for root in roots],
            alignments=alignment,
            names=[f"spec {root}" for root in roots],
        )
        packing = pack(problem, strategy, steps=steps)
        assert packing.offsets is not None and packing.height is not None  # Without a capacity there always is one.
        start = -(-sizes[pool] // alignment) * alignment
        object_id, end = -1, 0
        for at, root in sorted(zip((packing.offsets + start).tolist(), roots)):
            if at >= end:
                object_id += 1
            end = max(end, at + specs[root].allocated_memory)
            for spec, offset in families[root]:
                spec.mem_id, spec.mem_obj_id, spec.mem_offset = pool, object_id, at + offset
        sizes[pool] = start + packing.height + extra_padding
    return sizes


def _root(index: int, specs: list[Any], index_of: dict[int, int], alignment: int) -> tuple[int, int]:
    """The spec that a spec ultimately shares its bytes with, and the offset within them."""
    root, offset = index, 0
    for _ in specs:
        spec, base = specs[root], specs[root].storage_base
        if None in spec.lifetime:
            raise _error("has no lifetime", root)
        if base is None:
            return root, offset
        if id(base) not in index_of:
            raise _error("has a storage_base that is not among the specs to plan", root)
        at, size, room = spec.storage_base_offset, spec.allocated_memory, base.allocated_memory
        if at < 0:
            raise _error(f"has a storage_base_offset of {at}, which must not be negative", root)
        if at % alignment:
            raise _error(f"is at byte {at} of its storage_base, which is not a multiple of the alignment {alignment}", root)
        if at + size > room:
            raise _error(f"ends at byte {at + size} of its storage_base, which has {room} bytes", root)
        root, offset = index_of[id(base)], offset + at
    raise _error("has storage_bases that form a cycle", index)


def _span(family: list[tuple[Any, int]]) -> tuple[int, int]:
    return min(spec.lifetime[0] for spec, _ in family), max(spec.lifetime[1] for spec, _ in family) + 1


def _error(problem: str, index: int) -> Error:
    error = Error(f"spec {index} {problem}")
    error.item = index
    return error
