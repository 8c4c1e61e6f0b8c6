#!/bin/sh
# Whatever write fails, on a full disk or a bad one, and wherever a kill hits between two writes: the failure is named,
# nothing that was saved is lost, and the run goes on to the end of the uninterrupted one. Tries each EVERY-th write of a
# small run, in each of four ways; tests/long_failing_writes.sh tries all writes, in one of the ways by turns (TURN).
[ -w /dev/shm ] && TMPDIR=/dev/shm && export TMPDIR # memory, where fsync costs nothing
. tests/support/cli.sh
. tests/support/resume.sh
every=${EVERY:-43}
shim=$PROGRAMS/../failing_writes.so
case $PROGRAMS in
*/asan/* | */sanitize/*) ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 && export ASAN_OPTIONS ;;
*/tsan/*) echo "ThreadSanitizer has its own write" && exit 77 ;;
esac

# tiny DIR, options, with FAULT and its like set: output in $work/out, and the status
tiny() {
    tiny_config "$work/$1" >"$work/tiny.ini"
    shift
    LD_PRELOAD=$shim "$train" "$work/tiny.ini" --set train.updates=5 --set valid.every=3 --set average.last=2 "$@" >"$work/out" 2>&1
}

# resumed DIR WHAT: without faults it comes to the end of the whole run.
resumed() {
    FAULT_AT=0 tiny "$1" || fail "$2: exit $? when the run goes on"
    same_run "$work/whole" "$work/$1" "$2"
}

show() { sed 's/^/    /' "$work/out"; }

FAULT_COUNT=$work/count tiny whole || fail "exit $? without any fault"
calls=$(cat "$work/count")
[ "$calls" -gt 0 ] || { echo "this build hides its writes from a preloaded library" && exit 77; }
echo "$calls writes, of which every ${every}th"
export FAULT_AT FAULT FAULT_ALSO

# The disk is full from here on. The report, written when all is saved, is no reason to fail.
full() {
    FAULT=28 FAULT_ALSO=1
    tiny run
    status=$?
    [ "$status" -eq 1 ] || { [ "$status" -eq 0 ] && grep -q 'its report is not up to date' "$work/out"; } ||
        { fail "write $FAULT_AT on a full disk: exit $status" && show; }
    grep -q "$work/run.*No space left on device" "$work/out" || { fail "write $FAULT_AT: no word of the full disk" && show; }
    resumed run "write $FAULT_AT on a full disk"
}

# One bad write, on which training stops or, for what it can do without, goes on.
bad() {
    FAULT=5 FAULT_ALSO=0
    tiny run
    status=$?
    [ "$status" -le 1 ] || { fail "bad write $FAULT_AT: exit $status" && show; }
    grep -q "$work/run.*Input/output error" "$work/out" || { fail "bad write $FAULT_AT: no word of it" && show; }
    [ "$status" -eq 1 ] || grep -qE 'training goes on without a cache|its report is not up to date' "$work/out" || { fail "bad write $FAULT_AT: exit 0" && show; }
    resumed run "bad write $FAULT_AT"
}

# The same where training is to go on: it stops only before its first update and when all is trained.
forgiven() {
    FAULT=5 FAULT_ALSO=0
    tiny run --set output.on_write_error=continue
    status=$?
    [ "$status" -le 1 ] || { fail "forgiven write $FAULT_AT: exit $status" && show; }
    grep -q "$work/run.*Input/output error" "$work/out" || { fail "forgiven write $FAULT_AT: no word of it" && show; }
    if [ "$status" -eq 1 ]; then
        grep -q '  update 4 ' "$work/out" && ! grep -q '.valid. .*  update 5 ' "$work/out" && fail "write $FAULT_AT is not forgiven" && show
        resumed run "forgiven write $FAULT_AT"
    else
        same_run "$work/whole" "$work/run" "forgiven write $FAULT_AT"
    fi
}

# Killed in the middle of this write.
killed() {
    FAULT=kill FAULT_ALSO=0
    tiny run
    status=$?
    [ "$status" -eq 137 ] || { fail "killed at write $FAULT_AT: exit $status" && show; }
    resumed run "killed at write $FAULT_AT"
}

FAULT_AT=1
while [ "$FAULT_AT" -le "$calls" ]; do
    set -- full bad forgiven killed
    [ -z "${TURN:-}" ] || { shift $((FAULT_AT % 4)) && set -- "$1"; }
    for fault in "$@"; do
        rm -rf "$work/run"
        $fault
    done
    FAULT_AT=$((FAULT_AT + every))
done

# A run that had ended is given more updates and killed at once, about where it undoes its end. Given no more after all, it
# is what it was.
rm -rf "$work/ended"
FAULT_AT=0 tiny ended --set train.updates=4 || fail "exit $?"
for FAULT_AT in 23 25 27 29 31; do
    rm -rf "$work/run"
    cp -r "$work/ended" "$work/run"
    FAULT=kill FAULT_ALSO=0
    tiny run
    FAULT_AT=0 tiny run --set train.updates=4 || fail "exit $?"
    same_run "$work/ended" "$work/run" "ended, killed at write $FAULT_AT when going on, and ended again"
done

# A disk that stays full ends even a forgiving run in a failure, which has trained all the way.
FAULT_AT=$((calls / 3)) FAULT=28 FAULT_ALSO=1
rm -rf "$work/run"
tiny run --set output.on_write_error=continue
[ $? -eq 1 ] || fail "a forgiving run on a full disk does not fail"
grep -q 'No space left.*training goes on' "$work/out" || fail "nothing is said of what is forgiven"
grep -q '  update 4 ' "$work/out" || fail "a forgiving run does not go on"
resumed run "forgiving, on a full disk"

# The log: said once, and that is all.
unset FAULT_AT FAULT FAULT_ALSO
rm -rf "$work/run"
mkdir "$work/run" && : >"$work/run/lock" && ln -s /dev/full "$work/run/train.log"
tiny run || fail "exit $? without a log"
[ "$(grep -c 'train.log: could not be written' "$work/out")" -eq 1 ] || fail "the log's failure is not said once"
finish
