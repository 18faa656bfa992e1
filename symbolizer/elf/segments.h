/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segments: between file offsets and the file's own virtual addresses, by PT_LOAD. Never by a
 * guessed load bias: linkers make several executable segments whose address and offset differ by
 * different amounts.
 */
#ifndef BELFRY_SYMBOLIZER_ELF_SEGMENTS_H
#define BELFRY_SYMBOLIZER_ELF_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/elf/elf_file.h"

/*
 * Address of the byte at `offset`. Where segments overlap in the file, an executable one answers.
 */
bool segments_address(const struct elf_file *e, uint64_t offset, uint64_t *address);

/* File offset of `address`, and how many bytes of its segment follow it in the file. */
bool segments_offset(const struct elf_file *e, uint64_t address, uint64_t *offset, uint64_t *room);

#endif
