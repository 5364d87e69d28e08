#!/bin/sh
# Does ./bootstrap work where nothing is installed? Makes a Debian 12 of the smallest kind (debootstrap's minbase) with
# git and ca-certificates only, clones the tree into a fresh copy of it for each mode, and runs ./bootstrap MODE there.
#
#   tests/bare-debian.sh [MODE...]     as root; the modes are demo and check, both if none is named
#
# Uncommitted changes come along. ROOT=DIR says where the roots are made (default: a temporary folder, removed at the
# end; a named one keeps the downloaded base for the next time). Packages come from the address in MIRROR, or from
# wherever this machine's apt gets its own.
set -eu

fail() {
    echo "bare-debian: $*" >&2
    exit 1
}

tree=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" -eq 0 ] || fail "debootstrap and chroot need root"
command -v debootstrap >/dev/null || fail "debootstrap is not installed"
[ $# -gt 0 ] || set -- demo check

# The address this machine's apt gets a release from.
mirror_of() {
    # shellcheck disable=SC2016 # apt expands these
    apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' | sed -n "s/^$1 //p" | head -n 1
}

main_mirror=${MIRROR-$(mirror_of bookworm)}
[ -n "$main_mirror" ] || fail "this machine's apt has no source for bookworm: name a mirror in MIRROR"

if [ -n "${ROOT-}" ]; then
    work=$ROOT
    keep=yes
    mkdir -p "$work"
else
    work=$(mktemp -d)
    keep=
fi
machine=$work/machine

unmount_machine() {
    for point in proc sys dev/pts; do
        ! mountpoint -q "$machine/$point" || umount "$machine/$point"
    done
}

# Called by the trap.
# shellcheck disable=SC2317
clean_up() {
    unmount_machine
    rm -rf --one-file-system "$machine"
    [ -n "$keep" ] || rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

base=$work/base
if [ ! -e "$work/base.done" ]; then
    rm -rf --one-file-system "$base"
    debootstrap --variant=minbase --include=git,ca-certificates bookworm "$base" "$main_mirror"
    # What debootstrap did not say: where updates come from, and what this machine's apt says of proxies and dates.
    for release in bookworm-updates bookworm-security; do
        uri=$(mirror_of "$release")
        [ -z "$uri" ] || echo "deb $uri $release main" >>"$base/etc/apt/sources.list"
    done
    apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries)' >"$base/etc/apt/apt.conf.d/90host" || true
    # A bare machine may never have fetched its package lists.
    rm -rf "$base/var/lib/apt/lists" "$base"/var/cache/apt/*.bin
    touch "$work/base.done"
fi

failures=0
for mode in "$@"; do
    echo "bare-debian: ./bootstrap $mode"
    unmount_machine
    rm -rf --one-file-system "$machine"
    cp -a "$base" "$machine"
    mount -t proc proc "$machine/proc"
    mount -t sysfs -o ro sysfs "$machine/sys"
    # debootstrap made the device nodes; this machine's /dev stays out of it, so that nothing there can be removed.
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$machine/dev/pts"
    mkdir "$machine/tree"
    (cd "$tree" && git ls-files -z --cached --others --exclude-standard | tar --null -T - --ignore-failed-read -cf -) |
        tar -C "$machine/tree" --no-same-owner -xf -
    # The clone is made in there, by that git, so that what a clone lacks is missing.
    if env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot "$machine" sh -eu -c '
        cd /tree && git init -q && git add -A
        git -c user.name=bare -c user.email=bare@localhost commit -q -m tree
        git clone -q /tree /root/rql && rm -rf /tree && cd /root/rql && exec ./bootstrap '"$mode"
    then
        echo "bare-debian: ./bootstrap $mode: passed"
    else
        echo "bare-debian: ./bootstrap $mode: failed"
        failures=$((failures + 1))
    fi
    unmount_machine
done
[ "$failures" -eq 0 ]
