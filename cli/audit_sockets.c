/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_sockets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define UNIX_LISTENING 0x10000u /* __SO_ACCEPTCON in the Flags column */
#define TCP_LISTENING  0x0au

/* Reads one line of a table. Returns the inode and the kind, or 0 for a line that is no row. */
typedef uint64_t (*row_reader)(const char *line, const char **kind);

const char *audit_unix_kind(unsigned int type, bool listening)
{
	switch (type) {
	case SOCK_STREAM:
		return listening ? "socket:unix-stream-listen" : "socket:unix-stream";
	case SOCK_SEQPACKET:
		return listening ? "socket:unix-seqpacket-listen" : "socket:unix-seqpacket";
	case SOCK_DGRAM:
		return "socket:unix-dgram";
	default:
		return "socket:unix-other";
	}
}

/* Num RefCount Protocol Flags Type St Inode Path */
static uint64_t unix_row(const char *line, const char **kind)
{
	unsigned int flags, type;
	unsigned long inode;

	if (sscanf(line, "%*s %*x %*x %x %x %*x %lu", &flags, &type, &inode) != 3)
		return 0;
	*kind = audit_unix_kind(type, flags & UNIX_LISTENING);
	return inode;
}

/* sl local remote st tx:rx tr:when retransmits uid timeout inode */
static uint64_t inet_row(const char *line, unsigned int *state)
{
	unsigned long inode;

	if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s %*s %*s %lu", state, &inode) != 2)
		return 0;
	return inode;
}

static uint64_t tcp_row(const char *line, const char **kind)
{
	unsigned int state = 0;
	uint64_t inode = inet_row(line, &state);

	*kind = state == TCP_LISTENING ? "socket:tcp-listen" : "socket:tcp";
	return inode;
}

static uint64_t udp_row(const char *line, const char **kind)
{
	unsigned int state = 0;

	*kind = "socket:udp";
	return inet_row(line, &state);
}

static void name_inode(struct audit_descriptors *d, uint64_t inode, const char *kind)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (d->list[i].socket_inode == inode)
			snprintf(d->list[i].kind, sizeof(d->list[i].kind), "%s", kind);
}

static int read_table(pid_t pid, const char *name, row_reader read_row, struct audit_descriptors *d)
{
	char path[64];
	char line[512];
	FILE *table;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, name);
	table = fopen(path, "re");
	if (!table)
		return errno == ENOENT ? 0 : -errno; /* a kernel without IPv6 has no tcp6 */
	while (fgets(line, sizeof(line), table)) {
		const char *kind;
		uint64_t inode = read_row(line, &kind);

		if (inode)
			name_inode(d, inode, kind);
	}
	fclose(table);
	return 0;
}

int audit_sockets_name(pid_t pid, struct audit_descriptors *d)
{
	static const struct {
		const char *name;
		row_reader read_row;
	} tables[] = {
		{ "unix", unix_row }, { "tcp", tcp_row },  { "tcp6", tcp_row },
		{ "udp", udp_row },   { "udp6", udp_row },
	};
	int error = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !error; i++)
		error = read_table(pid, tables[i].name, tables[i].read_row, d);
	return error;
}
