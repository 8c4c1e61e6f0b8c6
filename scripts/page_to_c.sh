#!/bin/sh
# Usage: scripts/page_to_c.sh PAGE.html    Prints a C array of the page's bytes: a/report.html is report_html[], with a final NUL.
# A line "@include FILE" stands for that file of the page's folder. (C has no string literals over 4,095 bytes.)
set -eu
folder=$(dirname "$1")
whole=$(mktemp)
trap 'rm -f "$whole"' EXIT
while IFS= read -r line; do
    case $line in
    "@include "*) cat "$folder/${line#@include }" ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$1" >"$whole"
name=$(basename "$1" | tr '.-' '__')
echo "extern const unsigned char $name[];"
echo "const unsigned char $name[] = {"
od -An -v -tu1 "$whole" | sed 's/ *\([0-9][0-9]*\)/\1,/g'
echo "0};"
