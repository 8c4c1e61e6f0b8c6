#!/bin/sh
# ./bench from the outside: options, both forms of output, mistakes. Never how fast it is.
. tests/support/cli.sh
bench=$PROGRAMS/bench
tiny="--updates 1 --set model.d_model=16 --set model.heads=2 --set model.encoder_layers=1 --set model.decoder_layers=1
    --set model.ffn_dim=16 --set tokenizer.vocab_size=300 --set train.batch_tokens=300"
small_config "$work/run" >"$work/c.ini"

# is_json FILE: an object as jansson indents it, a key a line. Its numbers are then printed as "KEY VALUE", those of parts as "parts KEY=VALUE".
is_json() {
    awk 'function wrong() { print FILENAME ":" NR ": not JSON: " $0; failed = 1; exit 1 }
         NR == 1 { if ($0 != "{") wrong(); depth = 1; next }
         depth == 0 { wrong() }
         /^ *[]}],?$/ { if (comma || --depth < 0) wrong(); comma = /,$/; next }
         { if (NR > 2 && !comma && !opened) wrong() }
         { opened = /[[{]$/; comma = /,$/ }
         opened && /^ *("[^"\\]*": )?[[{]$/ { depth++; next }
         /^ *"[^"\\]*": ("[^"\\]*"|-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?),?$/ { next }
         { wrong() }
         END { if (!failed && depth != 0) { print FILENAME ": cut off"; exit 1 } }' "$1" || fail "$1 is not JSON"
    sed -nE 's/^    "([^"]*)": ([-0-9.e+]+),?$/parts \1=\2/p; s/^  "([a-z_]+)": ([-0-9.e+]+),?$/\1 \2/p' "$1"
}

# check_report FILE THREADS: the keys are there, with values that can be; the parts are those of the update, and add up to it.
check_report() {
    is_json "$1" >"$work/numbers"
    awk -v threads="$2" '
        function bad(what) { print what; failed = 1 }
        $1 == "parts" { sub(/.*=/, ""); sum += $0; parts++; if ($0 < 0) bad("a part below 0"); next }
        { value[$1] = $2 }
        END {
            count = split("model_gflops sgemm_share tgt_tokens_per_s src_tokens_per_s peak_mb update_seconds sgemm_gflops_one sgemm_gflops_all", keys)
            for (i = 1; i <= count; i++) if (!(value[keys[i]] > 0)) bad("no " keys[i])
            if (value["threads"] != threads || value["updates"] != 1) bad("threads or updates")
            if (parts != 11) bad(parts " parts")
            seconds = value["update_seconds"]
            if (sum < 0.9999 * seconds || sum > 1.0001 * seconds) bad("parts add up to " sum ", not " seconds)
            # One update of up to 300 target tokens: their rate tells its seconds a second way.
            tokens = value["tgt_tokens_per_s"] * seconds
            if (tokens < 150 || tokens > 310) bad(tokens " tokens in an update of 300")
            exit failed
        }' "$work/numbers" || fail "$1: $(cat "$1")"
}

# The measurements, side by side: each takes seconds for the peak of sgemm.
# shellcheck disable=SC2086 # words are wanted
"$bench" $tiny --json --set train.threads=2 >"$work/made_up" 2>&1 &
a=$!
"$bench" $tiny --json --threads 1 "$work/c.ini" >"$work/corpus" 2>&1 &
b=$!
"$bench" --updates 2 --threads 1 --length 40 "$work/c.ini" >"$work/length" 2>&1 &
c=$!
wait $a || fail "exit $?: made up"
wait $b || fail "exit $?: a corpus"
wait $c || fail "exit $?: --length"

check_report "$work/made_up" 2
check_report "$work/corpus" 1
grep -q '"parameters": [0-9]' "$work/corpus" || fail "parameters"
grep -q 'Training, 2 updates of about 600 target tokens on 2 lanes' "$work/length" || fail "text: $(cat "$work/length")"
for row in 'sgemm of 2048 cubed' 'share of sgemm' 'peak memory .* MB' 'attention core' 'optimizer' 'everything else' 'vocabulary 400.400'; do
    grep -q "$row" "$work/length" || fail "no row '$row': $(cat "$work/length")"
done
# In text too the shares are all of it.
awk '/^An update/ { on = 1 } on && /%$/ { sum += $NF } END { exit !(sum > 99 && sum < 101) }' "$work/length" || fail "the shares do not add up"
[ ! -e "$work/run" ] || fail "wrote a run directory"

"$bench" --kernels --json >"$work/kernels" || fail "exit $?: --kernels"
is_json "$work/kernels" >/dev/null
[ "$(grep -c '"ns": [0-9.e-]*[1-9]' "$work/kernels")" -ge 8 ] || fail "kernels: $(cat "$work/kernels")"

# A sanitizer makes hundreds of seconds of the next.
case ${PROGRAMS:-} in */asan* | */ubsan* | */sanitize* | */tsan*) ;; *)
# Attention against the lengths: each use has rows, those of cross-attention also with n unlike m, and both parts take time.
"$bench" --attention --json >"$work/attention" || fail "exit $?: --attention"
is_json "$work/attention" >/dev/null
sed -nE 's/^      "(use|queries|keys|core_ms|projections_ms)": "?([^",]*)"?,?$/\1 \2/p' "$work/attention" | awk '
    $1 == "use" { sub(/^use /, ""); use = $0; next }
    { value[$1] = $2 }
    $1 == "projections_ms" {
        rows[use]++
        if (!(value["core_ms"] > 0 && value["projections_ms"] > 0)) exit 1
        if (value["queries"] != value["keys"]) unlike[use]++
    }
    END { exit !(rows["self"] > 2 && rows["masked self"] > 2 && rows["cross"] > 2 && unlike["cross"] > 2 &&
                 !unlike["self"] && !unlike["masked self"]) }' || fail "attention: $(cat "$work/attention")"
expect 0 '^  cross +256 +1024( +[0-9.]+){3}$' "$bench" --attention
;;
esac

expect 0 '^usage: bench' "$bench" --help
expect 0 '^bench \(Tandem\) [0-9]' "$bench" --version
expect 1 'nowhere.ini: there is no such file' "$bench" "$work/nowhere.ini"
[ "$(wc -l <"$work/out")" -eq 1 ] || fail "more than a line: $(cat "$work/out")"
expect 1 "$work/nowhere: .*[Nn]o such file" "$bench" "$work/c.ini" --set "data.train_source=$work/nowhere"
expect 1 'heads' "$bench" "$work/c.ini" --set model.heads=7
expect 1 'd_modle' "$bench" --set model.d_modle=8
expect 1 'threads' "$bench" --threads many
expect 2 'updates 0: give a whole number from 1' "$bench" --updates 0
expect 2 'updates 2x: give a whole number' "$bench" --updates 2x
expect 2 'length 1: give a whole number from 2' "$bench" --length 1
expect 2 'length : give a whole number' "$bench" --length=
expect 2 'one configuration file' "$bench" "$work/c.ini" "$work/c.ini"
expect 2 'unrecognized option' "$bench" --fast
expect 2 'requires an argument' "$bench" --updates
expect 2 'give one of them' "$bench" --kernels --attention
finish
