#include "training/messages.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/progress.h"
#include "training/model_files.h"
#include "training/report.h"

/* The local time as strftime writes it. */
static const char *local_time(char out[32], const char *format) {
    time_t now = time(NULL);
    struct tm tm;
    out[0] = '\0';
    if (localtime_r(&now, &tm) != NULL) strftime(out, 32, format, &tm);
    return out;
}

/* Fraction of the run that is done, by the limit that comes first. */
static double fraction_done(const Trainer *t) {
    const ConfigTrain *c = &t->config.train;
    double done = 0, epochs = t->batcher.epoch + (double)t->batcher.next / t->train.pairs;
    if (c->epochs > 0) done = fmax(done, epochs / c->epochs);
    if (c->updates > 0) done = fmax(done, (double)t->state.update / c->updates);
    if (c->minutes > 0) done = fmax(done, t->state.seconds / (60 * c->minutes));
    return done;
}

/* "after 33s, 54s left": of training, validations included. */
static const char *times(char out[80], const Trainer *t) {
    char gone[32], left[32];
    double done = fraction_done(t), seconds = t->state.seconds;
    snprintf(out, 80, "after %s, %s left", progress_duration(gone, seconds),
             progress_duration(left, seconds * (1 - done) / done));
    return out;
}

/* ---- TensorBoard: training does not depend on it. A failure is said, and no more is written. ---- */

static void give_up_events(Trainer *t, const Error *error) {
    log_line(&t->log, "note       %s; training goes on without curves for TensorBoard", error->text);
    event_file_close(&t->events);
}

void messages_begin(Trainer *t) {
    Error error;
    progress_show("training ...");
    if (!t->config.output.tensorboard || t->events.path != NULL) return;
    char *directory = run_path(t->run.path, RUN_TENSORBOARD);
    if (!event_file_open(&t->events, directory, t->state.update + 1, &error)) give_up_events(t, &error);
    memory_free(directory);
}

static void add_event(Trainer *t, int64_t update, const EventScalar *scalar, int count) {
    Error error;
    if (t->events.path != NULL && !event_file_add(&t->events, update, scalar, count, &error)) give_up_events(t, &error);
}

/* ---- training ---- */

bool messages_train(Trainer *t, const TrainMetrics *m, Error *error) {
    char now[32], when[80];
    log_line(&t->log,
             "[%s] epoch %d  update %" PRId64 "  loss %.4f  nll %.4f  ppl %.2f  norm %.3f  lr %.3g  "
             "%.0f target tokens/s  %s",
             local_time(now, "%H:%M:%S"), m->epoch, m->update, m->loss, m->nll, exp(m->nll), m->grad_norm, m->lr,
             m->target_tokens_per_s, times(when, t));
    const EventScalar scalar[] = {{"train/loss", m->loss},
                                  {"train/nll", m->nll},
                                  {"train/lr", m->lr},
                                  {"train/grad_norm", m->grad_norm},
                                  {"train/tokens_per_s", m->target_tokens_per_s}};
    add_event(t, m->update, scalar, sizeof scalar / sizeof scalar[0]);
    return metrics_append_train(&t->metrics, m, error) || trainer_forgives(t, error);
}

bool messages_norms(Trainer *t, Error *error) {
    return metrics_append_norms(&t->metrics, t->state.update, trainer_epoch(t), &t->norms, error) ||
           trainer_forgives(t, error);
}

void messages_progress(const TrainMetrics *m, const Trainer *t) {
    char when[80];
    progress_show("epoch %d  update %" PRId64 "  loss %.3f  ppl %.2f  %.0f target tokens/s  %s", m->epoch, m->update,
                  m->loss, exp(m->nll), m->target_tokens_per_s, times(when, t));
}

/* ---- validation ---- */

static const char *metric_name(const Trainer *t) {
    static const char *const names[] = {[CONFIG_METRIC_NLL] = "nll",
                                        [CONFIG_METRIC_EXACT_MATCH] = "exact match",
                                        [CONFIG_METRIC_BLEU] = "bleu",
                                        [CONFIG_METRIC_CHRF] = "chrf"};
    return names[t->config.valid.metric];
}

/* "nll 0.0920" or "bleu 98.9" */
static const char *metric_value(char out[48], const Trainer *t, double value) {
    if (isnan(value)) return "by another measure";
    snprintf(out, 48, t->config.valid.metric == CONFIG_METRIC_NLL ? "%s %.4f" : "%s %.1f", metric_name(t), value);
    return out;
}

static const char *verdict(char out[128], const Trainer *t, const ValidMetrics *m) {
    char of[16] = "times", value[48];
    if (m->best) return "new best";
    if (m->closing) {
        snprintf(out, 128, "no better than update %" PRId64, t->state.best_update);
        return out;
    }
    if (t->config.valid.patience > 0) snprintf(of, sizeof of, "of %d", t->config.valid.patience);
    snprintf(out, 128, "stalled %d %s (best %s, update %" PRId64 ")", t->state.stalled, of,
             metric_value(value, t, t->state.best), t->state.best_update);
    return out;
}

bool messages_valid(Trainer *t, const ValidMetrics *m, Error *error) {
    char now[32], found[128];
    log_line(&t->log,
             "[%s] [%s] epoch %d  update %" PRId64 "  loss %.4f  nll %.4f  ppl %.2f  bleu %.1f  chrf %.1f  "
             "exact match %.1f%%  in %.1fs  %s",
             local_time(now, "%H:%M:%S"), m->snapshots > 0 ? "average" : "valid", m->epoch, m->update, m->loss, m->nll,
             exp(m->nll), m->bleu, m->chrf, m->exact_match, m->seconds, verdict(found, t, m));
    const EventScalar scalar[] = {{"valid/loss", m->loss},
                                  {"valid/nll", m->nll},
                                  {"valid/bleu", m->bleu},
                                  {"valid/chrf", m->chrf},
                                  {"valid/exact_match", m->exact_match}};
    if (!m->closing) add_event(t, m->update, scalar, sizeof scalar / sizeof scalar[0]);
    return metrics_append_valid(&t->metrics, m, error) || trainer_forgives(t, error);
}

/* ---- the end ---- */

/* text as one word of a shell's command line, quoted where need be; from memory_alloc. */
static char *shell_word(const char *text) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,:@%";
    size_t length = strlen(text);
    if (length > 0 && strspn(text, plain) == length) return memory_text(text, length);
    char *word = memory_alloc(4 * length + 3, 1, "a word of a command line"), *end = word;
    *end++ = '\'';
    for (; *text != '\0'; text++)
        if (*text == '\'')
            end += sprintf(end, "'\\''"); /* out of the quotes, the character, into the quotes */
        else
            *end++ = *text;
    *end = '\'';
    return word;
}

/* The command line that translates lines of standard input. */
static void say_how_to_translate(Trainer *t, const char *program) {
    const char *slash = strrchr(program, '/');
    size_t folder = slash != NULL ? (size_t)(slash + 1 - program) : 0;
    char *path = memory_alloc(folder + sizeof "translate", 1, "path");
    snprintf(path, folder + sizeof "translate", "%.*stranslate", (int)folder, program);
    char *command = shell_word(path), *run = shell_word(t->run.path);
    log_line(&t->log, "translate  lines of standard input: %s %s%s", command, t->run.path[0] == '-' ? "./" : "", run);
    memory_free(run);
    memory_free(command);
    memory_free(path);
}

void messages_end(Trainer *t, TrainEnd end, const char *program) {
    static const char *const why[] = {[TRAIN_EPOCHS] = "all epochs done",
                                      [TRAIN_UPDATES] = "all updates done",
                                      [TRAIN_MINUTES] = "time is up",
                                      [TRAIN_PATIENCE] = "no better validation within [valid] patience",
                                      [TRAIN_SIGNAL] = "stopped by a signal; the same command goes on from here"};
    const ModelOrigin *model = &t->origin;
    char now[32], gone[32], value[48], *path = run_path(t->run.path, RUN_MODEL);
    log_line(&t->log, "finished   %s: update %" PRId64 ", %s of training, peak memory %.0f MB, %s", why[end],
             t->state.update, progress_duration(gone, t->state.seconds), memory_peak_mb(),
             local_time(now, "%Y-%m-%d %H:%M:%S"));
    char what[64] = "the last";
    if (model->snapshots > 0)
        snprintf(what, sizeof what, "the average of %d snapshots", model->snapshots);
    else if (model->update > 0)
        snprintf(what, sizeof what, "the best, of update %" PRId64, model->update);
    if (model->update > 0)
        log_line(&t->log, "model      %s: %s; %s, ppl %.2f", path, what, metric_value(value, t, model->value),
                 exp(model->nll));
    else
        log_line(&t->log, "model      %s: %s", path, what);
    trainer_report(t, why[end], true);
    say_how_to_translate(t, program);
    memory_free(path);
}

void messages_failed(Trainer *t, const Error *error) {
    trainer_report(t, error->text, true);
    log_failure(&t->log, error->text);
}
