#!/bin/sh
# Mistakes of users: one clear line each, before anything is trained, and a status that is not 0.
. tests/support/cli.sh

ini() { small_config "$work/run" >"$work/c.ini"; }
ini
expect 2 'no configuration file' "$train"
expect 2 'unrecognized option' "$train" "$work/c.ini" --fast
expect 1 'nowhere.ini' "$train" "$work/nowhere.ini"
expect 0 'usage: train' "$train" --help
expect 0 'train_source' "$train" --help-config
expect 0 'Tandem' "$translate" --version

expect 1 'nothing.en: No such file' "$train" "$work/c.ini" --set "data.train_source=$work/nothing.en"
head -n 299 "$work/train.fr" >"$work/short.fr"
expect 1 'train.en has 300 lines but .*short.fr has 299' "$train" "$work/c.ini" --set "data.train_target=$work/short.fr"
: >"$work/empty"
expect 1 'empty: is empty' "$train" "$work/c.ini" --set "data.train_source=$work/empty"
yes '' | head -n 300 >"$work/blank"
expect 1 'no pair is left' "$train" "$work/c.ini" --set "data.train_source=$work/blank"
expect 1 'no pair is left' "$train" "$work/c.ini" --set data.max_length=1 --set "output.dir=$work/other"
expect 1 'vocab_size' "$train" "$work/c.ini" --set tokenizer.vocab_size=100
expect 1 'batch_token.*batch_tokens' "$train" "$work/c.ini" --set train.batch_token=5
expect 1 'heads' "$train" "$work/c.ini" --set model.heads=3
expect 1 'directory' "$train" "$work/c.ini" --set "output.dir=$work/train.en/run"
[ ! -e "$work/run/state.safetensors" ] || fail "a refused run has a state"

expect 2 'no run directory' "$translate"
expect 1 'nowhere' "$translate" "$work/nowhere"
expect 1 "$work" "$translate" "$work"
expect 2 'give two files' "$evaluate" one
expect 1 'has 299 lines but .*train.en has 300' "$evaluate" "$work/short.fr" "$work/train.en"
# What is printed into a full disk is not printed.
for program in "$train" "$translate" "$evaluate" "$tokenize"; do
    [ ! -e /dev/full ] || expect 1 'writing failed: No space left on device' sh -c "'$program' --help >/dev/full"
done
finish
