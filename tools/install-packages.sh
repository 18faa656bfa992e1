#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install-packages.sh build|check: installs the Debian packages that building (and testing) needs, where one is missing.
# Quiet and without a network when nothing is missing.
set -eu

build="gcc make clang llvm bpftool libbpf-dev libcap-dev libseccomp-dev zlib1g-dev libdeflate-dev
       libiberty-dev libc6-dev linux-libc-dev binutils"
check="g++ libcmocka-dev libdw-dev python3 util-linux procps libclang-rt-14-dev libasan8 libubsan1 frama-c-base
       qemu-system-x86 busybox-static cpio gzip apt dpkg"

installed()
{
	dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

missing=""
add()
{
	installed "$1" || missing="$missing $1"
}

case "${1:-}" in
build)	list="$build" ;;
check)	list="$build $check" ;;
*)	echo "usage: $0 build|check" >&2; exit 2 ;;
esac

for package in $list; do
	add "$package"
done
if [ "$1" = check ]; then
	# A compiler from elsewhere does as well as Debian's.
	command -v go >/dev/null || add golang-go
	command -v rustc >/dev/null || add rustc
fi

[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "missing packages:$missing" >&2
	echo "install them as root: apt-get install --no-install-recommends$missing" >&2
	exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
	cat "$log" >&2
	rm -f "$log"
	exit 1
fi
rm -f "$log"
