#!/bin/sh
# ./inspect from the outside: what it prints, that its losses are those of ./translate, its page, mistakes.
. tests/support/cli.sh
inspect=$PROGRAMS/inspect
small_config "$work/run" >"$work/c.ini"
"$train" "$work/c.ini" >"$work/log" 2>&1 || fail "train: $(cat "$work/log")"
source="The old cow sleeps near the house because it is tired."
target="La vieille vache dort près de la maison parce qu'elle est fatiguée."

"$inspect" "$work/run" --source "$source" --target "$target" >"$work/text" 2>"$work/err" || fail "exit $?: $(cat "$work/err")"
[ ! -s "$work/err" ] || fail "on stderr: $(cat "$work/err")"

# log p is what ./translate --score prints.
echo "$source" >"$work/source"
echo "$target" >"$work/target"
score=$("$translate" "$work/run" --score "$work/target" <"$work/source")
sed -nE 's/^log p\(target . source\) = ([-0-9.]*),.*/\1/p' "$work/text" >"$work/printed"
awk -v score="$score" '{ d = $1 - score; exit !(d < 2e-3 && d > -2e-3) }' "$work/printed" || fail "log p $(cat "$work/printed"), score $score"

# Without a target: the greedy translation.
"$inspect" "$work/run" --source "$source" >"$work/greedy"
"$translate" "$work/run" --beam-size 1 --pieces <"$work/source" | sed 's/.*/     & <\/s>/' >"$work/pieces"
sed -n '/^target, the model/{n;p;}' "$work/greedy" | sed 's/^ */     /' >"$work/shown"
same_files "$work/pieces" "$work/shown" "greedy translation"

# Each tensor of the list can be printed, with as many values as its shape says.
count_values() {
    "$inspect" "$work/run" --source "$source" --target "$target" --tensor "$1" >"$work/values" || fail "exit $?: $1"
    awk -v want="$2" -F '\t' '{ cols = NF; rows++ } END { if ("[" rows "," cols "]" != want) { print rows, cols, want; exit 1 } }' "$work/values" || fail "values of $1"
}
for name in encoder.embedding decoder.0.encoder_attn.weights decoder.0.encoder_attn.memory.grad.keys encoder.0.self_attn.qkv.grad \
    model.decoder.layers.0.fc1.weight; do
    shape=$(awk -v name="$name" '$1 == name { print $2 }' "$work/text")
    [ -n "$shape" ] || fail "$name is not listed"
    count_values "$name" "$shape"
done
count_values model.decoder.layers.0.fc1.weight.grad "$shape"

# The page: no text of the sentence can end its data, nothing comes from a network, and the data are the JSON.
odd='The </script><script>alert(1)</script> cow & "it" \ 🐄'
"$inspect" "$work/run" --source "$odd" --html "$work/page.html" --json >"$work/json" 2>"$work/err" || fail "exit $?: $(cat "$work/err")"
grep -q "inspect: wrote $work/page.html" "$work/err" || fail "said $(cat "$work/err")"
[ "$(grep -o '</script>' "$work/page.html" | wc -l)" -eq 2 ] || fail "the sentence breaks out of its script"
grep -q '</script>' "$work/json" || fail "the sentence is not in the JSON"
sed -n 's/^<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p' "$work/page.html" | sed 's/\\u003c/</g' >"$work/data"
same_files "$work/json" "$work/data" "data of the page"
! grep -qE '(src|href)="?https?:|@import|url\(' "$work/page.html" || fail "the page asks a network"

# A link stays a link; what else goes to stdout is not taken away.
echo old >"$work/linked"
ln -s linked "$work/link"
"$inspect" "$work/run" --source a --html "$work/link" 2>"$work/err" || fail "exit $?: a link: $(cat "$work/err")"
[ -L "$work/link" ] && grep -q '<html' "$work/linked" || fail "a link has become a file"
ln -s /proc/self/fd/1 "$work/own"
echo before >"$work/log"
"$inspect" "$work/run" --source a --html "$work/own" >>"$work/log" 2>"$work/err" && fail "the page replaced stdout"
grep -q "own output goes" "$work/err" && [ -L "$work/own" ] && grep -q before "$work/log" || fail "stdout: $(cat "$work/err")"

expect 0 '^usage: inspect RUN' "$inspect" --help
expect 0 '^inspect \(Tandem\) [0-9]' "$inspect" --version
expect 0 '<0xF0> <0x9F>' "$inspect" "$work/run" --source '🐄' --target ''
expect 0 '^source' "$inspect" "$work/run" --source "$(printf 'a \377 b')"
expect 1 'source is blank' "$inspect" "$work/run" --source ' '
expect 1 'source has [0-9]* tokens with </s>; inspect shows at most 128' "$inspect" "$work/run" --source "$(printf '%0500d' 0)"
expect 1 'tensor nothing: there is none' "$inspect" "$work/run" --source a --tensor nothing
expect 1 'did you mean model.shared.weight?' "$inspect" "$work/run" --source a --tensor model.shared.wieght
expect 1 "$work/nowhere" "$inspect" "$work/nowhere" --source a
expect 1 "$work/no/page.html" "$inspect" "$work/run" --source a --html "$work/no/page.html"
expect 1 'name of a file to write is empty' "$inspect" "$work/run" --source a --html ''
expect 2 'one run directory' "$inspect" --source a
expect 2 'one run directory' "$inspect" "$work/run" "$work/run" --source a
expect 2 'give a sentence with --source' "$inspect" "$work/run"
expect 2 'leave out one' "$inspect" "$work/run" --source a --json --tensor b
expect 2 'unrecognized option' "$inspect" "$work/run" --sauce a
finish
