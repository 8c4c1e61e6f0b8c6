#!/bin/sh
# ./translate: a line for each line, in order, whatever the lines, the batch and the threads.
. tests/support/cli.sh

small_config "$work/run" >"$work/c.ini"
expect 0 'finished' "$train" "$work/c.ini" --set train.updates=150 --set valid.every=1000

# Validation scored what ./translate gives, as ./evaluate does.
"$translate" "$work/run" <"$work/valid.en" >"$work/all" 2>"$work/err"
scores=$("$evaluate" "$work/all" "$work/valid.fr" --score-only --metrics bleu chrf | tr '\n' ' ')
printed=$(sed -nE 's/.* \[valid\] .*  bleu ([0-9.]+)  chrf ([0-9.]+)  .*/\1 \2 /p' "$work/run/train.log")
[ "$printed" = "$scores" ] || fail "validation printed $printed, evaluate $scores"
[ "$(grep -c '^scores .*BLEU|nrefs:1|.*chrF2|nrefs:1|' "$work/run/train.log")" -eq 1 ] || fail "the signatures are not printed once"

# Blank lines stay blank, everything else gives something; odd text, a long line, no newline at the end.
printf 'The cat sleeps.\n\n   \t \nWho will follow her?\r\n\377\376 broken\n\360\237\230\200 \342\200\250 x\n</s> <unk>\n' >"$work/in"
awk 'BEGIN { for (i = 0; i < 300; i++) printf "the small cat "; print "" }' >>"$work/in"
awk 'BEGIN { for (i = 0; i < 500; i++) printf "zq "; print "" }' >>"$work/in"
printf 'The dog eats.' >>"$work/in"
"$translate" "$work/run" <"$work/in" >"$work/all" 2>"$work/err" || fail "translate failed"
[ "$(wc -l <"$work/all")" -eq 10 ] || fail "$(wc -l <"$work/all") lines out for 10 lines in"
blank=$(grep -n '^$' "$work/all" | cut -d: -f1 | tr '\n' ' ')
[ "$blank" = "2 3 " ] || fail "blank lines out: $blank"
grep -qE 'line 9: [0-9]+ tokens, where training knew at most 250; it is translated whole' "$work/err" || fail "no warning for the over-long line"
for i in 1 2 3 4 5 6 7; do sed -n 9p "$work/in"; done | "$translate" "$work/run" --quiet --max-length 2 2>"$work/many" >/dev/null
[ "$(grep -c 'translated whole' "$work/many")" -eq 5 ] || fail "not five warnings for seven over-long lines"
grep -qx 'translate: 2 more lines were longer than 250 tokens' "$work/many" || fail "more over-long lines are not counted"
[ "$(grep -c 'translated whole' "$work/err")" -eq 2 ] || fail "not two warnings for two over-long lines"
iconv -f UTF-8 -t UTF-8 "$work/all" >/dev/null 2>&1 || fail "the output is not UTF-8"

# The same line alone and in a file, with one thread and three, from a file and from standard input.
head -n 60 data/toy/test.en >"$work/in"
"$translate" "$work/run" <"$work/in" >"$work/all"
"$translate" "$work/run" --threads 1 --input "$work/in" --output "$work/one"
"$translate" "$work/run" --threads 3 <"$work/in" >"$work/three"
same_files "$work/all" "$work/one" "one thread"
same_files "$work/all" "$work/three" "three threads"
for i in 1 17 33 60; do
    sed -n "${i}p" "$work/in" | "$translate" "$work/run" >"$work/alone"
    sed -n "${i}p" "$work/all" >"$work/together"
    same_files "$work/alone" "$work/together" "line $i alone"
done
sort -R --random-source="$work/in" "$work/in" >"$work/shuffled"
"$translate" "$work/run" <"$work/shuffled" | sort >"$work/a"
sort "$work/all" >"$work/b"
same_files "$work/a" "$work/b" "another order"

# Beam search.
"$translate" "$work/run" --beam-size 4 <"$work/in" >"$work/beam"
"$translate" "$work/run" --beam-size 4 --threads 3 <"$work/shuffled" | sort >"$work/a"
sort "$work/beam" >"$work/b"
same_files "$work/a" "$work/b" "a beam, another order and three threads"
cmp -s "$work/beam" "$work/all" && fail "a beam of 4 finds nothing but the greedy translations"
"$translate" "$work/run" --beam-size 1 --length-penalty 0 <"$work/in" >"$work/one"
same_files "$work/all" "$work/one" "a beam of one"

# A pipe that waits for an answer gets it before the next line comes; spaces of other scripts are blank.
mkfifo "$work/questions"
"$translate" "$work/run" <"$work/questions" >"$work/answers" &
child=$!
exec 3>"$work/questions"
echo 'The cat sleeps.' >&3
tries=0
until [ -s "$work/answers" ] || [ "$tries" -ge 300 ]; do sleep 0.1; tries=$((tries + 1)); done
[ -s "$work/answers" ] || fail "no answer while the pipe is open"
exec 3>&-
wait "$child" || fail "translate failed at the end of a pipe"
printf '\357\273\277\n\302\240\343\200\200 \n' | "$translate" "$work/run" >"$work/blank"
[ "$(tr -d '\n' <"$work/blank" | wc -c)" -eq 0 ] || fail "text for a blank line"

# Compressed files, known by what they hold when read and by their name when written; a cut one is a failure.
gzip -c "$work/in" >"$work/in.gz"
"$translate" "$work/run" --input "$work/in.gz" --output "$work/out.gz" || fail "a .gz was not translated"
gzip -dc "$work/out.gz" >"$work/unpacked"
same_files "$work/all" "$work/unpacked" "through .gz"
"$translate" "$work/run" <"$work/in.gz" >"$work/unpacked"
same_files "$work/all" "$work/unpacked" "a .gz as standard input"
head -c 700 "$work/in.gz" >"$work/cut.gz"
expect 1 'cut.gz: is damaged or cut' "$translate" "$work/run" --input "$work/cut.gz"
[ "$(wc -l <"$work/out")" -gt 5 ] || fail "nothing of a cut .gz was translated"
expect 1 'full.gz: No such file|No such file' "$translate" "$work/run" --input "$work/in" --output "$work/none/full.gz"
cp "$work/in" "$work/both"
expect 1 'both input and output' "$translate" "$work/run" --input "$work/both" --output "$work/both"
same_files "$work/in" "$work/both" "a refused translation changed its input"

: | "$translate" "$work/run" >"$work/none" || fail "no lines in is a failure"
[ ! -s "$work/none" ] || fail "lines out for no lines in"

# The run directory is checked before anything is translated.
cp -r "$work/run" "$work/bad"
head -c 3000 "$work/run/model.safetensors" >"$work/bad/model.safetensors"
expect 1 'model.safetensors' "$translate" "$work/bad" --input "$work/in"
cp "$work/run/model.safetensors" "$work/bad/model.safetensors"
sed -i 's/d_model = 32/d_model = 64/' "$work/bad/config.ini"
expect 1 'model.safetensors.*(shape|tensors)|config.ini' "$translate" "$work/bad" --input "$work/in"
cp "$work/run/config.ini" "$work/bad/config.ini"
echo '{' >"$work/bad/tokenizer.json"
expect 1 'tokenizer.json' "$translate" "$work/bad" --input "$work/in"
rm "$work/bad/tokenizer.json"
expect 1 'tokenizer.json' "$translate" "$work/bad" --input "$work/in"
[ ! -c /dev/full ] || expect 1 'translate: .*full' "$translate" "$work/run" --input "$work/in" --output /dev/full
limited() { (ulimit -f 1; exec "$translate" "$work/run" --quiet --input "$work/in" --output "$work/limited" 2>&1) | cat; }
! takes_file_limits || limited >"$work/said"
! takes_file_limits || grep -q 'limited: writing failed: File too large' "$work/said" || fail "a write that fails says $(cat "$work/said")"
# Closed streams: nothing is said to have worked, and no warning ends in the output.
closed() { "$translate" "$work/run" --quiet --input "$work/in" 2>&1 >&-; }
expect 1 'standard output: writing failed: Bad file descriptor' closed
"$translate" "$work/run" --input "$work/in" --output "$work/apart" <&- 2>&-
"$translate" "$work/run" --quiet --input "$work/in" >"$work/whole"
same_files "$work/apart" "$work/whole" "standard error was closed"
expect 2 'threads' "$translate" "$work/run" --threads none
expect 2 'beam-size 0: give a whole number from 1' "$translate" "$work/run" --beam-size 0
expect 2 'length-penalty -1: give a number from 0' "$translate" "$work/run" --length-penalty -1
finish
