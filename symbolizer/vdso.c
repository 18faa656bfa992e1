/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/vdso.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define VDSO_MAX (64u << 10) /* x86-64 has 8 KiB, arm64 4 KiB */

/*
 * The kernel's own headers, so they are believed: where the sections or the segments end, the image
 * ends.
 */
static uint64_t image_size(const Elf64_Ehdr *header)
{
	const uint8_t *image = (const uint8_t *)header;
	uint64_t size = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;

	for (unsigned int i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, image + header->e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_LOAD && segment.p_offset + segment.p_filesz > size)
			size = segment.p_offset + segment.p_filesz;
	}
	return size;
}

int vdso_open(uint64_t *size)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	ssize_t written;
	int fd;

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	*size = image_size(header);
	if (*size > VDSO_MAX)
		return -EFBIG;
	fd = memfd_create("vdso", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	written = write(fd, header, *size);
	if (written != (ssize_t)*size ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
		int error = written < 0 ? -errno : -EIO;

		close(fd);
		return error;
	}
	return fd;
}
