# Sourced: how a line of tests/mutations.txt is read and applied.
# shellcheck shell=sh

# mutation_split LINE: sets file and note, and OLD and NEW for mutation_apply.
mutation_split() {
    file=${1%% | *} rest=${1#* | }
    OLD=${rest%% | *} rest=${rest#* | }
    NEW=${rest%% | *} note=${rest#* | }
    [ "$NEW" = - ] && NEW=
    export OLD NEW
}

# mutation_apply FILE: prints it with the one occurrence of $OLD replaced by $NEW; fails if there is none or there are several. A blank in
# $OLD stands for any white space, so that the table does not depend on where lines are broken.
mutation_apply() {
    awk 'BEGIN {
             old = ENVIRON["OLD"]
             for (i = 1; i <= length(old); i++) {
                 c = substr(old, i, 1)
                 pattern = pattern (c == " " ? "[ \t\n]+" : c ~ /[A-Za-z0-9_]/ ? c : "[" c "]")
             }
         }
         { text = text $0 "\n" }
         END {
             while (match(text, pattern)) {
                 printf "%s%s", substr(text, 1, RSTART - 1), ENVIRON["NEW"]
                 text = substr(text, RSTART + RLENGTH)
                 count++
             }
             printf "%s", text
             exit count != 1
         }' "$1"
}
