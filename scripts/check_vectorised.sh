#!/bin/sh
# Usage: scripts/check_vectorised.sh GCC FLAG...    Are the inner loops of training vectorised under these flags?
# Prints a table by gcc's own report; exit 1 where a loop marked `omp simd` in the files below, or one of the named
# functions, is not. A lost flag does not change what is computed, only how fast. ONLY, in the environment, is a regular
# expression that chooses files.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What has to be there. Static functions are named where they stand, whatever they are inlined into.
grep -E "${ONLY:-.}" >"$work/wanted" <<END
base/vec.c vec_sum vec_dot vec_max vec_add vec_scale vec_exp_sum vec_sum_squares
model/softmax.c softmax_forward softmax_backward
model/layer_norm.c layer_norm_forward layer_norm_backward
model/dropout.c dropout_row
model/activation.c relu_forward relu_backward
model/residual.c add_rows
model/loss.c loss_backward
model/tile.c tile
training/optimizer.c adam_update sgd_update
training/ema.c ema_update
END

# All files at once, on the machine's cores.
while read -r file functions; do
    report=$work/$(echo "$file" | tr / _)
    { "$@" -w -g0 -fopt-info-vec-optimized -S -o /dev/null "$file" 2>"$report" || touch "$report.failed"; } &
done <"$work/wanted"
wait

# "LINE FUNCTION LOOP MARKED" for each line of a function: LOOP is the line of the `for` around it, or 0. gcc reports a loop at
# its mark, its head or its body.
lines() {
    awk '/^[a-z].*\(/ && !/;$/ {
             name = $0
             gsub(/__attribute__\(\(.*\)\)/, "", name)
             sub(/\(.*/, "", name)
             sub(/.*[ *]/, "", name)
             loop = mark = marked = 0
         }
         /^}/ { name = "" }
         name == "" { next }
         /^#pragma omp.* simd/ { mark = NR; next }
         /for \(/ {
             loop = NR
             marked = mark > 0
             if (marked) print mark, name, loop, 1
             mark = 0
         }
         { print NR, name, loop, marked + 0 }' "$1"
}

# Of a loop and its odd end the widest vector counts. A function has that of its narrowest marked loop; without any, that of
# its widest, or of straight code that gcc made of a short one.
verdicts() { # FILE FUNCTIONS; the lines, then "LINE BYTES loop|block" on stdin
    awk -v file="$1" -v wanted="$2" '
        NF == 4 { loop_of[$1] = $3; name_of[$1] = $2; if ($4) must[$3] = $2; next }
        !($1 in name_of) { next }
        { name = name_of[$1]; if ($2 > widest[name]) widest[name] = $2 }
        $3 == "loop" { loop = loop_of[$1]; if ($2 > bytes[loop]) bytes[loop] = $2 }
        END {
            for (loop in must) {
                name = must[loop]
                if (!(loop in bytes)) lost[name] = lost[name] ", line " loop
                else if (!(name in narrowest) || bytes[loop] < narrowest[name]) narrowest[name] = bytes[loop]
            }
            count = split(wanted, list)
            for (i = 1; i <= count; i++) listed[list[i]] = 1
            for (loop in must)
                if (!(must[loop] in listed)) { list[++count] = must[loop]; listed[must[loop]] = 1 }
            for (i = 1; i <= count; i++) {
                name = list[i]
                size = name in narrowest ? narrowest[name] : widest[name]
                good = !(name in lost) && size > 0
                bad += !good
                printf "%-22s %s\n", name, good ? "vectorised with " size "-byte vectors" : "NOT vectorised: " file lost[name]
            }
            exit bad > 0
        }'
}

status=0
while read -r file functions; do
    report=$work/$(echo "$file" | tr / _)
    if [ -e "$report.failed" ]; then
        echo "check_vectorised: $file does not compile" >&2
        cat "$report" >&2
        exit 1
    fi
    {
        lines "$file"
        sed -nE 's/^[^:]*:([0-9]+):.*(loop|block) (part )?vectorized using ([0-9]+) byte vectors.*/\1 \4 \2/p' "$report"
    } | verdicts "$file" "$functions" || status=1
done <"$work/wanted"
[ "$status" -eq 0 ] || echo "check_vectorised: a loop is not vectorised, or a function in the list of this script is gone" >&2
exit $status
