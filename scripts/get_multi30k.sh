#!/bin/sh
# Usage: scripts/get_multi30k.sh [DIRECTORY]    Puts Multi30k English-German (29,000 pairs) as plain text into data/multi30k/:
# raw, and lowercased, normalised and tokenised (lc.norm.tok), as papers use it.
# From the .gz files in DIRECTORY, or from the public repository multi30k/dataset (Elliott et al. 2016), whose licence
# is its own: data/multi30k/ is ignored by git. What is there stays.
set -eu
unset CDPATH
from=${1:-}
[ -z "$from" ] || [ -d "$from" ] || { echo "get_multi30k.sh: $from: no such folder; name the one with train.en.gz and the others" >&2; exit 1; }
from=${from:+$(cd "$from" && pwd)}
cd "$(dirname "$0")/.."
to=data/multi30k
mkdir -p "$to"
url=https://raw.githubusercontent.com/multi30k/dataset/master/data/task1
fetch() { # the file's name: prints it unpacked
    if [ -n "$from" ]; then
        gzip -dc "$from/$1.gz"
        return
    fi
    case "$1" in
    *.lc.norm.tok.*) curl -fsSL "$url/tok/$1" ;;
    *) curl -fsSL "$url/raw/$1.gz" | gzip -dc ;;
    esac
}
for name in train val test_2016_flickr; do
    for side in en de lc.norm.tok.en lc.norm.tok.de; do
        [ ! -s "$to/$name.$side" ] || continue
        [ -n "$from" ] || command -v curl >/dev/null || { echo "get_multi30k.sh: curl is missing; install it, or name a folder with the .gz files" >&2; exit 1; }
        if fetch "$name.$side" >"$to/$name.$side.part" && [ -s "$to/$name.$side.part" ]; then
            mv "$to/$name.$side.part" "$to/$name.$side"
        else
            rm -f "$to/$name.$side.part"
            [ -n "$from" ] && echo "get_multi30k.sh: no good $name.$side.gz in $from; put it there, or name no folder to fetch it" >&2
            [ -n "$from" ] || echo "get_multi30k.sh: $name.$side cannot be fetched from $url; name a folder with the .gz files" >&2
            exit 1
        fi
    done
done
wc -l "$to"/*.en "$to"/*.de
