#!/bin/sh
# Schedules, optimizers, the moving average and --dry-run from the outside.
. tests/support/cli.sh

run=0
# Trains 12 updates at one go and in two halves, with these settings; the halves have to end alike. Leaves the first in $whole.
both_ways() {
    run=$((run + 1)) whole=$work/whole$run halves=$work/halves$run
    small_config "$whole" >"$work/whole.ini"
    small_config "$halves" >"$work/halves.ini"
    expect 0 'update 12,' "$train" "$work/whole.ini" "$@"
    expect 0 'update 7,' "$train" "$work/halves.ini" "$@" --set train.updates=7
    expect 0 'resume +after update 7' "$train" "$work/halves.ini" "$@"
    same_files "$whole/model.safetensors" "$halves/model.safetensors" "resumed training has other weights: $*"
    for dir in "$whole" "$halves"; do
        grep '"kind":"train"' "$dir/metrics.jsonl" | sed 's/,"tgt_tokens.*//' >"$dir.losses"
    done
    same_files "$whole.losses" "$halves.losses" "losses and learning rates of a resumed training: $*"
}

# Those tensors, and no others, are in the state of $whole.
has_tensors() {
    for name in "$@"; do
        head -c 4000 "$whole/state.safetensors" | grep -qa "\"$name\":{\"dtype\"" || fail "no $name in the state"
    done
    count=$(head -c 4000 "$whole/state.safetensors" | grep -ao '"dtype"' | wc -l)
    [ "$count" -eq $# ] || fail "$count tensors in the state, not $#: $*"
}

# Nothing is learned at this rate, so each validation stalls after the first: at the third and at the fifth, on both sides
# of the resume, the rate is halved.
both_ways --set train.schedule=plateau --set train.lr=1e-12 --set train.warmup=1 --set train.plateau_patience=2 \
    --set valid.every=2 --set valid.metric=exact_match --set output.log_every=1
has_tensors parameters adam.m adam.v
grep -q 'plateau +2 validations without a new best: learning rate lowered to 5e-13' -E "$whole/train.log" ||
    fail "a first reduction is not logged"
grep -q 'plateau +4 validations without a new best: learning rate lowered to 2.5e-13' -E "$whole/train.log" ||
    fail "a second reduction is not logged"
grep -q '"update":6,.*"lr":1e-12,' "$whole/metrics.jsonl" || fail "lowered too soon"
grep -q '"update":7,.*"lr":5e-13,' "$whole/metrics.jsonl" || fail "not lowered after the third validation"
grep -q '"update":11,.*"lr":2.5e-13,' "$whole/metrics.jsonl" || fail "not lowered after the fifth validation"

# Each optimizer, and the average, keep what they need in the state, and go on from it.
both_ways --set train.optimizer=sgd --set train.momentum=0.9 --set train.lr=0.1 --set train.weight_decay=0.01
has_tensors parameters sgd.m
both_ways --set train.optimizer=adamw --set train.weight_decay=0.1 --set train.ema=0.9 --set train.schedule=noam \
    --set train.lr=0.5
has_tensors parameters adam.m adam.v ema
small_config "$work/last" >"$work/last.ini"
expect 0 'update 12,' "$train" "$work/last.ini" --set train.optimizer=adamw --set train.weight_decay=0.1 \
    --set train.schedule=noam --set train.lr=0.5
losses() { grep '"kind":"train"' "$1/metrics.jsonl" | sed 's/,"tgt_tokens.*//'; }
[ "$(losses "$whole")" = "$(losses "$work/last")" ] || fail "the average changes the training itself"
cmp -s "$whole/model.safetensors" "$work/last/model.safetensors" && fail "the average is not what is saved as the model"

# Where the end of a schedule moves, the rate jumps, which is said.
small_config "$work/jump" >"$work/jump.ini"
expect 0 'update 6,' "$train" "$work/jump.ini" --set train.schedule=cosine --set train.updates=6
expect 0 'the cosine schedule ends at update 8, not 6' "$train" "$work/jump.ini" --set train.schedule=cosine \
    --set train.updates=8

# Four batches that make one update are the batch of their size: the loss is divided by the tokens of all of them.
for parts in 1 4; do
    small_config "$work/parts$parts" >"$work/parts.ini"
    expect 0 'update 12,' "$train" "$work/parts.ini" --set train.accumulate=$parts --set train.batch_tokens=$((600 / parts))
done
same_files "$work/parts1/model.safetensors" "$work/parts4/model.safetensors" "accumulated batches are not the large batch"

# A dry run prints what the training would have in config.ini, and counts as it would; it writes nothing.
small_config "$work/dry" >"$work/dry.ini"
ls -R "$work" >"$work/out"
ls -R "$work" >"$work.before"
look="--set train.updates=0 --set train.epochs=2 --set train.threads=auto --set train.lanes=auto"
# shellcheck disable=SC2086 # words are wanted
expect 0 'learning rate' "$train" "$work/dry.ini" --dry-run $look
ls -R "$work" | cmp -s - "$work.before" || fail "a dry run writes files"
rm "$work.before"
mv "$work/out" "$work/dry.out"
# shellcheck disable=SC2086
expect 0 'all epochs done' "$train" "$work/dry.ini" $look
sed '/^parameter /,$d' "$work/dry.out" | sed '$d' | cmp -s - "$work/dry/config.ini" || fail "not the resolved configuration"
all=$(sed -nE 's/.*: ([0-9]+) parameters in ([0-9]+) tensors/\1 in \2/p' "$work/out")
[ -n "$all" ] && grep -qE "^total +$all tensors" "$work/dry.out" || fail "a dry run finds other parameters than $all"
[ "$(grep -c '^model[.]' "$work/dry.out")" -eq "${all#* in }" ] || fail "not a line for each parameter"
grep -qE '^model.shared.weight +[0-9]+ x 32 +embedding +[0-9]+  also .*lm_head.weight' "$work/dry.out" || fail "no ties"
updates=$(sed -nE 's/^epoch +([0-9]+) updates of up to 600 target tokens.*/\1/p' "$work/dry.out")
grep -q "\"update\":$((2 * updates)),\"epoch\":2" "$work/dry/metrics.jsonl" || fail "an epoch has not $updates updates"
grep -qE "^training +$((2 * updates)) updates, 2.0 epochs" "$work/dry.out" || fail "the length of the training"

# The curve: twelve updates from the first to the last, with the peak among them.
expect 0 '^ +20 +0.0015  #{25}$' "$train" "$work/dry.ini" --dry-run --set train.updates=20
grep -qE '^ +5 +0.003  #{50}$' "$work/out" || fail "the peak is not in the curve"
[ "$(grep -cE '^ +[0-9]+ +[0-9.e-]+  #*$' "$work/out")" -eq 12 ] || fail "not twelve points: $(tail -13 "$work/out")"
grep -q "$work/dry holds a run" "$work/out" || fail "nothing is said of the run that is there"
expect 0 'no reduction is in it' "$train" "$work/dry.ini" --dry-run --set train.schedule=plateau
expect 0 'the curve is that of its first 50 updates' "$train" "$work/dry.ini" --dry-run --set train.updates=0 --set train.minutes=1
expect 1 'nothing.en: No such file' "$train" "$work/dry.ini" --dry-run --set "data.train_source=$work/nothing.en"
expect 1 'no pair is left' "$train" "$work/dry.ini" --dry-run --set data.max_length=1
finish
