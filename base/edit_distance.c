#include "base/edit_distance.h"

#include <stdbool.h>
#include <string.h>

int edit_distance(const char *a, const char *b) {
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > EDIT_MOST || b_length > EDIT_MOST) return EDIT_MOST + 1;
    int m = (int)a_length, n = (int)b_length, d[EDIT_MOST + 1][EDIT_MOST + 1];
    for (int i = 0; i <= m; i++) d[i][0] = i;
    for (int j = 0; j <= n; j++) d[0][j] = j;
    for (int i = 1; i <= m; i++)
        for (int j = 1; j <= n; j++) {
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[m][n];
}

int edit_near(const char *name) {
    size_t near = strlen(name) / 3 + 2;
    return near > 10 ? 10 : (int)near;
}
