#!/bin/sh
# kill -9 at any moment loses nothing: a run that saves after every update and is killed again and again ends in the same
# weights as one that was left alone.
. tests/support/cli.sh

small_config "$work/whole" >"$work/whole.ini"
expect 0 'all updates done: update 150' "$train" "$work/whole.ini" --set train.updates=150
small_config "$work/killed" >"$work/killed.ini"
kills=0 attempts=0 seed=7
while [ "$attempts" -lt 200 ]; do
    attempts=$((attempts + 1))
    "$train" "$work/killed.ini" --set train.updates=150 --set output.save_every=1 >"$work/killed.out" 2>&1 &
    child=$!
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    sleep "0.$(printf '%03d' $((30 + seed / 65536 % 200)))"
    kill -KILL "$child" 2>/dev/null
    wait "$child" 2>/dev/null
    status=$?
    [ "$status" -ne 0 ] || break
    [ "$status" -eq 137 ] || { fail "exit $status after a kill" && sed 's/^/    /' "$work/killed.out" && break; }
    kills=$((kills + 1))
done
expect 0 'all updates done: update 150' "$train" "$work/killed.ini" --set train.updates=150
echo "$kills kills"
[ "$kills" -ge 5 ] || fail "only $kills kills: the run is too short for this machine"
same_files "$work/whole/model.safetensors" "$work/killed/model.safetensors" "after $kills kills"
finish
