/* The checksum of a file's data and header. For run/safetensors*.c only. */
#ifndef RUN_SAFETENSORS_CHECKSUM_H
#define RUN_SAFETENSORS_CHECKSUM_H

#include "run/safetensors.h"

#define SAFETENSORS_CHECKSUM_KEY "tandem.checksum"

extern const char *const safetensors_type_name[SAFETENSORS_TYPES];

/* XXH64 over: the data of all tensors; for each tensor name, type, rank and shape; for each pair but the
 * checksum itself, key and value. Texts count with their final NUL, numbers as 8 bytes. The tensors have to be
 * in the order of their data, the pairs in the order of their keys; so the layout of the JSON does not matter.
 * As 16 hexadecimal digits. */
void safetensors_checksum(char out[17], const SafetensorsTensor *tensor, int tensors, const SafetensorsPair *pair,
                          int pairs);

#endif
