/* report.html: a run to look at in a browser, one file that needs no network.
 *
 * The page (training/report.html, with its parts) draws; here its data is gathered and put into it as JSON:
 *
 *     {"run": {...}, "train": [...], "valid": [...], "norms": [...], "average": [...]}
 *
 * The lists hold lines of metrics.jsonl (training/metrics_read.h). So that a long run stays a small page, the updates
 * from the first to the last line of a list that has more than REPORT_MOST fall into that many equal intervals, and the
 * last line of each stays; so does the best validation. Of the validations that stay, samples and losses by length are
 * kept for REPORT_DETAILS, by the same rule, and for the best. */
#ifndef TRAINING_REPORT_H
#define TRAINING_REPORT_H

#include "training/trainer.h"

enum { REPORT_MOST = 1000, REPORT_MOST_NORMS = 200, REPORT_DETAILS = 50 };

/* Writes the members "train" to "average" as JSON text in which `<` is \u003c, so that it can stand inside a page's
 * <script>. Fails where there is no such file; lines that are no JSON objects are left out. */
bool report_lists(FILE *out, const char *metrics_path, Error *error);

/* Replaces the report of the run. `status` says what the training is doing, or why it ended. */
bool report_write(Trainer *t, const char *status, Error *error);

/* The same, and says where the report is, the first time and at the end (`last`). It is only a view: a failure is said,
 * and training goes on. */
void trainer_report(Trainer *t, const char *status, bool last);

#endif
