/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/profile_mappings.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/frame_names.h"

#define PROFILE_MAPPING_NAME_ONLY UINT32_MAX /* the main program, of which no sample was taken */

/* Kernel locations carry distances inside functions, never addresses: any limit above the largest function does. */
#define KERNEL_MAPPING_LIMIT 0x80000000ull

static const char *program_path(struct profile_mappings *m, uint32_t process)
{
	struct profile_main *program = &m->main_of[process];

	if (!program->path)
		program->path = target_exe(window_process_at(m->w, process)->target);
	return program->path;
}

static void find_main_programs(struct profile_mappings *m)
{
	for (uint32_t i = 0; i < m->w->processes.count; i++)
		m->main_of[i].mapping = UINT32_MAX;
	for (uint32_t i = 0; i < m->w->mappings.count; i++) {
		const struct window_mapping *one = window_mapping_at(m->w, i);
		struct profile_main *program = &m->main_of[one->process];

		if (one->kind == MAPPING_FILE &&
		    (program->mapping == UINT32_MAX ||
		     one->start < window_mapping_at(m->w, program->mapping)->start) &&
		    strcmp(one->path->text, program_path(m, one->process)) == 0)
			program->mapping = i;
	}
}

bool profile_mappings_init(struct profile_mappings *m, const struct window *w)
{
	*m = (struct profile_mappings){ .w = w };
	m->ids = calloc((size_t)w->mappings.count + 1, sizeof(*m->ids));
	m->main_of = calloc((size_t)w->processes.count + 1, sizeof(*m->main_of));
	/* All mappings of the window, the kernel, and a main program. */
	m->slots = malloc(((size_t)w->mappings.count + 2) * sizeof(*m->slots));
	if (!m->ids || !m->main_of || !m->slots)
		return false;
	find_main_programs(m);
	return true;
}

void profile_mappings_free(struct profile_mappings *m)
{
	free(m->ids);
	free(m->main_of);
	free(m->slots);
}

static uint64_t add(struct profile_mappings *m, uint32_t mapping)
{
	m->slots[m->count] = (struct profile_mapping_slot){ .mapping = mapping };
	return ++m->count;
}

void profile_mappings_begin(struct profile_mappings *m, uint32_t process)
{
	m->process = process;
	m->count = 0;
	m->kernel_id = 0;
	if (m->main_of[process].mapping != UINT32_MAX)
		profile_mappings_id(m, m->main_of[process].mapping + WINDOW_MAPPING_FIRST, false);
	else if (*program_path(m, process))
		add(m, PROFILE_MAPPING_NAME_ONLY);
}

uint64_t profile_mappings_id(struct profile_mappings *m, uint32_t mapping, bool named)
{
	uint64_t *id = &m->kernel_id;

	if (mapping == WINDOW_UNMAPPED || mapping == WINDOW_MARKER)
		return 0;
	if (mapping >= WINDOW_MAPPING_FIRST)
		id = &m->ids[mapping - WINDOW_MAPPING_FIRST];
	if (!*id)
		*id = add(m, mapping);
	m->slots[*id - 1].named |= named;
	return *id;
}

static void write_file(const struct profile_mappings *m, const struct profile_mapping_slot *slot,
		       struct pprof_encoder *e, struct symbols *s)
{
	const struct window_mapping *one = window_mapping_at(m->w, slot->mapping - WINDOW_MAPPING_FIRST);
	const struct file_info *file = symbols_file(s, one->kind == MAPPING_VDSO ? FILE_ID_VDSO : one->file_id);
	const struct pprof_mapping out = { one->start, one->end, one->offset, mapping_file_name(one),
					   file->build_id, slot->named };

	encoder_mapping(e, &out);
}

void profile_mappings_write(const struct profile_mappings *m, struct pprof_encoder *e, struct symbols *s)
{
	for (uint32_t i = 0; i < m->count; i++) {
		const struct profile_mapping_slot *slot = &m->slots[i];
		struct pprof_mapping out = { .file = "[kernel.kallsyms]", .build_id = "",
					     .limit = KERNEL_MAPPING_LIMIT, .has_functions = slot->named };

		if (slot->mapping == PROFILE_MAPPING_NAME_ONLY)
			out = (struct pprof_mapping){
				.file = m->main_of[m->process].path, .build_id = ""
			};
		else if (slot->mapping != WINDOW_KERNEL) {
			write_file(m, slot, e, s);
			continue;
		}
		encoder_mapping(e, &out);
	}
}
