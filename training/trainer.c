#include "training/trainer.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/progress.h"
#include "training/average.h"
#include "training/bad_update.h"
#include "training/conclude.h"
#include "training/ema.h"
#include "training/messages.h"
#include "training/model_files.h"
#include "training/schedule.h"
#include "training/signals.h"
#include "training/state.h"
#include "training/validate.h"

/* Are the norms of this update logged? */
static bool norms_due(const Trainer *t) {
    int every = t->config.output.log_norms;
    return every > 0 && t->state.update % every == 0;
}

bool trainer_step(Trainer *t, StepResult *r) {
    const ConfigTrain *c = &t->config.train;
    arena_release(&t->ids, (ArenaMark){0});
    t->state.update++;
    Update u = batcher_next(&t->batcher, encoding_dropout_start(&t->dropout, t->state.update),
                            (int64_t)c->batch_tokens * c->accumulate, c->piece_rows, t->lanes.lanes, &t->ids);
    DropoutDraw draw = {.seed = c->seed, .update = t->state.update};
    *r = (StepResult){.drawn = u,
                      .lr = schedule_lr(&t->config, t->state.reductions, t->state.update),
                      .first_line = u.piece[0].index[0] + 1,
                      .epoch_ended = batcher_at_epoch_start(&t->batcher)};
    r->loss = lanes_gradient(&t->lanes, u.piece, u.pieces, &t->model, &t->positions, c->label_smoothing, &draw);
    r->grad_norm = lanes_sum(&t->lanes);
    if (!isfinite(r->loss.objective) || !isfinite(r->grad_norm)) return false;
    bool norms = norms_due(t);
    double factor = clip_factor(r->grad_norm, c->clip_norm);
    if (norms) norms_begin(&t->norms, t->slab, t->lanes.slab[0], lanes_spare(&t->lanes), c->threads);
    optimizer_update(t->slab, &t->optimizer, t->lanes.slab[0], factor, r->lr, c->threads);
    if (norms) norms_end(&t->norms, t->slab, c->threads);
    if (t->served != t->slab)
        ema_update(t->served, t->slab, t->table.total, ema_decay(c->ema, t->optimizer.updates), c->threads);
    return true;
}

int trainer_epoch(const Trainer *t) { return t->batcher.epoch + 1 - batcher_at_epoch_start(&t->batcher); }

/* Is something due that happens every so many updates or epochs? */
static bool due(ConfigInterval every, const Trainer *t, bool epoch_ended) {
    if (every.unit == CONFIG_EPOCHS) return epoch_ended && t->batcher.epoch % every.count == 0;
    return t->state.update % every.count == 0;
}

/* The limit that has been reached. */
static TrainEnd limit_reached(const Trainer *t) {
    const ConfigTrain *c = &t->config.train;
    if (c->epochs > 0 && t->batcher.epoch >= c->epochs) return TRAIN_EPOCHS;
    if (c->updates > 0 && t->state.update >= c->updates) return TRAIN_UPDATES;
    if (c->minutes > 0 && t->state.seconds >= 60 * c->minutes) return TRAIN_MINUTES;
    if (t->config.valid.patience > 0 && t->state.stalled >= t->config.valid.patience) return TRAIN_PATIENCE;
    return TRAIN_GOES_ON;
}

static TrainMetrics window_metrics(const Trainer *t, const StepResult *r) {
    const TrainWindow *w = &t->state.window;
    double tokens = (double)w->loss.tokens;
    return (TrainMetrics){.update = t->state.update,
                          .epoch = trainer_epoch(t),
                          .loss = w->loss.objective / tokens,
                          .nll = w->loss.nll / tokens,
                          .lr = r->lr,
                          .grad_norm = r->grad_norm,
                          .target_tokens_per_s = tokens / w->seconds,
                          .source_tokens_per_s = (double)w->source_tokens / w->seconds,
                          .seconds = t->state.seconds};
}

static bool log_window(Trainer *t, const StepResult *r, Error *error) {
    TrainMetrics m = window_metrics(t, r);
    t->state.window = (TrainWindow){0};
    return messages_train(t, &m, error);
}

static void show_progress(const Trainer *t, const StepResult *r) {
    if (!progress_due()) return;
    TrainMetrics m = window_metrics(t, r);
    messages_progress(&m, t);
}

/* Counts an update that was taken, and prints what is due. */
static bool count_update(Trainer *t, const StepResult *r, double seconds, Error *error) {
    t->state.bad_in_a_row = 0;
    t->state.window.seconds += seconds;
    t->state.window.source_tokens += r->drawn.source_tokens;
    loss_add(&t->state.window.loss, r->loss);
    show_progress(t, r);
    if (t->state.update % t->config.output.log_every == 0 && !log_window(t, r, error)) return false;
    return !norms_due(t) || messages_norms(t, error);
}

/* A scheduled validation. With schedule = plateau it may lower the learning rate. */
static bool scheduled_validation(Trainer *t, Error *error) {
    TrainState *s = &t->state;
    if (!trainer_validate(t, (ValidMetrics){0}, error)) return false;
    if (!schedule_reduces(&t->config, s->reductions, s->stalled, s->update)) return true;
    s->reductions++;
    log_line(&t->log, "plateau    %d validations without a new best: learning rate lowered to %.3g", s->stalled,
             schedule_lr(&t->config, s->reductions, s->update + 1));
    return true;
}

/* One update and what is due after it, be it skipped or not. */
static bool advance(Trainer *t, bool *saved, Error *error) {
    double start = clock_seconds(), seconds;
    StepResult r;
    bool finite = trainer_step(t, &r);
    t->state.seconds += seconds = clock_seconds() - start;
    *saved = false;
    if (!(finite ? count_update(t, &r, seconds, error) : trainer_count_bad_update(t, &r, error))) return false;
    if (t->valid.pairs > 0 && due(t->config.valid.every, t, r.epoch_ended) && !scheduled_validation(t, error))
        return false;
    if (t->config.average.last > 0 && due(t->config.average.every, t, r.epoch_ended) &&
        !trainer_take_snapshot(t, error))
        return false;
    if (!due(t->config.output.save_every, t, r.epoch_ended)) return true;
    if (!trainer_check_finite(t, error)) return false;
    *saved = trainer_save(t, error);
    return *saved || trainer_forgives(t, error);
}

/* After a signal this is the last save; else concluding still saves once more. */
static bool save_at_end(Trainer *t, Error *error) {
    return trainer_check_finite(t, error) &&
           (trainer_save(t, error) || (!signals_caught() && trainer_forgives(t, error)));
}

TrainEnd trainer_run(Trainer *t, Error *error) {
    signals_catch();
    TrainEnd end = limit_reached(t);
    if (end != TRAIN_GOES_ON && trainer_concluded(t)) return end;
    if (!trainer_begin(t, error)) return TRAIN_FAILED;
    messages_begin(t);
    bool saved = true; /* nothing has changed yet */
    while (end == TRAIN_GOES_ON && !signals_caught()) {
        if (!advance(t, &saved, error)) return TRAIN_FAILED;
        end = limit_reached(t);
    }
    if (!saved && !save_at_end(t, error)) return TRAIN_FAILED;
    if (!signals_caught() && !trainer_conclude(t, error)) return TRAIN_FAILED;
    return signals_caught() ? TRAIN_SIGNAL : end;
}
