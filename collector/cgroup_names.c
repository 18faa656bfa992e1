/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/cgroup_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/clock.h"
#include "collector/procfs_read.h"

#define SLOTS	    128u
#define CACHED_MOST 512u /* bytes of a text worth keeping */
#define FRESH_NS                                                                                   \
	(5 * NSEC_PER_SEC) /* a process can move between its sample and our reading: such an error \
			      must not last */

struct known_cgroup {
	uint64_t id;
	uint64_t read_ns;
	uint16_t len;
	uint8_t text[CACHED_MOST];
};

struct cgroup_names {
	struct known_cgroup *slots[SLOTS];
	uint8_t text[RECORD_CGROUP_MAX];
};

int cgroup_names_new(struct cgroup_names **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void keep(struct cgroup_names *c, uint64_t id, uint16_t len)
{
	struct known_cgroup **slot = &c->slots[id % SLOTS];

	/* "0::/path\n" alone: cgroup v2 and nothing beside it. A path holds no newline that the
	 * kernel does not escape. */
	if (id == 0 || len < 4 || len > CACHED_MOST || memcmp(c->text, "0::", 3) != 0 ||
	    memchr(c->text, '\n', len) != c->text + len - 1)
		return;
	if (!*slot)
		*slot = malloc(sizeof(**slot));
	if (!*slot)
		return;
	(*slot)->id = id;
	(*slot)->read_ns = clock_ns();
	(*slot)->len = len;
	memcpy((*slot)->text, c->text, len);
}

const uint8_t *cgroup_names_get(struct cgroup_names *c, pid_t pid, bool alive, uint64_t cgroup_id,
				uint16_t *len)
{
	const struct known_cgroup *known = c->slots[cgroup_id % SLOTS];
	ssize_t n = 0;

	if (known && known->id != cgroup_id)
		known = NULL;
	if (alive && !(known && clock_ns() - known->read_ns < FRESH_NS))
		n = proc_read(pid, "cgroup", c->text, sizeof(c->text));
	if (n > 0) {
		*len = (uint16_t)n;
		keep(c, cgroup_id, *len);
		return c->text;
	}
	*len = known ? known->len : 0;
	return known ? known->text : NULL;
}

void cgroup_names_free(struct cgroup_names *c)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		free(c->slots[i]);
	free(c);
}
