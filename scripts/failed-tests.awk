# failed-tests.awk: reads what `cargo test --no-fail-fast` printed. Prints `test NAME` for each test that failed, and `program OPTIONS`, with
# Cargo's options to run it, for each test program that ended without a result: it crashed.

/^     Running |^   Doc-tests / { has_result = 0 }
# Twice: above the outputs of the tests that failed, and above their names.
/^failures:$/ { names = 0 }
/^    [^ ]/ { name[++names] = substr($0, 5) }
/^test result: / {
    has_result = 1
    if ($3 == "FAILED.")
        for (i = 1; i <= names; i++)
            print "test " name[i]
    names = 0
}
/^error: (doc)?test failed, to rerun pass `/ {
    if (!has_result) {
        sub(/^[^`]*`(-p [^ ]+ )?/, "")
        sub(/`.*$/, "")
        print "program " $0
    }
}
