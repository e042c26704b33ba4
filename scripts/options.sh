# Functions for the arguments of scripts. Source this file first; it only defines functions.

# show_help "$@": if the first argument asks for help, prints the comment at the head of the script that runs, and ends it. Call it before
# the script changes its folder.
show_help() {
    case ${1:-} in
        -h | --help)
            sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
            exit
            ;;
    esac
}

# choose_parts "$@": sets `parts` to the arguments, each one of `all_parts`, or to all of those if there are none.
choose_parts() {
    local part
    parts=("$@")
    [ ${#parts[@]} -gt 0 ] || parts=("${all_parts[@]}")
    for part in "${parts[@]}"; do
        if [[ " ${all_parts[*]} " != *" $part "* ]]; then
            echo "error: unknown part \`$part\`: ${all_parts[*]}; see --help" >&2
            exit 2
        fi
    done
}
