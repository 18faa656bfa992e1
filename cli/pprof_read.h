/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_read: reads any profile.proto, gzip-compressed or plain, ours or not.
 *
 * What makes a profile valid is what google/pprof's own parser asks for: string 0 empty, every
 * reference in range, ids unique and not 0, one value for each sample type. Ids may be sparse and
 * in any order, fields too; unknown fields are skipped. Everything is bounded: see the constants.
 */
#ifndef BELFRY_CLI_PPROF_READ_H
#define BELFRY_CLI_PPROF_READ_H

#include <stdint.h>

#include "cli/pprof.h"

#define PPROF_FILE_MAX	   (256u << 20) /* bytes of a file as it stands on disk */
#define PPROF_INFLATED_MAX (512u << 20) /* bytes of a profile after decompression */

/*
 * Reads the profile in data[0 .. len), which must stay until pprof_free() when it is not
 * compressed. Returns NULL and a profile that the caller frees, or a constant sentence that says
 * what was wrong.
 */
const char *pprof_read(struct pprof *p, const uint8_t *data, uint32_t len);

/* Reads an open file to its end. Returns NULL or a sentence, as above. */
const char *pprof_read_file(struct pprof *p, int fd);

#endif
