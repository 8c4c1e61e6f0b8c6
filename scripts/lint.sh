#!/bin/sh
# Usage: scripts/lint.sh C-FILE...    Rules that a compiler does not check. Prints what breaks them; exit 1 then.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
complain() { # title; the lines on stdin, if any. Runs at the end of a pipe, so it leaves its mark in a file.
    lines=$(cat)
    [ -z "$lines" ] && return
    echo "lint: $1"
    echo "$lines" | sed 's/^/    /'
    touch "$work/bad"
}

# Format, by the repository's own .clang-format.
format=$(command -v clang-format-14 || command -v clang-format) || { echo "lint: clang-format is not installed" >&2; exit 1; }
for file in "$@"; do
    "$format" --dry-run -Werror "$file" >/dev/null 2>&1 || echo "$file"
done | complain "not formatted; run make format"

# Layers: a module includes itself and those below it.
below() {
    case "$1" in
    base) echo "base" ;;
    tokenizer) echo "base tokenizer" ;;
    scores) echo "base tokenizer scores" ;;
    data) echo "base tokenizer scores data" ;;
    model) echo "base model" ;;
    run) echo "base tokenizer model run" ;;
    decoding) echo "base tokenizer model run decoding" ;;
    training) echo "base tokenizer scores data model run decoding training" ;;
    study) echo "base tokenizer scores data model run decoding training study" ;;
    measuring) echo "base tokenizer scores data model run decoding training measuring" ;;
    esac
}
for module in base tokenizer scores data model run decoding training study measuring; do
    allowed=$(below $module | tr ' ' '|')
    grep -nE '^#include "' "$module"/*.[ch] 2>/dev/null | grep -vE "\"($allowed)/"
done | complain "an include that points up (base < tokenizer < scores < data; base < model; tokenizer, model < run < decoding; data, decoding < training < study, measuring)"

grep -nE 'omp parallel' model/*.[ch] | complain "threads inside model/: layers are serial, lanes are in training/lanes.c"
grep -nE 'cblas\.h' --include='*.[ch]' -r base tokenizer scores data model run decoding training study measuring ./*.c |
    grep -v '^model/matmul.c' | complain "cblas.h outside model/matmul.c"
grep -nE 'ffast-math|-Ofast' Makefile | grep -v '^[0-9]*:#' | complain "arithmetic that the compiler may change"
grep -nE '\b(TODO|FIXME|XXX)\b' "$@" | complain "left unfinished"
wc -l "$@" | awk '$2 != "total" && $1 > 350 { print $2 ": " $1 " lines" }' | complain "over 350 lines"

# A page is one file: nothing in it is loaded from elsewhere.
grep -nE '(src|href)=|url\(|@import|https?:|fetch\(|XMLHttpRequest' training/report* | grep -vE '\.[ch]:|http://www\.w3\.org/2000/svg' |
    complain "a page that loads something"

# Documents may only name what exists: `word_word` and `word_word()` are functions or types in the sources, `a/b.c` are files.
documents="README.md model/README.md $(ls docs/*.md docs/course/*.md)"
for document in $documents; do
    grep -oE '`[^`]+`' "$document" | tr -d '`' | sort -u | while read -r name; do
        case "$name" in
        *' '* | *.*.* | runs/* | -* | */ | *'*'* | *'$'* | *'<'* | http*) continue ;;
        */*.c | */*.h | */*.sh | */*.py | */*.md | */*.ini | */*.json | */*.txt) [ -e "$name" ] || echo "$document: no file $name" ;;
        [a-z]*_[a-z]*'()' | [a-z]*_[a-z]*)
            word=${name%()}
            grep -qwE "$word" -r base tokenizer scores data model run decoding training study measuring tests configs scripts ./*.c --include='*.[ch]' --include='*.ini' --include='*.sh' --include='*.py' ||
                echo "$document: nothing is called $word"
            ;;
        esac
    done
done | complain "a document names what does not exist"

# `name` in `file`, or in the next cell of a table, says where a function or macro is defined, or a type or field stands.
grep -oE '^(#define |[a-zA-Z])[^;=(]*[ *][a-z_0-9]+\(' ./*.c ./*/*.[ch] | sed 's,^\./,,' >"$work/definitions"
for document in $documents; do
    grep -oE '`[a-z_0-9]+` (in|\|) `[a-z_/0-9]+\.[ch]`' "$document" | tr -d '`' | sort -u | while read -r name _ file; do
        if grep -qE "[ *]$name\($" "$work/definitions"; then
            grep -qE "^$file:.*[ *]$name\($" "$work/definitions"
        else
            grep -qsw "$name" "$file"
        fi || echo "$document: $name is not in $file"
    done
done | complain "a document looks for a name in the wrong file"

# Options in documents: those of a command ./PROGRAM ... stand in that program's table; in the course, `--option` alone in
# some program's (other pages also speak of other toolkits' options).
for program in ./*.c; do # what holds its table: a file that it includes, or itself
    ${CC:-cc} -MM -I. "$program" | tr ' ' '\n' | sed -n 's/\.h$/.c/; /\.c$/p' | xargs grep -lE 'const Option ' 2>/dev/null |
        xargs cat >"$work/$(basename "$program" .c).options"
done
for document in $documents; do
    grep -oE '(^|[ `])\./[a-z]+ [^ `|<>][^`|<>]*' "$document" | sed -E 's/#.*//; s/"[^"]*"//g; s/.*\.\///' | sort -u | while read -r program arguments; do
        [ -f "$program.c" ] || { echo "$document: no program $program"; continue; }
        for option in $(echo "$arguments" | grep -oE -- '--[a-z][-a-z]*' | tr -d ' ' | sed 's/^--//'); do
            grep -qsF "\"$option\"," "$work/$program.options" || echo "$document: $program has no option --$option"
        done
    done
done | sort -u | complain "a document names an option that does not exist"
for document in docs/course/*.md; do
    grep -oE '`--[a-z][-a-z]*' "$document" | sed 's/^`--//' | sort -u | while read -r option; do
        grep -qF "\"$option\"," "$work"/*.options || echo "$document: no program has an option --$option"
    done
done | complain "the course names an option that no program has"

# Values of options that are names: modules, demonstrations, known mistakes.
grep -ohE -- '--(module|demo) [a-z][-a-z]*' docs/course/*.md | sort -u | while read -r option name; do
    grep -qE "[\"|]$name[\"|]" ./*.c study/*.c || echo "docs/course: $option $name"
done | complain "the course gives an option a value that no program knows"
grep -ohE 'break_gradient\.sh [a-z][-a-z0-9]*' docs/course/*.md | sort -u | while read -r script name; do
    scripts/$script 2>/dev/null | grep -qx -- "$name" || echo "docs/course: $name"
done | complain "scripts/break_gradient.sh lists no such mistake"

# Every page of the course with computed blocks is checked by a test, and the index lists every page.
for page in docs/course/[0-9]*.md; do
    grep -qF "($(basename "$page"))" docs/course/README.md || echo "$page: not in docs/course/README.md"
    grep -qF "\"$page\"" tests/both_course*.c || echo "$page: its numbers are not checked in tests/both_course*.c"
done >"$work/pages"
grep -ohE '\]\([^)]*\.md\)' docs/course/*.md | tr -d '()]' | sort -u | while read -r link; do
    [ -f "docs/course/$link" ] || echo "docs/course: no page $link"
done | cat "$work/pages" - | complain "the course is not whole"

# model/README.md follows one weight: its numbered steps name functions in calling order; each must call the next.
awk '/^## Follow one weight/ { on = 1; next } /^## / { on = 0 } on && /^[0-9]+\. / { print }' model/README.md 2>/dev/null |
    sed -nE 's/^[0-9]+\. `([a-z_]+)` in `([a-z_./]+)`.*/\1 \2/p' >"$work/walk"
steps=$(wc -l <"$work/walk")
if [ "$steps" -lt 6 ]; then
    echo "model/README.md: 'Follow one weight' has $steps readable steps" | complain "the walk is missing"
fi
previous_file="" previous=""
while read -r function file; do
    { [ -f "$file" ] && grep -qE "\b$function\(" "$file"; } || echo "$function is not in $file"
    if [ -n "$previous_file" ]; then
        awk -v name="$previous" '$0 ~ "^[A-Za-z].*[ *]" name "\\(" && !/;$/ { on = 1 } on { print } on && /^}/ { exit }' "$previous_file" |
            tail -n +2 | grep -qE "\b$function\(" || [ "$function" = lanes_gradient ] ||
            echo "$previous in $previous_file does not call $function"
    fi
    previous=$function previous_file=$file
done <"$work/walk" | complain "model/README.md: the walk does not match the code"

[ ! -e "$work/bad" ] || exit 1
echo "lint: clean"
