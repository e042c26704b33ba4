#!/usr/bin/env bash
# test-executorch.sh [--record FILE]: exports six networks with ExecuTorch 1.5.1, plans each with ExecuTorch's greedy algorithm and
# with tileheap, and runs both programs: their outputs must be equal. Fetches about 1.0 GB for a virtual environment of 1.6 GB, in
# target/python/executorch; PyTorch's accelerator libraries, which its package depends on, are omitted: stub libraries with their
# names let it load. --record FILE: writes the inputs that ExecuTorch's planner receives to FILE.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_packages g++ python3-venv
need_rust
environment=$root/target/python/executorch
if [ ! -e "$environment/complete" ]; then
    say "Installing ExecuTorch and PyTorch into $environment"
    new_environment "$environment" numpy sympy networkx jinja2 fsspec filelock typing-extensions flatbuffers ruamel.yaml pyyaml \
        tabulate packaging setuptools
    "$environment/bin/pip" install -q --no-deps executorch==1.5.1 torch==2.15.0 torchao==0.18.0
    libraries=$(echo "$environment"/lib/python3*/site-packages/torch/lib)
    missing=$(find "$libraries" -name '*.so*' -exec ldd {} + 2>/dev/null | awk '/not found/ {print $1}' | sort -u)
    work=$(mktemp -d)
    nm -D --undefined-only "$libraries"/*.so 2>/dev/null | awk '{print $2}' | grep -E '^(cu|nccl|nv|__cuda)' | sort -u >"$work/symbols"
    sed 's/@.*//; s/.*/long &(void) { return 100; }/' "$work/symbols" >"$work/empty.c" # 100: there is no device.
    awk -F@ 'NF > 1 {of[$NF] = of[$NF] $1 "; "} END {for (version in of) print version " { " of[version] "};"}' "$work/symbols" >"$work/versions"
    for name in $missing; do
        gcc -w -shared -fno-builtin "$work/empty.c" -Wl,-soname,"$name" -Wl,--version-script="$work/versions" -o "$libraries/$name"
    done
    rm -r "$work"
    touch "$environment/complete"
fi
need_wheel "$environment"
"$environment/bin/python" -W ignore crates/python/tests/executorch_networks.py "$@" 2> >(grep -v 'no version information' >&2)
