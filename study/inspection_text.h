/* An inspection on the terminal. */
#ifndef STUDY_INSPECTION_TEXT_H
#define STUDY_INSPECTION_TEXT_H

#include <stdio.h>

#include "study/inspection.h"

/* Pieces, losses with the most probable tokens, every tensor of both passes, every parameter with its gradient. */
void inspection_print(FILE *out, const Inspection *inspection);

/* The values of one tensor, a row a line, with tabs between: any name that inspection_print shows. False with an error if
 * there is none of that name. */
bool inspection_print_tensor(FILE *out, const Inspection *inspection, const char *name, Error *error);

#endif
