#!/bin/sh
# The corpus from the outside: files in every form train the same model, mistakes are one line, the cache is only a cache.
. tests/support/cli.sh

small_config "$work/run" | sed '/^valid_/d' >"$work/c.ini" # no validation: what is trained is all that counts
cd "$work" || exit 1
case "$train" in /*) ;; *) train=$OLDPWD/$train ;; esac
# trains NAME [--set ...]: three updates in a directory of that name, which must end with the first one's model.
trains() {
    name=$1
    shift
    expect 0 'finished +all updates done: update 3' "$train" c.ini --set train.updates=3 --set "output.dir=$name" "$@"
    same_files plain/model.safetensors "$name/model.safetensors" "the corpus was read otherwise"
}
refused() { # PATTERN [--set ...]: one line, and no directory
    pattern=$1
    shift
    expect 1 "$pattern" "$train" c.ini --set output.dir=refused "$@"
    [ "$(wc -l <out)" -eq 1 ] || fail "not one line: $(cat out)"
    [ ! -e refused ] || fail "a refused run has a directory"
}

# One file a side; two; one of them compressed; names with blanks and commas; TSV; all from the same text.
trains plain
head -n 100 train.en >a.en
tail -n +101 train.en >'b, the rest.en'
head -n 100 train.fr | gzip >a.fr.gz
tail -n +101 train.fr >'b b.fr'
trains two --set 'data.train_source=a.en, b\, the rest.en' --set 'data.train_target=a.fr.gz,b b.fr'
paste train.en train.fr >pairs.tsv
head -n 200 pairs.tsv | gzip >first
tail -n +201 pairs.tsv | gzip | cat first - >pairs.tsv.gz # two compressed parts
trains tsv --set data.train_source= --set data.train_target= --set data.train_tsv=pairs.tsv
trains packed --set data.train_source= --set data.train_target= --set data.train_tsv=./pairs.tsv.gz
{ printf '\357\273\277'; sed 's/$/\r/' train.en; } >odd.en
printf '%s' "$(cat train.fr)" >open.fr # no newline at the end
trains odd --set data.train_source=odd.en --set data.train_target=open.fr
[ "$(grep -c 'odd.en: .*dropped' out)" -eq 2 ] || fail "what is dropped of odd.en is not said once each"
trains packed --set data.train_source= --set data.train_target= --set data.train_tsv=./pairs.tsv.gz # a finished one

# The table.
{ cat train.en; printf '\n \nI see .\nI see .\nA b c d e f g h\nA\nA\n'; head -n 1 train.en; } >more.en
{ cat train.fr; printf 'Oui\nNon\n\nA b c d e f g h\nI see\nA b c d e f g h\n\360\237\220\204\n'; head -n 1 train.fr; } >more.fr
copies=$(paste train.en train.fr | sort | uniq -d -c | awk '{ n += $1 - 1 } END { print n + 1 }')
expect 0 "^train +308 +$((308 - 3 - 1 - copies)) +3 +0 +1 +$copies\$" "$train" c.ini --set output.dir=table --set train.updates=1 \
    --set data.train_source=more.en --set data.train_target=more.fr --set data.max_ratio=4 --set data.drop_duplicates=yes
grep -qE '^train  target +[0-9]+ +[0-9]+\.[0-9]+ +[0-9]+ +1$' out || fail "the cow is not counted as a character in byte tokens"
grep -qE '^train +308 ' table/train.log || fail "train.log has no table"
expect 0 '^train +300 +2[0-9]+ +0 +[1-9][0-9]* +- +-$' "$train" c.ini --set output.dir=short --set train.updates=1 --set data.max_length=35

# Mistakes.
head -n 99 a.en >short.en
refused 'short.en has 99 lines but a.fr.gz has 100;' --set 'data.train_source=short.en, b\, the rest.en' \
    --set 'data.train_target=a.fr.gz,b b.fr'
refused 'train_source has 2 paths but train_target has 1' --set data.train_source=a.en,b.en
refused 'train_tsv and train_source are both given' --set data.train_tsv=pairs.tsv
refused 'train_source has an empty path' --set data.train_source=a.en, --set data.train_target=a.fr.gz
{ cat pairs.tsv; echo 'one side'; } >odd.tsv
refused 'odd.tsv:301: has no tab' --set data.train_source= --set data.train_target= --set data.train_tsv=odd.tsv
mkfifo fifo
refused 'fifo: is no regular file' --set data.train_source=fifo
refused '^\.: is a directory' --set data.train_source=.
gzip -c train.en | head -c 500 >cut.en.gz
refused 'cut.en.gz: cannot be read .*cut off' --set data.train_source=cut.en.gz
{ gzip -c train.en; echo more; } >long.en.gz
refused 'long.en.gz: something else follows' --set data.train_source=long.en.gz
truncate -s 200M hole.en
refused 'hole.en:1: this line is longer than 1048576 bytes' --set data.train_source=hole.en
gzip -c hole.en >hole.en.gz
refused 'hole.en.gz:1: this line is longer than 1048576 bytes' --set data.train_source=hole.en.gz

# What changes between two starts of a run: the sides' names, the text, and a file's place in a list.
again() { "$train" c.ini --set train.updates=3 --set output.dir=plain "$@"; }
expect 1 'train_source is .*train.en. in this run, but .*train.fr. is asked for' again \
    --set data.train_source="$work/train.fr" --set data.train_target="$work/train.en"
mv train.en kept.en
sed '5s/^./X/' kept.en >train.en
expect 1 'corpus was [0-9a-f]+ and is now [0-9a-f]+; restore the training corpus' again
mv kept.en train.en
expect 0 'all updates done' again

# The cache: used or not, damaged or not, writable or not, the ids are the same.
further() { # UPDATES PATTERN: the run `plain` goes on, and so does `two`, which keeps a cache that is whole
    expect 0 'all updates done' "$train" c.ini --set train.updates="$1" --set output.dir=two \
        --set 'data.train_source=a.en, b\, the rest.en' --set 'data.train_target=a.fr.gz,b b.fr'
    expect 0 "$2" again --set train.updates="$1"
    same_files two/model.safetensors plain/model.safetensors "$2: the ids are others"
}
cache=plain/cache/train.safetensors
cp "$cache" whole
[ -s "$cache" ] || fail "no cache was written"
printf x | dd of="$cache" bs=1 seek=2000 conv=notrunc 2>/dev/null
further 4 'cache/train.safetensors: is damaged; the text is encoded again'
same_files whole "$cache" "the cache was not written again"
head -c 3000 whole >"$cache"
further 5 'cache/train.safetensors: is damaged'
cp whole "$cache"
expect 0 'all updates done' again --set train.updates=5
grep -q 'damaged\|cache' out && fail "something is said of a good cache"
rm "$cache"
mkdir "$cache.tmp" # where it is written first
further 6 'cache/train.safetensors.tmp: could not be created: Is a directory.*without a cache'
[ ! -e "$cache" ] || fail "half a cache was left"
rm -r plain/cache
: >plain/cache
further 7 'plain/cache: is a file where a directory is needed.*without a cache'
finish
