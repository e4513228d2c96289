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

# beside COMMAND...: keeps a step that needs one processor for `side_by_side`.
kept=()
beside() {
    kept+=("$(printf '%q ' "$@")")
}

# side_by_side [--all]: runs the steps that were kept, one for each processor at a time. What each printed comes in one piece, when
# it has ended. After a failure no other step begins, except with --all.
side_by_side() {
    local folder next=0 which pid code processors
    local -A running=()
    folder=$(mktemp -d)
    processors=$(nproc)
    while [ $next -lt ${#kept[@]} ] || [ ${#running[@]} -gt 0 ]; do
        while [ $next -lt ${#kept[@]} ] && [ ${#running[@]} -lt "$processors" ]; do
            (eval "step 'oracle: ${kept[$next]% }' ${kept[$next]}") > "$folder/$next" 2>&1 &
            running[$!]=$next
            next=$((next + 1))
        done
        code=0
        wait -n -p pid "${!running[@]}" || code=$?
        which=${running[$pid]}
        unset "running[$pid]"
        cat "$folder/$which"
        if [ $code != 0 ]; then
            failed+=("${kept[$which]}")
            [ "${1:-}" = --all ] || next=${#kept[@]}
        fi
    done
    kept=()
    rm -rf "$folder"
}

report_steps() {
    printf '\n=== times of all steps\n'
    cat "$STEPS"
    printf '%6d s  altogether\n' "$SECONDS"
}
