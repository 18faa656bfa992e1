/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygote: a small process, forked before the symbolizer has sockets or foreign bytes, that does
 * nothing but fork workers. Forking from it is cheap and safe, and workers hold none of the main
 * process's descriptors.
 */
#ifndef BELFRY_SYMBOLIZER_ZYGOTE_H
#define BELFRY_SYMBOLIZER_ZYGOTE_H

#include <stdint.h>

#include "policy/policy.h"
#include "symbolizer/worker.h"

struct zygote_limits {
	uint32_t children; /* workers alive at once; a request above it is answered BUSY */
	struct worker_limits worker;
};

/*
 * Forks the zygote. Call with one thread, rights already given up, and before confine_seccomp(p,
 * "main"). Returns the SEQPACKET socket for symbols_new(), or -errno. The zygote ends when that
 * socket is closed, or with its parent.
 */
int zygote_start(const struct policy *p, const struct zygote_limits *limits);

/*
 * Asks for a worker: `socket` is its end of a socket pair whose other end the caller keeps, with
 * the request and the file's descriptor already waiting in it. Does not take `socket` over. Returns
 * 0 or -errno (-EPIPE: the zygote is gone).
 */
int zygote_request(int zygote, int socket);

#endif
