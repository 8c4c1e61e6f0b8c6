/* The INI reader and the configuration on top of it: what is read can be written, and reads back the same. */
#include <string.h>

#include "base/memory.h"
#include "run/config.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Config config, again;
    Error error = {""};
    if (!config_parse(&config, "fuzz.ini", (const char *)data, size, NULL, 0, &error)) {
        FUZZ_CHECK(error.text[0] != '\0');
        return 0;
    }
    char *text = config_text(&config);
    FUZZ_CHECK(config_parse(&again, "again.ini", text, strlen(text), NULL, 0, &error));
    char *back = config_text(&again);
    FUZZ_CHECK(strcmp(text, back) == 0);
    memory_free(text);
    memory_free(back);
    config_free(&config);
    config_free(&again);
    return 0;
}
