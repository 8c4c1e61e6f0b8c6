/* tokenizer.json of any bytes: refused with its name, or it works, and what is saved is what was loaded. */
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scratch.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"

/* Any vocabulary encodes any text, to ids it has. */
static void check_encoding(const Tokenizer *tokenizer) {
    static const char text[] = " the cat, </s> that 日本 \xFF\x01 e\xCC\x81<0x41>  ";
    IdList ids = {0};
    TextEncoder *encoder = text_encoder_new(tokenizer);
    tokenizer_encode(encoder, text, sizeof text - 1, &ids);
    for (int id = 0; id < tokenizer_vocab_size(tokenizer); id++) id_list_push(&ids, id);
    size_t length;
    char *back = tokenizer_decode(tokenizer, ids.ids, (int)ids.count, &length);
    FUZZ_CHECK(utf8_valid(back, length));
    memory_free(back);
    text_encoder_free(encoder);
    id_list_free(&ids);
}

static void check_saving(const Tokenizer *tokenizer) {
    Error error;
    scratch_create();
    const char *path = scratch_path("again.json");
    FUZZ_CHECK(tokenizer_save(tokenizer, path, &error));
    Tokenizer *again = tokenizer_load(path, &error);
    FUZZ_CHECK(again != NULL && tokenizer_hash(again) == tokenizer_hash(tokenizer));
    tokenizer_free(again);
    scratch_remove();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error error = {""};
    const char *path = fuzz_file(data, size);
    Tokenizer *tokenizer = tokenizer_load(path, &error);
    if (tokenizer == NULL) {
        FUZZ_CHECK(strncmp(error.text, path, strlen(path)) == 0 && strchr(error.text, '\n') == NULL);
        return 0;
    }
    check_encoding(tokenizer);
    check_saving(tokenizer);
    tokenizer_free(tokenizer);
    return 0;
}
