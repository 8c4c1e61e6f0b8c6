#!/bin/sh
# The inner loops of training are vectorised under the flags that the programs were built with, and a lost flag is noticed.
# Skipped where gcc's report is not to be had, or the build is not for speed.
. tests/support/cli.sh
flags=$(cat "$PROGRAMS/../flags" 2>/dev/null)
# shellcheck disable=SC2086 # words are wanted
set -- $flags

case "$flags" in
'' | *-fsanitize* | *DTANDEM_DEBUG*) echo "not a build for speed"; exit 77 ;;
esac
{ "$1" --version | grep -q 'Free Software Foundation' && [ "$(uname -m)" = x86_64 ]; } || { echo "not gcc on x86-64"; exit 77; }

# without FLAG MARCH: the words of the flags but this one, for that machine.
without() {
    for word in $flags; do
        case "$word" in "$1" | -march=* | -mprefer-vector-width=*) ;; *) echo "$word" ;; esac
    done
    echo "-march=$2"
}

expect 0 '^tile +vectorised with (16|32|64)-byte vectors' scripts/check_vectorised.sh "$@"
[ "$(grep -c 'vectorised with' "$work/out")" -ge 20 ] || fail "loops are missing: $(cat "$work/out")"

# check FILE FLAG: one file, without that flag.
# shellcheck disable=SC2046 # words are wanted
check() { ONLY=$1 scripts/check_vectorised.sh $(without "$2" x86-64-v2); }
expect 0 '^softmax_forward +vectorised with 16-byte' check softmax none
expect 1 '^softmax_forward +NOT vectorised: model/softmax.c' check softmax -fno-trapping-math
expect 1 '^adam_update +NOT vectorised: training/optimizer.c' check optimizer -fno-math-errno
expect 1 '^vec_sum_squares +NOT vectorised: base/vec.c' check vec -fopenmp
expect 1 'check_vectorised: base/vec.c does not compile' check vec -I.
finish
