/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/builder.h"
#include "ipc/cursor.h"
#include "ipc/log.h"
#include "policy/confine.h"
#include "policy/thread_status.h"

#define MAGIC	0x54505242u /* "BRPT" */
#define VERSION 1u

static void word_encode(struct builder *b, const char *word)
{
	char padded[REPORT_WORD_MAX] = { 0 };

	snprintf(padded, sizeof(padded), "%s", word);
	builder_bytes(b, padded, sizeof(padded));
}

void report_encode(const struct report *r, uint8_t *out)
{
	struct builder b = builder_over(out, REPORT_LENGTH);

	builder_u32(&b, MAGIC);
	builder_u32(&b, VERSION);
	builder_u32(&b, r->pid);
	builder_u32(&b, r->landlock_abi);
	builder_u64(&b, r->given_up);
	builder_u32(&b, r->old_kernel);
	word_encode(&b, r->role);
	word_encode(&b, r->process);
}

/* Lower-case letters, then zeros: it is printed to a terminal. */
static bool word_decode(struct cursor *c, char *word)
{
	size_t len = 0;

	cursor_copy(c, word, REPORT_WORD_MAX);
	while (len < REPORT_WORD_MAX && word[len] >= 'a' && word[len] <= 'z')
		len++;
	if (len == 0 || len == REPORT_WORD_MAX)
		return false;
	for (size_t i = len; i < REPORT_WORD_MAX; i++)
		if (word[i] != '\0')
			return false;
	return true;
}

const char *report_decode(const uint8_t *data, uint32_t len, struct report *r)
{
	struct cursor c = cursor_over(data, len);
	uint32_t old_kernel;

	memset(r, 0, sizeof(*r));
	if (len != REPORT_LENGTH)
		return "report has another length";
	if (cursor_u32(&c) != MAGIC || cursor_u32(&c) != VERSION)
		return "report has another magic or version";
	r->pid = cursor_u32(&c);
	r->landlock_abi = cursor_u32(&c);
	r->given_up = cursor_u64(&c);
	old_kernel = cursor_u32(&c);
	if (old_kernel > 1)
		return "report says neither yes nor no about an old kernel";
	r->old_kernel = old_kernel;
	if (!word_decode(&c, r->role) || !word_decode(&c, r->process))
		return "report has a name that is not lower-case letters";
	return cursor_finished(&c) ? NULL : "report has another length";
}

static int publish(const struct report *r)
{
	uint8_t bytes[REPORT_LENGTH];
	int fd = memfd_create(REPORT_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	report_encode(r, bytes);
	/* Stays open for the life of the process: that is where `belfry audit` finds it. */
	if (write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
		return 0;
	close(fd);
	return -EIO;
}

int confine_report(const struct policy *p, const char *process, int landlock, uint64_t given_up,
		   bool old_kernel)
{
	struct report r = { .pid = (uint32_t)getpid(),
			    .landlock_abi = (uint32_t)landlock,
			    .old_kernel = old_kernel };
	struct thread_status s;
	int error = thread_status_self(&s);

	if (!error) {
		/* Also those that were never there: optional, or confine_drop_capabilities() had
		 * failed. */
		r.given_up = given_up | (p->capabilities[POLICY_PHASE_STEADY] & ~s.permitted);
		snprintf(r.role, sizeof(r.role), "%s", p->role);
		snprintf(r.process, sizeof(r.process), "%s", process);
		error = publish(&r);
	}
	if (error)
		log_error("report", "memfd for belfry audit: %s", strerror(-error));
	return error;
}
