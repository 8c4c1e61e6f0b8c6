#!/bin/sh
# report.html from the outside: when it is written, what of it is said, what metrics.jsonl tells for it.
. tests/support/cli.sh

small_config "$work/run" >"$work/c.ini"
printf '</script><script>alert(1)</script>\n' >>"$work/valid.en"
printf '<!-- "quotes" \342\200\250 \360\237\230\200 -->\n' >>"$work/valid.fr"
report="report     $work/run/report.html"

# Said at the first validation and at the end, and nowhere between.
expect 0 '^finished' "$train" "$work/c.ini" --set valid.samples=21
[ "$(grep -c '^report ' "$work/out")" -eq 2 ] || fail "the report is not named twice"
grep -A 1 '\[valid\] .* update 5 ' "$work/out" | grep -qF "$report" || fail "the report is not named at the first validation"
grep -B 1 '^translate' "$work/out" | grep -qF "$report" || fail "the report is not named at the end"
[ "$(grep -c '^    source ' "$work/out")" -eq 9 ] || fail "three samples of each validation belong in the log"
[ ! -e "$work/run/report.html.tmp" ] || fail "a temporary file was left"

# The page is whole; the text of the corpus stays text, inside three scripts of the page's own.
grep -q '"status":"all updates done"' "$work/run/report.html" || fail "the report tells another end"
[ "$(grep -c '</script>' "$work/run/report.html")" -eq 3 ] || fail "a sentence ends a script of the page"
grep -q 'u003c/script>' "$work/run/report.html" || fail "the odd sentence is not among the samples"
tail -n 1 "$work/run/report.html" | grep -q '^</html>$' || fail "the page has no end"
grep -qE '@(include|DATA)' "$work/run/report.html" && fail "the page has an unfilled place"

# The buckets are the validation loss, dealt out: tokens add up, and the mean over them is nll.
grep '"kind":"valid"' "$work/run/metrics.jsonl" >"$work/valid.jsonl"
[ "$(wc -l <"$work/valid.jsonl")" -eq 3 ] || fail "three validations were due"
awk '{
    match($0, /"nll":[0-9.e-]+/); whole = substr($0, RSTART + 6, RLENGTH - 6); tokens = sum = 0
    list = $0; sub(/.*"buckets":\[/, "", list); sub(/\].*/, "", list); count = split(list, bucket, "}")
    for (i = 1; i < count; i++) {
        match(bucket[i], /"tokens":[0-9]+/); t = substr(bucket[i], RSTART + 9, RLENGTH - 9)
        match(bucket[i], /"nll":[0-9.e-]+/); tokens += t; sum += t * substr(bucket[i], RSTART + 6, RLENGTH - 6)
    }
    if (count < 3 || tokens == 0 || (sum / tokens - whole) ^ 2 > 1e-12) bad = 1
} END { exit bad }' "$work/valid.jsonl" || fail "the losses by length do not add up to nll"
[ "$(head -n 1 "$work/valid.jsonl" | grep -o '"hypothesis":' | wc -l)" -eq 21 ] || fail "21 samples were asked for"

# Each pair's loss is its own, however the pairs are cut into pieces.
for rows in 20 100000; do
    small_config "$work/rows$rows" >"$work/rows.ini"
    expect 0 '^finished' "$train" "$work/rows.ini" --set train.updates=1 --set train.lr=1e-12 --set train.piece_rows=$rows
    grep -o '"buckets":[^]]*' "$work/rows$rows/metrics.jsonl" | grep -o '"nll":[^}]*' | cut -d: -f2 >"$work/rows$rows.nll"
done
paste "$work/rows20.nll" "$work/rows100000.nll" | awk '($1 - $2) ^ 2 > 1e-8 { bad = 1 } END { exit bad || NR < 2 }' ||
    fail "pieces change the losses by length"

# The same whatever the threads; none where none are wanted.
small_config "$work/one" >"$work/one.ini"
expect 0 '^finished' "$train" "$work/one.ini" --threads 1 --set valid.samples=21
for run in run one; do grep '"kind":"valid"' "$work/$run/metrics.jsonl" | sed 's/,"seconds":[0-9.e-]*//' >"$work/$run.valid"; done
same_files "$work/run.valid" "$work/one.valid" "threads change what a validation finds"
expect 0 '^finished' "$train" "$work/one.ini" --set valid.samples=0 --set train.updates=15
grep -q '^    source ' "$work/out" && fail "samples were printed though none are wanted"
tail -n 1 "$work/one/metrics.jsonl" | grep -q '"samples":\[\]}' || fail "samples were kept though none are wanted"

# Two runs in one picture: a line each, with a point for each validation.
scripts/curves.sh nll minutes 'a < b' "one=$work/one/metrics.jsonl" "a & b=$work/run/metrics.jsonl" >"$work/curves.svg" || fail "no curves"
[ "$(grep -c 'clip-path="url(#area)"' "$work/curves.svg")" -eq 2 ] || fail "two runs are not two lines"
points=$(grep 'stroke="#d1495b" stroke-width="2"' "$work/curves.svg" | grep -o '[ML][0-9.]* [0-9.]*' | wc -l)
[ "$points" -eq 3 ] || fail "three validations are $points points"
grep -q '>a &lt; b<' "$work/curves.svg" && grep -q '>a &amp; b<' "$work/curves.svg" || fail "labels are not text"
expect 1 'cannot read' scripts/curves.sh nll minutes title "run=$work/nowhere"
printf '%s' "$(cat "$work/one/metrics.jsonl")" >"$work/open=end.jsonl" # a file without its last newline, or a line cut off
printf '%s' "$(grep '"kind":"valid"' "$work/run/metrics.jsonl" | head -n 2 | head -c -9)" >"$work/cut.jsonl"
(cd "$work" && "$OLDPWD/scripts/curves.sh" nll update '\x3c' "one=open=end.jsonl" "b=run/metrics.jsonl" "cut=cut.jsonl") >"$work/curves.svg" || fail "no curves of odd files"
[ "$(grep -c 'clip-path="url(#area)"' "$work/curves.svg")" -eq 3 ] || fail "three runs are not three lines"
[ "$(grep 'stroke="#2e8b57" stroke-width="2"' "$work/curves.svg" | grep -o '[ML][0-9.]* [0-9.]*' | wc -l)" -eq 1 ] || fail "a line cut off is drawn"
grep -qF '>\x3c<' "$work/curves.svg" || fail "the title is not text"
sed 's/"nll":[0-9.]*/"nll":1e999/' "$work/one/metrics.jsonl" >"$work/endless.jsonl"
expect 1 'no validation with nll and minutes in .*endless' scripts/curves.sh nll minutes title "run=$work/endless.jsonl"
printf '{"kind":"valid","update":%d,"epoch":1,"nll":1e20,"seconds":1}\n' 1 1 2 >"$work/large.jsonl" # the first is superseded
scripts/curves.sh nll update "t" "$(printf 'one\nx')=$work/large.jsonl" "two=$work/run/metrics.jsonl" >"$work/curves.svg" || fail "no curves of large numbers"
[ "$(grep 'stroke="#0a6ebd" stroke-width="2"' "$work/curves.svg" | grep -o '[ML][0-9.]* [0-9.]*' | wc -l)" -eq 2 ] || fail "a superseded line is drawn"
grep -q '>two<' "$work/curves.svg" || fail "a label is lost"
FROM=nan expect 2 'are numbers like .*, not "nan"' scripts/curves.sh nll minutes title "run=$work/run/metrics.jsonl"
TO=-5 expect 1 'the axis would go from' scripts/curves.sh nll minutes title "run=$work/run/metrics.jsonl"
expect 2 'no figure speed' scripts/curves.sh speed minutes title "run=$work/run/metrics.jsonl"

# A report that cannot be written is said, and stops nothing; what was there stays.
small_config "$work/stuck" >"$work/stuck.ini"
mkdir -p "$work/stuck/report.html"
touch "$work/stuck/lock"
expect 0 'note +.*stuck/report.html: is a directory.*the run is not affected' "$train" "$work/stuck.ini"
grep -q '^finished' "$work/out" || fail "training ended otherwise without a report"
[ -s "$work/stuck/model.safetensors" ] || fail "no model without a report"

# Without validation data there is a report at the end.
grep -v '^valid_' "$work/c.ini" | sed '/^\[valid\]/,/^every/d' >"$work/alone.ini"
expect 0 "^report +$work/alone/report.html" "$train" "$work/alone.ini" --set output.dir="$work/alone"
grep -q '"valid":\[\]' "$work/alone/report.html" || fail "the report has validations of a run without any"
finish
