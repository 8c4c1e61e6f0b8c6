#!/bin/sh
# What can be wrong with a run that goes on: its files are damaged, foreign or of another version; another process is at
# it; updates are not finite. Each is named, nothing is lost. And what ends a training, which is said.
[ -w /dev/shm ] && TMPDIR=/dev/shm && export TMPDIR # memory, where fsync costs nothing
. tests/support/cli.sh
. tests/support/resume.sh

tiny() { # DIR, options
    tiny_config "$work/$1" >"$work/tiny.ini"
    shift
    "$train" "$work/tiny.ini" "$@"
}
again() { # a copy of the finished run, to be spoilt
    rm -rf "$work/run"
    cp -r "$work/whole" "$work/run"
}
state=$work/run/state.safetensors
expect 0 'all updates done: update 20' tiny whole

# A damaged or cut off state is named, with what is wrong, and what is offered works.
again
printf xxxx | dd of="$state" bs=1 seek=6000 conv=notrunc 2>/dev/null
expect 1 "run/state.safetensors: the content has checksum [0-9a-f]{16}, but [0-9a-f]{16} was stored" tiny run --set train.updates=30
grep -q 'the state before it is good; to go on from there: mv ' "$work/out" || fail "the state before is not offered"
$(sed -n 's/.*to go on from there: //p' "$work/out")
expect 0 'all updates done: update 20' tiny run
same_run "$work/whole" "$work/run" "from the state before"
again
head -c 20000 "$work/whole/state.safetensors" >"$state"
expect 1 'run/state.safetensors: .*cut off' tiny run
again
cp "$work/run/model.safetensors" "$state"
expect 1 'run/state.safetensors: is no state of a training; put the run' tiny run

# Of another version. Under another name the checksum is not checked.
version() { LC_ALL=C sed -i "$1; s/tandem.checksum/tandem.checksun/" "$state"; }
again
version 's/"state_format":"2"/"state_format":"3"/'
expect 1 'is a state of a newer version of this program, in format 3, where this one reads format 2' tiny run
again
version 's/"state_format"/"state_formas"/'
expect 1 'is a state of an older version of this program, in format 1, where this one reads format 2' tiny run

# From another machine, or another BLAS kernel: that is said, and the run goes on.
again
version 's/"blas_kernel":"./"blas_kernel":"#/; s/"machine":"./"machine":"#/'
expect 0 'changed +blas_kernel: .* .was #.*; the numbers may differ in their last bits from here on' tiny run --set train.updates=22
grep -qE 'changed +machine: .* .was #.*may differ in their last bits' "$work/out" || fail "another machine is not named"

# A damaged model: whoever reads it says so, and training writes it again. A missing one as well.
again
printf x | dd of="$work/run/model.safetensors" bs=1 seek=9000 conv=notrunc 2>/dev/null
expect 1 'run/model.safetensors: the content has checksum' "$translate" "$work/run" --input "$work/tiny.en"
grep -q 'if it is damaged, ./train with the configuration of this run writes it again' "$work/out" || fail "no way out is shown"
expect 0 'all updates done: update 20' tiny run
same_run "$work/whole" "$work/run" "with a model that was damaged"
rm "$work/run/model.safetensors"
expect 0 'average +of the last 3 snapshots: updates 16, 18, 20' tiny run
same_run "$work/whole" "$work/run" "with a model that was missing"
again
rm "$work/run"/model*
expect 0 'the best so far, of update 18, is forgotten' tiny run --set train.updates=21
[ -s "$work/run/model.safetensors" ] || fail "the missing model was not written again"

expect 0 'all updates done' tiny blind --set data.valid_source= --set data.valid_target= --set average.last=0
cp "$work/blind/model.safetensors" "$work/blind.model"
printf x | dd of="$work/blind/model.safetensors" bs=1 seek=9000 conv=notrunc 2>/dev/null
expect 0 'model.safetensors: the content has checksum.*it is written again' tiny blind --set data.valid_source= --set data.valid_target= --set average.last=0
same_files "$work/blind.model" "$work/blind/model.safetensors" "the damaged model is not written again"
[ -s "$work/blind/model.damaged.safetensors" ] || fail "the damaged model is not kept"

# Averages that cannot be whole.
again
rm "$work/run"/model.best* "$work/run/model.safetensors" "$work/run/epochs/000016.safetensors"
printf x | dd of="$work/run/epochs/000018.safetensors" bs=1 seek=9000 conv=notrunc 2>/dev/null
expect 0 '000016.safetensors: there is no such file.*the average goes without it' tiny run
grep -q '000018.safetensors: the content has checksum.*the average goes without it' "$work/out" || fail "a damaged snapshot is averaged"
grep -q 'average  *of the last 1 snapshots, as there are no more: updates 20' "$work/out" || fail "what is averaged is not said"
expect 0 'average +of no snapshots: none were taken' tiny none --set train.updates=1
expect 0 'average.*is used: there is no validation data' tiny unseen --set data.valid_source= --set data.valid_target=
cmp -s "$work/unseen/model.safetensors" "$work/unseen/epochs/000020.safetensors" && fail "the average is not used"
expect 0 'the 3 snapshots of .average. last are forgotten' tiny unseen --set data.valid_source= --set data.valid_target= \
    --set average.last=0 --set train.updates=22
[ -z "$(ls "$work/unseen/epochs")" ] || fail "snapshots that nobody needs stay"

# A limit on file sizes is a full disk.
if takes_file_limits; then
    expect 1 'state.new.safetensors: could not be written: File too large; raise the limit on file sizes' \
        sh -c "ulimit -f 60; exec '$train' '$work/tiny.ini' --set output.dir=$work/limited"
    expect 0 'all updates done: update 20' tiny limited
    same_run "$work/whole" "$work/limited" "after a limit on file sizes"
fi

# One process at a time, and files that belong to no run.
tiny busy --set train.updates=100000 >"$work/busy.out" 2>&1 &
tries=0
until grep -q '  update 8 ' "$work/busy.out" 2>/dev/null || [ "$tries" -ge 600 ]; do sleep 0.1; tries=$((tries + 1)); done
holder=$(cat "$work/busy/lock")
expect 1 "busy: process $holder is training there; wait for it, stop it" tiny busy
expect 1 "busy: process $holder is training there; wait for it, stop it" tiny busy --fresh
kill -TERM "$holder"
wait
expect 0 'resume +after update' tiny busy --set train.updates=1
mkdir "$work/other" && : >"$work/other/thesis.tex"
expect 1 'other: holds files, but no run; give .output. dir another name' tiny other

# What may not change is refused, all at once, with both values; --help-config tells what may.
again
expect 1 'train. warmup is .5. in this run, but .6. is asked for' tiny run --set train.warmup=6 --set model.dropout=0.2
grep -q 'model. dropout is .0.1. in this run, but .0.2. is asked for' "$work/out" || fail "only one of two changes is named"
"$train" --help-config >"$work/keys"
for key in updates epochs minutes lr threads every metric patience last best samples log_every save_every log_norms tensorboard \
    on_write_error; do
    grep -B 1 "^$key =" "$work/keys" | grep -q 'may change on resume' || fail "--help-config does not say that $key may change"
done
[ "$(grep -c 'may change on resume' "$work/keys")" -eq 18 ] || fail "--help-config: more keys may change, or fewer, than are listed here"

# Not finite: skipped, and named by file and line; then the end, with the state before it on disk.
head -n 20 "$work/tiny.en" >"$work/first.en"
head -n 20 "$work/tiny.fr" >"$work/first.fr"
tail -n 44 "$work/tiny.en" >"$work/second.en"
tail -n 44 "$work/tiny.fr" >"$work/second.fr"
absurd() { # DIR, options: Adam without a second moment divides by eps where a gradient is 0
    name=$1
    shift
    tiny "$name" --set "data.train_source=$work/first.en, $work/second.en" --set "data.train_target=$work/first.fr, $work/second.fr" \
        --set train.adam_beta2=0 --set train.adam_eps=1e-30 --set train.max_bad_updates=3 --set valid.every=100 "$@"
}
place="$work/(first|second).en:[0-9]+"
expect 1 "^update [0-9]+: loss .*: skipped; its [0-9]+ pairs: ($place, ){5}\.\.\." absurd wild --set train.lr=1000 --set output.save_every=100
grep -q 'wild: 3 updates in a row were not finite, .* the state on disk is of update 0, before them: lower .train. lr' "$work/out" ||
    fail "the end after bad updates is not explained"
grep ': skipped;' "$work/out" | grep -oE '(first|second).en:[0-9]+' | sort -u >"$work/named"
grep -q 'second.en' "$work/named" || fail "no line of the second file is named"
sed 's/.*://' "$work/named" | sort -n | tail -n 1 | { read -r most && [ "$most" -le 44 ]; } || fail "a line is named that no file has"
expect 0 'all updates done: update 20' absurd wild --set train.lr=1e-12 --set output.save_every=100
expect 1 'wild2: after update [0-9]+ the (parameters are|loss is) not finite, and nothing of it is saved; the state on disk is of update' \
    absurd wild2 --set train.lr=1000 --set output.save_every=1

# What comes first ends a training, and is said; minutes are counted over all resumes.
expect 0 'finished +all epochs done: update [0-9]+,' tiny epochs --set train.epochs=2 --set train.updates=1000
expect 0 'finished +time is up' tiny minutes --set train.updates=1000000 --set train.minutes=0.001
reached=$(sed -nE 's/^finished.*update ([0-9]+),.*/\1/p' "$work/out")
expect 0 "finished +time is up: update $reached," tiny minutes --set train.updates=1000000 --set train.minutes=0.001
expect 0 'finished +no better validation within .valid. patience: update 12,' tiny patience --set valid.patience=3 --set train.lr=1e-12 \
    --set valid.metric=exact_match --set train.updates=1000
finish
