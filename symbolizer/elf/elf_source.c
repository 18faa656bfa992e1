/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/elf/elf_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct elf_source elf_source_from_fd(int fd, uint64_t size)
{
	return (struct elf_source){ .fd = fd, .size = size };
}

struct elf_source elf_source_from_memory(const void *bytes, uint64_t size)
{
	return (struct elf_source){ .fd = -1, .memory = bytes, .size = size };
}

bool elf_source_has(const struct elf_source *s, uint64_t offset, uint64_t n)
{
	return offset <= s->size && n <= s->size - offset;
}

bool elf_source_read(const struct elf_source *s, void *out, size_t n, uint64_t offset)
{
	uint8_t *to = out;

	if (!elf_source_has(s, offset, n))
		return false;
	if (s->memory) {
		if (n)
			memcpy(to, s->memory + offset, n);
		return true;
	}
	/* The kernel's offsets are signed. */
	if (offset > INT64_MAX - n)
		return false;
	while (n > 0) {
		ssize_t got = pread(s->fd, to, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false; /* unreadable, or cut since it was identified */
		to += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return true;
}

void *elf_source_copy(const struct elf_source *s, uint64_t offset, size_t n)
{
	void *bytes;

	if (!elf_source_has(s, offset, n))
		return NULL;
	bytes = malloc(n ? n : 1);
	if (bytes && !elf_source_read(s, bytes, n, offset)) {
		free(bytes);
		return NULL;
	}
	return bytes;
}
