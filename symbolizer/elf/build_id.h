/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id: the name of a file's contents. The GNU note where it can be trusted, else a hash of
 * Go's own note, else a hash of the contents. Chosen by whoever made the file: a name for people
 * and servers, never the only key.
 */
#ifndef BELFRY_SYMBOLIZER_ELF_BUILD_ID_H
#define BELFRY_SYMBOLIZER_ELF_BUILD_ID_H

#include <stdint.h>

#include "symbolizer/elf/elf_file.h"

#define BUILD_ID_BYTES_MAX 64
#define BUILD_ID_TEXT_MAX  (2 * BUILD_ID_BYTES_MAX + 1)

enum build_id_kind {
	BUILD_ID_NONE = 0, /* the contents could not be read */
	BUILD_ID_GNU,	   /* the note's bytes */
	BUILD_ID_GO,	   /* "be1f60" and 128 bits over the text of Go's note */
	BUILD_ID_CONTENT,  /* "be1f0c" and 128 bits over the contents */
};

/* Writes lower-case hex with its NUL into `out`, "" for BUILD_ID_NONE. */
enum build_id_kind build_id_find(const struct elf_file *e, char out[BUILD_ID_TEXT_MAX]);

#endif
