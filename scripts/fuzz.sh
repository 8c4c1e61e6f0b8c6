#!/bin/sh
# Usage: scripts/fuzz.sh BUILD SECONDS TARGET...    Runs each libFuzzer target for so long, from the committed inputs and those of
# earlier runs on; stops at the first that crashes, leaks, hangs, takes over 2 GB or breaks a promise. `make fuzz` calls it.
set -eu
build=$1 seconds=$2
shift 2
export ASAN_OPTIONS=detect_leaks=1 TMPDIR="${TMPDIR:-/dev/shm}"
for target in "$@"; do
    found=$build/found/$target
    mkdir -p "$found"
    echo "== $target, $seconds s"
    "$build/fuzzers/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="$build/$target-" "$found" "tests/fuzz/seeds/$target" 2>"$build/$target.log" ||
        { tail -n 40 "$build/$target.log"; exit 1; }
    sed -n 's/^stat::number_of_executed_units: */   inputs: /p' "$build/$target.log"
done
