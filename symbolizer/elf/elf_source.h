/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_source: bytes of a file that a hostile owner may cut or rewrite at any moment. They are
 * copied out by pread and never mapped: a mapping would turn a truncation into SIGBUS and let later
 * writes show through.
 */
#ifndef BELFRY_SYMBOLIZER_ELF_ELF_SOURCE_H
#define BELFRY_SYMBOLIZER_ELF_ELF_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_source {
	int fd;		       /* read by pread when `memory` is NULL; not owned */
	const uint8_t *memory; /* not owned */
	uint64_t size; /* bytes, as known when the file was identified; may no longer be true */
};

struct elf_source elf_source_from_fd(int fd, uint64_t size);
struct elf_source elf_source_from_memory(const void *bytes, uint64_t size);

/* True when [offset, offset + n) lies inside the file's known size. */
bool elf_source_has(const struct elf_source *s, uint64_t offset, uint64_t n);

/* Copies exactly `n` bytes from `offset`, or returns false and leaves `out` undefined. */
bool elf_source_read(const struct elf_source *s, void *out, size_t n, uint64_t offset);

/*
 * As elf_source_read() into fresh memory that the caller frees; NULL when a byte is missing or
 * memory is.
 */
void *elf_source_copy(const struct elf_source *s, uint64_t offset, size_t n);

#endif
