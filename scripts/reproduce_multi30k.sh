#!/bin/sh
# Usage: scripts/reproduce_multi30k.sh [SEED [CONFIG.ini]]
# Trains on Multi30k English-German by configs/multi30k_tiny.ini (some hours on two cores; the same command goes on where it
# was stopped), translates test2016 with beam 5, and prints the scores. The corpus is fetched, or taken from the .gz files in
# the folder that the variable MULTI30K names.
set -eu
cd "$(dirname "$0")/.."
seed=${1:-1} config=${2:-configs/multi30k_tiny.ini}
scripts/get_multi30k.sh ${MULTI30K:+"$MULTI30K"} >/dev/null
make -j"$(nproc)" >/dev/null
name=$(basename "$config" .ini) run=runs/$(basename "$config" .ini)_$seed
./train "$config" --set "train.seed=$seed" --set "output.dir=$run"

tokens=none suffix=.lc.norm.tok
grep -q 'lc.norm.tok' "$config" || { tokens=13a suffix=; }
./translate "$run" --beam-size 5 --length-penalty 1 <"data/multi30k/test_2016_flickr$suffix.en" >"$run/test2016.de"
./translate "$run" --beam-size 5 --length-penalty 1 <"data/multi30k/val$suffix.en" >"$run/val.de"
score() { # hypotheses, references: BLEU and chrF2 with their signatures
    ./evaluate "$run/$1.de" "data/multi30k/$2$suffix.de" --tokenize "$tokens" | grep -E '^(BLEU|chrF2)'
}
echo "$name, seed $seed, validation set:"
score val val
echo "$name, seed $seed, test2016:"
score test2016 test_2016_flickr
