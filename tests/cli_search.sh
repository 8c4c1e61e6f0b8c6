#!/bin/sh
# ./translate's search: what its options promise, seen in its output.
. tests/support/cli.sh

small_config "$work/run" >"$work/c.ini"
expect 0 'finished' "$train" "$work/c.ini" --set train.updates=150 --set valid.every=1000
head -n 40 data/toy/test.en >"$work/in"
echo '  ' >>"$work/in"
search() { "$translate" "$work/run" --quiet --beam-size 4 "$@" <"$work/in"; }
search >"$work/best"

# check TITLE AWK-PROGRAM FILE...: the program prints what is wrong.
check() {
    title=$1 program=$2
    shift 2
    wrong=$(awk -F ' [|][|][|] ' "function near(a, b) { return a - b < 0.00002 && b - a < 0.00002 } $program" "$@")
    [ -z "$wrong" ] || fail "$title: $(echo "$wrong" | head -n 3)"
}

# n-best: numbered from 0, the best first and equal to the translation, sorted, distinct, scores as defined.
search --n-best 3 --length-penalty 0.7 --pieces --word-scores >"$work/nbest"
[ "$(wc -l <"$work/nbest")" -eq $((40 * 3 + 1)) ] || fail "$(wc -l <"$work/nbest") lines of n-best"
check "n-best" '{
    if (NF != 5) print "fields in " $0
    if (seen[$1, $2]++) print "twice: " $0
    if (NR > 1 && $1 == line && $5 + 0 > last + 0) print "not sorted: " $0
    if (NR > 1 && $1 != line && $1 != line + 1) print "number: " $0
    line = $1; last = $5
    n = $2 == "" ? 0 : split($2, pieces, " "); m = split($3, w, " "); f = $4; sub("F0= ", "", f); sum = 0
    for (i = 2; i <= m; i++) sum += w[i]
    if ($1 < 40 && (m != n + 2 || w[1] != "WordScores=" || !near(sum, f))) print "word scores: " $0
    if (!near($5, f / (n + 1) ^ 0.7)) print "score: " $0
}' "$work/nbest"
grep -qx '40 |||  ||| WordScores= 0.000000 ||| F0= 0.000000 ||| 0.000000' "$work/nbest" || fail "n-best of a blank line: $(tail -n 1 "$work/nbest")"
search --n-best 1 | sed 's/^[0-9]* ||| //; s/ ||| F0= .*//' >"$work/first"
same_files "$work/best" "$work/first" "the first of n-best"
search --scores | sed 's/^[-0-9.]* ||| //' >"$work/first"
same_files "$work/best" "$work/first" "with scores"
search --scores --word-scores >"$work/x"
check "scores" '{
    m = split($3, w, " "); sum = 0
    for (i = 2; i <= m; i++) sum += w[i]
    if (m > 0 && !near($1, sum / (m - 1))) print $0
}' "$work/x"

# Lengths, repetitions and beginnings.
search --pieces --min-length 12 >"$work/x"
check "at least 12" 'split($0, p, " ") < 12 && NR < 41 { print $0 }' "$work/x"
search --pieces --max-length 5 >"$work/x"
check "at most 5" 'split($0, p, " ") > 5 { print $0 }' "$work/x"
search --pieces --max-length-factor 0 >"$work/x"
check "factor 0" 'split($0, p, " ") > 20 { print $0 }' "$work/x"
search --pieces --no-repeat-ngram-size 2 >"$work/x"
check "repetition" '{
    n = split($0, p, " "); split("", pairs)
    for (i = 1; i < n; i++) if (pairs[p[i], p[i + 1]]++) { print $0; break }
}' "$work/x"
yes 'Le chien' | head -n 41 | sed '3s/.*//' >"$work/prefix"
search --prefix "$work/prefix" >"$work/begun"
check "beginnings" '{ if (NR == 41 ? $0 != "" : NR != 3 && index($0, "Le chien") != 1) print $0 }' "$work/begun"
sed -n 3p "$work/best" >"$work/a"
sed -n 3p "$work/begun" >"$work/b"
same_files "$work/a" "$work/b" "an empty beginning"
head -n 20 "$work/prefix" >"$work/short"
expect 1 'short has only 20 lines, but the input goes on' "$translate" "$work/run" --input "$work/in" --prefix "$work/short"
head -n 20 "$work/in" >"$work/few"
expect 1 "prefix has more lines than the input's 20" "$translate" "$work/run" --input "$work/few" --prefix "$work/prefix"
cp "$work/prefix" "$work/both"
expect 1 'both is both input and output' "$translate" "$work/run" --input "$work/in" --prefix "$work/both" --output "$work/both"
same_files "$work/prefix" "$work/both" "a refused translation changed its beginnings"

# Coverage only changes the order.
search --n-best 4 | sort >"$work/a"
search --n-best 4 --coverage-penalty 0 | sort >"$work/b"
same_files "$work/a" "$work/b" "no coverage penalty"
search --n-best 4 --coverage-penalty 2 >"$work/covered"
check "coverage" 'NR > 1 && $1 == line && $4 + 0 > last + 0 { print "not sorted: " $0 } { line = $1; last = $4 }' "$work/covered"
cut -d'|' -f1-7 "$work/a" >"$work/b"
sort "$work/covered" | cut -d'|' -f1-7 >"$work/c"
same_files "$work/b" "$work/c" "the hypotheses with a coverage penalty"
cmp -s "$work/a" "$work/covered" && fail "a coverage penalty changes nothing"

# Scoring gives the pieces of an n-best list the scores that the search gave them, and text those of its pieces.
cut -d'|' -f1 "$work/nbest" | while read -r i; do sed -n "$((i + 1))p" "$work/in"; done >"$work/sources"
sed 's/^[0-9]* ||| //; s/ ||| WordScores=.*//' "$work/nbest" >"$work/targets"
score() { "$translate" "$work/run" --quiet --input "$work/sources" "$@"; }
sed 's/.* ||| WordScores= //; s/ ||| F0= / /; s/ ||| .*//' "$work/nbest" >"$work/a"
score --score "$work/targets" --score-ids --word-scores | awk '{ $2 = $3 = ""; first = $1; $1 = ""; print $0, first }' | sed 's/^ *//' >"$work/b"
check "word scores" 'NR == FNR { a[NR] = $0; next } {
    n = split(a[FNR], x, " "); m = split($0, y, " ")
    if (n != m) print n, m, $0
    for (i = 1; i <= n; i++) if (!near(x[i], y[i])) print x[i], y[i]
}' "$work/a" "$work/b"
sed 's/.* ||| //' "$work/nbest" >"$work/a"
score --score "$work/targets" --score-ids --normalize --length-penalty 0.7 >"$work/b"
same_files "$work/a" "$work/b" "normalised scores"
"$translate" "$work/run" --quiet --score "$work/best" <"$work/in" >"$work/a"
"$translate" "$work/run" --quiet --score "$work/best" --threads 1 --batch-tokens 1 <"$work/in" >"$work/b"
same_files "$work/a" "$work/b" "scores alone"
sum=$("$translate" "$work/run" --quiet --score "$work/best" --word-scores <"$work/in" |
    awk 'NR < 41 { sum -= $1; n += NF - 3 } END { printf "%.3f %.2f\n", sum / n, exp(sum / n) }')
ce=$("$translate" "$work/run" --quiet --score "$work/best" --summary cross-entropy <"$work/in")
ppl=$("$translate" "$work/run" --quiet --score "$work/best" --summary perplexity <"$work/in")
[ "$sum" = "$(printf '%.3f %.2f' "$ce" "$ppl")" ] || fail "summary $ce $ppl, not $sum"
tail -n 1 "$work/a" | grep -qx '0.000000' || fail "blank for blank scores $(tail -n 1 "$work/a")"
printf 'x\n\n' >"$work/two"
printf '\ny\n' | "$translate" "$work/run" --quiet --score "$work/two" >"$work/x"
check "blank on one side" '!($1 < 0) { print $0 }' "$work/x"
printf 'nosuchpiece\n' >"$work/bad"
expect 1 'bad:1: "nosuchpiece" is no piece' "$translate" "$work/run" --input "$work/in" --score "$work/bad" --score-ids
expect 1 'two has only 2 lines' "$translate" "$work/run" --input "$work/in" --score "$work/two"
expect 2 'score searches nothing: leave out --n-best' "$translate" "$work/run" --score "$work/two" --n-best 2
expect 2 'normalize needs --score' "$translate" "$work/run" --normalize
expect 2 'summary bleu: give cross-entropy or perplexity' "$translate" "$work/run" --score "$work/two" --summary bleu

# Alignments: pairs of words that are there; soft ones are distributions.
search --alignment >"$work/aligned"
sed 's/ ||| .*//' "$work/aligned" >"$work/a"
same_files "$work/best" "$work/a" "text with an alignment"
paste -d'|' "$work/in" "$work/aligned" | sed 's/|/ ||| /' >"$work/x"
check "pairs of words" 'NR < 41 {
    n = split($3, pair, " "); sources = split($1, w, " "); targets = split($2, w, " "); if (targets > 0 && n == 0) print "none: " $0
    for (i = 1; i <= n; i++) { split(pair[i], p, "-"); if (p[1] >= sources || p[2] >= targets) print pair[i] " in " $0 }
}' "$work/x"
search --alignment=soft --pieces >"$work/x"
check "soft" 'NR < 41 {
    if (split($2, row, " ") != split($1, p, " ") + 1) print "rows: " $0
    for (j in row) { n = split(row[j], w, ","); sum = 0; for (i = 1; i <= n; i++) sum += w[i]; if (!near(sum, 1)) print sum }
}' "$work/x"
search --n-best 2 --alignment=0.3 --word-scores >"$work/x"
check "n-best with all" 'NF != 6 { print $0 }' "$work/x"
search --pieces >"$work/x"
"$translate" "$work/run" --quiet --score "$work/x" --score-ids --alignment <"$work/in" | sed 's/.* ||| //' >"$work/a"
sed 's/.* ||| //' "$work/aligned" >"$work/b"
same_files "$work/a" "$work/b" "alignments of given translations"
expect 1 'alignment-layer 2: the decoder has 1 layers' "$translate" "$work/run" --alignment --alignment-layer 2 --input "$work/in"
expect 2 'alignment=2: give hard, soft, or a threshold' "$translate" "$work/run" --alignment=2

# Samples: the same with the same seed, whatever the batch; K of them with --n-best.
sample() { "$translate" "$work/run" --quiet --sampling-topk 8 "$@" <"$work/in"; }
sample >"$work/a"
sample --threads 1 --batch-tokens 1 --seed 1 >"$work/b"
same_files "$work/a" "$work/b" "samples alone"
sample --seed 2 >"$work/b"
cmp -s "$work/a" "$work/b" && fail "another seed draws the same"
"$translate" "$work/run" --quiet --sampling-topk 1 <"$work/in" >"$work/a"
"$translate" "$work/run" --quiet <"$work/in" >"$work/b"
same_files "$work/a" "$work/b" "samples of the most probable token"
[ "$(sample --n-best 5 | wc -l)" -eq $((40 * 5 + 1)) ] || fail "not 5 samples a line"
expect 2 'seed without sampling' "$translate" "$work/run" --seed 3
expect 1 'beam-size has no meaning for samples' "$translate" "$work/run" --sampling-topp 0.9 --beam-size 2

# Models together: one with itself is itself; another vocabulary is refused.
"$translate" "$work/run" "$work/run" --quiet --beam-size 4 --scores <"$work/in" >"$work/a"
search --scores >"$work/b"
same_files "$work/a" "$work/b" "a model with itself"
expect 0 'finished' "$train" "$work/c.ini" --set train.updates=5 --set "output.dir=$work/other" --set train.warmup=1 --set train.seed=2
"$translate" "$work/run" "$work/other" --quiet --beam-size 4 <"$work/in" >"$work/a"
cmp -s "$work/a" "$work/best" && fail "a second model changes nothing"
expect 0 'finished' "$train" "$work/c.ini" --set train.updates=2 --set "output.dir=$work/small" --set train.warmup=1 --set tokenizer.vocab_size=300
expect 1 'small: its source vocabulary .300 entries. is not that of .*run .400 entries' "$translate" "$work/run" "$work/small" --input "$work/in"
expect 1 'nowhere' "$translate" "$work/run" "$work/nowhere" --input "$work/in"

expect 1 'n-best 5: a beam of 4 finds at most 4; give --beam-size 5' "$translate" "$work/run" --beam-size 4 --n-best 5 --input "$work/in"
expect 2 'min-length 5 is above --max-length 3' "$translate" "$work/run" --min-length 5 --max-length 3
for lost in --normalize --word-scores --alignment; do
    expect 2 "one figure for all lines: leave out $lost" "$translate" "$work/run" --score "$work/two" --summary perplexity $lost
done
expect 2 'length-penalty with --score needs --normalize' "$translate" "$work/run" --score "$work/two" --length-penalty 2
expect 2 'min-length 1.5: give a whole number' "$translate" "$work/run" --min-length 1.5
expect 2 'unrecognized option' "$translate" "$work/run" --beams 5
finish
