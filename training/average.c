#include "training/average.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/weights.h"
#include "training/model_files.h"
#include "training/validate.h"

/* Writes the snapshot of this moment, which is on the list. */
static bool save_snapshot(Trainer *t, Error *error) {
    char *path = snapshot_path(t->run.path, t->state.update);
    bool good = trainer_save_weights(t, path, error);
    memory_free(path);
    return good;
}

bool trainer_take_snapshot(Trainer *t, Error *error) {
    SnapshotList *list = &t->state.snapshots;
    snapshots_add(list, (Snapshot){t->state.update, (double)NAN});
    snapshots_keep_last(list, t->config.average.last);
    return save_snapshot(t, error);
}

bool trainer_offer_snapshot(Trainer *t, double value, Error *error) {
    SnapshotList *list = &t->state.snapshots;
    int most = t->config.average.best;
    if (most == 0 || !isfinite(value)) return true;
    snapshots_add(list, (Snapshot){t->state.update, value});
    snapshots_keep_best(list, most, t->config.valid.metric == CONFIG_METRIC_NLL);
    return !snapshots_contain(list, t->state.update) || save_snapshot(t, error);
}

/* sum += the snapshot. False, having said why, if it cannot be read. */
static bool add_snapshot(double *sum, real *scratch, Trainer *t, int64_t update) {
    Error error;
    char *path = snapshot_path(t->run.path, update);
    bool good = weights_load(scratch, &t->table, path, weights_vocabulary(t->source, t->target), &error);
    if (!good) log_line(&t->log, "note       %s; the average goes without it", error.text);
    for (size_t i = 0; good && i < t->table.total; i++) sum[i] += (double)scratch[i];
    memory_free(path);
    return good;
}

/* mean [total] = (1/n) sum of the n snapshots that can be read, added in double in the order of their updates, which
 * are written to update[n]. Returns n. */
static int mean_of_snapshots(real *mean, int64_t *update, Trainer *t) {
    SnapshotList *list = &t->state.snapshots;
    const ConfigAverage *a = &t->config.average; /* K may be smaller than when they were taken */
    if (a->last > 0) snapshots_keep_last(list, a->last);
    if (a->best > 0) snapshots_keep_best(list, a->best, t->config.valid.metric == CONFIG_METRIC_NLL);
    size_t total = t->table.total;
    double *sum = memory_alloc(total, sizeof *sum, "average of snapshots (set [average] last and best to 0)");
    int n = 0;
    for (int i = 0; i < list->count; i++)
        if (add_snapshot(sum, mean, t, list->entry[i].update)) update[n++] = list->entry[i].update;
    for (size_t i = 0; n > 0 && i < total; i++) mean[i] = (real)(sum[i] / n);
    memory_free(sum);
    return n;
}

static void print_average(Trainer *t, const int64_t *update, int n) {
    const ConfigAverage *a = &t->config.average;
    int wanted = a->last + a->best; /* one of them is 0 */
    char list[1200] = "";
    for (int i = 0; i < n; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%" PRId64, i > 0 ? ", " : "", update[i]);
    log_line(&t->log, "average    of the %s %d snapshots%s: updates %s", a->last > 0 ? "last" : "best", n,
             n < wanted ? ", as there are no more" : "", list);
}

/* What there is to say of weights that nothing was measured with. */
static bool use_unvalidated(Trainer *t, ValidMetrics m, Error *error) {
    m.loss = m.nll = m.bleu = m.chrf = m.exact_match = (double)NAN;
    m.update = t->state.update;
    m.epoch = trainer_epoch(t);
    m.best = true;
    t->origin = (ModelOrigin){.snapshots = m.snapshots};
    log_line(&t->log, "[average] update %" PRId64 "  epoch %d  is used: there is no validation data to compare it by",
             m.update, m.epoch);
    return (metrics_append_valid(&t->metrics, &m, error) || trainer_forgives(t, error)) && trainer_save_model(t, error);
}

bool trainer_average(Trainer *t, Error *error) {
    if (t->config.average.last + t->config.average.best == 0) return true;
    size_t total = t->table.total;
    int64_t update[CONFIG_MOST_SNAPSHOTS];
    real *mean = memory_alloc(total, sizeof *mean, "average of snapshots"),
         *own = memory_alloc(total, sizeof *own, "average of snapshots");
    int n = mean_of_snapshots(mean, update, t);
    bool good = true;
    if (n == 0) {
        log_line(&t->log, "average    of no snapshots: none were taken");
    } else {
        print_average(t, update, n);
        memcpy(own, t->served, total * sizeof *own);
        memcpy(t->served, mean, total * sizeof *mean);
        ValidMetrics m = {.closing = true, .snapshot = update, .snapshots = n};
        good = t->valid.pairs > 0 ? trainer_validate(t, m, error) : use_unvalidated(t, m, error);
        memcpy(t->served, own, total * sizeof *own);
    }
    memory_free(mean);
    memory_free(own);
    return good;
}
