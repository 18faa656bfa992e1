/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso: a copy of the kernel's own shared object, which every process has at some address and no
 * file holds.
 */
#ifndef BELFRY_SYMBOLIZER_VDSO_H
#define BELFRY_SYMBOLIZER_VDSO_H

#include <stdint.h>

/*
 * Copies this process's vDSO into a memfd (call before seccomp). Returns its descriptor and *size,
 * or -errno.
 */
int vdso_open(uint64_t *size);

#endif
