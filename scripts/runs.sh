#!/usr/bin/env bash
# Runs tests, counts them, and retries those that fail. Source it after setup.sh, with `logs` set to an empty folder.
#
# A test that fails is run once more, by itself. If it then passes, it is *unstable*: it counts as passed, and `summarize` prints both
# outputs. tests/unstable.md lists unstable tests; one that is unstable a second time must be fixed.

cargo_test=(cargo test --workspace --no-fail-fast)

# run NAME [CARGO OPTION...] [-- TEST OPTION...]: runs tests of the workspace.
run() {
    say "$1: ${cargo_test[*]} ${*:2}"
    execute "$@"
    settle "$@"
}

# The two halves of `run`, so that several can execute concurrently: `execute` leaves a log and an exit status, `settle` evaluates them.
execute() {
    local name=$1 status=0 since=$SECONDS
    : >"$logs/$name.early"
    TILEHEAP_SKIP_LOG=$logs/$name.early "${cargo_test[@]}" "${@:2}" </dev/null 2>&1 | tee "$logs/$name.log" || status=$?
    echo "$status $((SECONDS - since))" >"$logs/$name.status"
}

settle() {
    local name=$1 log=$logs/$1.log early=$logs/$1.early status seconds passed failed ignored returned failures failure
    read -r status seconds <"$logs/$name.status"
    read -r passed failed ignored < <(count_results "$log")
    mapfile -t failures < <(awk -f scripts/failed-tests.awk "$log")
    if [ $((passed + failed)) = 0 ] || { [ "$status" != 0 ] && [ ${#failures[@]} = 0 ]; }; then
        failed=$((failed + 1)) # It did not build, or ran nothing: a second try would be the same.
    fi
    for failure in "${failures[@]}"; do
        case $failure in
            test\ *) retry_test "$name" "${failure#test }" "${@:2}" || continue ;;
            # A program that ended without a result has not counted any of its tests.
            program\ *) retry_program "$name" "${failure#program }" "${@:2}" || {
                failed=$((failed + 1))
                continue
            } ;;
        esac
        case $failure in
            test\ *) failed=$((failed - 1)) passed=$((passed + 1)) ;;
            program\ *) passed=$((passed + $(count_results "$logs/$name.again" | cut -d ' ' -f 1))) ;;
        esac
    done
    sed -n "s/^test \(.*\) \.\.\. ignored\(, \)*\(.*\)/$name: \1: \3/p" "$log" >>"$logs/skipped"
    sort -u "$early" | sed "s/^skipped/$name/" >>"$logs/skipped"
    returned=$(sort -u "$early" | wc -l) # Cargo counts these as passed.
    count "$name" $((passed - returned)) "$failed" $((ignored + returned)) "$seconds"
}

# Sums of passed, failed and ignored tests in a log.
count_results() {
    awk '/^test result: / {passed += $4; failed += $6; ignored += $8} END {print passed + 0, failed + 0, ignored + 0}' "$1"
}

# retry_test NAME TEST OPTION...: succeeds if the test passes by itself.
retry_test() {
    local name=$1 test=$2 selection=()
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        selection+=("$1")
        shift
    done
    case $test in
        # An example in documentation: Cargo splits its name, so all examples of the file run.
        *" - "*) selection=(--doc -- "${test%% *}") ;;
        # The other programs of the run have no test of this name.
        *) selection+=(-- --exact "$test") ;;
    esac
    again "$name" "$test" "${selection[@]}" || return
    note_unstable "$name" "$test" awk -v head="---- $test stdout ----" \
        '/^---- .* stdout ----$|^failures:$/ {shown = $0 == head} shown' "$logs/$name.log"
}

# retry_program NAME CARGO-OPTIONS OPTION...: retries a test program that crashed.
retry_program() {
    local name=$1 program selection=()
    program=$2
    read -ra selection <<<"$2"
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
    again "$name" "$program" "${selection[@]}" "$@" || return
    # The end of its output, and its exit status.
    note_unstable "$name" "$program" awk -v end="to rerun pass .*$program" '
        ended && /^     Running |^   Doc-tests |^error: / {exit}
        ended {print}
        {last[NR % 60] = $0}
        $0 ~ end {ended = 1; for (i = NR > 60 ? NR - 59 : 1; i <= NR; i++) print last[i % 60]}' "$logs/$name.log"
}

# again NAME WHAT OPTION...: succeeds if these tests exist and now pass.
again() {
    say "$1: once more, by itself: $2"
    TILEHEAP_SKIP_LOG=/dev/null "${cargo_test[@]}" "${@:3}" </dev/null 2>&1 | tee "$logs/$1.again" || return
    [ "$(count_results "$logs/$1.again" | cut -d ' ' -f 1)" != 0 ]
}

# check NAME COMMAND...: runs a command that counts as one test.
check() {
    local name=$1 since=$SECONDS
    shift
    say "$name: $*"
    if logged "$name.log" "$@"; then
        count "$name" 1 0 0 $((SECONDS - since))
        return
    fi
    say "$name: once more: $*"
    if logged "$name.again" "$@"; then
        note_unstable "$name" "$1" cat "$logs/$name.log"
        count "$name" 1 0 0 $((SECONDS - since))
    else
        count "$name" 0 1 0 $((SECONDS - since))
    fi
}

logged() { "${@:2}" </dev/null 2>&1 | tee "$logs/$1"; }

# note_unstable NAME WHAT COMMAND...: saves the output of the first try, which the command prints, and that of the second.
note_unstable() {
    local times=1
    ! grep -qF "| $2 |" "$unstable_tests" || times=2
    {
        printf '\n%s: `%s` failed, and passed when it was run again.' "$1" "$2"
        if [ $times = 1 ]; then
            printf ' Add a line to %s.\n' "$unstable_tests"
        else
            printf ' It has a line in %s already: fix it.\n' "$unstable_tests"
        fi
        printf -- '--- first try:\n'
        "${@:3}"
        printf -- '--- second try:\n'
        cat "$logs/$1.again"
    } >>"$logs/unstable"
}
unstable_tests=${unstable_tests:-tests/unstable.md}

# leave_out NAME TEST REASON: lists a test program that a run cannot use as skipped.
leave_out() {
    echo "$1: $2: $3" >>"$logs/skipped"
    count "$1: $2" 0 0 1 0
}

# count NAME PASSED FAILED SKIPPED SECONDS
count() {
    printf '%-22s %5d passed %5d failed %5d skipped %6d s\n' "$@" >>"$logs/summary"
}

# Prints skipped tests, unstable tests, every run and the sums; succeeds if all tests passed.
summarize() {
    say "Skipped"
    [ ! -e "$logs/skipped" ] || sort -u "$logs/skipped"
    if [ -e "$logs/unstable" ]; then
        say "Unstable"
        cat "$logs/unstable"
    fi
    say "All runs, $((SECONDS / 60)) min $((SECONDS % 60)) s (logs in ${logs#"$root"/})"
    cat "$logs/summary"
    awk '{passed += $(NF - 7); failed += $(NF - 5); skipped += $(NF - 3)}
        END {printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0}' "$logs/summary"
}
