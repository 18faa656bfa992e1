#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint.sh [FILE]...: clang-tidy (checks: .clang-tidy) over the product's C files. Fails on any finding.
set -eu
cd "$(dirname "$0")/.."
command -v clang-tidy >/dev/null || { echo "lint: clang-tidy is not installed, nothing was checked" >&2; exit 1; }
[ $# -gt 0 ] || set -- $(find ipc policy collector symbolizer uploader cli -name '*.c' | sort)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} clang-tidy --quiet {} -- -std=gnu11 -D_GNU_SOURCE -I. -Ibuild/gen \
	>"$log" 2>/dev/null || true
sed -i '\|/build/gen/|d' "$log" # code that bpftool wrote is not ours to mend
grep -E '^/.*(warning|error):' "$log" | sed "s|$PWD/||" | sort -u || true
found=$(grep -cE '^/.*(warning|error):' "$log" || true)
echo "lint: $# files, $found findings"
[ "$found" = 0 ]
