/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/mapped_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/file_channel.h"
#include "ipc/sample_channel.h"

#define SLOTS 4096u /* a power of two */

struct mapped_names {
	uint32_t bytes; /* used */
	uint32_t bytes_most;
	uint32_t users; /* of all names */
	uint32_t users_most;
	struct mapped_name *slots[SLOTS];
};

int mapped_names_new(struct mapped_names **out, uint32_t bytes, uint32_t users)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->bytes_most = bytes;
	(*out)->users_most = users;
	return 0;
}

bool mapped_names_have_room(const struct mapped_names *n, uint32_t more)
{
	return more <= n->users_most && n->users <= n->users_most - more;
}

/* FNV-1a over the path, seeded with the inode. A target that makes them collide slows down only its
 * own names' slot. */
static uint32_t hash_of(const struct mapped_file *file, const uint8_t *path, uint32_t path_len)
{
	uint32_t h = 2166136261u ^ (uint32_t)file->inode;

	for (uint32_t i = 0; i < path_len; i++)
		h = (h ^ path[i]) * 16777619u;
	return h;
}

static bool is_called(const uint8_t *path, uint32_t path_len, const char *name)
{
	return path_len == strlen(name) && memcmp(path, name, path_len) == 0;
}

/* A target cannot choose these names: a path begins with a slash, and names of anonymous memory
 * with "[anon:". */
static uint32_t kind_of(const struct mapped_file *file, uint64_t file_id, const uint8_t *path,
			uint32_t path_len)
{
	if (file_id >= FILE_ID_FIRST)
		return MAPPING_FILE;
	if (file->inode)
		return MAPPING_OTHER_FILE;
	if (is_called(path, path_len, "[vdso]"))
		return MAPPING_VDSO;
	if (is_called(path, path_len, "[vsyscall]"))
		return MAPPING_VSYSCALL;
	return MAPPING_ANONYMOUS;
}

static bool is_same(const struct mapped_name *name, const struct mapped_file *file,
		    uint64_t file_id, const uint8_t *path, uint32_t path_len)
{
	return name->file.inode == file->inode && name->file.device_major == file->device_major &&
	       name->file.device_minor == file->device_minor && name->file_id == file_id &&
	       name->path_len == path_len && memcmp(name->path, path, path_len) == 0;
}

static struct mapped_name *find(const struct mapped_names *n, const struct mapped_file *file,
				uint64_t file_id, const uint8_t *path, uint32_t path_len)
{
	uint32_t hash = hash_of(file, path, path_len);
	struct mapped_name *name = n->slots[hash % SLOTS];

	while (name && (name->hash != hash || !is_same(name, file, file_id, path, path_len)))
		name = name->next;
	return name;
}

static struct mapped_name *make(struct mapped_names *n, const struct mapped_file *file,
				uint64_t file_id, const uint8_t *path, uint32_t path_len)
{
	struct mapped_name *name = calloc(1, sizeof(*name) + path_len);
	struct mapped_name **slot;

	if (!name)
		return NULL;
	name->hash = hash_of(file, path, path_len);
	name->file = *file;
	name->file_id = file_id;
	name->path_len = (uint16_t)path_len;
	if (path_len)
		memcpy(name->path, path, path_len);
	slot = &n->slots[name->hash % SLOTS];
	name->next = *slot;
	*slot = name;
	n->bytes += (uint32_t)sizeof(*name) + path_len;
	return name;
}

struct mapped_name *mapped_names_take(struct mapped_names *n, const struct mapped_file *file,
				      uint64_t file_id, const uint8_t *path, uint32_t path_len)
{
	uint32_t kind = kind_of(file, file_id, path, path_len);
	struct mapped_name *name;

	if (!mapped_names_have_room(n, 1))
		return NULL;
	if (kind == MAPPING_VDSO)
		file_id = FILE_ID_VDSO;
	if (path_len > RECORD_PATH_MAX)
		path_len = RECORD_PATH_MAX;
	name = find(n, file, file_id, path, path_len);
	if (!name && n->bytes + sizeof(*name) + path_len > n->bytes_most) {
		path_len = 0;
		name = find(n, file, file_id, path, path_len);
	}
	if (!name)
		name = make(n, file, file_id, path, path_len);
	if (!name)
		return NULL;
	name->kind = kind;
	mapped_names_share(n, name);
	return name;
}

void mapped_names_share(struct mapped_names *n, struct mapped_name *name)
{
	n->users++;
	name->users++;
}

void mapped_names_release(struct mapped_names *n, struct mapped_name *name)
{
	struct mapped_name **at;

	n->users--;
	if (--name->users)
		return;
	at = &n->slots[name->hash % SLOTS];
	while (*at != name)
		at = &(*at)->next;
	*at = name->next;
	n->bytes -= (uint32_t)sizeof(*name) + name->path_len;
	free(name);
}

void mapped_name_set_file(struct mapped_name *name, uint64_t file_id)
{
	name->file_id = file_id;
	name->kind = MAPPING_FILE;
	name->retry = false;
}

void mapped_names_free(struct mapped_names *n)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		while (n->slots[i]) {
			struct mapped_name *name = n->slots[i];

			n->slots[i] = name->next;
			free(name);
		}
	}
	free(n);
}
