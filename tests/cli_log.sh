#!/bin/sh
# What ./train says: lines of the log, the summary and the command in it, norms, files for TensorBoard, --quiet, and
# progress on a terminal and nowhere else.
. tests/support/cli.sh

time='\[[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\]' number='-?[0-9.]+(e[-+][0-9]+)?' span='([0-9]+h)?([0-9]+m)?[0-9]+[sm]'
train_line="^$time epoch [0-9]+  update [0-9]+  loss $number  nll $number  ppl $number  norm $number  lr $number  [0-9]+ target tokens/s  after $span"
valid_line="^$time \[valid\] epoch [0-9]+  update [0-9]+  loss $number  nll $number  ppl $number  bleu $number  chrf $number  exact match $number%  in ${number}s  "
said() { grep -qE "$1" "$work/out" || fail "no line with '$1' in: $2"; }

# A run that stalls: a learning rate of next to nothing moves no exact match.
small_config "$work/it's a run" >"$work/run.ini"
expect 0 'no better validation within' "$train" "$work/run.ini" --set train.updates=100 --set train.lr=1e-12 \
    --set valid.every=2 --set valid.metric=exact_match --set valid.patience=2 --set train.clip_norm=0.01 \
    --set output.log_norms=4 --set output.tensorboard=yes
cp "$work/out" "$work/first"
said "$train_line, $span left\$" "the lines of training"
said "${valid_line}new best\$" "the first validation"
said "${valid_line}stalled 1 of 2 \(best exact match 0.0, update 2\)\$" "the second"
said "${valid_line}stalled 2 of 2 " "the third"
said "finished +no better validation within \[valid\] patience: update 6, $span of training, peak memory [0-9]+ MB, 20" "the summary"
said "model +$work/it's a run/model.safetensors: the best, of update 2; exact match 0.0, ppl [0-9.]+\$" "the summary"
cmp -s "$work/first" "$work/it's a run/train.log" || fail "train.log is not what was printed"

# The summary's command runs as it stands, from where train ran.
command=$(sed -n 's/^translate .* input: //p' "$work/out")
echo 'The cow sleeps.' | sh -c "$command" >"$work/translation" 2>"$work/err" || fail "$command: $(cat "$work/err")"
[ "$(wc -l <"$work/translation")" -eq 1 ] || fail "$command: not a line for a line"

# What a run without patience says of stalling.
expect 0 'all updates done' "$train" "$work/run.ini" --set train.updates=14 --set train.lr=1e-12 --set valid.every=2 \
    --set valid.metric=exact_match --set train.clip_norm=0.01 --set output.log_norms=4 --set output.tensorboard=yes
said "${valid_line}stalled 3 times \(best" "without patience"
[ "$(find "$work/it's a run/tensorboard" -name 'events.out.tfevents.*' | wc -l)" -eq 2 ] || fail "not an event file for each start"
for tag in train/loss train/nll train/lr train/grad_norm train/tokens_per_s valid/loss valid/nll valid/bleu valid/chrf valid/exact_match; do
    [ "$(grep -l "$tag" "$work/it's a run/tensorboard"/* | wc -l)" -eq 2 ] || fail "no $tag for TensorBoard"
done

# The groups' gradients are those before clipping and make up the gradient's norm; weights move in every group.
grep -E '"update":(4|8|12),' "$work/it's a run/metrics.jsonl" | awk -F'"gradient":' '
    /"kind":"train"/ { split($0, part, "\"grad_norm\":"); norm = part[2] + 0 }
    /"kind":"norms"/ {
        sum = 0
        for (i = 2; i <= NF; i++) { sum += $i * $i; split($i, part, "\"ratio\":"); if (!(part[2] + 0 > 0)) bad = 1 }
        if ((sqrt(sum) - norm) ^ 2 > (1e-6 * norm) ^ 2 || norm < 0.01 || NF != 7) bad = 1
        lines++
    }
    END { exit bad || lines != 3 }' || fail "norms of the groups"

# A resume logs the same norms, and so do three threads.
norms() { grep '"kind":"norms"' "$work/$1/metrics.jsonl" >"$work/$1.norms"; }
small_config "$work/whole" >"$work/whole.ini"
small_config "$work/halves" >"$work/halves.ini"
expect 0 'update 12,' "$train" "$work/whole.ini" --set output.log_norms=3
expect 0 'update 7,' "$train" "$work/halves.ini" --set output.log_norms=3 --set train.updates=7
expect 0 'update 12,' "$train" "$work/halves.ini" --set output.log_norms=3 --threads 3
norms whole
norms halves
[ "$(wc -l <"$work/whole.norms")" -eq 4 ] || fail "not every third update has its norms"
same_files "$work/whole.norms" "$work/halves.norms" "norms after a resume, with more threads"
grep -q "$(printf '\033')" "$work/whole/train.log" "$work/out" && fail "progress without a terminal"

# Quiet: errors alone; the log has the rest.
small_config "$work/quiet" >"$work/quiet.ini"
"$train" "$work/quiet.ini" --quiet >"$work/out" 2>&1 || fail "--quiet fails"
[ -s "$work/out" ] && fail "--quiet prints: $(cat "$work/out")"
grep -q 'finished   all updates done' "$work/quiet/train.log" || fail "--quiet loses the log"
expect 1 'train.en: .*check the path' "$train" "$work/quiet.ini" --quiet --set data.train_source=/none/train.en
mkdir -p "$work/failing/metrics.jsonl" && touch "$work/failing/lock"
expect 1 'metrics.jsonl: could not be' "$train" "$work/quiet.ini" --quiet --set "output.dir=$work/failing"

# On a terminal every stage shows that it goes on, and at the end nothing of it is left.
command -v script >/dev/null || { echo "script (bsdutils) is not installed: progress on a terminal is not tested"; finish; }
terminal() { # TERM COMMAND: what it writes to a terminal
    TERM=$1 script -qec "$2" /dev/null </dev/null | tr '\r' '\n' >"$work/terminal"
}
small_config "$work/shown" >"$work/shown.ini"
terminal xterm "$train $work/shown.ini"
for stage in "reading $work/train.en" 'checking the text' 'counting words' 'learning the tokenizer' 'encoding the corpus' training \
    'epoch 1  update [0-9]+  loss .* after' 'validating: losses' 'validating: translating'; do
    grep -qE "$stage" "$work/terminal" || fail "on a terminal nothing is seen of: $stage"
done
escape=$(printf '\033')
grep -vF "$escape[?7l" "$work/terminal" | sed "s/^$escape\[K//" | grep '[a-z]' >"$work/stays"
same_files "$work/stays" "$work/shown/train.log" "the log and what stays on a terminal"
terminal dumb "$train $work/shown.ini --fresh"
grep -q "$escape" "$work/terminal" && fail "progress on a terminal that cannot move its cursor"
terminal xterm "$train $work/shown.ini --fresh --quiet"
[ -s "$work/terminal" ] && fail "--quiet shows progress"
finish
