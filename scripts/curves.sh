#!/bin/sh
# Usage: scripts/curves.sh FIGURE X TITLE LABEL=metrics.jsonl... > curves.svg
# Draws the validations of several runs in one picture. FIGURE: nll, loss, ppl, bleu or chrf. X: minutes, update or epoch.
# FROM and TO in the environment cut the figure's axis, for curves that start far away.
set -eu
[ $# -ge 4 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
figure=$1 x=$2 title=$3
shift 3
case $figure in nll | loss | ppl | bleu | chrf) ;; *) echo "curves.sh: no figure $figure: nll, loss, ppl, bleu or chrf" >&2; exit 2 ;; esac
case $x in minutes | update | epoch) ;; *) echo "curves.sh: no axis $x: minutes, update or epoch" >&2; exit 2 ;; esac
for run; do
    [ -r "${run#*=}" ] || { echo "curves.sh: cannot read ${run#*=}" >&2; exit 1; }
done
for run; do
    printf '%s\n' "label ${run%%=*}"
    cat "${run#*=}"
done | awk -v figure="$figure" -v axis="$x" -v title="$title" -v from="${FROM:-}" -v to="${TO:-}" '
function value(key,   at) { # of a key of this line of JSON
    at = index($0, "\"" key "\":")
    return at ? substr($0, at + length(key) + 3) + 0 : ""
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
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", tx, ty, anchor, what
}
BEGIN {
    LEFT = 56; TOP = 40; WIDE = 620; HIGH = 300
    split("#0a6ebd #d1495b #2e8b57 #b8860b #7a4fbf #555555", color, " ")
}
/^label / { label[++runs] = substr($0, 7); seconds = 0; next }
/"kind":"resume"/ { # what was found after that update, or when an end was believed to be one, counts no more
    while (points[runs] && (U[runs, points[runs]] > value("update") || closing[runs, points[runs]])) points[runs]--
    next
}
/"kind":"train"/ { seconds = value("seconds"); next }
/"kind":"valid"/ {
    seconds += value("seconds")
    n = ++points[runs]
    X[runs, n] = axis == "minutes" ? seconds / 60 : value(axis)
    Y[runs, n] = value(figure)
    U[runs, n] = value("update")
    closing[runs, n] = /"closing":true/
}
END {
    for (r = 1; r <= runs; r++) for (n = 1; n <= points[r]; n++) {
        if (X[r, n] > x_high) x_high = X[r, n]
        if (y_low == "" || Y[r, n] < y_low) y_low = Y[r, n]
        if (y_high == "" || Y[r, n] > y_high) y_high = Y[r, n]
    }
    if (x_high == "") { print "curves.sh: no validations" > "/dev/stderr"; exit 1 }
    x_low = 0
    if (from != "") y_low = from + 0
    if (to != "") y_high = to + 0
    if (y_high == y_low) y_high = y_low + 1
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 700 400\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">"
    print "<rect width=\"700\" height=\"400\" fill=\"#fff\"/>"
    print "<clipPath id=\"area\"><rect x=\"" LEFT "\" y=\"" TOP "\" width=\"" WIDE "\" height=\"" HIGH "\"/></clipPath>"
    text(LEFT, 22, "start", title)
    step = step_of(y_high - y_low)
    for (v = int(y_low / step) * step; v <= y_high; v += step) if (v >= y_low) {
        printf "<path d=\"M%d %.1fh%d\" stroke=\"#ddd\"/>\n", LEFT, py(v), WIDE
        text(LEFT - 6, py(v) + 4, "end", v)
    }
    step = step_of(x_high)
    for (v = 0; v <= x_high; v += step) text(px(v), TOP + HIGH + 18, "middle", v)
    text(LEFT + WIDE, TOP + HIGH + 38, "end", axis)
    for (r = 1; r <= runs; r++) {
        d = ""
        for (n = 1; n <= points[r]; n++) d = d (n == 1 ? "M" : "L") sprintf("%.1f %.1f", px(X[r, n]), py(Y[r, n]))
        printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" clip-path=\"url(#area)\"/>\n", d, color[r]
        printf "<path d=\"M%d %dh18\" stroke=\"%s\" stroke-width=\"3\"/>\n", LEFT + 10 + (r - 1) * 160, TOP + HIGH + 34, color[r]
        text(LEFT + 34 + (r - 1) * 160, TOP + HIGH + 38, "start", label[r])
    }
    print "</svg>"
}'
