#!/bin/sh
# ./train from the outside: R-Drop and all kinds of dropout together, and new runs that start from another one.
. tests/support/cli.sh

# train NAME OPTIONS...: a run of its own in $work/NAME.
train() {
    name=$1
    shift
    small_config "$work/$name" >"$work/$name.ini"
    expect 0 'finished' "$train" "$work/$name.ini" "$@"
}
refused() { # NAME PATTERN OPTIONS...: in a line or two, and before the directory of the run is touched
    name=$1 pattern=$2
    shift 2
    small_config "$work/$name" >"$work/$name.ini"
    expect 1 "$pattern" "$train" "$work/$name.ini" "$@"
    [ "$(wc -l <"$work/out")" -le 2 ] || { fail "not refused in a line or two: $*" && cat "$work/out"; }
}
says() { grep -qE "$1" "$work/out" || fail "nothing is said of '$1'"; }
# The values of a key in metrics.jsonl, of lines of one kind.
values() { sed -n "s/.*\"kind\":\"$2\".*\"$3\":\\([^,}]*\\).*/\\1/p" "$work/$1/metrics.jsonl"; }
first_valid() { sed -nE 's/.*\[valid\] epoch [0-9]+ +update [0-9]+ +(loss .* exact match [0-9.]+%).*/\1/p' "$work/$1/train.log" | head -n 1; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a - b < 1e-4 && b - a < 1e-4) }'; }

# R-Drop with dropout of every kind: in two halves as in one go, on any number of threads.
all="--set train.rdrop=5 --set tokenizer.dropout=0.1 --set model.source_word_dropout=0.1 --set model.target_word_dropout=0.2
     --set model.attention_dropout=0.1 --set model.activation_dropout=0.1 --set valid.every=100"
train whole $all --threads 1
train halves $all --threads 3 --set train.updates=5
expect 0 'resume +after update 5' "$train" "$work/halves.ini" $all --threads 2
same_files "$work/whole/model.safetensors" "$work/halves/model.safetensors" "R-Drop: resumed, or on other threads"
expect 1 'rdrop is .5. .*.4. is asked' "$train" "$work/whole.ini" $all --set train.rdrop=4
expect 1 'source_word_dropout is .0.1. .*.0. is asked' "$train" "$work/whole.ini" $all --set model.source_word_dropout=0
refused none 'rdrop = 5 compares two passes.*all rates are 0' --set train.rdrop=5 --set model.dropout=0
[ ! -e "$work/none" ] || fail "a refused training left a directory"

# Both passes see the same pieces: with a rate that drops nothing, BPE-dropout or not, there is no divergence to add.
none="--set model.dropout=1e-10 --set tokenizer.dropout=0.3 --set train.updates=4"
train one_pass $none
train two_passes $none --set train.rdrop=5
near "$(values one_pass train loss)" "$(values two_passes train loss)" || fail "R-Drop: other pieces in the second pass"
for side in source target; do
    train $side.words $none --set model.${side}_word_dropout=0.5
    near "$(values one_pass train loss)" "$(values $side.words train loss)" && fail "$side words are not dropped"
done
train divergence --set train.updates=4 --set train.rdrop=5
train mean --set train.updates=4 --set train.rdrop=1e-9
awk -v with="$(values divergence train loss)" -v without="$(values mean train loss)" 'BEGIN { exit !(with > without + 0.01) }' ||
    fail "the objective of R-Drop has no divergence in it"

# A run to start from, and one that only validates what it starts with, whatever is dropped in training.
still="--set train.updates=1 --set valid.every=1 --set train.lr=1e-12"
train source --set valid.every=12
train copy $still --set "train.init_from=$work/source" $all
says 'init_from .*source: [0-9]+ of the model.s [0-9]+ tensors start from it'
grep -q 'starts fresh\|left out' "$work/out" && fail "a tensor of the same model does not fit"
[ -n "$(first_valid source)" ] || fail "the source was not validated"
[ "$(first_valid copy)" = "$(first_valid source)" ] ||
    fail "the first validation, $(first_valid copy), is not that of the source, $(first_valid source)"
same_files "$work/source/tokenizer.json" "$work/copy/tokenizer.json" "the tokenizer was not taken over"

# Keys of a tokenizer that is not learned; the run is resumed with them as they are, and without the source.
train tuned --set "train.init_from=$work/source" --set tokenizer.vocab_size=500 --set tokenizer.lowercase=yes
says 'init_from .*tokenizer.vocab_size = 500, but .* has its tokenizer already, with 400'
grep -q '^vocab_size = 400' "$work/tuned/config.ini" || fail "config.ini describes another tokenizer"
expect 0 '^corpus .* 400 shared, 400 pieces, those of .*source$' "$train" "$work/tuned.ini" --dry-run --set "output.dir=$work/new" \
    --set "train.init_from=$work/source" --set tokenizer.vocab_size=500
grep -q '^vocab_size = 400' "$work/out" || fail "a dry run shows another vocab_size than that of the run to start from"
expect 0 'pieces, those of .*source$' "$train" "$work/tuned.ini" --dry-run --fresh --set "train.init_from=$work/source"
refused new 'no matrix of it fits' --dry-run --set "train.init_from=$work/source" --set model.d_model=48
mv "$work/source" "$work/moved"
expect 0 'resume +after update 12' "$train" "$work/tuned.ini" --set "train.init_from=$work/source" \
    --set tokenizer.vocab_size=500 --set tokenizer.lowercase=yes --set train.updates=14
expect 1 'init_from is .*source.*.. is asked' "$train" "$work/tuned.ini" --set train.updates=14
refused gone 'source: No such file or directory' --set "train.init_from=$work/source"
[ ! -e "$work/gone" ] || fail "a refused training left a directory"
mv "$work/moved" "$work/source"

# What fits is taken, and what does not is named: more layers, fewer, another inner width.
train deeper $still --set "train.init_from=$work/source" --set model.decoder_layers=2
says 'init_from +model.decoder.layers.1.encoder_attn.k_proj.weight .32,32. starts fresh: .*source has none'
grep -q 'layers\.0.*fresh' "$work/out" && fail "a layer that both have starts fresh"
train shallower $still --set "train.init_from=$work/deeper"
says 'model.decoder.layers.1.fc1.bias .48. of .*deeper is left out'
[ "$(first_valid shallower)" = "$(first_valid source)" ] || fail "the shared layers of a deeper model were not taken"
train wider $still --set "train.init_from=$work/source" --set model.ffn_dim=64
says 'model.encoder.layers.0.fc1.weight .64,32. starts fresh: that of .*source is .48,32.'
train heads $still --set "train.init_from=$work/source" --set model.heads=4
says 'model.heads = 4, but .* was trained with 2'
refused useless 'no matrix of it fits' --set "train.init_from=$work/source" --set model.d_model=48

# Vocabularies: one, and one a side.
train untied $still --set "train.init_from=$work/source" --set model.tie_embeddings=none
[ "$(first_valid untied)" = "$(first_valid source)" ] || fail "an untied model does not start from the tied matrix"
train two --set tokenizer.shared=no --set model.tie_embeddings=decoder --set train.updates=2
refused tied 'has a vocabulary for each side, but .*tie_embeddings = all' --set "train.init_from=$work/two"
train from_two $still --set "train.init_from=$work/two" --set model.tie_embeddings=decoder
says 'tokenizer.shared = yes, but'
same_files "$work/two/tokenizer.target.json" "$work/from_two/tokenizer.target.json" "the tokenizers were not taken over"
echo 'The cow sleeps.' | "$translate" "$work/from_two" >/dev/null 2>&1 || fail "a run that starts from two vocabularies does not translate"
train words --set tokenizer.type=word --set train.updates=1
refused merges 'has no merges for .tokenizer. dropout' --set "train.init_from=$work/words" --set tokenizer.dropout=0.1

# A wrong run costs an old one nothing, not even with --fresh; a right one may be the old one itself.
cp -r "$work/source" "$work/damaged"
printf 'xxxx' | dd of="$work/damaged/model.safetensors" bs=1 seek=9000 conv=notrunc 2>/dev/null
for wrong in damaged nowhere train.en; do
    refused tuned "$wrong: |$wrong/model.safetensors: " --fresh --set "train.init_from=$work/$wrong"
    [ ! -e "$work/tuned.old.1" ] || fail "a wrong init_from moved the old run aside"
done
train source --fresh $still --set "train.init_from=$work/source"
says 'old run was moved to .*source.old.1'
[ "$(first_valid source)" = "$(first_valid source.old.1)" ] || fail "--fresh from the run itself starts from something else"
finish
