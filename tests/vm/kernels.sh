#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kernels.sh SUITE CACHE: fetches the newest cloud kernel of a Debian suite into CACHE/SUITE/vmlinuz and prints its version.
# Works in a private apt root: the host's sources, lists and package state are not touched.
set -eu
suite=$1
mkdir -p "$2"
cache=$(cd "$2" && pwd)/$suite
case $suite in
bullseye)	meta=linux-image-cloud-amd64 image=linux-image ;;
bookworm-backports)	meta=linux-image-cloud-amd64 image=linux-image ;;
sid)	meta=linux-image-cloud-amd64 image=linux-binary ;; # sid keeps vmlinuz in another package
*)	meta=linux-image-cloud-amd64 image=linux-image ;;
esac

if [ -s "$cache/vmlinuz" ] && [ -s "$cache/version" ]; then
	cat "$cache/version"
	exit 0
fi

root=$cache/apt
mkdir -p "$root/lists/partial" "$root/cache/archives/partial" "$root/state" "$root/parts"
: >"$root/state/status"
mirror=${DEBIAN_MIRROR:-$(sed -n 's/^deb  *\(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p; s/^URIs: *\([^ ]*\).*/\1/p' \
	/etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v security | head -1)}
mirror=${mirror:-http://deb.debian.org/debian}
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$root/sources.list"
cat >"$root/apt.conf" <<EOF
Dir::State::Lists "$root/lists";
Dir::State::Status "$root/state/status";
Dir::State::extended_states "$root/state/extended_states";
Dir::Cache "$root/cache";
Dir::Etc::SourceList "$root/sources.list";
Dir::Etc::SourceParts "$root/parts";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "$root/parts";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
EOF
# A rolling suite's index may look expired to a machine whose clock is off.
[ "$suite" != sid ] || echo 'Acquire::Check-Valid-Until "false";' >>"$root/apt.conf"
export APT_CONFIG="$root/apt.conf"
apt-get update -qq >"$cache/log" 2>&1 || { cat "$cache/log" >&2; exit 1; }
package=$(apt-cache depends "$meta" | sed -n "s/^ *Depends: *\(linux-image-[0-9][^ ]*\).*/\1/p" | head -1)
[ -n "$package" ] || { echo "kernels: $suite has no $meta" >&2; exit 1; }
package=$image-${package#linux-image-}
(cd "$cache" && apt-get download -qq "$package" >>log 2>&1) || { cat "$cache/log" >&2; exit 1; }
deb=$(ls "$cache/$package"_*.deb)
rm -rf "$cache/tree"
mkdir "$cache/tree"
dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$cache/tree" --wildcards './boot/vmlinuz*' './usr/lib/modules/*/vmlinuz' 2>/dev/null || true
kernel=$(find "$cache/tree" -name 'vmlinuz*' -type f | head -1)
[ -n "$kernel" ] || { echo "kernels: no vmlinuz in $deb" >&2; exit 1; }
mv "$kernel" "$cache/vmlinuz"
rm -rf "$cache/tree" "$root" "$deb"
echo "${package#"$image"-}" | tee "$cache/version"
