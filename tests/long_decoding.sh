#!/bin/sh
# Whole test sets decoded alone, in batches of several sizes and on 1 to 4 threads: the same bytes, scores included; and 10,000
# odd lines of all kinds, which give 10,000 lines.
. tests/support/cli.sh

expect 0 'finished' "$train" configs/tiny_translate.ini --set train.updates=300 --set "output.dir=$work/run"
(cat data/toy/test.en; head -n 100 data/toy/test_long.en) >"$work/in"
for search in "" "--beam-size 5 --n-best 3" "--beam-size 5 --coverage-penalty 0.2 --alignment=0.2" "--sampling-topp 0.9"; do
    # Word splitting is wanted.
    # shellcheck disable=SC2086
    decode() { "$translate" "$work/run" --quiet --input "$work/in" --word-scores $search "$@"; }
    decode --batch-tokens 1 --threads 1 >"$work/alone"
    for batch in 60 300 1500; do
        for threads in 1 2 3 4; do
            decode --batch-tokens $batch --threads $threads >"$work/other"
            same_files "$work/alone" "$work/other" "$search, $batch tokens, $threads threads"
        done
    done
done

awk 'BEGIN {
    for (i = 1; i <= 9990; i++)
        if (i % 9 == 0) print ""
        else if (i % 9 == 1) printf " \t \342\200\203\n"
        else if (i % 9 == 2) printf "\360\237\230\200 %d \342\200\250 x\r\n", i
        else if (i % 9 == 3) printf "\377\376 broken \355\240\200 %d\n", i
        else if (i % 9 == 4) printf "control \001\002\033[0m \013 %d\n", i
        else if (i % 9 == 5) { for (j = 0; j < i % 200; j++) printf "same "; print "x" }
        else if (i % 9 == 6) print "</s> <unk> <pad> <0x0A> \342\226\201"
        else if (i % 9 == 7) print "The cat sleeps."
        else print i
    for (i = 1; i <= 10; i++) { for (j = 0; j < 500 * i; j++) printf "word "; print "" }
}' >"$work/odd"
"$translate" "$work/run" --quiet --max-length 20 <"$work/odd" >"$work/out" 2>"$work/err" || fail "translate failed"
[ "$(wc -l <"$work/out")" -eq 10000 ] || fail "$(wc -l <"$work/out") lines out for 10000 lines in"
grep -qE '^translate: [0-9]{3} more lines were longer than 250 tokens' "$work/err" || fail "long lines are not counted"
[ "$(wc -l <"$work/err")" -eq 6 ] || fail "$(wc -l <"$work/err") lines of warnings"
finish
