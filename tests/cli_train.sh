#!/bin/sh
# ./train from the outside: runs, resumes bit for bit, any number of threads, signals.
. tests/support/cli.sh

# An uninterrupted run, and the same in two halves.
small_config "$work/whole" >"$work/whole.ini"
expect 0 'finished +all updates done: update 12' "$train" "$work/whole.ini"
for file in config.ini tokenizer.json model.safetensors config.json state.safetensors metrics.jsonl train.log; do
    [ -s "$work/whole/$file" ] || fail "no $file in the run"
done
small_config "$work/halves" >"$work/halves.ini"
expect 0 'update 6,' "$train" "$work/halves.ini" --set train.updates=6
expect 0 'resume +after update 6' "$train" "$work/halves.ini"
same_files "$work/whole/model.safetensors" "$work/halves/model.safetensors" "resumed training has other weights"
losses() { grep '"kind":"train"' "$work/$1/metrics.jsonl" | sed 's/,"tgt_tokens.*//' >"$work/$1.losses"; }
losses whole
losses halves
same_files "$work/whole.losses" "$work/halves.losses" "sums of losses that span the resume"
grep -q '"kind":"resume","update":6' "$work/halves/metrics.jsonl" || fail "metrics.jsonl tells nothing of the resume"
expect 0 'all updates done' "$train" "$work/halves.ini"

# Both halves' states agree in everything but times: six more updates from each end alike.
expect 0 'update 18,' "$train" "$work/whole.ini" --set train.updates=18
expect 0 'update 18,' "$train" "$work/halves.ini" --set train.updates=18
same_files "$work/whole/model.safetensors" "$work/halves/model.safetensors" "the moments were not the same"

# Threads change no bit while the lanes stay.
for threads in 1 3; do
    small_config "$work/threads$threads" >"$work/threads.ini"
    expect 0 "machine.* $threads threads, 2 lanes" "$train" "$work/threads.ini" --threads "$threads" --set train.updates=18
    same_files "$work/whole/model.safetensors" "$work/threads$threads/model.safetensors" "$threads threads"
done

# A signal saves and stops, by the signal; the run goes on from there to the same end.
small_config "$work/signal" >"$work/signal.ini"
"$train" "$work/signal.ini" --set train.updates=100000 --set valid.every=100000 >"$work/signal.out" 2>&1 &
child=$!
tries=0
until grep -q 'update 8 ' "$work/signal.out" 2>/dev/null || [ "$tries" -ge 1200 ]; do sleep 0.1; tries=$((tries + 1)); done
[ "$tries" -lt 1200 ] || fail "training did not reach update 8 within two minutes"
kill -TERM "$child"
wait "$child"
[ $? -eq 143 ] || fail "a terminated training does not end by the signal"
grep -q 'stopped by a signal' "$work/signal.out" || fail "a terminated training does not say so"
expect 0 'resume +after update' "$train" "$work/signal.ini" --set train.updates=10

# Values of two metrics cannot be compared.
cp -r "$work/halves" "$work/metric"
small_config "$work/metric" >"$work/metric.ini"
expect 0 'the best so far, by nll, is forgotten' "$train" "$work/metric.ini" --set train.updates=20 --set valid.metric=chrf
grep -q '"update":20,.*"bleu":[0-9.e-]*,"chrf":[0-9.e-]*,"exact_match":[0-9.e-]*,"best":true' "$work/metric/metrics.jsonl" ||
    fail "no chrF in metrics.jsonl"

# What may not change on a resume is refused with both values; --fresh moves the run aside.
expect 1 'batch_tokens is .600. .*.700. is asked' "$train" "$work/whole.ini" --set train.batch_tokens=700
expect 0 'old run was moved to .*whole.old' "$train" "$work/whole.ini" --fresh --set train.updates=2
[ -s "$work/whole.old.1/model.safetensors" ] || fail "--fresh lost the old run"

# A finished model is not trained over when only its state is gone; a model that is gone is written again.
cp -r "$work/whole" "$work/stateless"
rm "$work/stateless"/state*
small_config "$work/stateless" >"$work/stateless.ini"
expect 1 'holds a model but no state.*--fresh' "$train" "$work/stateless.ini" --set train.updates=2
same_files "$work/whole/model.safetensors" "$work/stateless/model.safetensors" "a refused training changed the model"
rm "$work/threads1/model.safetensors"
small_config "$work/threads1" >"$work/threads.ini"
expect 0 'all updates done' "$train" "$work/threads.ini" --set train.updates=18
[ -s "$work/threads1/model.safetensors" ] || fail "the missing model was not written again"

# What reading changes is said, once a file.
printf '\357\273\277' | cat - "$work/train.en" | sed 's/$/\r/' >"$work/odd.en"
sed '7s/^./\xff/' "$work/train.fr" >"$work/odd.fr"
small_config "$work/odd" >"$work/odd.ini"
expect 0 'odd.fr:7:1: not UTF-8 .1 such line.' "$train" "$work/odd.ini" --set "data.train_source=$work/odd.en" \
    --set "data.train_target=$work/odd.fr" --set train.updates=1
grep -q 'odd.en: the byte order mark' "$work/out" || fail "nothing is said of the byte order mark"
grep -q 'odd.en: carriage returns' "$work/out" || fail "nothing is said of the carriage returns"

# A damaged state is named, and the run is not touched.
printf 'xxxxxxxx' | dd of="$work/halves/state.safetensors" bs=1 seek=5000 conv=notrunc 2>/dev/null
expect 1 'state.safetensors.*checksum' "$train" "$work/halves.ini" --set train.updates=30
finish
