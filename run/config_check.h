/* What several keys of a configuration have to agree on. For run/config*.c only. */
#ifndef RUN_CONFIG_CHECK_H
#define RUN_CONFIG_CHECK_H

#include "base/ini.h"
#include "run/config.h"

/* Where the values come from. */
typedef struct ConfigSources {
    Ini *ini;    /* takes the mistakes */
    int *line;   /* [keys] where each key was given; 0: nowhere, CONFIG_FROM_OPTION: --set */
    bool *wrong; /* [keys] a mistake was reported already */
} ConfigSources;

enum { CONFIG_FROM_OPTION = 0x7FFFFFF0, CONFIG_MISSING };

/* Index of a key in the table, -1 where there is none of that name. */
int config_find(const char *section, const char *key);

/* Reports every disagreement, and replaces `auto` by what it stands for, except for threads and lanes. */
void config_check(Config *config, const ConfigSources *sources);

#endif
