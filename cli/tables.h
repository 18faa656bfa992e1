/* SPDX-License-Identifier: Apache-2.0 */
/* tables: `belfry tables [--dump] FILE`: opens the file as whoever asks, and lets the symbolizer's
 * program read it under its filter. */
#ifndef BELFRY_CLI_TABLES_H
#define BELFRY_CLI_TABLES_H

int tables_command(int argc, char **argv);

#endif
