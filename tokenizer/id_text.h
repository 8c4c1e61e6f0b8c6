/* Ids as a line of text, one space between them: as pieces, or as numbers. No piece that encoding gives holds a space. */
#ifndef TOKENIZER_ID_TEXT_H
#define TOKENIZER_ID_TEXT_H

#include <stdio.h>

#include "tokenizer/tokenizer.h"

typedef enum IdForm { ID_FORM_PIECES, ID_FORM_NUMBERS } IdForm;

/* Without a line end. */
void id_text_write(FILE *out, const Tokenizer *tokenizer, const IdList *ids, IdForm form);

/* Appends the ids of a line; any number of spaces may stand between them. False, and "fact; remedy", for what is no
 * piece or no id of the tokenizer. */
bool id_text_read(IdList *ids, const Tokenizer *tokenizer, Line line, IdForm form, Error *error);

#endif
