#!/bin/sh
# Makes one known mistake in a backward pass and shows how ./gradcheck notices. The sources stay as they are: the file is
# changed in a temporary folder, compiled there, and linked with the rest of what `make` has built.
# Usage: scripts/break_gradient.sh                            lists the mistakes of tests/mutations.txt by name
#        scripts/break_gradient.sh NAME [GRADCHECK OPTION]    makes this one; a part of a name will do if only one has it
# Exit 0: noticed. 1: not noticed, or it could not be built or checked. 2: no such mistake or option. BUILD names another folder than build.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
. scripts/mutations.sh

die() { # status, words
    status=$1
    shift
    echo "break_gradient.sh: $*" >&2
    exit "$status"
}

# A line for each mistake: its name, a tab, the line that describes it.
named_lines() {
    awk -F ' [|] ' '/^[^#]/ {
        file = $1
        sub(/.*\//, "", file)
        sub(/\.c$/, "", file)
        name = tolower(file "-" $4)
        gsub(/[^a-z0-9]+/, "-", name)
        print name "\t" $0
    }' tests/mutations.txt
}

if [ $# -eq 0 ]; then
    named_lines | cut -f 1
    exit 0
fi
wanted=$1
shift
found=$(named_lines | awk -F '\t' -v wanted="$wanted" '
    $1 == wanted { exact = $0 }
    index($1, wanted) { line = line (count++ ? "\n" : "") $0 }
    END { if (exact != "") print exact; else if (line != "") print line }')
[ -n "$found" ] || die 2 "$wanted: no such mistake; scripts/break_gradient.sh lists them"
[ "$(echo "$found" | wc -l)" -eq 1 ] || die 2 "$wanted: could be
$(echo "$found" | cut -f 1 | sed 's/^/    /')"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mutation_split "$(echo "$found" | cut -f 2-)"
parts="$build/double/gradcheck.o $build/gradcheck_float.o $build/double/libtandem.a"
for part in $parts $build/flags; do
    [ -e "$part" ] || die 1 "$part: is not there; run make first"
done
mutation_apply "$file" >"$work/broken.c" || die 1 "$file: not exactly once in the file: $OLD"
echo "mistake    $note, in $file:"
diff -u "$file" "$work/broken.c" | sed -n '4,$p' | grep '^[-+]' | sed 's/^/    /'

# The object stands before the library, whose own copy is then not taken. flags: compiler and options of the build.
flags=$(cat "$build/flags")
eval "$flags -DTANDEM_DOUBLE -Wno-error -w -c -o '$work/broken.o' '$work/broken.c'" || die 1 "$file: does not compile"
eval "$flags -o '$work/gradcheck' '$work/broken.o' $parts -lopenblas -lutf8proc -ljansson -lz -lm" || die 1 "$file: does not link"

timeout --foreground 300 "$work/gradcheck" "$@" >"$work/output" 2>&1 # --foreground: Ctrl-C reaches it too
status=$?
if [ $status -eq 0 ]; then
    tail -n 1 "$work/output"
    die 1 "gradcheck has not noticed"
fi
if [ $status -le 2 ] && ! grep -q '^FAILED' "$work/output"; then # it has not got so far
    cat "$work/output" >&2
    exit $status
fi
# Modules stand in the order in which they are built of each other, so the first rows point at the mistake.
echo "noticed by"
awk '/ FAILED/ && !/^FAILED/ { rows++; if (rows <= 5) { print "    " $0; getline; print "    " $0 } }
     END { if (rows > 5) print "    ... and " rows - 5 " more tensors, of what is built with it" }' "$work/output"
[ $status -eq 1 ] || echo "    gradcheck ended with exit $status"
tail -n 1 "$work/output"
