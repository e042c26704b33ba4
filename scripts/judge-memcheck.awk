# Reads a log of memcheck that lists all kinds of leaks, and prints the blocks that are the layer's fault: those whose
# stack, read from the innermost frame, has a frame of the layer before any of another library or of the test program (which the layer may call back). Reachable
# memory is not a fault, but shows that the layer was seen; "possibly lost" is reachable through a pointer into the middle, which is how
# Rust's maps point to theirs.

function is_foreign(frame) {
    return frame ~ /\(in .*\.so|\(in .*\/deps\/|rig::/ && frame !~ /vgpreload|\/libc\.so|tileheap_emulator\.so/
}

function judge(    i) {
    for (i = 1; i <= frames && !is_foreign(stack[i]); i++) {
        if (stack[i] !~ /tileheap_emulator/) continue
        if (block ~ /(are|is) (still reachable|possibly lost)/) seen++
        else { print block; faults++ }
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
