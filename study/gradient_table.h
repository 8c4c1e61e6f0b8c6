/* The table that ./gradcheck prints: a row for each tensor, and what it comes to. */
#ifndef STUDY_GRADIENT_TABLE_H
#define STUDY_GRADIENT_TABLE_H

#include <stdio.h>

#include "study/gradient_check.h"

typedef struct GradientTable {
    FILE *out;
    int module_width, tensor_width; /* of the columns */
    GradientResult sum;             /* of all rows */
    char worst[160];                /* module and element of the largest error */
    int tensors, failed;            /* tensors */
} GradientTable;

/* Column titles; begins a part of the table with columns of its own. */
void gradient_table_begin(GradientTable *t, int module_width, int tensor_width);

/* A row for one tensor, and under it, where it failed, a line that says how. */
void gradient_table_row(GradientTable *t, const char *module, const GradientTensor *tensor, const GradientResult *r);

/* One row for all tensors of a module, which has passed. */
void gradient_table_fold(GradientTable *t, const char *module, int tensors, const GradientResult *sum);

/* The final line. Has all passed, with less than 2% of the elements skipped? */
bool gradient_table_end(GradientTable *t);

/* "[rows,cols]" or "[count]"; "[i,j]" or "[i]". */
void gradient_tensor_shape(char text[48], const GradientTensor *t);
void gradient_tensor_place(char text[48], const GradientTensor *t, size_t index);

#endif
