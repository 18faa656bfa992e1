/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka wants these headers before its own. */
#ifndef BELFRY_TESTS_UNIT_CMOCKA_ALL_H
#define BELFRY_TESTS_UNIT_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#endif
