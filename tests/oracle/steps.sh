# Steps that are timed: sourced by .ci/run and tests/oracle/all.sh. Not to be executed.
#
# One build of each profile serves all steps: what is set here is part of what Cargo compares to tell that something must be
# built again, so it is the same everywhere.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=false

# The file in which steps are noted: that of the script that called this one, if one did.
if [ -z "${STEPS:-}" ]; then
    STEPS=$(mktemp)
    export STEPS
    trap 'report_steps; rm -f "$STEPS"' EXIT
fi

# step NAME COMMAND...: runs it and notes how long it took, also if it fails.
step() {
    local name=$1 begun=$SECONDS code=0
    shift
    printf '\n=== %s\n' "$name"
    "$@" || code=$?
    printf '%6d s  %s%s\n' $((SECONDS - begun)) "$name" "$([ $code = 0 ] || printf ': failed (%d)' $code)" >> "$STEPS"
    return $code
}

# step_of_all NAME COMMAND...: the same, and the steps after it run also if it fails. `all_passed` tells whether none did.
step_of_all() {
    step "$@" || failed+=("$1")
}

failed=()
all_passed() {
    [ ${#failed[@]} = 0 ] || { printf '\nfailed: %s\n' "${failed[@]}" >&2; return 1; }
}

report_steps() {
    printf '\n=== times of all steps\n'
    cat "$STEPS"
    printf '%6d s  altogether\n' "$SECONDS"
}
