# Sourced after cli.sh by the tests of resuming: a run that trains in a moment, and the comparison of two runs.

# Eight updates an epoch, saved, validated and averaged off the same beat. tiny_config DIR > FILE
tiny_config() {
    cat <<END
[data]
train_source = $work/tiny.en
train_target = $work/tiny.fr
valid_source = $work/tiny_valid.en
valid_target = $work/tiny_valid.fr
[tokenizer]
type = byte
[model]
d_model = 8
encoder_layers = 1
decoder_layers = 1
heads = 2
ffn_dim = 8
dropout = 0.1
[train]
batch_tokens = 300
updates = 20
lr = 0.01
warmup = 5
piece_rows = 64
threads = 1
lanes = 2
[valid]
every = 3
[average]
last = 3
every = 2
[decode]
max_length_factor = 0
max_length_extra = 8
[output]
dir = $1
log_every = 4
save_every = 2
END
}

head -n 64 data/toy/train.en >"$work/tiny.en"
head -n 64 data/toy/train.fr >"$work/tiny.fr"
head -n 3 data/toy/valid.en >"$work/tiny_valid.en"
head -n 3 data/toy/valid.fr >"$work/tiny_valid.fr"

# The header of a safetensors file without times and checksum, and its data: header FILE, data FILE
header_length() { od -An -tu8 -N8 "$1" | tr -d ' '; }
header() {
    tail -c +9 "$1" | head -c "$(header_length "$1")" |
        sed -E 's/"(window_)?seconds":"[^"]*"//g; s/"tandem.checksum":"[^"]*"//; s/ *$//'
}
data() { tail -c +"$((9 + $(header_length "$1")))" "$1"; }

# The same run in all but times: weights, state, snapshots, metrics. same_run DIR DIR WHAT
same_run() {
    same_files "$1/model.safetensors" "$2/model.safetensors" "$3"
    header "$1/state.safetensors" >"$work/state.a"
    header "$2/state.safetensors" >"$work/state.b"
    same_files "$work/state.a" "$work/state.b" "$3: states of $1 and $2"
    data "$1/state.safetensors" >"$work/state.a"
    data "$2/state.safetensors" >"$work/state.b"
    same_files "$work/state.a" "$work/state.b" "$3: parameters and moments of $1 and $2"
    tests/support/canonical_metrics.sh "$1/metrics.jsonl" >"$work/metrics.a"
    tests/support/canonical_metrics.sh "$2/metrics.jsonl" >"$work/metrics.b"
    [ -s "$work/metrics.a" ] || fail "$3: $1 has no metrics"
    same_files "$work/metrics.a" "$work/metrics.b" "$3: metrics of $1 and $2"
    if [ -e "$1/model.best.safetensors" ] || [ -e "$2/model.best.safetensors" ]; then
        same_files "$1/model.best.safetensors" "$2/model.best.safetensors" "$3: the model of the schedule"
    fi
    if [ -d "$1/epochs" ]; then
        for snapshot in "$1"/epochs/*; do
            same_files "$snapshot" "$2/epochs/${snapshot##*/}" "$3: a snapshot"
        done
    fi
}
