# judge-validation.awk FALSE_POSITIVES LOG: judges the log of the validation layer of many processes.
#
# Every instance must report that core and synchronization validation are on, and at least one must exist. The only other messages allowed
# are those about deliberate mistakes (crates/testkit/src/validation.rs) and those that FALSE_POSITIVES lists: `id | place | reason` lines, where
# the place is a text that the message has to contain.

FNR == NR {
    if ($0 !~ /^#/ && split($0, field, / \| /) == 3) {
        excused_id[++excuses] = field[1]
        excused_place[excuses] = field[2]
    }
    next
}
/^Validation [A-Za-z]+: \[/ {
    judge()
    id = $4
    message = $0
    next
}
{ message = message "\n" $0 }
END {
    judge()
    printf "%d instances validated, %d mistakes on purpose, %d false positives, %d messages\n", instances, deliberate, excused, faults
    exit instances == 0 || deliberate == 0 || faults > 0
}

function judge(    excuse) {
    if (id == "")
        return
    if (id == "CURRENT-VALIDATION-ENABLED" && message ~ /- Core Checks/ && message ~ /- Synchronization/) {
        instances++
        return
    }
    if (index(message, "[deliberate mistake]")) {
        deliberate++
        return
    }
    for (excuse = 1; excuse <= excuses; excuse++)
        if (id == excused_id[excuse] && index(message, excused_place[excuse])) {
            excused++
            return
        }
    faults++
    print message
}
