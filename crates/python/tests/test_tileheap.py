"""The package's own interface: answers, errors that name items, locks, signals, time."""

import csv
import doctest
import json
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tileheap import Error, Problem, pack, plan, select

DATA = Path(__file__).parents[3] / "tests/data"
#: Rectangles cut out of one without a gap: hill climbing does not find the optimum, and goes on.
PERFECT = DATA / "pack/pinwheel-60.1000.csv"


def random_problem(count, seed=1, **fields):
    random = np.random.default_rng(seed)
    first = random.integers(0, 4 * count, count)
    spans = np.stack([first, first + random.integers(1, 40, count)], 1)
    return Problem(spans, random.integers(1, 1000, count) * 64, alignments=64, **fields)


def check(problem, offsets, chosen=None):
    """Nothing that is live together shares bytes; O(n^2)."""
    spans, sizes = np.asarray(problem.spans), np.asarray(problem.sizes)
    chosen = np.ones(len(sizes), dtype=bool) if chosen is None else chosen
    assert offsets.dtype == np.int64 and (offsets[chosen] % np.asarray(problem.alignments) == 0).all()
    together = (spans[:, None, 0] < spans[None, :, 1]) & (spans[None, :, 0] < spans[:, None, 1])
    ends = offsets + sizes
    shared = (offsets[:, None] < ends[None, :]) & (offsets[None, :] < ends[:, None])
    both = together & shared & ~np.eye(len(sizes), dtype=bool)
    assert not (both & chosen[:, None] & chosen[None, :]).any()


def test_packings_are_sound_and_at_the_bound():
    for seed in range(20):
        problem = random_problem(100, seed)
        packing = pack(problem)
        check(problem, packing.offsets)
        assert packing.height == (packing.offsets + problem.sizes).max() >= packing.bound
        assert packing.verdict == "proved" and packing.height == packing.bound
        assert pack(problem, "naive").height == sum(problem.sizes)
        assert (pack(problem).offsets == packing.offsets).all()


def test_fields_of_problems_reach_the_planner():
    spans, sizes = [(0, 3), (0, 3), (3, 9)], [4, 3, 7]
    assert pack(Problem(spans, sizes, fixed={0: 10})).offsets[0] == 10
    assert pack(Problem(spans, sizes, lowest={1: 100})).offsets[1] >= 100
    assert pack(Problem(spans, sizes, highest={1: 0})).offsets[1] == 0
    assert pack(Problem(spans, sizes, together={1: 5, 2: 5})).offsets.tolist()[1:] in ([0, 0], [4, 4])
    assert pack(Problem(spans, sizes, conflicts=[(0, 2)])).height == 11
    assert pack(Problem(np.empty((0, 2)), [])).height == 0
    impossible = pack(Problem(spans, sizes, capacity=6))
    assert (impossible.offsets, impossible.conflict, impossible.verdict) == (None, (2,), "proved")
    chosen = select(Problem(spans, sizes, capacity=6), [10, 6, 100])
    assert chosen.chosen.tolist() == [True, False, False] and chosen.offsets.tolist() == [0, -1, -1]
    assert (chosen.weight, chosen.bound) == (10, 10)


def test_selections_are_sound():
    problem = random_problem(300, capacity=100_000)
    weights = np.asarray(problem.sizes) * np.random.default_rng(2).integers(1, 9, 300)
    found = select(problem, weights)
    check(problem, found.offsets, found.chosen)
    assert found.weight == weights[found.chosen].sum() <= found.bound and found.height <= 100_000


@pytest.mark.parametrize(
    ("problem", "item", "says"),
    [
        (Problem([(0, 3)], [4, 3]), None, "spans has the shape [1, 2], not [2, 2]"),
        (Problem([(0, 3), (0, -3)], [4, 3]), 1, "spans: [0, -3] at item 1"),
        (Problem([(0, 3), (0, 2**32)], [4, 3]), 1, "spans: [0, 4294967296] at item 1"),
        (Problem([(0, 3), (0, 3)], [4, -1]), 1, "sizes: -1 at item 1"),
        (Problem([(0, 3), (0, 3)], [4, 2**70]), 1, "sizes: 1180591620717411303424 at item 1"),
        (Problem([(0, 3), (0, 3)], [4, 1.5]), None, "sizes are float64, not integers"),
        (Problem([(0, 3), (0, 3)], ["4KiB", 1]), None, "sizes are text, not integers"),
        (Problem([(0, 3), (0, 3)], [4, None]), 1, "sizes: None at item 1 is not an integer"),
        (Problem([(0, 3)], [4, 3]), None, "not [2, 2] for 2 sizes"),
        (Problem([(0, 3)], [4], names=[1]), 0, "names: 1 at item 0 is not a string"),
        (Problem([(0, 3)], [4], names="x"), None, "names is one string, not a sequence of strings"),
        (Problem([(0, 3)], [4], fixed={0: 1.5}), 0, "fixed: 1.5 at item 0 is not an integer"),
        (Problem([(0, 3)], [4], fixed={0: -1}), 0, "fixed: -1 at item 0 is not in [0, 18446744073709551616)"),
        (Problem([(0, 3)], [4], fixed={"x": 1}), None, "fixed: the key 'x' is not the index of an item"),
        (Problem([(0, 3)] * 3, [4] * 3, names=["a", "b", "a"]), 2, "names: 'a' at item 2 is also the name of item 0"),
        (Problem([(0, 3)], [4], fixed=[0]), None, "fixed is a list, not a mapping"),
        (Problem([(0, 3)], [4], capacity=-1), None, "capacity: -1 is not in [0, "),
        (Problem([(0, 3)], [4], capacity=4.0), None, "capacity: 4.0 is not an integer"),
        (Problem([(0, 3)], [4], conflicts=[(-1, 0)]), None, "conflicts: -1 is not in [0, "),
        (Problem([(0, 3)], [4], conflicts=[(0, 1, 2)]), None, "conflicts: (0, 1, 2) is not a pair of items"),
        (Problem([(0, 3), (0, 3)], [4, 1], alignments=[1, 0]), 1, "alignments: 0 at item 1"),
        (Problem([(0, 3)], [4], names=["a", "b"]), None, "names has length 2, but sizes has length 1"),
        (Problem([(0, 3)], [4], fixed={3: 0}), 3, "fixed: item 3 is out of range: the problem has 1 item"),
        (Problem([(0, 3)], [4], alignments=16, fixed={0: 8}, names=["x"]), 0, "item `x` is at 8 B, which is not a multiple of 16 B"),
        (Problem([(0, 3)], [4], conflicts=[(0, 7)]), None, "conflict (0, 7)"),
        (Problem([(0, 3)] * 3, [2**63 - 1] * 3), 2, "exceeds 2^64"),
    ],
)
def test_errors_name_the_item(problem, item, says):
    with pytest.raises(Error) as raised:
        pack(problem)
    assert says in str(raised.value) and raised.value.item == item
    assert isinstance(raised.value, ValueError)


def test_errors_of_names_and_weights():
    problem = Problem([(0, 3)], [4], capacity=4)
    with pytest.raises(Error, match="no packing strategy is called `litert-best`: use one of naive, .*command `tileheap tensors"):
        pack(problem, "litert-best")
    with pytest.raises(Error, match="weights sum to"):
        select(Problem([(0, 3)] * 3, [4] * 3, capacity=4), [2**62, 2**62, 1])
    with pytest.raises(Error, match=r"weights has the shape \[2\], not \[1\]"):
        select(problem, [1, 2])
    records = b"id,lower,upper,size\na,0,3,64\n"
    for source in [DATA / "tensor/compilers/torch_lstm.onnx", records, Problem([(0, 3)], [4])]:
        with pytest.raises(Error, match="unknown storage policy `x`"):
            plan(source, policy="x")
    for source in [records, Problem([(0, 3)], [4])]:
        with pytest.raises(Error, match="`policy` does not apply to tables and problems"):
            plan(source, policy="buffers")
    with pytest.raises(Error, match="carry: unknown value `never`: the accepted values are `avoid`, `forbid`, `copy`"):
        plan(Problem([(0, 3)], [4]), carry="never")
    for capacity in [4, 0]:
        with pytest.raises(Error, match="`capacity` does not apply"):
            plan(Problem([(0, 3)], [4], capacity=capacity))
    with pytest.raises(FileNotFoundError):
        plan("missing.onnx")


def test_limits_are_numbers():
    problem = Problem([(0, 3)], [4])
    for steps, says in [(-1, "steps: -1 is not in"), (1.5, "steps: 1.5 is not an integer")]:
        with pytest.raises(Error, match=says):
            pack(problem, steps=steps)
    with pytest.raises(Error, match="seconds: '1s' is not a number"):
        pack(problem, seconds="1s")
    for seconds in [-1.0, float("nan")]:
        with pytest.raises(Error, match="seconds is .*, but must be at least 0"):
            select(Problem([(0, 3)], [4], capacity=4), [1], seconds=seconds)
    assert pack(problem, seconds=float("inf")).verdict == "proved"
    with pytest.raises(TypeError, match="problem is a list, not a tileheap.Problem"):
        pack([(0, 3, 4)])
    with pytest.raises(TypeError, match="not int"):
        plan(3)  # Not the file that has this descriptor.


def test_options_are_named_and_used_or_refused():
    model, table = DATA / "tensor/small.onnx", DATA / "tensor/models/mobilenet_v2.fp16.csv"
    for options, says in [
        ({"alignment": 0}, "alignment: 0, where a positive integer is expected"),
        ({"ranges": {}}, r"`batch` needs a range: add ranges=\{\"batch\": \(MIN, MAX\)\}"),
        ({"ranges": {"batch": 8}}, r"ranges.batch: 8, where \(MIN, MAX\) is expected"),
        ({"memories": {"sram": 1.5}}, r"memories\['sram'\]: 1.5 is not an integer"),
        ({"inputs": "batch"}, "inputs is one string, not a sequence of strings"),
        ({"memory_of": {"nothing": "sram"}}, "memory_of: no tensor is named `nothing`"),
    ]:
        with pytest.raises(Error, match=says):
            plan(model, **{"ranges": {"batch": (1, 8)}, **options})
    with pytest.raises(Error, match="ranges: the file is not an ONNX model"):
        plan(table, ranges={"batch": (1, 8)})
    assert plan(model, ranges={"batch": (np.int64(1), np.int64(8))}, alignment=np.int64(64)).size > 0
    # Tensors of a file are placed as those of arrays.
    first = plan(table).names[0]
    placed = plan(table, memories={"sram": None, "dram": None}, memory_of={first: "dram"})
    assert placed.tensor(first).regions[:, 0].tolist() == [1] and placed.memories[1].size > 0


def test_files_are_read_as_by_the_command(tmp_path):
    text = "id,lower,upper,size\na,0,3,64\n"
    for name, encoding in [("plain.csv", "utf-8"), ("mark.csv", "utf-8-sig")]:
        (tmp_path / name).write_text(text, encoding=encoding)
        assert plan(tmp_path / name).size == 64
    judged = DATA / "tensor/judge"
    for source, says in [
        (judged / "two.pte", "the file is an ExecuTorch program, which has a memory plan: use `tileheap judge`"),
        (judged / "network_vela.tflite", "the file is a TensorFlow Lite model, which has a memory plan"),
        ((text + "é,0,3,64\n").encode("latin-1"), "line 3: not UTF-8 text: give a graph as JSON, records as CSV"),
        (text.encode("utf-16"), "line 1: not UTF-8 text but UTF-16"),
        (b"version https://git-lfs.github.com/spec/v1\n", "the file is a Git LFS pointer"),
    ]:
        with pytest.raises(Error) as raised:
            plan(source)
        assert says in str(raised.value)
    (tmp_path / "page.tflite").write_text("<html>")
    with pytest.raises(Error, match="not a TensorFlow Lite model"):
        plan(tmp_path / "page.tflite")


def test_tables_of_compilers_are_planned_at_the_bound():
    for table in sorted((DATA / "tensor/compilers").glob("*.csv")):
        if table.stem.endswith("_plan") or table.stem == "totals":
            continue
        of_file = plan(table)
        rows = list(csv.DictReader(table.open()))
        problem = Problem(
            [(int(row["lower"]), int(row["upper"])) for row in rows],
            [int(row["size"]) for row in rows],
            alignments=[int(row["alignment"]) for row in rows],
            names=[row["id"] for row in rows],
        )
        of_arrays = plan(problem)
        assert of_file.size == of_arrays.size == of_arrays.lower_bound, table
        assert of_arrays.names == tuple(problem.names)
        check(problem, of_arrays.regions[:, 2])


def test_the_examples_of_the_documentation_run():
    import tileheap

    found = doctest.testmod(tileheap)
    assert found.attempted > 5 and found.failed == 0
    blocks = (Path(__file__).parents[1] / "README.md").read_text().split("```python\n")[1:]
    (of_graph,) = [block.split("```")[0] for block in blocks if "graph = {" in block]
    values = {"plan": plan}
    exec(of_graph, values)
    assert values["plan_of_graph"].outputs == ("z",)


def test_graphs_are_dicts_or_files(tmp_path):
    tensors = [{"name": "x", "element": "f32", "shape": [np.int64(64)]}]
    graph = {"format": "tileheap-graph", "version": 1, "name": "g", "tensors": tensors, "inputs": ["x"], "outputs": ["y"]}
    graph["nodes"] = [{"name": "y", "operator": "relu", "inputs": ["x"]}]
    found = plan(graph)
    (tmp_path / "graph.json").write_text(json.dumps(graph, default=int))
    assert found.names == plan(tmp_path / "graph.json").names == ("x", "y") and found.size == 256
    with pytest.raises(Error, match="the graph cannot be written as JSON: .*object"):
        plan({"format": object()})
    with pytest.raises(Error, match="missing field `name`"):
        plan({"format": "tileheap-graph", "version": 1})


def test_duplicate_ids_are_refused():
    with pytest.raises(Error, match="line 3: id `a` is also on line 2"):
        plan(b"id,lower,upper,size\na,0,3,64\na,3,4,64\n")


def test_a_column_end_is_the_last_step():
    of_ends = plan(b"id,begin,end,size\na,0,2,64\n")
    assert of_ends.tensor("a").lifetimes.tolist() == plan(b"id,lower,upper,size\na,0,3,64\n").tensor("a").lifetimes.tolist() == [[0, 3]]


def test_graphs_are_planned():
    found = plan(DATA / "tensor/compilers/torch_lstm.onnx")
    assert found.size == found.lower_bound > 0
    assert set(found.backing) <= {"planned", "external", "constant", "part of another"} and "constant" in found.backing
    weights = found.names[found.backing.index("constant")]
    assert found.tensor(weights).regions.shape == (0, 3)
    small = plan(DATA / "tensor/compilers/torch_lstm.onnx", memories={"sram": 512, "dram": None})
    assert [memory.name for memory in small.memories] == ["sram", "dram"] and small.memories[0].size <= 512
    tvm = plan(DATA / "tensor/compilers/tvm_relax_adreno_resnet18.json")
    assert sum("image" in storage for storage in tvm.storage) == 20 and tvm.size <= 4_923_296
    assert len(tvm.steps) > 0 and tvm.reuses[0].node in tvm.steps
    with pytest.raises(Error, match="tensor `h` of 64 B does not fit: memory `sram` has 16 B") as raised:
        plan(Problem([(0, 1)], [64], names=["h"]), memories={"sram": 16})
    assert raised.value.item == "h"
    with pytest.raises(Error, match="graph: line 1 column 28: missing field"):
        plan(b'{"format": "tileheap-graph"}')
    with pytest.raises(Error, match="not UTF-8 text but UTF-16.*ONNX file"):
        plan(b"\xff\xfe")


def test_tensors_of_a_plan_have_names_and_rows():
    found = plan(DATA / "tensor/loops/inner_direct.onnx", policy="row-major")
    assert found.inputs and found.outputs and set(found.inputs + found.outputs) <= set(found.names)
    assert set(found.extents) == {None} and "buffer" in found.storage
    for name in found.names:
        tensor = found.tensor(name)
        assert not len(tensor.regions) or len(tensor.lifetimes), name
        assert (tensor.within is None) or (tensor.backing == "part of another" and tensor.within[0] in found.names)
        assert tensor == tensor and tensor != found.tensor(name)
    output = found.outputs[0]
    with pytest.raises(KeyError, match=f"no tensor is named '{output}_': is '{output}'"):
        found.tensor(output + "_")
    for memory in found.memories:
        assert memory.alignment == 64
    left = plan(DATA / "tensor/loops/inner_direct.onnx", plan_outputs=False)
    assert all(copy.target != copy.source for copy in left.copies)
    of_records = plan(Problem([(0, 2), (2, 3)], [64, 64], alignments=[4, 6]))
    assert of_records.storage == of_records.reasons == of_records.within == of_records.extents == (None, None)
    assert of_records.backing == ("planned", "planned") and of_records.memories[0].alignment == 12
    assert (of_records.inputs, of_records.outputs) == ((), ())


def test_tile_heaps_are_memories():
    path = DATA / "tensor/compilers/torch_lstm.onnx"
    found = plan(path, profile="adreno-830")
    assert [memory.name for memory in found.memories] == ["tile", "memory"] and found.memories[0].size > 0
    for name in found.inputs + found.outputs:
        assert set(found.tensor(name).regions[:, 0]) <= {1}, name
    with pytest.raises(Error, match="profile: .*`adreno`"):
        plan(path, profile="adreno")
    with pytest.raises(Error, match="either `profile` or `memories`"):
        plan(path, profile="adreno-830", memories={"sram": 64})


def test_every_name_is_documented_and_accepted():
    import tileheap

    problem = Problem([(0, 3), (1, 4)], [4, 4])
    for strategy in tileheap.STRATEGIES:
        assert pack(problem, strategy).height == 8
    page = (DATA.parents[1] / "docs/guide/tensors.md").read_text()
    for policy in tileheap.POLICIES:
        assert plan(DATA / "tensor/compilers/torch_lstm.onnx", policy=policy).size > 0
        assert f"`{policy}`" in page
    for result in [tileheap.TensorPlan, tileheap.Tensor, tileheap.Memory, tileheap.Packing, tileheap.ValueCopy]:
        names = result.__dataclass_fields__.keys() - {"name"}
        assert all(f"`{name}`" in result.__doc__ for name in names), result


def test_a_search_ends_by_time_and_by_signal_and_lets_others_run():
    rows = list(csv.DictReader(PERFECT.open()))
    columns = {name: np.array([int(row[name]) for row in rows]) for name in ["lower", "upper", "size"]}
    hard = Problem(np.stack([columns["lower"], columns["upper"]], 1), columns["size"])
    start = time.perf_counter()
    assert pack(hard, "hill-climb", seconds=0.4).verdict == "interrupted"
    assert time.perf_counter() - start > 0.3

    searching, done = [0], threading.Event()

    def handle(_, frame):
        # A signal may arrive once at the start of `pack`; it arrives repeatedly only during the search, and only if the other thread
        # runs meanwhile. The last one may be pending when the search has ended.
        searching[0] += frame.f_code is pack.__code__
        if searching[0] == 5 and not done.is_set():
            done.set()
            raise KeyboardInterrupt

    def interrupt():
        while not done.wait(0.001):
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, handle)
    other = threading.Thread(target=interrupt)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            # The time limit ends a search that no signal ends.
            pack(hard, "hill-climb", steps=None, seconds=600)
    finally:
        done.set()
        other.join()
        signal.signal(signal.SIGINT, before)


def test_two_thousand_tensors_of_public_networks_are_at_the_bound():
    """Of one network after another. Prints how long it takes; `pytest -s` shows it."""
    spans, sizes, end = [], [], 0
    for table in sorted((DATA / "tensor/models").glob("*[!e].fp16.csv")) * 2:
        rows = list(csv.DictReader(table.open()))
        spans += [(int(row["lower"]) + end, int(row["upper"]) + end) for row in rows]
        sizes += [int(row["size"]) for row in rows]
        end = max(upper for _, upper in spans)
    problem = Problem(spans[:2000], sizes[:2000], alignments=64, names=[f"tensor {index}" for index in range(2000)])

    def timed(run):
        start = time.process_time()
        result = run(problem)
        return result, (time.process_time() - start) * 1e3

    (packing, pack_time), (planned, plan_time) = timed(pack), timed(plan)
    print(f"\n2,000 tensors: pack {pack_time:.1f} ms, plan {plan_time:.1f} ms")
    check(problem, packing.offsets)
    assert packing.verdict == "proved" and packing.height == packing.bound
    assert planned.size == planned.lower_bound == packing.height


def test_the_version_is_that_of_the_distribution():
    import importlib.metadata

    import tileheap

    assert tileheap.__version__ == importlib.metadata.version("tileheap")


def test_what_the_command_refuses_is_refused():
    with pytest.raises(Error, match="item 1 begins at step 5, after its end 2") as caught:
        pack(Problem([(0, 3), (5, 2)], [4, 4]))
    assert caught.value.item == 1
    with pytest.raises(Error, match="no name"):
        plan(Problem([(0, 3)], [4]), memories={"": None})
    with pytest.raises(Error, match="`bathc`"):
        plan(DATA / "tensor/small.onnx", ranges={"bathc": (1, 4)})
    with pytest.raises(Error, match="ONNX"):
        plan(bytes(range(256)))


def test_models_are_read_whatever_they_begin_with():
    for path in sorted((DATA / "tensor/onnx").glob("*.onnx")):
        # The version, which comes first in most files, may come last or be missing.
        model = path.read_bytes()
        ranges = {"batch": (1, 4)} if path.stem == "c13c_i" else {}
        first = plan(path, ranges=ranges)
        assert model[0] == 8 and model[1] < 128
        for changed in [model[2:], model[2:] + model[:2]]:
            assert plan(changed, ranges=ranges).size == first.size
        assert first.notes == ()
