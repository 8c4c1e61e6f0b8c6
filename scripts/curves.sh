#!/bin/sh
# Usage: scripts/curves.sh FIGURE X TITLE LABEL=metrics.jsonl... > curves.svg
# Draws the validations of up to six runs in one picture. FIGURE: nll, loss, ppl, bleu or chrf. X: minutes, update or epoch.
# The variables FROM and TO cut the figure's axis, for curves that start far away.
set -eu
stop() { # exit code, message
    echo "curves.sh: $2" >&2
    exit "$1"
}
[ $# -ge 4 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
[ $# -le 9 ] || stop 2 "$(($# - 3)) runs, but there are colours for six"
figure=$1 x=$2
export TITLE="$3"
shift 3
case $figure in nll | loss | ppl | bleu | chrf) ;; *) stop 2 "no figure $figure: nll, loss, ppl, bleu or chrf" ;; esac
case $x in minutes | update | epoch) ;; *) stop 2 "no axis $x: minutes, update or epoch" ;; esac
for bound in "${FROM:-0}" "${TO:-0}"; do
    printf '%s\n' "$bound" | grep -Eqx -e '-?[0-9]+(\.[0-9]+)?' || stop 2 "FROM and TO are numbers like 20 or -1.5, not \"$bound\""
done
export LABELS=
for run; do
    file=${run#*=}
    [ -r "$file" ] && [ ! -d "$file" ] || stop 1 "cannot read $file"
    case $file in /*) ;; *) file=./$file ;; esac # awk takes name=value for an assignment
    LABELS="$LABELS$(printf '%s' "${run%%=*}" | tr '\n' ' ')
"
    shift
    set -- "$@" "$file"
done
awk -v figure="$figure" -v axis="$x" -v from="${FROM:-}" -v to="${TO:-}" '
function value(key,   at, rest) { # of a key of this line of JSON; "" if that is no finite number
    at = index($0, "\"" key "\":")
    rest = substr($0, at + length(key) + 3)
    if (!at || !match(rest, /^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?[,}]/)) return ""
    rest = substr(rest, 1, RLENGTH - 1) + 0
    return rest > -1e99 && rest < 1e99 ? rest : ""
}
function step_of(range,   s, k) { # 1, 2 or 5 times a power of ten: at most six in the range
    s = 1e-6
    for (k = 0; s * 6 < range; k++) s *= k % 3 == 1 ? 2.5 : 2
    return s
}
function px(v) { return LEFT + (v - x_low) / (x_high - x_low) * WIDE }
function py(v) { return TOP + (y_high - v) / (y_high - y_low) * HIGH }
function text(tx, ty, anchor, what) {
    gsub(/&/, "\\&amp;", what)
    gsub(/</, "\\&lt;", what)
    gsub(/[\001-\037]/, " ", what)
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", tx, ty, anchor, what
}
function stop(why) {
    print "curves.sh: " why > "/dev/stderr"
    exit 1
}
BEGIN {
    LEFT = 56; TOP = 40; WIDE = 620; HIGH = 300
    split("#0a6ebd #d1495b #2e8b57 #b8860b #7a4fbf #555555", color, " ")
    split(ENVIRON["LABELS"], label, "\n")
}
FNR == 1 { # of the next run whose file is not empty
    do run++; while (ARGV[run] != FILENAME)
    seconds = trained = 0
}
!/}$/ { next } # cut off
# Which lines count is told by training/metrics_read.h.
/^[{]"kind":"resume"/ {
    while (points[run] && (U[run, points[run]] > value("update") || closing[run, points[run]])) points[run]--
}
/^[{]"kind":"train"/ {
    while (value("update") < trained && points[run] && U[run, points[run]] >= value("update")) points[run]--
    trained = value("update")
    seconds = value("seconds")
}
/^[{]"kind":"valid"/ {
    seconds += value("seconds")
    x = axis == "minutes" ? seconds / 60 : value(axis)
    y = value(figure)
    if (x == "" || y == "") next
    if (points[run] && U[run, points[run]] == value("update")) points[run]--
    n = ++points[run]
    X[run, n] = x
    Y[run, n] = y
    U[run, n] = value("update")
    closing[run, n] = /"closing":true/
}
END {
    x_low = x_high = 0
    for (r = 1; r < ARGC; r++) {
        if (!points[r]) stop("no validation with " figure " and " axis " in " ARGV[r])
        for (n = 1; n <= points[r]; n++) {
            if (X[r, n] > x_high) x_high = X[r, n]
            if (y_low == "" || Y[r, n] < y_low) y_low = Y[r, n]
            if (y_high == "" || Y[r, n] > y_high) y_high = Y[r, n]
        }
    }
    if (from != "") y_low = from + 0
    if (to != "") y_high = to + 0
    if (y_high < y_low) stop("the axis would go from " y_low " to " y_high "; FROM and TO cut it")
    if (y_high == y_low) y_high += 1 + (y_low > 0 ? y_low : -y_low)
    if (x_high == x_low) x_high = x_low + 1
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 700 420\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">"
    print "<rect width=\"700\" height=\"420\" fill=\"#fff\"/>"
    print "<clipPath id=\"area\"><rect x=\"" LEFT "\" y=\"" TOP - 1 "\" width=\"" WIDE + 1 "\" height=\"" HIGH + 2 "\"/></clipPath>"
    text(LEFT, 22, "start", ENVIRON["TITLE"])
    step = step_of(y_high - y_low)
    v_low = int(y_low / step) * step
    for (n = 0; n <= 8; n++) if ((v = v_low + n * step) >= y_low && v <= y_high) {
        printf "<path d=\"M%d %.1fh%d\" stroke=\"#ddd\"/>\n", LEFT, py(v), WIDE
        text(LEFT - 6, py(v) + 4, "end", sprintf("%.9g", v))
    }
    step = step_of(x_high)
    for (n = 0; n <= 8; n++) if ((v = n * step) <= x_high) text(px(v), TOP + HIGH + 18, "middle", sprintf("%.9g", v))
    text(LEFT + WIDE, TOP + HIGH + 38, "end", axis)
    for (r = 1; r < ARGC; r++) {
        d = ""
        for (n = 1; n <= points[r]; n++) d = d (n == 1 ? "M" : "L") sprintf("%.1f %.1f", px(X[r, n]), py(Y[r, n]))
        printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" clip-path=\"url(#area)\"/>\n", d, color[r]
        lx = LEFT + (r - 1) % 3 * 185
        ly = TOP + HIGH + 38 + int((r - 1) / 3) * 20
        printf "<path d=\"M%d %dh18\" stroke=\"%s\" stroke-width=\"3\"/>\n", lx, ly - 4, color[r]
        text(lx + 24, ly, "start", label[r])
    }
    print "</svg>"
}' "$@"
