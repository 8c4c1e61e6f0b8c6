#!/bin/sh
# The shipped example from the command line to its promise: at least 97% of unseen sentences and 90% of those with word
# pairs that never met in training are translated exactly.
. tests/support/cli.sh

expect 0 'finished' "$train" configs/tiny_translate.ini --set "output.dir=$work/run"
percent() { # name of a test set
    "$translate" "$work/run" <"data/toy/$1.en" >"$work/$1.fr"
    "$evaluate" "$work/$1.fr" "data/toy/$1.fr" | sed -nE 's/^exact match = ([0-9.]+) .*/\1/p'
}
at_least() { # name, least
    figure=$(percent "$1")
    echo "$1: $figure% exact"
    awk -v x="$figure" -v least="$2" 'BEGIN { exit !(x >= least) }' || fail "$1: $figure% is below $2%"
}
at_least test 97
at_least test_pairs 90
at_least minimal_pairs 90
finish
