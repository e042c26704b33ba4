# Functions for the arguments of scripts. Source this file first; it only defines functions.

# check_arguments "$@": prints the running script's header comment and exits if the first argument is -h or --help. Exits with an error if an
# argument is an option that the comment's first line (`# NAME [--option]...: what it does`) does not list, or if that line lists no arguments but
# some were given. Options after a PROGRAM are the program's, and `OPTION...` stands for those of another command. Call it before the script
# changes its folder.
check_arguments() {
    case ${1:-} in
        -h | --help)
            sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
            exit
            ;;
    esac
    local name usage argument
    name=$(basename "$0")
    usage=$(sed -n "2s/^# $name \([^:]*\):.*/\1/p" "$0")
    [[ $usage != *OPTION...* ]] || return 0
    for argument in "$@"; do
        case $argument in
            -*)
                [[ " ${usage//[^-a-z]/ } " == *" $argument "* ]] || usage_error "unknown option \`$argument\`"
                ;;
            *)
                [ -n "$usage" ] || usage_error "\`$argument\`: $name takes no arguments"
                [[ $usage != *PROGRAM* ]] || return 0
                ;;
        esac
    done
}

usage_error() {
    echo "error: $1; see --help" >&2
    exit 2
}

# choose_parts "$@": sets `parts` to the arguments, each one of `all_parts`, or to all of those if there are none.
choose_parts() {
    local part
    parts=("$@")
    [ ${#parts[@]} -gt 0 ] || parts=("${all_parts[@]}")
    for part in "${parts[@]}"; do
        if [[ " ${all_parts[*]} " != *" $part "* ]]; then
            usage_error "unknown part \`$part\`: ${all_parts[*]}"
        fi
    done
}
