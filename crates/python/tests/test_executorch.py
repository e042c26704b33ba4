"""The adapter of ExecuTorch, on what its planner was asked for six networks (`data/executorch.json`) and on random specs.

The stand-in has what the adapter uses of ExecuTorch's `TensorSpec`; the rules that are checked are those of its `Verifier`.
"""

import csv
import json
import random
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tileheap import Error
from tileheap.executorch import plan_memory

CALLS = json.loads((Path(__file__).parent / "data/executorch.json").read_text())["calls"]
TABLES = Path(__file__).parents[3] / "tests/data/tensor/compilers"


@dataclass(eq=False)
class Spec:
    lifetime: list
    nbytes: int
    mem_id: Any = None
    storage_base: Any = None
    storage_base_offset: int = 0
    mem_offset: Any = None
    mem_obj_id: Any = None
    alignment: int = 1

    @property
    def allocated_memory(self):
        return -(-self.nbytes // self.alignment) * self.alignment

    def realign(self, alignment):
        self.alignment = alignment
        return self.allocated_memory


def of_rows(rows):
    specs = [Spec(list(row[:2]), row[2], row[3]) for row in rows]
    for spec, row in zip(specs, rows):
        if len(row) > 4:
            spec.storage_base, spec.storage_base_offset = specs[row[4]], row[5]
    return specs


def bases(spec):
    return [] if spec.storage_base is None else [spec.storage_base, *bases(spec.storage_base)]


def verify(specs, sizes, reserved=(), alignment=16):
    assert sizes[0] == 0
    for spec in specs:
        start = reserved[spec.mem_id] if spec.mem_id < len(reserved) else 0
        assert start <= spec.mem_offset and spec.mem_offset + spec.allocated_memory <= sizes[spec.mem_id]
        assert spec.mem_offset % alignment == 0
        if spec.storage_base:
            assert spec.mem_offset == spec.storage_base.mem_offset + spec.storage_base_offset
    for a, b in combinations(specs, 2):
        starts, ends = [a.mem_offset, b.mem_offset], [of.mem_offset + of.allocated_memory for of in (a, b)]
        if a.mem_id != b.mem_id or max(starts) >= min(ends):
            continue
        assert a.mem_obj_id == b.mem_obj_id
        together = a.lifetime[0] <= b.lifetime[1] and b.lifetime[0] <= a.lifetime[1]
        assert not together or a in bases(b) or b in bases(a)


@pytest.mark.parametrize("call", CALLS, ids=[f"{index}-{call['network']}" for index, call in enumerate(CALLS)])
def test_recorded_calls(call):
    specs = of_rows(call["specs"])
    reserved = call["input_mem_buffer_sizes"]
    module = SimpleNamespace(input_mem_buffer_sizes=reserved)
    sizes = plan_memory(call["alignment"], specs, module, None, call["extra_padding"])
    verify(specs, sizes, reserved, call["alignment"])
    assert len(sizes) == len(call["greedy"]) and sum(sizes) <= sum(call["greedy"])
    if not any(reserved):  # At the bound.
        roots = [spec for spec in specs if not spec.storage_base]
        steps = range(max(spec.lifetime[1] for spec in specs) + 1)
        live = [sum(of.allocated_memory for of in roots if of.lifetime[0] <= at <= of.lifetime[1]) for at in steps]
        assert sum(sizes) == max(live) + call["extra_padding"]


@pytest.mark.parametrize(("table", "theirs"), [("lstm", 70736), ("transformer", 557056), ("unet", 4194304)])
def test_recorded_tables(table, theirs):
    rows = list(csv.DictReader((TABLES / f"executorch_{table}.csv").open()))
    specs = [Spec([int(row["lower"]), int(row["upper"]) - 1], int(row["size"])) for row in rows]
    sizes = plan_memory(16, specs)
    verify(specs, sizes)
    assert sizes[1] <= theirs


def test_random_specs_with_views_pools_and_submodules():
    for seed in range(200):
        rng = random.Random(seed)
        specs = []
        for _ in range(rng.randint(0, 30)):
            first = rng.randrange(40)
            specs.append(Spec([first, first + rng.randrange(10)], rng.randrange(300), rng.choice([None, 1, 2, 3])))
        for base in rng.sample(specs, len(specs) // 2):
            base.realign(16)
            offset = rng.randrange(base.allocated_memory // 16 + 1) * 16
            size = rng.randint(0, base.allocated_memory - offset)
            view = Spec([max(base.lifetime[0] - 1, 0), base.lifetime[1] + rng.randrange(5)], size, rng.choice([None, base.mem_id]))
            view.storage_base, view.storage_base_offset = base, offset
            # As in ExecuTorch, a base is live as long as its views.
            base.lifetime = [min(base.lifetime[0], view.lifetime[0]), max(base.lifetime[1], view.lifetime[1])]
            specs.insert(rng.randrange(len(specs) + 1), view)
        reserved = [0, *(16 * rng.randrange(9) for _ in range(rng.randrange(3)))] if seed % 2 else []
        sizes = plan_memory(16, specs, SimpleNamespace(input_mem_buffer_sizes=reserved), None, 16 * rng.randrange(2))
        verify(specs, sizes, reserved)
        assert all(size >= least for size, least in zip(sizes, reserved)) and len(sizes) >= 2


def test_errors_name_the_spec():
    def wrong(spec):
        return [Spec([0, 9], 64), spec]

    base = Spec([0, 9], 64)
    view = Spec([0, 9], 64, storage_base=base, storage_base_offset=16)
    itself = Spec([0, 9], 64)
    itself.storage_base = itself
    odd = Spec([0, 9], 16, storage_base=base, storage_base_offset=8)
    before = Spec([0, 9], 16, storage_base=base, storage_base_offset=-16)
    for specs, says in [
        (wrong(Spec([None, None], 4)), "spec 1 has no lifetime"),
        (wrong(Spec([0, 9], 4, storage_base=base)), "spec 1 has a storage_base that is not among the specs to plan"),
        ([base, view], "spec 1 ends at byte 80 of its storage_base, which has 64 bytes"),
        ([base, odd], "spec 1 is at byte 8 of its storage_base, which is not a multiple of the alignment 16"),
        ([base, before], "spec 1 has a storage_base_offset of -16, which must not be negative"),
        (wrong(itself), "spec 1 has storage_bases that form a cycle"),
    ]:
        with pytest.raises(Error, match=says) as raised:
            plan_memory(16, specs)
        assert raised.value.item == 1
