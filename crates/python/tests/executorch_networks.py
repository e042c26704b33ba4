"""Six networks, exported, planned by ExecuTorch's own greedy algorithm and by tileheap, and run in ExecuTorch's runtime with both
plans on the same inputs: the outputs are equal. `--record FILE` writes what the planner is asked. See scripts/test-executorch.sh."""

import copy
import json
import sys

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.memory_planning import Verifier, greedy, MemoryPlanningAlgorithmSuite
from executorch.exir.passes import MemoryPlanningPass
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from torch import nn

from tileheap.executorch import plan_memory


class Lstm(nn.Module):
    """Two layers over eight steps."""

    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([nn.LSTMCell(32, 64), nn.LSTMCell(64, 64)])

    def forward(self, x):  # [steps, n, features]
        state = [(torch.zeros(1, 64), torch.zeros(1, 64)) for _ in self.cells]
        for step in range(x.shape[0]):
            value = x[step]
            for index, cell in enumerate(self.cells):
                state[index] = cell(value, state[index])
                value = state[index][0]
        return value


class Block(nn.Module):
    """An encoder layer of a transformer."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.norms = heads, nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):  # [n, tokens, features]
        n, tokens, width = x.shape
        parts = self.into(self.norms[0](x)).view(n, tokens, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(query @ key.transpose(-2, -1) / (width // self.heads) ** 0.5, -1)
        x = x + self.out((weights @ value).transpose(1, 2).reshape(n, tokens, width))
        return x + self.mlp(self.norms[1](x))


class Unet(nn.Module):
    """Two levels, with a concatenation at each."""

    def __init__(self):
        super().__init__()
        layers = [(3, 16), (16, 32), (32, 64), (96, 32), (48, 16)]
        self.layers = nn.ModuleList([nn.Conv2d(a, b, 3, padding=1) for a, b in layers])

    def forward(self, x):
        first = torch.relu(self.layers[0](x))
        second = torch.relu(self.layers[1](torch.max_pool2d(first, 2)))
        x = torch.relu(self.layers[2](torch.max_pool2d(second, 2)))
        double = nn.functional.interpolate
        x = torch.relu(self.layers[3](torch.cat([double(x, scale_factor=2.0), second], 1)))
        return self.layers[4](torch.cat([double(x, scale_factor=2.0), first], 1))


class Mobile(nn.Module):
    """Inverted residuals, some with a shortcut."""

    def __init__(self):
        super().__init__()
        self.stem, self.blocks = nn.Conv2d(3, 16, 3, 2, 1), nn.ModuleList()
        for a, b, stride in [(16, 16, 1), (16, 24, 2), (24, 24, 1), (24, 32, 2), (32, 32, 1), (32, 32, 1)]:
            depthwise = nn.Conv2d(4 * a, 4 * a, 3, stride, 1, groups=4 * a)
            self.blocks.append(
                nn.Sequential(nn.Conv2d(a, 4 * a, 1), nn.ReLU6(), depthwise, nn.ReLU6(), nn.Conv2d(4 * a, b, 1))
            )
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for block in self.blocks:
            y = block(x)
            x = x + y if x.shape == y.shape else y
        return self.head(x.mean((2, 3)))


class Branches(nn.Module):
    """A condition: submodules with bytes of their own."""

    def forward(self, x):
        def then(x):
            return torch.tanh(x @ x) + 1.0

        def other(x):
            return torch.sigmoid(x) * x - 1.0

        y = x * 2.0
        z = torch.cond(y.sum() > 0, then, other, (y,))
        return z + y


class Counter(nn.Module):
    """A buffer that every run changes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4, 32))
        self.layer = nn.Linear(32, 32)

    def forward(self, x):
        self.state.add_(torch.tanh(self.layer(x)))
        return self.layer(torch.relu(self.state)) + x


SOURCE = "own networks of executorch_networks.py with random weights, ExecuTorch 1.5.1 with torch 2.15.0, 2026-11-23"
FORM = (
    "a call of the planning algorithm a line; specs: first and last node (closed), bytes, mem_id, for a view its base and offset; "
    "greedy: the pools of ExecuTorch's own algorithm"
)

NETWORKS = {
    "lstm": (Lstm(), torch.randn(8, 1, 32)),
    "transformer": (Block(), torch.randn(1, 32, 64)),
    "unet": (Unet(), torch.randn(1, 3, 64, 64)),
    "mobile": (Mobile(), torch.randn(1, 3, 64, 64)),
    "branches": (Branches(), torch.randn(16, 16)),
    "counter": (Counter(), torch.randn(4, 32)),
}


def exported(model, x, algorithm):
    program = to_edge(torch.export.export(model.eval(), (x,)))
    config = ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(memory_planning_algo=algorithm))
    return program.to_executorch(config)


def record(calls, network):
    def algorithm(alignment, specs, graph_module, graph_signature, extra_padding):
        specs = list(specs)
        index_of = {id(spec): index for index, spec in enumerate(specs)}
        for spec in specs:
            spec.realign(alignment)
        rows = [
            [*spec.lifetime, spec.allocated_memory, spec.mem_id]
            + ([index_of[id(spec.storage_base)], spec.storage_base_offset] if spec.storage_base else [])
            for spec in specs
        ]
        call = {"network": network, "alignment": alignment, "extra_padding": extra_padding, "specs": rows}
        call["input_mem_buffer_sizes"] = list(graph_module.input_mem_buffer_sizes)
        suite = MemoryPlanningAlgorithmSuite([greedy])
        call["greedy"] = suite(alignment, specs, graph_module, graph_signature, extra_padding)
        calls.append(call)
        return call["greedy"]

    return algorithm


def main():
    torch.manual_seed(1)
    torch.set_grad_enabled(False)
    calls = []
    for name, (model, x) in NETWORKS.items():
        theirs = exported(model, x, record(calls, name))
        ours = exported(model, x, plan_memory)
        graph = ours.exported_program().graph_module
        signature = ours.exported_program().graph_signature
        Verifier(graph, True, True, True, signature).verify_storage_reuse()
        inputs = [x, -x, torch.randn_like(x)]
        outputs = []
        for program in [theirs, ours]:
            module = _load_for_executorch_from_buffer(program.buffer)
            outputs.append([module.forward([of.contiguous()])[0].clone() for of in inputs])
        equal = all(torch.equal(a, b) for a, b in zip(*outputs))
        expected = copy.deepcopy(model)
        close = all(torch.allclose(expected(of), out, atol=1e-4) for of, out in zip(inputs, outputs[1]))
        sizes = [sum(of.exported_program().graph_module.meta["non_const_buffer_sizes"]) for of in [theirs, ours]]
        print(f"{name}: greedy {sizes[0]:,} B, tileheap {sizes[1]:,} B, outputs {'equal' if equal and close else 'DIFFER'}")
        if not (equal and close):
            sys.exit(1)
    if "--record" in sys.argv:
        with open(sys.argv[sys.argv.index("--record") + 1], "w") as file:
            rows = ",\n".join(json.dumps(call, separators=(",", ":")) for call in calls)
            file.write(f'{{"source": "{SOURCE}",\n"form": "{FORM}",\n"calls": [\n{rows}\n]}}\n')


if __name__ == "__main__":
    main()
