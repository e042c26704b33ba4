# Shared by check-android.sh and check-windows.sh: builds for systems whose standard library is built from source. Source it after
# setup.sh.

# The folder for other systems: tools, target folder, unpacked packages. About 5 GB.
cross=${TILEHEAP_CROSS:-$root/target/cross}

# Puts the Rust of Debian's next release, with its source, on the path.
need_rust_source() {
    need_packages gcc libc6-dev # For build scripts.
    mkdir -p "$cross"
    unpack_rust "$cross/rust" rust-src
    PATH=$cross/rust/bin:$PATH
    # Ignores the wrappers and flags of this machine's own builds. Unstable options build the standard library.
    unset RUSTC_WORKSPACE_WRAPPER RUSTC_WRAPPER RUSTFLAGS
    export RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$cross/target CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
}

# cross_cargo COMMAND TARGET ARGUMENT...: runs cargo with a standard library from source.
cross_cargo() {
    nice -n 15 cargo "$1" --quiet --locked -Zbuild-std=std,panic_unwind --target "$2" "${@:3}" </dev/null
}

# Appends a line to the log of the current part, and prints it.
note() {
    printf '%s\n' "$*" | tee -a "$log"
}

# run_parts FILE TITLE PART...: runs parts, functions that call `step` and `note`, and replaces their sections in FILE. Parts that did not run
# keep theirs.
run_parts() {
    local file=$1 title=$2 part
    mkdir -p "$cross/log"
    for part in "${@:3}"; do
        log=$cross/log/$(basename "$file" .md).$part
        : >"$log.new"
        log=$log.new
        note "## $part"
        note ""
        note "$(date -u '+%-d %B %Y'), $(rustc --version | cut -d ' ' -f 1-2) of Debian, $(nproc) cores:"
        note ""
        "$part"
        note ""
        mv "$log" "${log%.new}"
    done
    {
        printf '# %s\n\nWritten by `bash scripts/%s`; its `--help` says what each part does.\n\n' "$title" "$(basename "$0")"
        for part in "${all_parts[@]}"; do
            cat "$cross/log/$(basename "$file" .md).$part" 2>/dev/null || section "$file" "$part"
        done
    } >"$cross/log/page"
    cp "$cross/log/page" "$file"
}

# section FILE PART: prints the section of a part, or that it was not run.
section() {
    grep -qxF "## $2" "$1" 2>/dev/null || { printf '## %s\n\nNot run yet.\n\n' "$2" && return; }
    awk -v title="## $2" '/^## / {is_wanted = $0 == title} is_wanted' "$1"
}

# step TEXT COMMAND...: runs a command, and logs its result and duration. Prints the output of a command that fails.
step() {
    local began=$SECONDS output
    output=$(mktemp)
    # In a subshell, which `die` ends.
    if ("${@:2}") >"$output" 2>&1; then
        note "- $1: yes ($((SECONDS - began)) s)"
        rm -f "$output"
        return
    fi
    cat "$output" >&2
    rm -f "$output"
    note "- $1: **no**"
    die "$1: failed"
}
