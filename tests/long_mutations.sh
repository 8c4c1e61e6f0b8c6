#!/bin/sh
# Shows that the gradient tests can fail: applies each mistake of tests/mutations.txt to a copy of the sources, and
# a test of gradients has to fail. Works in a temporary folder; a line that no longer fits the sources is an error.
# Usage: tests/long_mutations.sh [PART OF A LINE]    only the lines that contain the text
set -u
only=${1:-}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
. "$root/scripts/mutations.sh"
cc="${CC:-gcc} -std=c11 -D_GNU_SOURCE -DTANDEM_DOUBLE -O1 -I$work"
all_tests="gradient_modules gradient_attention gradient_layers gradient_loss gradient_model"

die() {
    echo "long_mutations.sh: $*" >&2
    exit 1
}

compile() { # file: from the copy, to an object beside it
    $cc -c -o "$work/${1%.c}.o" "$work/$1" 2>"$work/messages"
}

link_test() { # test
    $cc -o "$work/$1" "$work/tests/$1.o" "$work"/base/*.o "$work"/model/*.o "$work"/study/*.o \
        "$work"/tests/support/probe.o "$work"/tests/support/small_model.o -lopenblas -lcmocka -lm
}

passes() { # test: false if it fails, crashes or hangs
    link_test "$1" || die "$1 does not link"
    (ulimit -t 60 && OMP_NUM_THREADS=1 "$work/$1") >"$work/output" 2>&1 # seconds of computing: other load does not count
}

# The test that notices a mistake in this file soonest comes first.
tests_for() {
    case $1 in
    model/attention*) first=gradient_attention ;;
    model/feedforward.c | model/*_layer.c) first=gradient_layers ;;
    model/loss.c | model/rdrop.c) first=gradient_loss ;;
    model/encoder.c | model/decoder.c | model/transformer.c) first=gradient_model ;;
    *) first=gradient_modules ;;
    esac
    echo "$first"
    for test in $all_tests; do [ "$test" = "$first" ] || echo "$test"; done
}

notice() { # file: prints the test that failed
    for test in $(tests_for "$1"); do
        passes "$test" || { echo "$test" && return 0; }
    done
    return 1
}

mkdir -p "$work/tests/support" "$work/original"
cp -r "$root/base" "$root/model" "$root/study" "$work/"
cp -r "$work/model" "$work/original/"
for test in $all_tests; do cp "$root/tests/$test.c" "$work/tests/"; done
cp "$root"/tests/support/probe.[ch] "$root"/tests/support/small_model.[ch] "$work/tests/support/"
(cd "$work" && ls base/*.c model/*.c study/gradient_check.c study/probe.c study/modules*.c study/model_check.c tests/support/*.c tests/*.c) >"$work/files"
while read -r file; do
    compile "$file" || die "$file does not compile: $(cat "$work/messages")"
done <"$work/files"
for test in $all_tests; do
    passes "$test" || die "$test fails without any mistake: $(tail -n 5 "$work/output")"
done

passed=0 failed=0
while IFS= read -r line; do
    case $line in '' | '#'*) continue ;; esac
    case $line in *"$only"*) ;; *) continue ;; esac
    mutation_split "$line"
    mutation_apply "$work/original/$file" >"$work/$file" || die "$file: not exactly once in the file: $OLD"
    compile "$file" || die "$file: \"$NEW\" does not compile: $(cat "$work/messages")"
    if test=$(notice "$file"); then
        echo "noticed  $file: $note ($test)"
        passed=$((passed + 1))
    else
        echo "MISSED   $file: $note: $OLD -> $NEW"
        failed=$((failed + 1))
    fi
    cp "$work/original/$file" "$work/$file"
    compile "$file"
done <"$root/tests/mutations.txt"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
