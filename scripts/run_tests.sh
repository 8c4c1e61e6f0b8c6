#!/bin/sh
# Usage: scripts/run_tests.sh BUILD TEST...    Runs the tests, JOBS (the number of cores) at a time, from the repository
# root; prints what failed and the counts, which are also added to BUILD/counts.
# A test is a cmocka program, or a script that exits 0 on success and 77 to be skipped (it receives the programs' folder as PROGRAMS).
set -u

# One test: its line, at once, and "passed failed" in a file beside its log.
run_one() { # BUILD, TEST
    start=$(date +%s)
    log="$1/$(echo "$2" | tr '/' '_').log"
    case "$2" in
    *.sh) sh "$2" >"$log" 2>&1; status=$? ran=1 ;;
    *) "./$2" >"$log" 2>&1; status=$? ran=$(grep -c '^\[       OK \]' "$log") ;;
    esac
    if [ "$status" -eq 77 ]; then
        echo "skipped $2 ($(tail -n 1 "$log"))"
        echo 0 0 >"$log.counts"
    elif [ "$status" -eq 0 ] && [ "$ran" -gt 0 ]; then
        echo "ok      $2 ($ran, $(($(date +%s) - start)) s)"
        echo "$ran" 0 >"$log.counts"
    else
        printf '%s\n' "FAILED  $2 (exit $status)
$(tail -n 25 "$log" | sed 's/^/        /')"
        bad=$(grep -c '^\[  FAILED  \] [a-zA-Z_]*$' "$log")
        case "$2" in *.sh) ran=0 ;; esac
        echo "$ran" $((bad > 0 ? bad : 1)) >"$log.counts"
    fi
}
if [ "$1" = --one ]; then
    run_one "$2" "$3"
    exit
fi

build=$1
shift
export PROGRAMS="$build/programs" OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}"
# Threads sleep while they wait: small models wait most of the time, and spinning costs three times the processor time.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
rm -f "$build"/*.log.counts
printf '%s\n' "$@" | xargs -P "${JOBS:-$(nproc)}" -I '{}' sh "$0" --one "$build" '{}'

passed=0 failed=0 failures=""
for test in "$@"; do
    counts="$build/$(echo "$test" | tr '/' '_').log.counts"
    read -r good bad <"$counts" || good=0 bad=1 # it was killed
    passed=$((passed + good)) failed=$((failed + bad))
    [ "$bad" -eq 0 ] || failures="$failures $test"
done
[ -z "$failures" ] || echo "Failed:$failures"
echo "$passed passed, $failed failed"
echo "$build: $passed passed, $failed failed" >>"$build/counts"
[ "$failed" -eq 0 ]
