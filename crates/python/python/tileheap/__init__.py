"""Packs lifetimes and sizes into memory, and plans the tensors of networks.

    >>> from tileheap import Problem, pack
    >>> packing = pack(Problem(spans=[(0, 3), (0, 3), (3, 9)], sizes=[4, 3, 7]))
    >>> packing.height, packing.bound, packing.verdict
    (7, 7, 'proved')

Lifetimes are half-open: `[first, end)`. Sizes and offsets are bytes, in arrays of 64-bit integers. The same input gives the
same answer on every machine, unless a time limit or Ctrl-C ends a search. Searches release the interpreter's lock.

`plan` reads ONNX and other files. A graph of your own is a dict, or the same as JSON in a file; nodes follow those whose outputs they read:

    >>> from tileheap import plan
    >>> graph = {
    ...     "format": "tileheap-graph", "version": 1, "name": "decoder",
    ...     "tensors": [  # inputs, constants, and outputs of operators whose shapes are not inferred
    ...         {"name": "x", "element": "f32", "shape": [1, 64]},
    ...         {"name": "cache", "element": "f32", "shape": [16, 64]},
    ...         {"name": "w", "element": "f32", "shape": [64, 64], "constant": True},
    ...         {"name": "row", "element": "f32", "shape": [64], "view": {"of": "h", "offset": 0}},
    ...         {"name": "updated", "element": "f32", "shape": [16, 64]},
    ...         {"name": "more", "element": "i8", "shape": [1]},
    ...     ],
    ...     "inputs": ["x", "cache"],
    ...     "outputs": ["last"],
    ...     "nodes": [{
    ...         "name": "last", "inputs": ["cache", "x"],
    ...         "loop": {
    ...             "parameters": ["c", "p"],  # of each iteration, one for each input
    ...             "nodes": [
    ...                 {"name": "h", "operator": "matmul", "inputs": ["p", "w"]},
    ...                 {"name": "flat", "operator": "my_flatten", "inputs": ["h"], "outputs": ["row"]},  # a view: the bytes of h
    ...                 {"name": "update", "operator": "my_update", "inputs": ["c", "row"], "outputs": ["updated"],
    ...                  "in_place": [[0, 0]]},  # output 0 may be written over input 0
    ...                 {"name": "test", "operator": "my_test", "inputs": ["row"], "outputs": ["more"]},
    ...             ],
    ...             "carried": [["updated", "c"]],  # the value that becomes the parameter of the next iteration
    ...             "exits": [{"after": 4, "condition": "more", "results": ["updated"]}],
    ...         },
    ...     }],
    ... }
    >>> found = plan(graph, policy="row-major")
    >>> found.copies, found.tensor("row").backing, found.size == found.lower_bound
    ((), 'planned', True)

Operators of your own have their outputs in `tensors`; for those that tileheap knows (`conv2d`, `matmul`, `relu`, `add`, ...), shapes are inferred.
"""

from __future__ import annotations

import difflib
import json
import numbers
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._native import Error, __version__

STRATEGIES: tuple[str, ...] = tuple(_native.STRATEGIES)
POLICIES: tuple[str, ...] = tuple(_native.POLICIES)

__all__ = ["POLICIES", "STRATEGIES"]
__all__ += ["Error", "Memory", "Packing", "Problem", "Reuse", "Selection", "Tensor", "TensorPlan", "ValueCopy"]
__all__ += ["__version__", "pack", "plan", "select"]

Verdict = Literal["proved", "out-of-steps", "interrupted"]
STEPS = 400_000
"""The default limit on search steps. A step costs more the more items there are: a million take about a second for a hundred items,
and about twelve for 400."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Items to pack: item `i` is live at the steps `spans[i]` and takes `sizes[i]` bytes.

    - `spans`: shape `[n, 2]`, the first step, and the first step after the last; an empty span conflicts with nothing
    - `sizes`: shape `[n]`, bytes
    - `alignments`: bytes, shape `[n]` or one for all items; they need not be powers of two
    - `names`: for messages and plans, all different
    - `fixed`: required offsets, by item: the keys are indices
    - `lowest`: the lowest allowed offset, by item
    - `highest`: the highest allowed offset, by item
    - `together`: a group, by item: items of one group share one offset. A lifetime with gaps is a group with one item for each span.
    - `conflicts`: pairs that must not share bytes, whatever their lifetimes
    - `capacity`: the size of the memory in bytes, or None
    """

    spans: ArrayLike
    sizes: ArrayLike
    alignments: ArrayLike = 1
    names: Sequence[str] = ()
    fixed: Mapping[int, int] = field(default_factory=dict)
    lowest: Mapping[int, int] = field(default_factory=dict)
    highest: Mapping[int, int] = field(default_factory=dict)
    together: Mapping[int, int] = field(default_factory=dict)
    conflicts: Sequence[tuple[int, int]] = ()
    capacity: int | None = None

    def _fields(self) -> _native.Fields:
        sizes = _whole("sizes", self.sizes)
        count = len(sizes)
        spans = _whole("spans", self.spans, top=2**32, shape=(count, 2))
        backwards = np.flatnonzero(spans[:, 0] > spans[:, 1])
        if backwards.size:
            item = int(backwards[0])
            first, end = spans[item].tolist()
            raise _error(f"spans: item {item} begins at step {first}, after its end {end}", item)
        alignments = _whole("alignments", self.alignments, shape=(count,), least=1)
        names = _texts("names", self.names)
        if names and len(names) != count:
            raise _error(f"names has length {len(names)}, but sizes has length {count}")
        indices: dict[str, int] = {}
        for item, name in enumerate(names):
            first_item = indices.setdefault(name, item)
            if first_item != item:
                raise _error(f"names: {name!r} at item {item} is also the name of item {first_item}", item)
        given: list[list[Any]] = []
        for name, default in [("fixed", None), ("lowest", 0), ("highest", None), ("together", None)]:
            column: list[Any] = [default] * count
            by_item = getattr(self, name)
            if not isinstance(by_item, Mapping):
                raise _error(f"{name} is a {type(by_item).__name__}, not a mapping from items to numbers")
            for key, value in by_item.items():
                item = _integer(name, key, top=count, means="item")
                column[item] = _integer(name, value, top=2**32 if name == "together" else 2**64, item=item)
            given.append(column)
        return {
            "names": names,
            "items": list(zip(spans.tolist(), sizes.tolist(), alignments.tolist(), *given)),
            "conflicts": [_pair(pair) for pair in self.conflicts],
            "capacity": None if self.capacity is None else _integer("capacity", self.capacity, top=2**64),
        }


@dataclass(frozen=True, eq=False)
class Packing:
    """The result of `pack`.

    - `offsets`: shape `[n]`; None if no packing was found: `conflict` says why if it is proved that there is none, and otherwise the search
      ended before it found one
    - `height`: the largest end of an item, bytes
    - `bound`: a lower bound on the height of every packing
    - `verdict`: `proved` if the packing is the lowest, fits the capacity, or does not exist; otherwise `out-of-steps` or `interrupted`. A heuristic
      does not search: unless its packing reaches the bound, the verdict is `out-of-steps` after 0 steps.
    - `steps`: steps of the search
    - `found_by`: the strategy that found the packing
    - `conflict`: items that cannot be packed together, if it is proved that no packing exists
    """

    offsets: NDArray[np.int64] | None
    height: int | None
    bound: int
    verdict: Verdict
    steps: int
    found_by: str | None
    conflict: tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class Selection:
    """The result of `select`.

    - `chosen`: shape `[n]`
    - `offsets`: shape `[n]`; -1 for items that were not chosen
    - `weight`: the weight of the chosen items
    - `bound`: an upper bound on the weight of any selection
    - `height`: the largest end of a chosen item, bytes
    - `verdict`: `proved` if the bound is reached
    - `steps`: steps of the search
    """

    chosen: NDArray[np.bool_]
    offsets: NDArray[np.int64]
    weight: int
    bound: int
    height: int
    verdict: Verdict
    steps: int


@dataclass(frozen=True)
class Memory:
    """A memory of a plan.

    - `size`: the end of the highest tensor, bytes
    - `lower_bound`: bytes that no plan of the same tensors in this memory goes below: with the same layouts and, if there are several
      memories, with the same tensors in each
    - `alignment`: of the first byte of the memory, so that every tensor in it is aligned
    - `capacity`: bytes, or None
    - `traffic`: bytes of all reads and writes of its tensors in one run, including those of `TensorPlan.copies`. A loop counts with its
      rounds; if their number is not known, each unrolled copy of its body counts once, as a note says. Every arm of a branch counts.
    - `traffic_bound`: no choice of tensors that fit has more traffic, with the same operators in place and the same copies
    """

    name: str
    size: int
    lower_bound: int
    alignment: int
    capacity: int | None
    traffic: int
    traffic_bound: int


@dataclass(frozen=True)
class Reuse:
    """A node writes bytes that other tensors used: their last accesses must complete first.

    - `step`, `node`: the step and the node that runs in it
    - `output`: the tensor that the node writes
    - `previous`: the tensors that used the bytes before
    """

    step: int
    node: str
    output: str
    previous: tuple[str, ...]


@dataclass(frozen=True)
class ValueCopy:
    """A value of a loop or branch that could not be produced in place, or an output that the caller's memory receives at the end.

    - `node`: the loop or branch; for an output of the graph, the last node
    - `source`: the tensor that is copied
    - `target`: the tensor that receives it; None for the caller's memory of the output `source`
    - `size`: bytes
    - `time`: when it is copied, in words
    - `reason`: why, in words
    """

    node: str
    source: str
    target: str | None
    size: int
    time: str
    reason: str


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor of a plan, see `TensorPlan.tensor`.

    - `size`: bytes; 0 unless planned
    - `storage`: `buffer`, or which kind of image; None for records
    - `reason`: why it is not an image, or not the one that the policy chose; None if it is stored as the policy chose
    - `backing`: `planned`; `part of another` tensor, see `within`; `external`, in the caller's memory; or `constant`. An output in the
      caller's memory that the value of a loop is copied to at the end is `planned`, see `TensorPlan.copies`.
    - `within`: for a part of another tensor at one place, its name and the offset in it, bytes
    - `extent`: width and height of an image in texels, and its layers; None for buffers
    - `regions`: rows of memory (an index in `TensorPlan.memories`), offset, size in bytes: several if the tensor moves from one
      iteration of a loop to the next
    - `lifetimes`: rows of first step, first step after the last
    """

    name: str
    size: int
    storage: str | None
    reason: str | None
    backing: str
    within: tuple[str, int] | None
    extent: tuple[int, int, int] | None
    regions: NDArray[np.int64]
    lifetimes: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TensorPlan:
    """The result of `plan`. Tables have rows for tensors; `regions` and `lifetimes` name tensors, memories and steps by index.

    - `memories`: in order of preference, see `Memory`
    - `names`: of tensors, shape `[n]`. Tensors of an ONNX file have the names of its values; those in the body of a node are named
      `NODE/VALUE`, and a packed or converted form `VALUE/packed.ID` or `VALUE/converted.ID`.
    - `inputs`, `outputs`: names of the graph's inputs and outputs, in their order; empty for records
    - `sizes`: bytes, shape `[n]`; 0 for tensors that are not planned
    - `storage`, `reasons`, `backing`, `within`, `extents`: as in `Tensor`, one for each tensor
    - `regions`: rows of tensor, memory, offset, size in bytes; several for a tensor that moves in a loop, none for constants, tensors in the
      caller's memory, and parts of others
    - `lifetimes`: rows of tensor, first step, first step after the last; the tensors of unrolled loops and of branches have several
    - `reuses`: see `Reuse`
    - `copies`: see `ValueCopy`
    - `unrolled`: the unroll count of each loop, by node
    - `steps`: the node of each step
    - `notes`: assumptions of the reader of the file, such as sizes of elements whose type is not known
    """

    memories: tuple[Memory, ...]
    names: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    sizes: NDArray[np.int64]
    storage: tuple[str | None, ...]
    reasons: tuple[str | None, ...]
    backing: tuple[str, ...]
    within: tuple[tuple[str, int] | None, ...]
    extents: tuple[tuple[int, int, int] | None, ...]
    regions: NDArray[np.int64]
    lifetimes: NDArray[np.int64]
    reuses: tuple[Reuse, ...]
    copies: tuple[ValueCopy, ...]
    unrolled: Mapping[str, int]
    steps: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all memories."""
        return sum(memory.size for memory in self.memories)

    @property
    def lower_bound(self) -> int:
        """The lower bounds of all memories together."""
        return sum(memory.lower_bound for memory in self.memories)

    def tensor(self, name: str) -> Tensor:
        """A tensor by name; raises KeyError if there is none, with the names that are close."""
        if name not in self.names:
            close = difflib.get_close_matches(str(name), self.names)
            raise KeyError(f"no tensor is named {name!r}" + (f": is {' or '.join(map(repr, close))} meant?" if close else ""))
        index = self.names.index(name)
        return Tensor(
            name=name,
            size=int(self.sizes[index]),
            storage=self.storage[index],
            reason=self.reasons[index],
            backing=self.backing[index],
            within=self.within[index],
            extent=self.extents[index],
            regions=self.regions[self.regions[:, 0] == index, 1:],
            lifetimes=self.lifetimes[self.lifetimes[:, 0] == index, 1:],
        )


def pack(
    problem: Problem, strategy: str = "auto", *, steps: int | None = STEPS, seconds: float | None = None
) -> Packing:
    """Finds an offset for every item: the lowest packing, or with a capacity one within it, or the proof that none exists.

    `strategy`: one of `STRATEGIES`: `auto` and `exact` search, `hill-climb` and `glue` improve a packing, the others place each item once.
    The capacity is the problem's. A search ends after `steps`, or after `seconds`; with neither when its answer is proved. Raises
    `Error` for an impossible problem.
    """
    answer = json.loads(_native.pack(_fields(problem), strategy, *_limits(steps, seconds)))
    found, conflict = answer["packing"], answer["conflict"]
    return Packing(
        offsets=_array(found["offsets"]) if found else None,
        height=found["height"] if found else None,
        bound=answer["bound"],
        verdict=answer["verdict"],
        steps=answer["steps"],
        found_by=answer["found_by"],
        conflict=tuple(conflict["items"]) if conflict else None,
    )


def select(
    problem: Problem, weights: ArrayLike, *, steps: int | None = STEPS, seconds: float | None = None
) -> Selection:
    """Chooses the items of the largest weight that fit in the problem's capacity, each at an offset.

    `weights`: whole numbers, shape `[n]`; a group is chosen as one.
    """
    fields = _fields(problem)
    given = _whole("weights", weights, shape=(len(fields["items"]),)).tolist()
    if sum(given) > 2**63:
        raise _error(f"weights sum to {sum(given)}, which exceeds 2^63", max(range(len(given)), key=given.__getitem__))
    answer = json.loads(_native.select(fields, given, *_limits(steps, seconds)))
    offsets = _array([-1 if offset is None else offset for offset in answer.pop("offsets")])
    return Selection(chosen=offsets >= 0, offsets=offsets, **answer)


def plan(
    source: str | os.PathLike[str] | bytes | Mapping[str, Any] | Problem,
    *,
    strategy: str = "auto",
    policy: str | None = None,
    memories: Mapping[str, int | None] | None = None,
    memory_of: Mapping[str, str] | None = None,
    alignment: int = 64,
    in_place: bool = True,
    inputs: Iterable[str] = (),
    keep_inputs: bool = False,
    plan_inputs: bool = True,
    plan_outputs: bool = True,
    carry: Literal["avoid", "forbid", "copy"] = "avoid",
    unroll_limit: int = 8,
    bound: Literal["ranges", "examples"] = "ranges",
    ranges: Mapping[str, tuple[int, int]] | None = None,
    image_limit: int = 16_384,
    profile: str | None = None,
) -> TensorPlan:
    """Plans the memory of a network's tensors, and checks the plan.

    `source`: the path or the bytes of a graph (ONNX, TVM's graph JSON, tileheap's JSON) or of a table of lifetimes; a graph in
    tileheap's JSON form as a dict, see `help(tileheap)`; or a `Problem` of spans, sizes, alignments and names.
    A table has the columns `id,lower,upper,size`, with half-open lifetimes `[lower, upper)`; as in MiniMalloc, `start` or `begin` stands
    for `lower`, and a column `end` contains the last step itself. Only `strategy`, `memories`, `profile` and `memory_of` affect tables and
    problems, which have no shapes.
    `strategy`: one of `STRATEGIES`; the planners of other frameworks are only in the command `tileheap tensors --strategy`. A plan has a
    limit on steps, and none on time.
    `policy`: one of `POLICIES`: the layouts of tensors. `row-major` keeps every tensor as it is in the file, without packing and
    conversions; `buffers` packs channels by 4; the others also use images. The default, `balanced`, is for Adreno and other GPUs with texture
    caches; for files with texture scopes it is `given`.
    `memories`: capacities by name, in order of preference; what is accessed most stays in the first.
    `profile`: in place of `memories`, a device, such as `adreno-830`: the memory `tile` is its tile heap, and inputs and outputs of the graph
    are in ordinary memory.
    `memory_of`: the memory that a tensor has to be in. `alignment`: of tensors and of image rows in a graph.
    `inputs`: the `null` nodes of a TVM graph that are activations. `ranges`: of an ONNX file's dynamic dimensions, both ends
    included. `plan_inputs`, `plan_outputs`: false if the caller supplies the memory of inputs or outputs. The other switches are those of
    `tileheap tensors`.
    """
    given: bytes | _native.Fields
    file_name = None
    if isinstance(source, Problem):
        given = source._fields()
        for name in ["fixed", "lowest", "highest", "together", "conflicts", "capacity"]:
            value = getattr(source, name)
            if value is not None and (name == "capacity" or len(value)):
                raise _error(f"`{name}` does not apply to tensor plans: use `pack`, or give capacities in `memories`")
        given["names"] = given["names"] or [str(index) for index in range(len(given["items"]))]
    elif isinstance(source, bytes):
        given = source
    elif isinstance(source, Mapping):
        try:
            given = json.dumps(dict(source), default=operator.index).encode()
        except (TypeError, ValueError) as error:
            raise _error(f"the graph cannot be written as JSON: {error}") from None
    else:
        file_name = os.fspath(source)
        with open(file_name, "rb") as file:
            given = file.read()
    capacities = [
        (name, None if capacity is None else _integer(f"memories[{name!r}]", capacity, top=2**64))
        for name, capacity in dict(memories or {}).items()
    ]
    if any(name == "" for name, _ in capacities):
        raise _error("memories: a memory has no name")
    options = {
        "strategy": strategy,
        "policy": policy,
        "memories": capacities,
        "memory_of": dict(memory_of or {}),
        "alignment": alignment,
        "in_place": in_place,
        "inputs": _texts("inputs", inputs),
        "keep_inputs": keep_inputs,
        "plan_inputs": plan_inputs,
        "plan_outputs": plan_outputs,
        "carry": carry,
        "unroll_limit": unroll_limit,
        "bound": bound,
        "ranges": dict(ranges or {}),
        "file": file_name,
        "image_limit": image_limit,
        "profile": profile,
    }
    # Of NumPy's integers, too.
    found = json.loads(_native.plan(given, json.dumps(options, default=operator.index)))
    return TensorPlan(
        memories=tuple(Memory(**{"capacity": None, **memory}) for memory in found["memories"]),
        names=tuple(found["names"]),
        inputs=tuple(found["inputs"]),
        outputs=tuple(found["outputs"]),
        sizes=_array(found["sizes"]),
        storage=tuple(found["storage"]),
        reasons=tuple(found["reasons"]),
        backing=tuple(found["backing"]),
        within=tuple(within and (within[0], within[1]) for within in found["within"]),
        extents=tuple(extent and (extent[0], extent[1], extent[2]) for extent in found["extents"]),
        regions=_array(found["regions"]).reshape(-1, 4),
        lifetimes=_array(found["lifetimes"]).reshape(-1, 3),
        reuses=tuple(Reuse(step, node, output, tuple(before)) for step, node, output, before in found["reuses"]),
        copies=tuple(ValueCopy(*row) for row in found["copies"]),
        unrolled=found["unrolled"],
        steps=tuple(found["steps"]),
        notes=tuple(found["notes"]),
    )


def _error(message: str, item: int | str | None = None) -> Error:
    error = Error(message)
    error.item = item
    return error


def _fields(problem: Problem) -> _native.Fields:
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is a {type(problem).__name__}, not a tileheap.Problem")
    return problem._fields()


def _limits(steps: int | None, seconds: float | None) -> tuple[int | None, float | None]:
    """Steps, or seconds in their place."""
    if seconds is None:
        return None if steps is None else _integer("steps", steps, top=2**64), None
    if not isinstance(seconds, numbers.Real):
        raise _error(f"seconds: {seconds!r} is not a number")
    if not seconds >= 0:
        raise _error(f"seconds is {seconds}, but must be at least 0")
    return None, seconds


def _texts(name: str, texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str):
        raise _error(f"{name} is one string, not a sequence of strings")
    found = list(texts)
    for index, text in enumerate(found):
        if not isinstance(text, str):
            raise _error(f"{name}: {text!r} at item {index} is not a string", index)
    return found


def _integer(name: str, value: Any, *, top: int, item: int | None = None, means: str = "") -> int:
    """A whole number in `[0, top)`; `means` what it counts."""
    at = "" if item is None else f" at item {item}"
    try:
        number = operator.index(value)
    except TypeError:
        if means:
            raise _error(f"{name}: the key {value!r} is not the index of an {means}") from None
        raise _error(f"{name}: {value!r}{at} is not an integer", item) from None
    if 0 <= number < top:
        return number
    if means:
        raise _error(f"{name}: {means} {number} is out of range: the problem has {top} {means}{'s' if top != 1 else ''}", number)
    raise _error(f"{name}: {number}{at} is not in [0, {top})", item)


def _pair(pair: Any) -> tuple[int, int]:
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise _error(f"conflicts: {pair!r} is not a pair of items") from None
    return _integer("conflicts", first, top=2**32), _integer("conflicts", second, top=2**32)


def _array(values: list[Any]) -> NDArray[np.int64]:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        raise _error("offsets exceed 2^63 - 1") from None


def _whole(
    name: str, values: ArrayLike, *, top: int = 2**63, shape: tuple[int, ...] | None = None, least: int = 0
) -> NDArray[np.int64]:
    """Whole numbers in `[least, top)`, of a shape; one number stands for all."""
    try:
        array = np.asarray(values)
        if array.size == 0:
            array = array.astype(np.int64).reshape(0, *(shape or (0,))[1:])
    except ValueError as error:
        raise _error(f"{name}: {error}") from None
    if shape is not None and array.ndim == 0:
        array = np.broadcast_to(array, shape)
    if array.shape != (shape or (array.size,)):
        count = f" for {shape[0]} size{'s' if shape[0] != 1 else ''}" if shape else ""
        raise _error(f"{name} has the shape {list(array.shape)}, not {list(shape or (array.size,))}{count}")
    if array.dtype.kind not in "iuO":
        raise _error(f"{name} are {'text' if array.dtype.kind in 'SU' else array.dtype}, not integers")
    if array.dtype.kind == "O":
        for (item, *_), value in np.ndenumerate(array):
            if not isinstance(value, (int, np.integer)):
                raise _error(f"{name}: {value!r} at item {item} is not an integer", item)
    wrong = (array < least) | (array >= top)
    if wrong.any():
        item = int(np.argwhere(wrong)[0][0])
        raise _error(f"{name}: {array.tolist()[item]} at item {item} is not in [{least}, {top})", item)
    return array.astype(np.int64)
