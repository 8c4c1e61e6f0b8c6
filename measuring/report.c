#include "measuring/report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "base/version.h"
#include "measuring/sgemm.h"
#include "model/matmul.h"
#include "run/json_text.h"

static const char *const PART_NAMES[PARTS + 1] = {[PART_GEMM] = "products of encoder and decoder",
                                                  [PART_ATTENTION] = "attention core",
                                                  [PART_NORM] = "layer norm and residual",
                                                  [PART_ACTIVATION] = "activations and bias",
                                                  [PART_DROPOUT] = "dropout",
                                                  [PART_EMBEDDING] = "embedding",
                                                  [PART_LOSS] = "output layer and loss",
                                                  [PART_SUM] = "sum of gradients",
                                                  [PART_OPTIMIZER] = "optimizer",
                                                  [PART_WAIT] = "waiting for the slowest lane",
                                                  [PARTS] = "everything else"};

#define SPREAD(updates, field) update_times_spread(updates, offsetof(UpdateTime, field))

static void print_spread(const char *name, Spread s, double unit, int digits) {
    printf("  %-36s median %9.*f   best %9.*f   worst %9.*f\n", name, digits, s.median * unit, digits, s.most * unit,
           digits, s.least * unit);
}

static void print_parts(const UpdateTimes *u) {
    printf("\nAn update, in milliseconds (mean over updates and threads)\n");
    for (int p = 0; p <= PARTS; p++)
        printf("  %-36s %9.2f  %5.1f%%\n", PART_NAMES[p], 1e3 * u->parts[p] / u->count, 100 * u->parts[p] / u->seconds);
    printf("  %-36s %9.2f\n", "all", 1e3 * u->seconds / u->count);
}

static void print_decoding(const DecodeTime *d) {
    printf("\nTranslation, each with as many target tokens as its source has\n");
    for (int i = 0; i < DECODE_ROWS; i++) {
        printf("  %-36s %9.1f sentences/s  %9.0f target tokens/s", d[i].name, d[i].sentences_per_s, d[i].tokens_per_s);
        if (d[i].median_ms > 0) printf("   median %.2f ms", d[i].median_ms);
        putchar('\n');
    }
}

static void print_memory(const Trainer *t, double peak_mb) {
    int slabs = 2 + (t->optimizer.v != NULL) + (t->served != t->slab); /* of parameters, moments and their average */
    double slab = 1e-6 * sizeof(real) * (double)t->table.total, activations = 0;
    for (int i = 0; i < t->lanes.threads; i++) activations += 1e-6 * (double)t->lanes.arena[i].peak;
    printf("  %-36s %9.0f MB: parameters and optimizer %.0f, gradients %.0f, activations %.0f\n", "peak memory",
           peak_mb, slabs * slab, t->lanes.lanes * slab, activations);
}

void report_text(const MachineReport *m, const Trainer *t, const UpdateTimes *u, const DecodeTime *decoding) {
    const ModelConfig *c = &t->model.config;
    printf("%s, %d threads, BLAS kernel %s\n", cpu_name(), m->threads, matmul_kernel_name());
    printf("  sgemm of %d cubed: %.1f GF/s on one thread, %.1f GF/s on all (a serial product on each)\n", SGEMM_PEAK,
           m->sgemm_one * 1e-9, m->sgemm_all * 1e-9);
    printf("\n%d+%d layers, width %d+%d, %d heads, feed-forward %d, vocabulary %d+%d: %zu parameters\n",
           c->encoder_layers, c->decoder_layers, c->encoder_width, c->decoder_width, c->heads, c->ffn_dim,
           c->source_vocab, c->target_vocab, t->table.total);
    printf("Training, %d updates of about %d target tokens on %d lanes\n", u->count,
           t->config.train.batch_tokens * t->config.train.accumulate, t->config.train.lanes);
    print_spread("target tokens/s", SPREAD(u, target_tokens_per_s), 1, 0);
    print_spread("source tokens/s", SPREAD(u, source_tokens_per_s), 1, 0);
    print_spread("GF/s", SPREAD(u, flops), 1e-9, 1);
    print_spread("GF/s, attention core counted", SPREAD(u, flops_with_attention), 1e-9, 1);
    print_spread("share of sgemm beside each update", SPREAD(u, share), 1, 3);
    print_spread("that sgemm (768 cubed), GF/s", SPREAD(u, yardstick), 1e-9, 1);
    print_memory(t, u->peak_mb);
    print_parts(u);
    if (decoding != NULL) print_decoding(decoding);
}

static json_t *decoding_json(const DecodeTime *d) {
    json_t *all = json_object();
    for (int i = 0; i < DECODE_ROWS; i++) {
        json_t *one = json_object();
        json_set_real(one, "sentences_per_s", d[i].sentences_per_s);
        json_set_real(one, "tgt_tokens_per_s", d[i].tokens_per_s);
        if (d[i].median_ms > 0) json_set_real(one, "median_ms", d[i].median_ms);
        json_object_set_new(all, d[i].name, one);
    }
    return all;
}

static void print_json(json_t *all) {
    char *text = json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    puts(text);
    free(text);
    json_decref(all);
}

void report_json(const MachineReport *m, const Trainer *t, const UpdateTimes *u, const DecodeTime *decoding) {
    json_t *all = json_object(), *parts = json_object();
    json_set_text(all, "version", TANDEM_VERSION);
    json_set_text(all, "machine", cpu_name());
    json_set_text(all, "blas_kernel", matmul_kernel_name());
    json_set_integer(all, "threads", m->threads);
    json_set_integer(all, "lanes", t->config.train.lanes);
    json_set_integer(all, "parameters", (int64_t)t->table.total);
    json_set_integer(all, "updates", u->count);
    json_set_real(all, "sgemm_gflops_one", m->sgemm_one * 1e-9);
    json_set_real(all, "sgemm_gflops_all", m->sgemm_all * 1e-9);
    json_set_real(all, "tgt_tokens_per_s", SPREAD(u, target_tokens_per_s).median);
    json_set_real(all, "tgt_tokens_per_s_best", SPREAD(u, target_tokens_per_s).most);
    json_set_real(all, "src_tokens_per_s", SPREAD(u, source_tokens_per_s).median);
    json_set_real(all, "model_gflops", SPREAD(u, flops).median * 1e-9);
    json_set_real(all, "model_gflops_best", SPREAD(u, flops).most * 1e-9);
    json_set_real(all, "model_gflops_worst", SPREAD(u, flops).least * 1e-9);
    json_set_real(all, "model_gflops_with_attention", SPREAD(u, flops_with_attention).median * 1e-9);
    json_set_real(all, "sgemm_share", SPREAD(u, share).median);
    json_set_real(all, "sgemm_share_best", SPREAD(u, share).most);
    json_set_real(all, "sgemm_share_worst", SPREAD(u, share).least);
    json_set_real(all, "sgemm_gflops_beside", SPREAD(u, yardstick).median * 1e-9);
    json_set_real(all, "peak_mb", u->peak_mb);
    json_set_real(all, "update_seconds", u->seconds / u->count);
    for (int p = 0; p <= PARTS; p++) json_set_real(parts, PART_NAMES[p], u->parts[p] / u->count);
    json_object_set_new(all, "parts", parts);
    if (decoding != NULL) json_object_set_new(all, "decoding", decoding_json(decoding));
    print_json(all);
}

void report_kernels_text(const KernelTime *times, int count) {
    printf("One thread, BLAS kernel %s; products: an element is one multiplication and addition\n",
           matmul_kernel_name());
    for (int k = 0; k < count; k++)
        printf("  %-24s %-16s %8.4f ns an element\n", times[k].name, times[k].sizes, times[k].ns);
}

void report_kernels_json(const KernelTime *times, int count) {
    json_t *all = json_object(), *list = json_array();
    for (int k = 0; k < count; k++) {
        json_t *one = json_object();
        json_set_text(one, "name", times[k].name);
        json_set_text(one, "sizes", times[k].sizes);
        json_set_real(one, "ns", times[k].ns);
        json_array_append_new(list, one);
    }
    json_object_set_new(all, "kernels", list);
    print_json(all);
}

void report_attention_text(const AttentionCost *costs, int count) {
    printf("The attention of one layer for one sentence, forward and backward: width %d, %d heads; one thread, BLAS "
           "kernel %s\n\n"
           "  attention    queries n   keys m   core, ms   core/(n m), ns   projections, ms\n",
           COST_WIDTH, COST_HEADS, matmul_kernel_name());
    for (int i = 0; i < count; i++) {
        const AttentionCost *c = &costs[i];
        printf("  %-12s %9d %8d %10.3f %16.1f %17.3f\n", attention_use_names[c->use], c->queries, c->keys, c->core_ms,
               1e6 * c->core_ms / c->queries / c->keys, c->projections_ms);
    }
}

void report_attention_json(const AttentionCost *costs, int count) {
    json_t *all = json_object(), *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *one = json_object();
        json_set_text(one, "use", attention_use_names[costs[i].use]);
        json_set_integer(one, "queries", costs[i].queries);
        json_set_integer(one, "keys", costs[i].keys);
        json_set_real(one, "core_ms", costs[i].core_ms);
        json_set_real(one, "projections_ms", costs[i].projections_ms);
        json_array_append_new(list, one);
    }
    json_object_set_new(all, "attention", list);
    print_json(all);
}
