#!/bin/sh
# ./evaluate from the outside: options, forms of output, mistakes. The figures are those that sacreBLEU 2.6.0 prints for
# the same files.
. tests/support/cli.sh

# Translations made from the references: words swapped or dropped; capitals, empty lines, words twice.
cp data/toy/test.fr "$work/r"
LC_ALL=C awk '{ for (i = 5; i <= NF; i += 5) { t = $i; $i = $(i - 1); $(i - 1) = t } if (NR % 7 == 0) $2 = ""; print }' "$work/r" >"$work/a"
LC_ALL=C awk 'NR % 2 == 0 { print toupper($0); next } NR % 9 == 0 { print ""; next } { $3 = $3 " " $3; print }' "$work/r" >"$work/b"
LC_ALL=C awk '{ for (i = 4; i <= NF; i += 6) { t = $i; $i = $(i - 1); $(i - 1) = t } if (NR % 4 == 0) $3 = ""; print }' "$work/r" >"$work/c"
awk '{ print NR % 2 ? "odd" : "even" }' "$work/r" >"$work/tags"
case "$evaluate" in /*) ;; *) evaluate=$PWD/$evaluate ;; esac
cd "$work" || exit 1

# prints EXPECTED ARGUMENTS...: that is the whole of stdout, the version aside; nothing on stderr.
prints() {
    wanted=$1
    shift
    "$evaluate" "$@" >out 2>err || fail "exit $?: $*"
    printed=$(sed 's/tandem-[0-9.]*/V/' out)
    [ "$printed" = "$wanted" ] || fail "not '$wanted' but '$printed' from: $*"
    [ ! -s err ] || fail "said something on stderr: $*"
}

prints 'BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:V = 36.6 100.0/55.7/33.1/10.4 (BP = 0.983 ratio = 0.983 hyp_len = 8372 ref_len = 8514)
chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:V = 77.5
length ratio = 0.983 (8372 of 8514 words)
exact match = 11.30 (113 of 1000)' a r
prints 'BLEU|nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:V = 87.5 94.6/93.9/86.6/76.9 (BP = 0.998 ratio = 0.998 hyp_len = 8493 ref_len = 8514)' \
    b r --lowercase --metrics bleu
prints 'BLEU|nrefs:1|case:mixed|eff:no|tok:intl|smooth:add-k[1.00]|version:V = 48.6155 100.0/62.1/42.2/22.8 (BP = 0.983 ratio = 0.983 hyp_len = 9620 ref_len = 9782)' \
    a r --metrics bleu --tokenize intl --smooth-method add-k --width 4
prints 45.13 --score-only --width=2 --smooth none --tokenize char --metrics bleu b r
prints 'chrF2|nrefs:2|case:lc|eff:yes|nc:6|nw:0|space:no|version:V = 77.9' c r b --metrics chrf --chrf-lowercase
prints '36.6
77.3' a --metrics bleu chrf++ r --score-only
prints 'chrF2++|nrefs:1|bs:1000|seed:12345|case:mixed|eff:yes|nc:6|nw:2|space:no|version:V = 77.3 (μ = 77.3 ± 0.5)' \
    a r --confidence --metrics chrf --chrf-word-order 2
prints 'BLEU|nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:V = 36.6 (μ = 36.6 ± 1.2) 100.0/55.7/33.1/10.4 (BP = 0.983 ratio = 0.983 hyp_len = 8372 ref_len = 8514)
  c = 42.6 (μ = 42.6 ± 0.9) 100.0/59.2/33.5/18.9 (BP = 0.968 ratio = 0.968 hyp_len = 8242 ref_len = 8514)
  difference = -6.0 (p = 0.0010)*
chrF2|nrefs:1|bs:1000|seed:12345|case:mixed|eff:yes|nc:6|nw:0|space:no|version:V = 77.5 (μ = 77.5 ± 0.5)
  c = 77.9 (μ = 77.9 ± 0.4)
  difference = -0.4 (p = 0.0420)*' a r --compare c --metrics bleu,chrf

# Single sentences, and JSON.
"$evaluate" b r --sentence-level --width 3 --smooth floor --smooth-value 0.5 | sed 's/.*tandem-[0-9.]*//' >out
[ "$(wc -l <out)" -eq 1000 ] || fail "$(wc -l <out) lines for 1000 sentences"
[ "$(sed -n 9,11p out)" = ' = 0.000 0.0/0.0/0.0/0.0 (BP = 0.000 ratio = 0.000 hyp_len = 0 ref_len = 8)
 = 5.195 7.7/4.2/4.5/5.0 (BP = 1.000 ratio = 1.000 hyp_len = 13 ref_len = 13)
 = 81.650 91.7/90.9/80.0/66.7 (BP = 1.000 ratio = 1.091 hyp_len = 12 ref_len = 11)' ] || fail "sentence BLEU"
[ "$("$evaluate" b r --sentence-level --score-only --metrics chrf++ | sed -n 9,11p | tr '\n' ' ')" = '0.0 1.9 96.1 ' ] || fail "sentence chrF"
[ "$("$evaluate" b r --sentence-level --json | grep -c '^{"name": "BLEU", "score": .*"eff": "yes"')" -eq 1000 ] || fail "JSON lines"
prints '{
 "name": "chrF2",
 "score": 77.5,
 "signature": "nrefs:1|bs:1000|seed:12345|case:mixed|eff:yes|nc:6|nw:0|space:no|version:V",
 "confidence_mean": 77.5,
 "confidence_var": 0.5,
 "confidence": "μ = 77.5 ± 0.5",
 "nrefs": "1",
 "bs": "1000",
 "seed": "12345",
 "case": "mixed",
 "eff": "yes",
 "nc": "6",
 "nw": "0",
 "space": "no",
 "version": "V"
}' a r --metrics chrf --confidence --json
"$evaluate" a r --compare c --metrics bleu chrf --json >out
[ "$(grep -E 'system|p_value' out | tr -d ' \n')" = '"system":"a","p_value":null,"p_value":null,"system":"c","p_value":0.000999000999000999,"p_value":0.041958041958042,' ] ||
    fail "JSON of a comparison: $(cat out)"
prints 'exact match = 11.30 (113 of 1000)
  even                           9.60 (48 of 500)
  odd                           13.00 (65 of 500)' a r --metrics exact_match --tags tags

# Odd text is scored: no final newline, a byte order mark, carriage returns, NUL, what is not UTF-8, a line of 800,000 bytes.
printf '\357\273\277the cat sat on the mat\r\n\000 a\000b \342\200\250 c d\r\n' >one
printf 'the cat sat on the mat\n\000 a\000b \342\200\250 c d' >two
prints '100.0
100.0
100.00' one two --score-only --metrics bleu chrf exact_match
printf 'fine\n\377\376 a b c d\n' >broken
expect 0 'broken:2:1: not UTF-8 .1 such line.' "$evaluate" broken broken
expect 0 'BLEU.* = 100.0 ' "$evaluate" broken broken
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "%d-%d ", i % 7, i % 11; print "" }' >wide
prints '100.0
100.0' wide wide --score-only --metrics bleu chrf
yes 'It is tokenized .' | head -n 100 >tokenized
expect 0 'tokenized: 100 lines end in " ."' "$evaluate" tokenized tokenized
prints 100.0 tokenized tokenized --tokenize none --metrics bleu --score-only
yes '' | head -n 1000 >blank
prints 'BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:V = 0.0 0.0/0.0/0.0/0.0 (BP = 0.000 ratio = 0.000 hyp_len = 0 ref_len = 8514)
chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:V = 0.0
length ratio = 0.000 (0 of 8514 words)
exact match = 0.00 (0 of 1000)' blank r
"$evaluate" blank blank --confidence >out || fail "exit $? for blank lines"

# Through pipes.
printed=$(gzip -c a | "$evaluate" /dev/stdin r --metrics bleu --score-only)
[ "$printed" = 36.6 ] || fail "'$printed' from a pipe"

# Mistakes.
head -n 999 r >short
expect 1 'a has 1000 lines but short has 999' "$evaluate" a short
expect 1 'a has 1000 lines but short has 999' "$evaluate" a r short
expect 1 'a has 1000 lines but short has 999' "$evaluate" a r --compare short
expect 1 'a has 1000 lines but short has 999' "$evaluate" a r --tags short
: >empty
expect 1 'empty: is empty' "$evaluate" empty empty
expect 1 'nowhere: No such file' "$evaluate" a nowhere
expect 1 'is a directory' "$evaluate" . r
head -c 3000000 /dev/zero | tr '\000' x >long
expect 1 'long:1: this line is longer than 1048576 bytes' "$evaluate" long long
expect 2 'give two files' "$evaluate" a
expect 2 'metrics ter: give bleu, chrf, chrf.., length_ratio or exact_match' "$evaluate" a r --metrics=ter
expect 2 'tokenize zh: give 13a, none, char or intl' "$evaluate" a r --tokenize zh
expect 2 'smooth log: give exp, floor' "$evaluate" a r --smooth log
expect 2 'smooth-value is for' "$evaluate" a r --smooth-value 1
expect 2 'smooth-value nan: give a number from 0' "$evaluate" a r --smooth floor --smooth-value nan
expect 2 'chrf-word-order 9: give a whole number from 0 to 4' "$evaluate" a r --chrf-word-order 9
expect 2 'width 1.5: give a whole number' "$evaluate" a r --width 1.5
expect 2 'seed -1: give a whole number from 0 to 2147483647' "$evaluate" a r --seed=-1
expect 2 'prints one metric' "$evaluate" a r --sentence-level --metrics bleu chrf
expect 2 'no --confidence' "$evaluate" a r --sentence-level --confidence
expect 2 'tags goes with exact_match' "$evaluate" a r --tags tags --metrics bleu
expect 2 'unrecognized option' "$evaluate" a r --fast
[ ! -e /dev/full ] || { "$evaluate" a r >/dev/full 2>err; [ $? -eq 1 ] && grep -q 'writing failed' err; } || fail "a full disk is not noticed"
[ ! -e /dev/full ] || { "$evaluate" --help >/dev/full 2>err; [ $? -eq 1 ] && grep -q 'writing failed' err; } || fail "help into a full disk"
if takes_file_limits; then # said, and no signal
    (ulimit -f 1; "$evaluate" a r --sentence-level >limited 2>err)
    [ $? -eq 1 ] && grep -q 'writing failed: File too large' err || fail "a limit on file sizes is not noticed"
fi

# A name that is not UTF-8 is escaped in JSON, which has no other bytes.
bad=$(printf 'b\377d')
cp a "$bad"
"$evaluate" "$bad" r --compare a --json | grep -qF '"system": "b\\xFFd"' || fail "a name that is not UTF-8 in JSON"
finish
