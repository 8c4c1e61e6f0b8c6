#!/bin/sh
# ./gradcheck from the outside: what passes, what fails and how, its pictures, mistakes in the call; and a model that is
# wrong (scripts/break_gradient.sh).
. tests/support/cli.sh
gradcheck=$PROGRAMS/gradcheck
[ -x "$gradcheck" ] || { echo "this build has no gradcheck"; exit 77; }

# Everything, on a model of its own: no tensor fails, and the zeros of theory are said to be zero.
expect 0 '^passed: [0-9]+ elements of 5[0-9][0-9] tensors; worst relative error [0-9.]+e-(0[7-9]|1)' "$gradcheck"
if grep -q 'FAILED' "$work/out"; then fail "a row failed: $(grep FAILED "$work/out")"; fi
[ "$(grep -c '^model .* ok' "$work/out")" -eq 90 ] || fail "not all tensors of the model"
[ "$(grep -c '^model .*k_proj.bias .*zero: shifts all scores' "$work/out")" -eq 6 ] || fail "k_proj.bias"
for module in linear 'layer norm' relu gelu softmax embedding dropout 'residual, pre' 'attention core, square' \
    'attention core, triangular' 'attention core, rectangular, n < m' self-attention 'masked self-attention' \
    'cross-attention, widths 6 and 4' 'feed-forward, relu' 'encoder layer, post, relu' 'decoder layer, post, relu' loss; do
    grep -qE "^$module  .* ok$" "$work/out" || fail "no rows of $module"
done

# The encoder's output: two parts from each of two decoder layers.
[ "$(awk '/through keys  through values/ { on = 1; next } on && NF == 3 && $2 > 0 && $3 > 0 { rows++ } END { print rows + 0 }' "$work/out")" -eq 2 ] ||
    fail "parts of the gradient of memory"

# A configuration, reduced; a module alone has a row for every tensor of every variant.
expect 0 '^reduced to 2\+2 layers, width 8\+8, 2 heads, d_k 3, .*vocabulary 23\+23, pre-norm' \
    "$gradcheck" configs/tiny_translate.ini --reduce --module model --samples 4
expect 0 '^model      1\+1 layers, .*post-norm' "$gradcheck" configs/tiny_translate.ini --set model.norm=post \
    --set model.encoder_layers=1 --set model.decoder_layers=1 --set model.ffn_dim=16 --module model --samples 1
expect 0 '^cross-attention, dropout, widths 5 and 8 +attn.out_proj.weight' "$gradcheck" --module cross-attention
if grep -qE '^(linear|model) ' "$work/out"; then fail "--module: more than the module"; fi

# A run, at its trained weights, on its validation sentences, on a given pair, and where the corpus is gone.
small_config "$work/run" >"$work/c.ini"
expect 0 'finished' "$train" "$work/c.ini"
expect 0 '^text       the first lines of .*/valid.en: [0-9]+ source' "$gradcheck" "$work/run" --module model --samples 1
grep -q "^weights    trained weights of $work/run; " "$work/out" || fail "trained weights: $(cat "$work/out")"
grep -q '^passed' "$work/out" || fail "a trained model fails"
expect 0 '^text       the given pair: [0-9]+ source' "$gradcheck" "$work/run" --module model --samples 1 \
    --source 'The cow sleeps.' --target 'La vache dort.'
mv "$work/valid.fr" "$work/away"
expect 0 '^text       3 pairs of made-up ids' "$gradcheck" "$work/run" --module model --samples 1
mv "$work/away" "$work/valid.fr"

# One element. The uses of the tied matrix add up to the gradient; the errors fall towards the best h and rise again, and
# the plot has a point for each.
expect 0 'source embedding' "$gradcheck" --tensor 'lm_head.weight[4,2]'
awk '/analytic gradient/ { whole = $3 }
     /(source|target) embedding|output layer/ { sum += $3; uses++ }
     /^  [0-9.]+e-[0-9]+  / { error[++steps] = $3; if (best == 0 || $3 < error[best]) best = steps }
     /^  1e[-+][0-9]+ \|/ { points += gsub(/[*@]/, "") }
     END { apart = sum - whole; exit !(uses == 3 && whole != 0 && apart * apart < 1e-24 && steps == 17 && points == 17 &&
                                       best > 4 && best < 12 && error[1] > 100 * error[best] && error[17] > 100 * error[best]) }' \
    "$work/out" || fail "--tensor: $(cat "$work/out")"
expect 0 'eps = 6.0e-08 in float' "$gradcheck" --precision float --tensor 'lm_head.weight[4,2]'

# In float: the same tensors, errors of another order.
expect 0 'That is why' "$gradcheck" --precision float --module linear
grep -q '^linear .* ok$' "$work/out" || fail "float: $(cat "$work/out")"
awk '/^passed/ { sub(/.*relative error /, ""); sub(/,.*/, ""); exit !($0 + 0 > 1e-6 && $0 + 0 < 1e-1) }' "$work/out" || fail "errors in float"

expect 0 '^ *1024 +32' "$gradcheck" --demo scale
expect 0 '^passed: no token changes anything before it' "$gradcheck" --demo causality
grep -qE '^ +3 +\. +\. +[0-9]' "$work/out" || fail "--demo causality: $(cat "$work/out")"

expect 0 '^usage: gradcheck' "$gradcheck" --help
expect 0 '^gradcheck \(Tandem\) [0-9]' "$gradcheck" --version
expect 2 'cros-atention: .*did you mean cross-attention\?' "$gradcheck" --module cros-atention
expect 2 'precision half: give double or float' "$gradcheck" --precision half
expect 2 'give one of them' "$gradcheck" --module linear --demo scale
expect 2 'give one configuration or run' "$gradcheck" a b
expect 1 'wieght: .*did you mean model.encoder.layers.0.fc1.weight\?' "$gradcheck" --tensor 'model.encoder.layers.0.fc1.wieght[0,0]'
expect 1 'give an element from lm_head.weight\[0,0\] to \[22,7\]' "$gradcheck" --tensor 'lm_head.weight[23,0]'
expect 1 'nowhere.ini: there is no such file' "$gradcheck" "$work/nowhere.ini"
expect 1 '^gradcheck: .*: no run here|^gradcheck: .*config.ini' "$gradcheck" "$work"
expect 1 'source: a pair has two sides; give --target too' "$gradcheck" "$work/run" --source x
expect 1 'text needs the tokenizer of a run' "$gradcheck" --source x --target y
expect 1 'trained weights have their sizes' "$gradcheck" "$work/run" --reduce
if "$gradcheck" --module linear >/dev/full 2>"$work/out"; then fail "a full disk is success"; fi

# A wrong model is noticed, first where the mistake is; every mistake has a name of its own.
[ "$PROGRAMS" = . ] || export BUILD="${PROGRAMS%/programs}"
scripts/break_gradient.sh >"$work/names"
[ "$(wc -l <"$work/names")" -gt 150 ] && [ -z "$(sort "$work/names" | uniq -d)" ] || fail "names of mistakes: $(sort "$work/names" | uniq -d)"
# The course's mistakes exist, and so do the modules that it has checked.
grep -ohE 'break_gradient.sh [a-z0-9-]+' docs/course/*.md README.md | cut -d ' ' -f 2 | sort -u >"$work/shown"
[ "$(wc -l <"$work/shown")" -ge 6 ] || fail "mistakes of the course: $(cat "$work/shown")"
sort "$work/names" | comm -23 "$work/shown" - >"$work/missing"
[ ! -s "$work/missing" ] || fail "the course names mistakes that are not there: $(cat "$work/missing")"
for module in $(grep -ohE -- '--module [a-z-]+' docs/course/*.md README.md | cut -d ' ' -f 2 | sort -u); do
    "$gradcheck" --help | grep -q "^  $module " || fail "the course names a module that is not there: $module"
done
expect 0 '^FAILED: [0-9]+ of 5[0-9][0-9] tensors' scripts/break_gradient.sh softmax-second-term-dropped
grep -A 1 '^noticed by' "$work/out" | grep -qE '^    softmax +x .* FAILED$' || fail "noticed elsewhere: $(cat "$work/out")"
expect 0 'not zero, which it is by theory|^FAILED' scripts/break_gradient.sh linear-bias-always --module model
expect 1 'gradcheck has not noticed' scripts/break_gradient.sh softmax-second-term-dropped --module linear
expect 2 'there is no such module' scripts/break_gradient.sh softmax-second-term-dropped --module nothing
expect 1 'nowhere.ini: there is no such file' scripts/break_gradient.sh softmax-second-term-dropped "$work/nowhere.ini"
expect 2 'no such mistake' scripts/break_gradient.sh made-up-name
expect 2 'could be' scripts/break_gradient.sh linear-bias
finish
