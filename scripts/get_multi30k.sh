#!/bin/sh
# Usage: scripts/get_multi30k.sh [DIRECTORY]    Puts Multi30k English-German (29,000 pairs) as plain text into data/multi30k/.
# From the .gz files in DIRECTORY, or from the public repository multi30k/dataset (Elliott et al. 2016), whose licence
# is its own: data/multi30k/ is ignored by git.
set -eu
from=${1:+$(cd "$1" && pwd)}
cd "$(dirname "$0")/.."
to=data/multi30k
mkdir -p "$to"
[ -n "$from" ] || command -v curl >/dev/null || { echo "curl is missing; install it, or name a directory with the .gz files" >&2; exit 1; }
url=https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw
for name in train val test_2016_flickr; do
    for side in en de; do
        [ ! -s "$to/$name.$side" ] || continue
        if [ -n "$from" ]; then
            gzip -dc "$from/$name.$side.gz" >"$to/$name.$side.part"
        else
            curl -fsSL "$url/$name.$side.gz" | gzip -dc >"$to/$name.$side.part"
        fi
        mv "$to/$name.$side.part" "$to/$name.$side"
    done
done
wc -l "$to"/*.en "$to"/*.de
