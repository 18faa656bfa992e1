/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log: one line on standard error for each event, as key=value, with a stable
 * message id first: `level=warn id=file_refused role=collector msg="…" pid=1234`.
 * Foreign bytes are escaped. The only global state is the role's name, set once.
 */
#ifndef BELFRY_IPC_LOG_H
#define BELFRY_IPC_LOG_H

void log_init(const char *role, int verbose);

/* `id` is a stable word; the format makes the msg value. Lines are cut at 1 KiB. */
void log_error(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_warn(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_info(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_debug(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
