#!/bin/sh
# Half an hour of training on Multi30k that is killed again and again (make test-soak; SOAK_MINUTES for less or more,
# SOAK_TEXT for the folder of its text). Each time it goes on, never behind what it had saved; at the end the loss has
# fallen, no file is damaged, and the metrics tell of each update once.
. tests/support/cli.sh

minutes=${SOAK_MINUTES:-30}
text=${SOAK_TEXT:-data/multi30k}
if [ ! -s "$text/train.de" ]; then
    [ -s ../shared/multi30k/train.de.gz ] || { echo "no Multi30k here; set SOAK_TEXT to the folder that has it" && exit 77; }
    scripts/get_multi30k.sh ../shared/multi30k >/dev/null
    text=data/multi30k
fi
run=$work/run
train_on() { # options; with how=exec it takes the shell's place, so that a signal to this child reaches it
    ${how:-} env --default-signal=INT "$train" configs/multi30k_raw_en_de.ini --set "data.train_source=$text/train.en" \
        --set "data.train_target=$text/train.de" --set "data.valid_source=$work/valid.en" \
        --set "data.valid_target=$work/valid.de" --set train.schedule=inverse_sqrt --set train.warmup=100 --set valid.every=40 \
        --set model.d_model=64 --set model.encoder_layers=2 --set model.decoder_layers=2 --set model.ffn_dim=128 \
        --set tokenizer.vocab_size=4000 --set average.last=3 --set average.every=15 --set output.save_every=10 --set output.log_every=10 \
        --set "output.dir=$run" "$@"
}
head -n 50 "$text/val.en" >"$work/valid.en"
head -n 50 "$text/val.de" >"$work/valid.de"

seed=${SOAK_SEED:-11}
random() { # BELOW
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    number=$((seed / 8 % $1))
}
saved() { sed -nE 's/^resume +after update ([0-9]+),.*/\1/p' "$work/out" | tail -n 1; }

kills=0 last=0 end=$(($(date +%s) + minutes * 60))
while [ "$(date +%s)" -lt "$end" ] && [ "$failures" -eq 0 ]; do
    how=exec train_on --set train.updates=1000000000 >"$work/out" 2>&1 &
    child=$!
    random 30
    sleep "$((2 + number)).$((number % 10))"
    random 3
    case $number in 0) signal=KILL status=137 ;; 1) signal=TERM status=143 ;; *) signal=INT status=130 ;; esac
    kill "-$signal" "$child" 2>/dev/null
    wait "$child"
    [ $? -eq "$status" ] || { fail "not ended by SIG$signal" && sed 's/^/    /' "$work/out"; }
    kills=$((kills + 1)) now=$(saved)
    [ "${now:-$last}" -ge "$last" ] || fail "went on after update $now, but update $last had been saved"
    last=${now:-$last}
done

# Some more, to a proper end: states, snapshots and model are read with their checksums on the way.
expect 0 'average +of the last 3 snapshots: ' train_on --set "train.updates=$((last + 60))"
grep -q 'without it\|damaged' "$run/train.log" && fail "a file is damaged: $(grep 'without it\|damaged' "$run/train.log")"
"$translate" "$run" --input "$work/valid.en" --output "$work/out.de" || fail "the model does not translate"

tests/support/canonical_metrics.sh "$run/metrics.jsonl" >"$work/metrics"
grep '"kind":"train"' "$work/metrics" | sed -E 's/.*"update":([0-9]+).*/\1/' >"$work/updates"
awk '$1 != 10 * NR { print "line " NR " of the training metrics is of update " $1; exit 1 }' "$work/updates" || fail "metrics are not each update once"
loss() { sed -nE 's/.*"kind":"train".*"nll":([0-9.]+).*/\1/p' "$work/metrics"; }
echo "$kills kills, $(tail -n 1 "$work/updates") updates, nll $(loss | head -n 1) at first, $(loss | tail -n 1) at last"
loss | awk 'NR == 1 { first = $1 } END { exit !(NR > 1 && first > $1 + 1) }' || fail "the loss has not fallen by a nat"
finish
