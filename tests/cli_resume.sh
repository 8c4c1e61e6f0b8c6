#!/bin/sh
# A run that was stopped and goes on is the uninterrupted run, bit for bit: weights, moments, best so far, metrics,
# snapshots. For each line of the table, whatever it sets.
[ -w /dev/shm ] && TMPDIR=/dev/shm && export TMPDIR # memory, where fsync costs nothing
. tests/support/cli.sh
. tests/support/resume.sh

# Settings that an exact resume has to bear, parted by semicolons.
cat >"$work/settings" <<'END'
average.last=0
train.accumulate=3
average.last=0;average.best=2
average.every=1 epoch;valid.every=1 epoch;output.save_every=1 epoch
tokenizer.type=bpe;tokenizer.vocab_size=280;tokenizer.dropout=0.3
valid.metric=chrf;valid.every=1;valid.patience=4
valid.metric=exact_match;valid.every=5
train.schedule=linear;train.warmup=3;train.clip_norm=0.1
model.norm=pre;model.attention_dropout=0.1;model.activation_dropout=0.1;train.label_smoothing=0
model.tie_embeddings=none;tokenizer.shared=no
output.log_every=7;output.save_every=5
train.ema=0.9;train.optimizer=adamw;train.weight_decay=0.01
train.schedule=plateau;train.plateau_patience=2;train.warmup=2;valid.every=2;valid.metric=exact_match
train.schedule=cosine;train.warmup=3;train.optimizer=sgd;train.momentum=0.9
data.valid_source=;data.valid_target=
END

# run DIR, options: to the end
run() {
    tiny_config "$work/$1" >"$work/tiny.ini"
    shift
    expect 0 'finished' "$train" "$work/tiny.ini" "$@"
}

number=0
while IFS= read -r line; do
    number=$((number + 1))
    set --
    IFS=';'
    for setting in $line; do set -- "$@" --set "$setting"; done
    unset IFS
    run "whole$number" "$@"
    case "$line" in
    *linear* | *cosine*) first=train.epochs=1 second=train.epochs=1 ;; # another number of updates is another schedule
    *) first=train.updates=3 second=train.updates=14 ;;     # in the middle of epochs
    esac
    run "parts$number" "$@" --set "$first" --threads 2
    run "parts$number" "$@" --set "$second"
    run "parts$number" "$@" --threads 3
    same_run "$work/whole$number" "$work/parts$number" "$line"
done <"$work/settings"
grep -q '"kind":"average".*"snapshots":\[16,18,20\]' "$work/whole2/metrics.jsonl" || fail "no average of the last three"
finish
