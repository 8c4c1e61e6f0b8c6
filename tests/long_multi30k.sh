#!/bin/sh
# A real corpus: a few updates of the Tiny model on Multi30k, where its text is at hand (scripts/get_multi30k.sh). Memory
# stays under 300 MB and does not grow with the update; a resumed run is the uninterrupted one.
. tests/support/cli.sh

if [ ! -s data/multi30k/train.de ]; then
    [ -s ../shared/multi30k/train.de.gz ] || { echo "no Multi30k here" && exit 77; }
    scripts/get_multi30k.sh ../shared/multi30k >/dev/null
fi
run() { # DIR, options...
    dir=$1
    shift
    expect 0 'finished' "$train" configs/multi30k_raw_en_de.ini --set train.schedule=inverse_sqrt --set valid.every=10 \
        --set "output.dir=$work/$dir" "$@"
    sed -nE 's/.*peak memory ([0-9]+) MB.*/\1/p' "$work/out" | tail -n 1
}
small=$(run small --set train.updates=10)
large=$(run large --set train.updates=10 --set train.batch_tokens=16000)
echo "peak memory: $small MB at 2,048 target tokens an update, $large MB at 16,000"
[ "$small" -lt 300 ] || fail "peak memory $small MB"
[ "$((large * 10))" -le "$((small * 11))" ] || fail "memory grows with the update"
run small --set train.updates=20 >/dev/null
run whole --set train.updates=20 >/dev/null
same_files "$work/small/model.safetensors" "$work/whole/model.safetensors" "resumed training has other weights"
"$translate" "$work/small" --input data/multi30k/val.en --output "$work/val.de" || fail "translate failed"
[ "$(wc -l <"$work/val.de")" -eq 1014 ] || fail "lines are missing"
finish
