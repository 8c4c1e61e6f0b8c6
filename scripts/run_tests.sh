#!/bin/sh
# Usage: scripts/run_tests.sh BUILD TEST...    Runs each test from the repository root; prints what failed and the counts,
# which are also added to BUILD/counts.
# A test is a cmocka program, or a script that exits 0 on success and 77 to be skipped (it receives the programs' folder as PROGRAMS).
set -u
build=$1
shift
export PROGRAMS="$build/programs" OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}"
# Threads sleep while they wait: small models wait most of the time, and spinning costs three times the processor time.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
passed=0 failed=0 failures=""
for test in "$@"; do
    start=$(date +%s)
    log="$build/$(echo "$test" | tr '/' '_').log"
    case "$test" in
    *.sh) sh "$test" >"$log" 2>&1; status=$? ;;
    *) "./$test" >"$log" 2>&1; status=$? ;;
    esac
    ran=$(grep -c '^\[       OK \]' "$log")
    bad=$(grep -c '^\[  FAILED  \] [a-zA-Z_]*$' "$log")
    case "$test" in *.sh) ran=1 ;; esac
    if [ "$status" -eq 77 ]; then
        echo "skipped $test ($(tail -n 1 "$log"))"
    elif [ "$status" -eq 0 ] && [ "$ran" -gt 0 ]; then
        echo "ok      $test ($ran, $(($(date +%s) - start)) s)"
        passed=$((passed + ran))
    else
        [ "$bad" -gt 0 ] || bad=1
        echo "FAILED  $test (exit $status)"
        tail -n 25 "$log" | sed 's/^/        /'
        case "$test" in *.sh) ;; *) passed=$((passed + ran)) ;; esac
        failed=$((failed + bad))
        failures="$failures $test"
    fi
done
[ -z "$failures" ] || echo "Failed:$failures"
echo "$passed passed, $failed failed"
echo "$build: $passed passed, $failed failed" >>"$build/counts"
[ "$failed" -eq 0 ]
