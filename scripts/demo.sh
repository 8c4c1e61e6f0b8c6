#!/bin/sh
# Installs what is missing, builds, trains the tiny English-French model, and translates sentences it has never seen.
set -eu
cd "$(dirname "$0")/.."
scripts/install_packages.sh gcc make libc6-dev libopenblas-openmp-dev libutf8proc-dev libjansson-dev zlib1g-dev
make -j"$(nproc)" train translate evaluate

run=runs/tiny
echo
echo "== Training: 30,000 sentence pairs, an encoder-decoder Transformer with 2+2 layers =="
./train configs/tiny_translate.ini

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
show() { # file name, title: translates and prints accuracy, in all and by tag
    ./translate "$run" <"data/toy/$1.en" >"$work/$1.fr"
    echo
    echo "== $2 =="
    ./evaluate "$work/$1.fr" "data/toy/$1.fr" --tags "data/toy/$1.tags"
}
show test "test: unseen sentences"
show test_pairs "test_pairs: word pairs that never met in training"
show test_long "test_long: longer and deeper than anything in training"
show minimal_pairs "minimal_pairs: one English word changes, and all that must follow in French"

echo
echo "== Ten translations of unseen sentences =="
awk 'FNR % 100 == 50' data/toy/test.en >"$work/ten.en"
awk 'FNR % 100 == 50' data/toy/test.fr >"$work/ten.reference"
./translate "$run" <"$work/ten.en" >"$work/ten.fr"
awk -v out="$work/ten.fr" -v reference="$work/ten.reference" '{
    getline translation <out
    getline right <reference
    printf "%s\n  -> %s%s\n", $0, translation, translation == right ? "" : "   (reference: " right ")"
}' "$work/ten.en"
echo
echo "Now try your own: echo 'The small mouse eats the pear.' | ./translate $run"
