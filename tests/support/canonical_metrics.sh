#!/bin/sh
# Usage: canonical_metrics.sh METRICS.JSONL    What a run has come to, as training/metrics.h says readers have to take it:
# without lines that a later resume supersedes, lines that a crash cut off, and times.
exec awk '
BEGIN { lines = 0 }
function number(key) { return match($0, "\"" key "\":[0-9]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 : -1 }
!/^{.*}$/ { next }
/"kind":"resume"/ {
    from = number("update")
    kept = 0
    for (i = 0; i < lines; i++)
        if (update[i] <= from && line[i] !~ /"closing":true/) { line[kept] = line[i]; update[kept++] = update[i] }
    lines = kept
    next
}
{
    update[lines] = number("update")
    gsub(/,"(seconds|tgt_tokens_per_s|src_tokens_per_s)":[^,}]*/, "")
    line[lines++] = $0
}
END { for (i = 0; i < lines; i++) print line[i] }' "$1"
