/* Which name was meant by one that does not exist. */
#ifndef BASE_EDIT_DISTANCE_H
#define BASE_EDIT_DISTANCE_H

enum { EDIT_MOST = 96 };

/* Insertions, deletions, replacements and swaps of neighbours that lead from a to b (Damerau 1964); both have
 * at most EDIT_MOST characters, else EDIT_MOST + 1. */
int edit_distance(const char *a, const char *b);

/* Of a name of so many characters, about a third may be wrong: a distance below this is near. */
int edit_near(const char *name);

#endif
