/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/file_intake.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/seqpacket.h"
#include "symbolizer/file_key.h"

#define PACKETS_A_TURN 64 /* then the samples get their turn */

int file_intake_open(struct file_intake *f, const char *path)
{
	f->connection = -1;
	f->listener = seqpacket_listen(path);
	if (f->listener < 0)
		log_error("files_listen", "%s: %s", path, strerror(-f->listener));
	return f->listener < 0 ? f->listener : 0;
}

static void disconnect(struct file_intake *f, const char *why)
{
	if (why) {
		f->counters.rules_broken++;
		if (log_limit_passes(&f->broken_said))
			log_warn("files_peer", "file channel closed: %s (%llu so far)", why,
				 (unsigned long long)f->counters.rules_broken);
	}
	close(f->connection);
	f->connection = -1;
}

void file_intake_accept(struct file_intake *f)
{
	int fd = accept4(f->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	uid_t uid;
	pid_t pid;

	if (fd < 0)
		return;
	if (seqpacket_peer(fd, &uid, &pid) != 0 || uid != f->collector_uid || f->connection >= 0) {
		f->counters.peers_refused++;
		if (log_limit_passes(&f->refusal_said))
			log_warn("files_peer_refused", "a peer on the file channel was refused: it "
						       "is not the collector, or a second one");
		close(fd);
		return;
	}
	f->connection = fd;
	f->phase = FILE_PHASE_NEW;
	f->counters.connections++;
}

static int answer(struct file_intake *f, const struct file_message *m)
{
	uint8_t packet[FILE_MESSAGE_MAX];
	uint32_t len = file_message_encode(m, packet);

	return seqpacket_send(f->connection, packet, len, -1);
}

static void take_hello(struct file_intake *f, const struct file_message *m)
{
	const struct file_message hello = { .type = FILE_HELLO };

	if (m->stream_id != f->stream_id)
		symbols_reset(f->symbols); /* a new collector numbers files anew */
	f->stream_id = m->stream_id;
	f->phase = FILE_PHASE_OPEN;
	if (answer(f, &hello) != 0)
		disconnect(f, "the collector does not read");
}

static void take_opened(struct file_intake *f, const struct file_message *m, int fd)
{
	struct file_message done = { .type = FILE_DONE, .file_id = m->file_id };
	struct file_message keyed = *m;

	keyed.file_id = file_key(f->stream_id, m->file_id);
	if (keyed.file_id == FILE_ID_NONE) {
		close(fd);
		disconnect(f, "file id is out of range");
		return;
	}
	done.result = symbols_add_file(f->symbols, &keyed, fd);

	f->counters.files++;
	/* At most FILES_IN_FLIGHT_MAX are under way, which fit the socket's buffer: a peer that
	 * does not read is not ours. */
	if (answer(f, &done) != 0)
		disconnect(f, "the collector does not read");
}

static void take_kallsyms(struct file_intake *f, int fd)
{
	const char *wrong = kernel_symbols_load(f->kernel, fd);

	if (wrong)
		log_warn("kallsyms_bad", "/proc/kallsyms: %s", wrong);
	else if (kernel_symbols_restricted(f->kernel))
		log_warn("kallsyms_restricted",
			 "/proc/kallsyms shows no addresses (kptr_restrict, or the collector lacks "
			 "CAP_SYSLOG): kernel frames have no names");
	close(fd);
}

static void take_packet(struct file_intake *f, const uint8_t *packet, uint32_t len, int fd)
{
	struct file_message m;
	const char *wrong =
		file_message_decode(file_rules_to_symbolizer, file_rules_to_symbolizer_count,
				    f->phase, packet, len, fd >= 0, &m);

	if (wrong) {
		if (fd >= 0)
			close(fd);
		disconnect(f, wrong);
		return;
	}
	switch (m.type) {
	case FILE_HELLO:
		take_hello(f, &m);
		break;
	case FILE_OPENED:
		take_opened(f, &m, fd);
		break;
	case FILE_KALLSYMS:
		take_kallsyms(f, fd);
		break;
	case FILE_DONE:
	case FILE_WANT:
	case FILE_MESSAGE_TYPES:
		break;
	}
}

void file_intake_receive(struct file_intake *f)
{
	for (int i = 0; i < PACKETS_A_TURN && f->connection >= 0; i++) {
		uint8_t packet[FILE_MESSAGE_MAX];
		int fd;
		ssize_t len = seqpacket_receive(f->connection, packet, sizeof(packet), &fd);

		if (len == -EAGAIN)
			return;
		if (len > 0)
			take_packet(f, packet, (uint32_t)len, fd);
		else
			disconnect(f,
				   len == -EMSGSIZE
					   ? "a packet is too long or carries too many descriptors"
					   : NULL);
	}
}

void file_intake_want(struct file_intake *f)
{
	while (f->connection >= 0 && f->phase == FILE_PHASE_OPEN) {
		uint64_t key = symbols_next_missing(f->symbols);
		struct file_message want = { .type = FILE_WANT,
					     .file_id = file_key_id(f->stream_id, key) };
		int error;

		if (!key)
			return;
		if (!want.file_id)
			continue; /* of a collector that is gone */
		error = answer(f, &want);
		if (error == -EAGAIN)
			return; /* it is told once more later */
		if (error)
			disconnect(f, NULL);
	}
}
