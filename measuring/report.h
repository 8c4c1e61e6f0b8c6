/* What ./bench prints: text for people, or one JSON object. */
#ifndef MEASURING_REPORT_H
#define MEASURING_REPORT_H

#include "measuring/attention_cost.h"
#include "measuring/decode.h"
#include "measuring/kernels.h"
#include "measuring/updates.h"

/* The machine and its peaks, in floating-point operations a second. */
typedef struct MachineReport {
    int threads;
    double sgemm_one, sgemm_all;
} MachineReport;

/* decoding [DECODE_ROWS] may be NULL. */
void report_text(const MachineReport *machine, const Trainer *t, const UpdateTimes *updates,
                 const DecodeTime *decoding);

/* Keys: version, machine, blas_kernel, threads, lanes, parameters, updates, sgemm_gflops_one, sgemm_gflops_all; medians
 * over updates, some with the same name and _best or _worst: tgt_tokens_per_s, src_tokens_per_s, model_gflops,
 * model_gflops_with_attention, sgemm_share, sgemm_gflops_beside (sgemm_probe_rate at SGEMM_BESIDE); peak_mb,
 * update_seconds (mean), parts {name: seconds of an update, mean over updates and threads}, decoding {name:
 * {sentences_per_s, tgt_tokens_per_s, median_ms (one by one)}}. */
void report_json(const MachineReport *machine, const Trainer *t, const UpdateTimes *updates,
                 const DecodeTime *decoding);

void report_kernels_text(const KernelTime *times, int count);

/* {"kernels": [{name, sizes, ns}]} */
void report_kernels_json(const KernelTime *times, int count);

void report_attention_text(const AttentionCost *costs, int count);

/* {"attention": [{use, queries, keys, core_ms, projections_ms}]} */
void report_attention_json(const AttentionCost *costs, int count);

#endif
