#!/bin/sh
# model.safetensors is what the last lines say that it is, whatever became of the one before.
[ -w /dev/shm ] && TMPDIR=/dev/shm && export TMPDIR # memory, where fsync costs nothing
. tests/support/cli.sh
. tests/support/resume.sh

tiny() { # DIR, options
    tiny_config "$work/$1" >"$work/tiny.ini"
    shift
    "$train" "$work/tiny.ini" "$@"
}
fails_at() { # UPDATE DIR, options: a snapshot of this update cannot be written
    update=$1
    shift
    mkdir "$work/$1/epochs/0000$update.safetensors.tmp"
    expect 1 "0000$update.safetensors.tmp: could not be" tiny "$@"
    rmdir "$work/$1/epochs/0000$update.safetensors.tmp"
}
is_update() { same_files "$work/$1/model.safetensors" "$work/$1/epochs/0000$2.safetensors" "$1: the model is not of update $2"; }

# Without validations it is the last. The average that an end made of it gives way when the run goes on.
blind="--set data.valid_source= --set data.valid_target= --set average.every=1"
expect 0 'model .*: the average of 3 snapshots$' tiny unseen $blind
fails_at 21 unseen $blind --set train.updates=22
is_update unseen 20

# One that went away, in a run that was validated: the last, from the start, and at each save, until there is a best.
rare="--set valid.every=100 --set average.every=1 --set output.save_every=1"
expect 0 'model .*: the best, of update' tiny seen --set average.every=1
rm "$work/seen"/model*
fails_at 21 seen $rare --set train.updates=30
is_update seen 20
fails_at 23 seen $rare --set train.updates=30
is_update seen 22

# By another metric: still what it was, until something is validated, and that is done before an average is preferred to it.
expect 0 'model .*: the best, of update 20; nll' tiny metric
expect 0 'model .*: the best, of update 20; by another measure, ppl' tiny metric --set valid.metric=chrf
expect 0 'finished' tiny early --set train.updates=16
fails_at 20 early --set output.tensorboard=yes --set output.log_every=1
expect 0 '\[valid\] .*update 18 .*new best' tiny early --set valid.metric=chrf --set train.updates=18 --set output.tensorboard=yes

# With other validation text no value can be compared either.
cp -r "$work/metric" "$work/text"
cp "$work/tiny.en" "$work/tiny_valid.en"
cp "$work/tiny.fr" "$work/tiny_valid.fr"
expect 0 'changed +the validation text; the best so far is forgotten' tiny text
grep -q 'the best, of update 20; by another measure, ppl' "$work/out" || fail "the end compares with other text"
expect 0 'update 21 .*new best' tiny text --set train.updates=22

# The run before that ended where it went on; TensorBoard, too, has to hear that update 19 is no part of it any more.
[ "$(find "$work/early/tensorboard" -name 'events.*' | wc -l)" -eq 2 ] || fail "an update that is superseded stays in the curves"
finish
