# Sourced by the command-line tests. PROGRAMS is the folder of the built programs; $work is removed at the end.
set -u
PROGRAMS=${PROGRAMS:-.}
train=$PROGRAMS/train translate=$PROGRAMS/translate evaluate=$PROGRAMS/evaluate tokenize=$PROGRAMS/tokenize
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS PATTERN COMMAND...: the command exits so, and prints (on either stream) a line with the pattern.
expect() {
    wanted=$1 pattern=$2
    shift 2
    "$@" >"$work/out" 2>&1
    status=$?
    [ "$status" -eq "$wanted" ] || fail "exit $status, not $wanted: $*"
    grep -qE "$pattern" "$work/out" || {
        fail "no line with '$pattern' from: $*"
        sed 's/^/    /' "$work/out"
    }
}

same_files() { cmp -s "$1" "$2" || fail "$1 and $2 differ: $3"; }

finish() {
    [ "$failures" -eq 0 ] && echo "all passed"
    exit "$failures"
}

# A configuration that trains in a second: small_config DIR > FILE
small_config() {
    cat <<END
[data]
train_source = $work/train.en
train_target = $work/train.fr
valid_source = $work/valid.en
valid_target = $work/valid.fr
[tokenizer]
vocab_size = 400
[model]
d_model = 32
encoder_layers = 1
decoder_layers = 1
heads = 2
ffn_dim = 48
dropout = 0.1
[train]
batch_tokens = 600
updates = 12
lr = 0.003
warmup = 5
piece_rows = 128
threads = 2
lanes = 2
[valid]
every = 5
[output]
dir = $1
log_every = 4
save_every = 100
END
}

# Can programs run under a limit on file sizes? ThreadSanitizer's own runtime dies of one.
takes_file_limits() { case $PROGRAMS in */tsan/*) return 1 ;; esac; }

head -n 300 data/toy/train.en >"$work/train.en"
head -n 300 data/toy/train.fr >"$work/train.fr"
head -n 20 data/toy/valid.en >"$work/valid.en"
head -n 20 data/toy/valid.fr >"$work/valid.fr"
