# Reads a log of memcheck that lists all kinds of leaks, and prints the blocks that are the layer's fault. A block is one if its first
# frame that is neither an allocator's nor Rust's own library's is the layer's; reachable memory is no fault, but shows that the
# layer was seen.

function is_neutral(frame) {
    return frame ~ /: (malloc|calloc|realloc|memalign|posix_memalign|aligned_alloc|free|memcpy|memmove|memset|bcmp|memcmp)/ ||
        frame ~ /vgpreload|: (<?(alloc|core|std|hashbrown|serde_json)::|__rust|__rdl|_*rustc)|\/rustc\// ||
        frame ~ /\((raw_vec|hashmap|mod|boxed|alloc|unique|sync|rc)\.rs:[0-9]+\)$/ && frame !~ /tileheap/
}

function judge(    i) {
    if (frames == 0) { block = ""; return }
    for (i = 1; i <= frames; i++) {
        if (is_neutral(stack[i])) continue
        if (stack[i] ~ /tileheap/) {
            if (block ~ /still reachable/) seen++
            else if (block !~ /suppressed/) { print block; faults++ }
        }
        break
    }
    block = ""; frames = 0; delete stack
}

{ line = $0; sub(/^==[0-9]+== ?/, "", line) }
line ~ /^ *$/ { judge(); next }
{ block = block line "\n" }
line ~ /^ +(at|by) 0x/ { stack[++frames] = line }

END {
    judge()
    if (faults) { printf "%s: %d errors and leaks of the layer\n", name, faults; exit 1 }
    if (!seen) { printf "%s: memcheck did not see the layer\n", name; exit 1 }
    printf "%s: ok, nothing of the layer's (%d reachable blocks are)\n", name, seen
}
