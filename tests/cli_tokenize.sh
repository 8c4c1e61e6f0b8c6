#!/bin/sh
# ./tokenize from the outside, and the [tokenizer] settings of ./train: types, dropout, invalid UTF-8, normalisation.
. tests/support/cli.sh

# Mistakes in the call.
expect 0 'usage: tokenize' "$tokenize" --help
expect 0 'tokenize .Tandem' "$tokenize" --version
expect 2 'no run directory' "$tokenize"
expect 2 'one run directory' "$tokenize" a b
expect 2 'not both' "$tokenize" --model x.json run
expect 2 'vocab-size is for calls with --train' "$tokenize" run --vocab-size 500
expect 2 'ids is for calls without --train' "$tokenize" --train --ids --output "$work/x.json" "$work/train.en"
expect 2 'min-frequency is for calls with --train' "$tokenize" run --min-frequency 2
expect 2 'seed is for calls without --train' "$tokenize" --train --seed 2 --output "$work/x.json" "$work/train.en"
expect 2 'ids or --pieces, not both' "$tokenize" run --ids --pieces
expect 2 'output is missing' "$tokenize" --train --vocab-size 500 "$work/train.en"
expect 2 'vocab-size is missing' "$tokenize" --train --output "$work/x.json" "$work/train.en"
expect 2 'no text file' "$tokenize" --train --vocab-size 500 --output "$work/x.json"
expect 2 'type bep: give bpe, word, char or byte' "$tokenize" --train --type bep
expect 2 'vocab-size 20: give a whole number from 261 to 1000000' "$tokenize" --train --vocab-size 20
expect 2 'dropout 1: give a number' "$tokenize" run --dropout 1
expect 2 'dropout is for encoding' "$tokenize" run --dropout 0.1 --decode
expect 1 'nowhere/tokenizer.json: there is no such file; name a run directory' "$tokenize" "$work/nowhere"
expect 1 'no.txt: No such file' "$tokenize" --train --vocab-size 500 --output "$work/x.json" "$work/no.txt"
expect 1 'no/such.json' "$tokenize" --train --vocab-size 500 --output "$work/no/such.json" "$work/train.en"
[ ! -e "$work/x.json" ] || fail "a refused call wrote a file"

# Every type gives the text back; as many lines out as in, blank ones and a last one without its end included.
{ cat "$work/train.en"; printf '\n  two  spaces \n \n\tz\303\274rich \360\237\230\200\001\n</s> <unk>\nno end'; } >"$work/text"
{ cat "$work/text"; echo; } >"$work/expected"
gzip -c "$work/train.fr" >"$work/train.fr.gz"
for type in bpe word char byte; do
    expect 0 'learned' "$tokenize" --train --type $type --vocab-size 600 --output "$work/$type.json" "$work/train.en" "$work/train.fr.gz"
    for form in --pieces --ids; do
        "$tokenize" --model "$work/$type.json" $form <"$work/text" >"$work/encoded" || fail "encoding: $type $form"
        "$tokenize" --model "$work/$type.json" $form --decode <"$work/encoded" >"$work/back" || fail "decoding: $type $form"
        same_files "$work/expected" "$work/back" "$type $form does not give the text back"
    done
done
# check_pieces EXPECTED TEXT COMMAND...
check_pieces() {
    expected=$1 text=$2
    shift 2
    is=$(printf '%b' "$text" | "$@")
    [ "$is" = "$expected" ] || fail "'$is', not '$expected', from: $*"
}
check_pieces '▁ t h e ▁ <0xE6> <0x97> <0xA5>' 'the \0346\0227\0245' "$tokenize" --model "$work/char.json"
check_pieces '▁the ▁ q q' 'the qq' "$tokenize" --model "$work/word.json"

# What cannot be decoded is named by line; what was before it is out.
check_pieces 'the' '▁the\n' "$tokenize" --model "$work/word.json" --decode
printf '▁the\nrubbish\n' >"$work/bad"
expect 1 'standard input:2: "rubbish" is no piece' sh -c "'$tokenize' --model '$work/word.json' --decode <'$work/bad'"
expect 1 'standard input:1: "9999" is no id; give numbers from 0 to 599' sh -c "echo 9999 | '$tokenize' --model '$work/bpe.json' --ids --decode"
check_pieces 'a b' '<0x61> <0x0A> <0x62>\n' "$tokenize" --model "$work/byte.json" --decode

# Invalid UTF-8: replaced, or refused with its place.
printf 'good\nz\303\274\377x\n' >"$work/broken"
check_pieces 'good
zü�x' '' sh -c "'$tokenize' --model '$work/bpe.json' <'$work/broken' 2>'$work/err' | '$tokenize' --model '$work/bpe.json' --decode"
expect 1 'standard input:2:4: not UTF-8 .1 such line.; convert' sh -c "'$tokenize' --model '$work/bpe.json' --invalid-utf8 reject <'$work/broken'"
expect 0 'note: standard input:2:4: not UTF-8' sh -c "'$tokenize' --model '$work/bpe.json' <'$work/broken'"
expect 1 'broken:2:4: not UTF-8' "$tokenize" --train --type char --vocab-size 300 --invalid-utf8 reject --output "$work/x.json" "$work/broken"
expect 0 'broken:2:4: not UTF-8' "$tokenize" --train --type char --vocab-size 300 --output "$work/x.json" "$work/broken"

# Where --output leads: through a link, never into the place of a device, and a limit on file sizes is a line and leaves nothing.
ln -s linked.json "$work/link.json"
: >"$work/linked.json"
expect 0 'learned 280' "$tokenize" --train --vocab-size 280 --output "$work/link.json" "$work/train.en"
[ -L "$work/link.json" ] && [ -s "$work/linked.json" ] || fail "a link was cut"
mkfifo "$work/fifo"
expect 1 'fifo: is no regular file' "$tokenize" --train --vocab-size 280 --output "$work/fifo" "$work/train.en"
[ -p "$work/fifo" ] || fail "a FIFO was replaced"
! takes_file_limits || expect 1 'limited.json: could not be written: File too large' sh -c "ulimit -f 1; '$tokenize' --train --vocab-size 280 --output '$work/limited.json' '$work/train.en'"
[ ! -e "$work/limited.json.tmp" ] || fail "half a file was left"
cat "$work/train.en" "$work/train.fr" >"$work/all"
"$tokenize" --train --vocab-size 400 --output "$work/files.json" "$work/train.en" "$work/train.fr" 2>"$work/err"
gzip -c "$work/all" | "$tokenize" --train --vocab-size 400 --output "$work/pipe.json" /dev/stdin 2>"$work/err"
same_files "$work/files.json" "$work/pipe.json" "learned from files and from a pipe"

# Dropout: by seed, and the text comes back.
"$tokenize" --model "$work/bpe.json" --dropout 0.2 <"$work/text" >"$work/one"
"$tokenize" --model "$work/bpe.json" --dropout 0.2 <"$work/text" >"$work/same"
"$tokenize" --model "$work/bpe.json" --dropout 0.2 --seed 2 <"$work/text" >"$work/other"
same_files "$work/one" "$work/same" "one seed, two encodings"
cmp -s "$work/one" "$work/other" && fail "two seeds, one encoding"
[ "$(yes "The house of the old men." | head -n 20 | "$tokenize" --model "$work/bpe.json" --dropout 0.2 | sort -u | wc -l)" -gt 5 ] ||
    fail "equal lines are all encoded alike"
"$tokenize" --model "$work/bpe.json" --decode <"$work/one" >"$work/back"
same_files "$work/expected" "$work/back" "dropout changes the text"

# Answers come while the input is still open.
mkfifo "$work/in"
"$tokenize" --model "$work/bpe.json" <"$work/in" >"$work/answers" &
exec 3>"$work/in"
echo 'the cat' >&3
tries=0
until [ -s "$work/answers" ] || [ "$tries" -ge 600 ]; do sleep 0.1; tries=$((tries + 1)); done
[ -s "$work/answers" ] || fail "no answer before the end of the input"
exec 3>&-
wait

# A run with separate vocabularies.
small_config "$work/two" >"$work/two.ini"
expect 0 'update 2,' "$train" "$work/two.ini" --set tokenizer.shared=no --set model.tie_embeddings=none --set train.updates=2
"$tokenize" "$work/two" --ids <"$work/train.en" >"$work/source"
"$tokenize" "$work/two" --ids --side target <"$work/train.en" >"$work/target"
cmp -s "$work/source" "$work/target" && fail "both sides of a run are the same"
"$tokenize" --model "$work/two/tokenizer.source.json" --ids <"$work/train.en" >"$work/direct"
same_files "$work/source" "$work/direct" "the source side of a run"

expect 0 'note +.*tokenizer.source.json: the text gives [0-9]+ pieces; 90000 were wanted' "$train" "$work/two.ini" --fresh \
    --set tokenizer.shared=no --set model.tie_embeddings=none --set train.updates=1 --set tokenizer.vocab_size=90000

# Training: whole words; dropout resumes bit for bit, on any number of threads; what is refused is said.
small_config "$work/words" >"$work/words.ini"
expect 0 'update 2,' "$train" "$work/words.ini" --set tokenizer.type=word --set train.updates=2
expect 1 'only type = bpe' "$train" "$work/words.ini" --set tokenizer.type=word --set tokenizer.dropout=0.1
small_config "$work/whole" >"$work/whole.ini"
small_config "$work/halves" >"$work/halves.ini"
small_config "$work/plain" >"$work/plain.ini"
expect 0 'update 12,' "$train" "$work/whole.ini" --set tokenizer.dropout=0.2
expect 0 'update 7,' "$train" "$work/halves.ini" --set tokenizer.dropout=0.2 --set train.updates=7 --threads 1
expect 0 'update 12,' "$train" "$work/halves.ini" --set tokenizer.dropout=0.2
expect 0 'update 12,' "$train" "$work/plain.ini"
same_files "$work/whole/model.safetensors" "$work/halves/model.safetensors" "dropout after a resume"
cmp -s "$work/whole/model.safetensors" "$work/plain/model.safetensors" && fail "dropout changes nothing"
grep -q '^dropout = 0.2' "$work/whole/config.ini" || fail "config.ini does not hold the dropout"

printf 'B\377d line\n' | cat - "$work/train.en" | head -n 300 >"$work/broken.en"
small_config "$work/broken.run" | sed 's/train.en/broken.en/' >"$work/broken.ini"
expect 1 'broken.en:1:2: not UTF-8 .1 such line.; convert' "$train" "$work/broken.ini" --set tokenizer.invalid_utf8=reject
[ ! -e "$work/broken.run" ] || fail "a refused text made a run"
expect 0 'note +.*broken.en:1:2: not UTF-8' "$train" "$work/broken.ini" --set train.updates=1
expect 0 'train.fr: nfkc and lowercase: 300 of 300 lines changed; line 1: ".*" becomes "' "$train" "$work/whole.ini" --fresh \
    --set tokenizer.normalization=nfkc --set tokenizer.lowercase=yes --set train.updates=1
finish
