/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/procfs.h"

#include <stddef.h>

#include "ipc/cursor.h"

/* Next byte without taking it; 0 at the end, which no /proc text contains, and after an error, when
 * nothing can be taken. */
static uint8_t peek(const struct cursor *c)
{
	return !c->bad && c->offset < c->len ? c->data[c->offset] : 0;
}

static void expect(struct cursor *c, uint8_t byte)
{
	if (cursor_u8(c) != byte)
		c->bad = true;
}

static uint32_t hex_digit(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - (uint32_t)'0';
	if (byte >= 'a' && byte <= 'f')
		return byte - (uint32_t)'a' + 10;
	return 16;
}

/* A hexadecimal number of 1 to 16 digits. */
static uint64_t take_hex(struct cursor *c)
{
	uint64_t value = 0;
	uint32_t digits = 0;

	while (digits < 16 && hex_digit(peek(c)) < 16) {
		value = value << 4 | hex_digit(cursor_u8(c));
		digits++;
	}
	if (digits == 0)
		c->bad = true;
	return value;
}

/* A decimal number of 1 to 19 digits, which cannot wrap. */
static uint64_t take_decimal(struct cursor *c)
{
	uint64_t value = 0;
	uint32_t digits = 0;

	while (digits < 19 && hex_digit(peek(c)) < 10) {
		value = value * 10 + hex_digit(cursor_u8(c));
		digits++;
	}
	if (digits == 0)
		c->bad = true;
	return value;
}

static uint32_t take_decimal32(struct cursor *c)
{
	uint64_t value = take_decimal(c);

	if (value > UINT32_MAX)
		c->bad = true;
	return (uint32_t)value;
}

static void skip_blanks(struct cursor *c)
{
	while (peek(c) == ' ')
		cursor_skip(c, 1);
}

/* Goes past the next space, over whatever stands before it. */
static void skip_field(struct cursor *c)
{
	while (peek(c) != ' ' && peek(c) != 0)
		cursor_skip(c, 1);
	expect(c, ' ');
}

const char *proc_mapping_decode(const uint8_t *line, uint32_t len, struct proc_mapping *m)
{
	struct cursor c;
	uint64_t device_major;
	uint64_t device_minor;

	*m = (struct proc_mapping){ 0 };
	if (len > PROC_LINE_MAX)
		return "maps line is longer than its limit";
	c = cursor_over(line, len);
	m->start = take_hex(&c);
	expect(&c, '-');
	m->end = take_hex(&c);
	expect(&c, ' ');
	cursor_skip(&c, 2); /* r, w */
	m->executable = cursor_u8(&c) == 'x';
	cursor_skip(&c, 1); /* p or s */
	expect(&c, ' ');
	m->offset = take_hex(&c);
	expect(&c, ' ');
	device_major = take_hex(&c);
	expect(&c, ':');
	device_minor = take_hex(&c);
	expect(&c, ' ');
	m->inode = take_decimal(&c);
	if (!cursor_ok(&c))
		return "maps line lacks one of its fixed fields";
	if (device_major > UINT32_MAX || device_minor > UINT32_MAX)
		return "maps line has a device number that is too large";
	if (m->end <= m->start)
		return "maps line has an empty range";
	m->device_major = (uint32_t)device_major;
	m->device_minor = (uint32_t)device_minor;
	skip_blanks(&c);
	m->path_len = cursor_left(&c);
	m->path = cursor_bytes(&c, m->path_len);
	return NULL;
}

const char *proc_stat_decode(const uint8_t *text, uint32_t len, struct proc_stat *s)
{
	struct cursor c;
	uint32_t after_comm = 0;

	*s = (struct proc_stat){ 0 };
	if (len > PROC_STAT_MAX)
		return "stat is longer than its limit";
	/* The name may hold spaces and parentheses: no field behind it does, so the last one
	 * counts. */
	for (uint32_t i = 0; i < len; i++) {
		if (text[i] == ')')
			after_comm = i + 1;
	}
	if (after_comm == 0)
		return "stat has no name in parentheses";
	c = cursor_over(text, len);
	cursor_skip(&c, after_comm);
	expect(&c, ' ');
	skip_field(&c); /* 3: state */
	s->parent = take_decimal32(&c);
	expect(&c, ' ');
	for (int field = 5; field < 22; field++)
		skip_field(&c);
	s->start_ticks = take_decimal(&c);
	if (!cursor_ok(&c))
		return "stat lacks one of its first 22 fields";
	return NULL;
}

/* True when `word` stands next; then it is taken. */
static bool take_word(struct cursor *c, const char *word, uint32_t n)
{
	struct cursor ahead = *c;

	for (uint32_t i = 0; i < n; i++) {
		if (cursor_u8(&ahead) != (uint8_t)word[i])
			return false;
	}
	*c = ahead;
	return true;
}

const char *proc_fdinfo_decode(const uint8_t *text, uint32_t len, uint64_t *mount_id)
{
	struct cursor c;

	*mount_id = 0;
	if (len > PROC_FDINFO_MAX)
		return "fdinfo is longer than its limit";
	c = cursor_over(text, len);
	while (c.offset < c.len) {
		if (take_word(&c, "mnt_id:\t", 8)) {
			*mount_id = take_decimal(&c);
			return cursor_ok(&c) ? NULL : "fdinfo has a mount id that is no number";
		}
		while (cursor_u8(&c) != '\n' && cursor_ok(&c))
			;
	}
	return "fdinfo has no mount id";
}

const char *proc_mount_decode(const uint8_t *line, uint32_t len, struct proc_mount *m)
{
	struct cursor c;

	*m = (struct proc_mount){ 0 };
	if (len > PROC_LINE_MAX)
		return "mountinfo line is longer than its limit";
	c = cursor_over(line, len);
	m->id = take_decimal(&c);
	expect(&c, ' ');
	skip_field(&c); /* parent */
	m->device_major = take_decimal32(&c);
	expect(&c, ':');
	m->device_minor = take_decimal32(&c);
	expect(&c, ' ');
	skip_field(&c); /* root and mount point: foreign, but their spaces are escaped */
	skip_field(&c);
	skip_field(&c); /* options */
	while (cursor_ok(&c) && !take_word(&c, "- ", 2))
		skip_field(&c); /* optional fields, up to a lone hyphen */
	for (uint32_t i = 0; i < PROC_MOUNT_TYPE_LEN - 1 && peek(&c) != 0 && peek(&c) != ' '; i++)
		m->type[i] = (char)cursor_u8(&c);
	if (!cursor_ok(&c) || m->type[0] == 0)
		return "mountinfo line lacks one of its fixed fields";
	return NULL;
}

/* True when the type begins with `word` and either ends there or is one of a family ("fuse.sshfs",
 * "nfs4"). */
static bool type_begins(const struct proc_mount *m, const char *word, bool family)
{
	uint32_t i = 0;

	while (word[i] && m->type[i] == word[i])
		i++;
	return !word[i] && (family || m->type[i] == 0);
}

bool proc_mount_is_remote(const struct proc_mount *m)
{
	static const char *const families[] = { "fuse", "nfs", "smb", "9p", "afs" };
	static const char *const names[] = {
		"cifs",	 "ceph",     "virtiofs", "coda",   "ncpfs",  "lustre", "gpfs",	"beegfs",
		"pvfs2", "orangefs", "vboxsf",	 "prl_fs", "vmhgfs", "davfs",  "ocfs2", "gfs2",
	};

	for (uint32_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (type_begins(m, families[i], true))
			return true;
	}
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (type_begins(m, names[i], false))
			return true;
	}
	return false;
}
