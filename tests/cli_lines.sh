#!/bin/sh
# ./translate's lines: as many out as in whatever they hold, in windows, one by one where asked, and from a terminal.
. tests/support/cli.sh

small_config "$work/run" >"$work/c.ini"
expect 0 'finished' "$train" "$work/c.ini" --set train.updates=30 --set valid.every=1000

# Odd lines, more than several windows hold: blank ones stay blank, none of the others is lost or split.
awk 'BEGIN {
    for (i = 1; i <= 5000; i++)
        if (i % 9 == 0) print ""
        else if (i % 9 == 1) printf " \t \342\200\203\n"
        else if (i % 9 == 2) printf "\360\237\230\200 %d \342\200\250 x\r\n", i
        else if (i % 9 == 3) printf "\377\376 broken \355\240\200 %d\n", i
        else if (i % 9 == 4) printf "control \001\002\033[0m \013 %d\n", i
        else if (i % 9 == 5) { for (j = 0; j < 12; j++) printf "same "; print "" }
        else if (i % 9 == 6) print "</s> <unk> <pad> <0x0A> \342\226\201"
        else if (i % 9 == 7) print "The cat sleeps."
        else print i
}' >"$work/odd"
"$translate" "$work/run" --max-length 3 <"$work/odd" >"$work/out" 2>"$work/err" || fail "translate failed"
[ "$(wc -l <"$work/out")" -eq 5000 ] || fail "$(wc -l <"$work/out") lines out for 5000 lines in"
iconv -f UTF-8 -t UTF-8 "$work/out" >/dev/null 2>&1 || fail "the output is not UTF-8"
awk 'NR % 9 < 2 { if ($0 != "") print NR; next } NR % 9 == 7 { if (first == "") first = $0; if ($0 != first) print NR }' \
    "$work/out" >"$work/wrong"
[ ! -s "$work/wrong" ] || fail "wrong lines: $(head -n 5 "$work/wrong" | tr '\n' ' ')"
grep -qE '^translate: 5000 lines in [0-9.]+ s, [0-9.]+ lines/s$' "$work/err" || fail "no line of progress"
"$translate" "$work/run" --quiet --max-length 3 <"$work/odd" 2>&1 >/dev/null | head -n 1 >"$work/err"
[ ! -s "$work/err" ] || fail "--quiet says $(cat "$work/err")"

# Line by line on a pipe: --stream answers each line before it reads the next, though more are there.
head -n 30 "$work/odd" >"$work/few"
"$translate" "$work/run" --stream <"$work/few" >"$work/a" 2>/dev/null
"$translate" "$work/run" <"$work/few" >"$work/b" 2>/dev/null
same_files "$work/a" "$work/b" "streamed"

# A terminal is asked for each line.
if command -v script >/dev/null; then
    printf 'The cat sleeps.\n\nThe dog eats.\n' >"$work/few"
    "$translate" "$work/run" <"$work/few" >"$work/b" 2>/dev/null
    (cat "$work/few"; sleep 1; printf '\004') | TERM=dumb script -qec "stty -echo; $translate $work/run" /dev/null >"$work/typed"
    tr -d '\r' <"$work/typed" >"$work/a"
    [ "$(grep -c '^> ' "$work/a")" -eq 4 ] || fail "$(grep -c '^> ' "$work/a") prompts for 3 lines and the end"
    for i in 1 3; do
        grep -qxF "> $(sed -n "${i}p" "$work/b")" "$work/a" || fail "no answer to line $i at a terminal"
    done
fi
finish
