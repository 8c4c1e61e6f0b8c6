/* The scalar type of all mathematics: float in the programs, double where gradients are proved.
 * The same sources are compiled for both; write constants as (real)0.5, never 0.5f. */
#ifndef BASE_REAL_H
#define BASE_REAL_H

#ifdef TANDEM_DOUBLE
typedef double real;
#    define REAL_IS_DOUBLE 1
#else
typedef float real;
#    define REAL_IS_DOUBLE 0
#endif

#include <tgmath.h> /* sqrt, erf, log of a real in its own precision */
#undef I            /* complex.h's macro; here capital letters are dimensions */

#endif
