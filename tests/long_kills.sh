#!/bin/sh
# kill -9, SIGTERM and SIGINT at random moments of a run that validates, saves and takes snapshots all the time: each run
# that was hit goes on and ends as the one that was left alone, in weights, state, metrics and snapshots. The moments
# spread over all phases: start, training, saving, validating, averaging.
[ -w /dev/shm ] && TMPDIR=/dev/shm && export TMPDIR # memory, where fsync costs nothing
. tests/support/cli.sh
. tests/support/resume.sh

# busy DIR: its command line is in "$@" of the caller
busy() {
    tiny_config "$work/$1" >"$work/$1.ini"
    printf '%s\n' "$work/$1.ini" --set train.updates=24 --set output.save_every=1 --set average.every=1 --set valid.every=2 --set output.log_every=1
}
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
seed=7
random() { # BELOW
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    moment=$((seed / 8 % $1))
}

began=$(milliseconds)
expect 0 'all updates done: update 24' "$train" $(busy whole)
length=$(($(milliseconds) - began))
echo "the whole run takes $length ms"

# A run that had ended and is given more updates: what concluding it left has to be undone, wherever that is cut off.
expect 0 'all updates done: update 13' "$train" $(busy short) --set train.updates=13

# hit SIGNAL STATUS TIMES: a new run each time, or the short one, hit once or, every fourth time, once more when it goes
# on, until so many were hit before their end
hit() {
    hits=0 ends="" round=0
    while [ "$hits" -lt "$3" ] && [ "$round" -lt $(($3 * 4)) ]; do
        round=$((round + 1))
        rm -rf "$work/run"
        [ $((round % 3)) -ne 0 ] || cp -r "$work/short" "$work/run"
        strike "$1" "$2"
        [ $((round % 4)) -ne 0 ] || strike "$1" "$2"
        expect 0 'all updates done: update 24' "$train" $(busy run)
        same_run "$work/whole" "$work/run" "SIG$1 number $round"
        [ "$failures" -eq 0 ] || finish
    done
    echo "SIG$1: $hits hits in $round runs; in the midst of:" $(echo $ends | tr ' ' '\n' | sort | uniq -c)
    [ "$hits" -ge "$3" ] || fail "only $hits of $round runs were hit"
}

# What a run was doing or had just done, by the last of its lines that tells.
phase() {
    case "$(grep -E '\] epoch|\[(valid|average)\]|^(average|finished) ' "$work/run.out" | grep -v 'stopped by a signal' | tail -n 1)" in
    *'[average]'* | 'average '*) echo averaging ;;
    *'[valid]'*) echo validating ;;
    *'] epoch'*) echo training ;;
    finished*) echo ending ;;
    *) echo starting ;;
    esac
}

strike() {
    random "$length"
    env --default-signal=INT "$train" $(busy run) >"$work/run.out" 2>&1 & # sh has background jobs ignore it
    child=$!
    sleep "$((moment / 1000)).$(printf '%03d' $((moment % 1000)))"
    kill "-$1" "$child" 2>/dev/null
    wait "$child"
    status=$?
    if [ "$status" -eq "$2" ]; then
        hits=$((hits + 1)) ends="$ends $(phase)"
    elif [ "$status" -ne 0 ]; then
        fail "exit $status after SIG$1" && sed 's/^/    /' "$work/run.out"
    fi
}

hit KILL 137 200
hit TERM 143 40
hit INT 130 40

# A second signal stops at once, in the middle of the update that the first one waits for: updates take 300 ms here, and
# the signals are 50 ms apart, since two at the same moment are one.
slow() {
    busy "$1"
    printf '%s\n' --set train.updates=4 --set train.batch_tokens=1000 --set model.d_model=256 --set model.ffn_dim=4096
}
expect 0 'all updates done: update 4' "$train" $(slow slow_whole)
stopped=0 round=0
while [ "$round" -lt 5 ]; do
    round=$((round + 1))
    rm -rf "$work/run"
    "$train" $(slow run) >"$work/run.out" 2>&1 &
    child=$!
    tries=0
    until grep -q '\] epoch' "$work/run.out" || [ "$tries" -eq 1000 ]; do tries=$((tries + 1)) && sleep 0.01; done
    random 300
    sleep "0.$(printf '%03d' "$moment")"
    kill -TERM "$child" 2>/dev/null
    sleep 0.05
    kill -TERM "$child" 2>/dev/null
    wait "$child"
    [ $? -ne 143 ] || grep -q 'stopped by a signal' "$work/run.out" || stopped=$((stopped + 1))
    expect 0 'all updates done: update 4' "$train" $(slow run)
    same_run "$work/slow_whole" "$work/run" "two signals, number $round"
done
echo "two signals: $stopped of $round runs stopped at once"
[ "$stopped" -gt 0 ] || fail "no second signal stopped a run at once"
finish
