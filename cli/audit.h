/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit: `belfry audit` reads the running roles back from /proc and compares them with the policies
 * that were compiled in. Exit code 0 = equal, 1 = at least one MISMATCH, 2 = could not look (nobody
 * runs, no permission, wrong option).
 */
#ifndef BELFRY_CLI_AUDIT_H
#define BELFRY_CLI_AUDIT_H

int audit_main(int argc, char **argv);

#endif
