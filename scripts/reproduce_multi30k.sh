#!/bin/sh
# Usage: scripts/reproduce_multi30k.sh [SEED [CONFIG.ini [OPTIONS OF ./train]]]
# Trains on Multi30k English-German by configs/multi30k_tiny.ini (some hours on two cores) into runs/NAME_SEED, NAME being
# the configuration's, translates validation set and test2016 with beam 5, and prints the scores. Stopped, the same command
# goes on where it was. The corpus is fetched, or taken from the .gz files in the folder that the variable MULTI30K names.
set -eu
unset CDPATH
home=$(cd "$(dirname "$0")/.." && pwd)
seed=${1:-1} config=${2:-$home/configs/multi30k_tiny.ini}
case $seed in *[!0-9]* | 0?*) echo "reproduce_multi30k.sh: seed \"$seed\": a whole number, as in $0 2" >&2; exit 2 ;; esac
[ -f "$config" ] || { echo "reproduce_multi30k.sh: $config: no such configuration" >&2; exit 1; }
[ $# -le 2 ] && set -- || shift 2
config=$(cd "$(dirname "$config")" && pwd)/$(basename "$config")
"$home/scripts/get_multi30k.sh" ${MULTI30K:+"$MULTI30K"} >/dev/null
cd "$home"
make -j"$(nproc)" >/dev/null
name=$(basename "$config" .ini)
run=runs/${name}_$seed
./train "${config#"$home/"}" "$@" --set "train.seed=$seed" --set "output.dir=$run"
[ -f "$run/model.safetensors" ] || exit 0 # --dry-run

tokens=13a suffix=
if grep -Eq '^[[:space:]]*train_source[[:space:]]*=.*lc\.norm\.tok' "$config"; then tokens=none suffix=.lc.norm.tok; fi
for set in val test_2016_flickr; do
    ./translate "$run" --beam-size 5 --length-penalty 1 <"data/multi30k/$set$suffix.en" >"$run/$set.de"
    echo "$name, seed $seed, $set:"
    ./evaluate "$run/$set.de" "data/multi30k/$set$suffix.de" --tokenize "$tokens" | grep -E '^(BLEU|chrF2)'
done
