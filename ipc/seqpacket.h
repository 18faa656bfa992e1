/* SPDX-License-Identifier: Apache-2.0 */
/* seqpacket: unix SEQPACKET sockets with at most one descriptor a packet. */
#ifndef BELFRY_IPC_SEQPACKET_H
#define BELFRY_IPC_SEQPACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Listens at `path` (mode 0660, old socket removed). Returns a non-blocking fd or -errno. */
int seqpacket_listen(const char *path);

/* Connects to `path`. Returns a non-blocking fd or -errno. */
int seqpacket_connect(const char *path);

/* Credentials of the peer at connect time. Returns 0 or -errno. */
int seqpacket_peer(int fd, uid_t *uid, pid_t *pid);

/* Sends one packet, with `pass_fd` unless it is -1. Never blocks, no SIGPIPE. Returns 0 or -errno. */
int seqpacket_send(int fd, const void *data, size_t len, int pass_fd);

/*
 * Receives one packet of at most `size` bytes. Returns its length (0 = peer closed) or -errno;
 * -EMSGSIZE for a packet that is longer, or that carried more than one descriptor.
 * *got_fd is the descriptor (close-on-exec, caller owns it) or -1. A receiver that accepts
 * none passes got_fd = NULL: a packet with one is then -EMSGSIZE, and the descriptor is closed
 * by the kernel or here.
 */
ssize_t seqpacket_receive(int fd, void *data, size_t size, int *got_fd);

#endif
