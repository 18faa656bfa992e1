/* SPDX-License-Identifier: Apache-2.0 */
/* tables: what call frame information a file yields, for a person to read. The work of `belfry
 * tables`. */
#ifndef BELFRY_SYMBOLIZER_TABLES_H
#define BELFRY_SYMBOLIZER_TABLES_H

#include <stdbool.h>

/*
 * The whole life of `belfry-symbolizer --tables FD`: gives everything up but `fd` and standard
 * output, reads the file, prints. `dump`: every row, in readelf's words. Returns the exit code.
 */
int tables_main(int fd, bool dump);

#endif
