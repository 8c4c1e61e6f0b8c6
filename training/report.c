#include "training/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/version.h"
#include "model/matmul.h"
#include "run/json_text.h"
#include "training/metrics_read.h"

/* training/report.html with its parts, and a final NUL; made by scripts/page_to_c.sh. */
extern const unsigned char report_html[];

static const struct {
    const char *name;
    size_t most;
} lists[METRICS_KINDS] = {[METRICS_TRAIN] = {"train", REPORT_MOST},
                          [METRICS_VALID] = {"valid", REPORT_MOST},
                          [METRICS_NORMS] = {"norms", REPORT_MOST_NORMS},
                          [METRICS_AVERAGE] = {"average", REPORT_DETAILS}};

/* The number of the interval, of `most` equal ones from the first to the last update of the list. */
static int64_t interval(const MetricsList *list, size_t i, size_t most) {
    int64_t first = list->line[0].update, updates = list->line[list->count - 1].update - first + 1;
    return (int64_t)((double)(list->line[i].update - first) / (double)updates * (double)most);
}

/* Is line i the last of its interval, or are there few lines? */
static bool stays(const MetricsList *list, size_t i, size_t most) {
    if (list->count <= most || i + 1 == list->count) return true;
    return interval(list, i, most) != interval(list, i + 1, most);
}

/* The last line that says it is the best; the number of lines where none does. */
static size_t best_of(const MetricsList *list) {
    size_t best = list->count;
    for (size_t i = 0; i < list->count; i++)
        if (list->line[i].best) best = i;
    return best;
}

static void write_value(FILE *out, const json_t *value) {
    size_t length;
    char *text = json_line(value, &length);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '<')
            fputs("\\u003c", out);
        else
            putc(text[i], out);
    }
    memory_free(text);
}

static void write_list(FILE *out, MetricsFile *m, MetricsKind kind) {
    const MetricsList *list = &m->list[kind];
    size_t best = best_of(list);
    const char *comma = "";
    fprintf(out, ",\n\"%s\":[", lists[kind].name);
    for (size_t i = 0; i < list->count; i++) {
        bool always = i == best;
        json_t *line = always || stays(list, i, lists[kind].most) ? metrics_read(m, &list->line[i]) : NULL;
        if (line == NULL) continue;
        if (!always && !stays(list, i, REPORT_DETAILS)) {
            json_object_del(line, "samples");
            json_object_del(line, "buckets");
        }
        fprintf(out, "%s\n", comma);
        write_value(out, line);
        json_decref(line);
        comma = ",";
    }
    fputs("]", out);
}

bool report_lists(FILE *out, const char *metrics_path, Error *error) {
    MetricsFile m;
    if (!metrics_file_open(&m, metrics_path, error)) return false;
    for (int kind = 0; kind < METRICS_KINDS; kind++) write_list(out, &m, (MetricsKind)kind);
    metrics_file_close(&m);
    return true;
}

static json_t *side_json(const CorpusSide *side, int pairs) {
    SideCounts n = corpus_count(side, pairs);
    json_t *object = json_object();
    json_set_integer(object, "tokens", n.tokens);
    json_set_integer(object, "longest", n.longest);
    json_set_integer(object, "in_bytes", n.in_bytes);
    return object;
}

static json_t *corpus_json(const char *name, const Corpus *c) {
    json_t *object = json_object();
    json_set_text(object, "name", name);
    json_set_integer(object, "pairs", c->lines);
    json_set_integer(object, "kept", c->pairs);
    json_set_integer(object, "empty_side", c->empty_side);
    json_set_integer(object, "too_long", c->too_long);
    json_set_integer(object, "over_max_ratio", c->uneven_lengths);
    json_set_integer(object, "duplicate", c->duplicates);
    json_object_set_new(object, "source", side_json(&c->source, c->pairs));
    json_object_set_new(object, "target", side_json(&c->target, c->pairs));
    return object;
}

static void set_now(json_t *object, const char *key) {
    char text[32];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
    json_set_text(object, key, text);
}

static json_t *run_json(const Trainer *t, const char *status) {
    json_t *run = json_object(), *corpora = json_array();
    char *config = config_text(&t->config);
    json_set_text(run, "directory", t->run.path);
    json_set_text(run, "status", status);
    set_now(run, "written");
    json_set_text(run, "version", TANDEM_VERSION);
    json_set_text(run, "machine", cpu_name());
    json_set_text(run, "blas_kernel", matmul_kernel_name());
    json_set_integer(run, "update", t->state.update);
    json_set_integer(run, "seconds", (int64_t)t->state.seconds);
    json_set_integer(run, "parameters", (int64_t)t->table.total);
    json_set_integer(run, "tensors", t->table.count);
    json_set_text(run, "config", config);
    json_array_append_new(corpora, corpus_json("train", &t->train));
    if (t->valid.lines > 0) json_array_append_new(corpora, corpus_json("valid", &t->valid));
    json_object_set_new(run, "corpora", corpora);
    memory_free(config);
    return run;
}

static bool write_page(FILE *out, const Trainer *t, const char *status, const char *metrics_path, Error *error) {
    const char *page = (const char *)report_html, *place = strstr(page, "@DATA@");
    fwrite(page, 1, (size_t)(place - page), out);
    fputs("{\"run\":", out);
    json_t *run = run_json(t, status);
    write_value(out, run);
    json_decref(run);
    bool good = report_lists(out, metrics_path, error);
    fputs("}", out);
    fputs(place + strlen("@DATA@"), out);
    return good;
}

bool report_write(Trainer *t, const char *status, Error *error) {
    char *page = NULL, *metrics = run_path(t->run.path, RUN_METRICS), *path = run_path(t->run.path, RUN_REPORT);
    size_t size;
    FILE *out = open_memstream(&page, &size);
    bool good = out != NULL && write_page(out, t, status, metrics, error);
    if (out == NULL || fclose(out) != 0) good = error_set(error, "%s: no memory for the page; free some", path);
    good = good && file_write(path, page, size, error);
    free(page);
    memory_free(metrics);
    memory_free(path);
    return good;
}

void trainer_report(Trainer *t, const char *status, bool last) {
    Error error;
    if (!report_write(t, status, &error)) {
        log_line(&t->log, "note       %s; the run is not affected, but its report is not up to date", error.text);
        return;
    }
    char *path = run_path(t->run.path, RUN_REPORT);
    if (last || !t->report_named) log_line(&t->log, "report     %s", path);
    t->report_named = true;
    memory_free(path);
}
