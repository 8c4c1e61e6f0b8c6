/* The fixed parts of a tokenizer.json, as its writer writes them and its reader demands them. */
#ifndef TOKENIZER_TOKENIZER_JSON_H
#define TOKENIZER_TOKENIZER_JSON_H

#include <jansson.h>

#include "tokenizer/tokenizer.h"

/* New references; NULL only without memory. */
json_t *json_normalizer(Normalization normalization, bool lowercase);
json_t *json_pre_tokenizer(void);
json_t *json_decoder(void);

#endif
