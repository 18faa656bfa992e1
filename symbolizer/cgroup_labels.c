/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/cgroup_labels.h"

#include <stdbool.h>
#include <string.h>

#include "symbolizer/valid_text.h"

#define CONTAINER_HEX 64 /* docker, containerd, CRI-O and podman name containers by 64 hex digits */

struct piece {
	const char *text;
	size_t len;
};

static bool is_hex(struct piece p)
{
	for (size_t i = 0; i < p.len; i++) {
		char c = p.text[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			return false;
	}
	return true;
}

static bool starts_with(struct piece p, const char *prefix)
{
	size_t len = strlen(prefix);

	return p.len >= len && memcmp(p.text, prefix, len) == 0;
}

static bool ends_with(struct piece p, const char *suffix)
{
	size_t len = strlen(suffix);

	return p.len > len && memcmp(p.text + p.len - len, suffix, len) == 0;
}

static struct piece without(struct piece p, size_t front, size_t back)
{
	return (struct piece){ p.text + front, p.len - front - back };
}

/* The next path component, without slashes; false at the end. */
static bool next_component(struct piece *path, struct piece *component)
{
	const char *slash;

	while (path->len && *path->text == '/')
		*path = without(*path, 1, 0);
	if (!path->len)
		return false;
	slash = memchr(path->text, '/', path->len);
	*component = (struct piece){ path->text, slash ? (size_t)(slash - path->text) : path->len };
	*path = without(*path, component->len, 0);
	return true;
}

/*
 * docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope (systemd's driver), or ID alone (cgroupfs's driver), or
 * SLICE:cri-containerd:ID, or lxc.payload.NAME, lxc/NAME.
 */
static bool container_of(struct piece c, struct piece parent, struct piece *id)
{
	const char *colon;

	if (ends_with(c, ".scope"))
		c = without(c, 0, strlen(".scope"));
	if (starts_with(c, "lxc.payload.")) {
		*id = without(c, strlen("lxc.payload."), 0);
		return id->len > 0;
	}
	if (parent.len == 3 && starts_with(parent, "lxc")) {
		*id = c;
		return true;
	}
	colon = memrchr(c.text, ':', c.len);
	if (colon)
		c = without(c, (size_t)(colon - c.text) + 1, 0);
	/* The container's monitor is named after it, but works outside of it. */
	if (starts_with(c, "crio-conmon-") || starts_with(c, "libpod-conmon-"))
		return false;
	if (c.len > CONTAINER_HEX && c.text[c.len - CONTAINER_HEX - 1] == '-')
		c = without(c, c.len - CONTAINER_HEX, 0);
	*id = c;
	return c.len == CONTAINER_HEX && is_hex(c);
}

static bool is_unit(struct piece c)
{
	static const char *const suffixes[] = { ".service", ".scope", ".socket", ".mount", ".swap" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (ends_with(c, suffixes[i]))
			return true;
	return false;
}

/* Units nest (user@1000.service holds app.service): the innermost one is the process's own. */
static void read_components(struct piece path, struct cgroup_labels *out)
{
	struct piece component, id, parent = { "", 0 };

	while (next_component(&path, &component)) {
		if (is_unit(component))
			valid_text_copy(component.text, component.len, out->systemd_unit,
					sizeof(out->systemd_unit));
		if (container_of(component, parent, &id))
			valid_text_copy(id.text, id.len, out->container_id, sizeof(out->container_id));
		parent = component;
	}
}

/* How much a line of "ID:CONTROLLERS:PATH" tells: a path below the root tells more, v2's own hierarchy most. */
static int worth(struct piece controllers, struct piece path)
{
	int base = path.len > 1 ? 10 : 0;

	if (controllers.len == 0)
		return base + 3;
	if (starts_with(controllers, "name=systemd"))
		return base + 2;
	return base + 1;
}

static bool split_line(struct piece line, struct piece *controllers, struct piece *path)
{
	const char *first = memchr(line.text, ':', line.len);
	const char *second;

	if (!first)
		return false;
	second = memchr(first + 1, ':', line.len - (size_t)(first + 1 - line.text));
	if (!second)
		return false;
	*controllers = (struct piece){ first + 1, (size_t)(second - first - 1) };
	*path = without(line, (size_t)(second + 1 - line.text), 0);
	/* The kernel's word for a cgroup that was removed; a process that just ended may be in one. */
	if (ends_with(*path, " (deleted)"))
		*path = without(*path, 0, strlen(" (deleted)"));
	return path->len > 0 && *path->text == '/';
}

void cgroup_labels_read(const void *text, size_t len, struct cgroup_labels *out)
{
	struct piece rest = { text, len }, best = { NULL, 0 };
	int best_worth = -1;

	memset(out, 0, sizeof(*out));
	while (rest.len) {
		const char *end = memchr(rest.text, '\n', rest.len);
		struct piece line = { rest.text, end ? (size_t)(end - rest.text) : rest.len };
		struct piece controllers, path;

		if (split_line(line, &controllers, &path) && worth(controllers, path) > best_worth) {
			best = path;
			best_worth = worth(controllers, path);
		}
		rest = without(rest, line.len + (end ? 1 : 0), 0);
	}
	if (!best.text)
		return;
	valid_text_copy(best.text, best.len, out->path, sizeof(out->path));
	read_components(best, out);
}
