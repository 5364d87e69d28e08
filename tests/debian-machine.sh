# shellcheck shell=sh
# Debian 12 systems of the smallest kind, with git and certificates, in folders, for the tests that source this file:
# debootstrap makes a base, each test works in a fresh copy. Needs root.
#
# ROOT=DIR keeps the base for the next time (default: a temporary folder, removed at the end). MIRROR names where packages
# come from (default: wherever this machine's apt gets its own).

fail() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 1
}

# The address this machine's apt gets a release from.
mirror_of() {
    # shellcheck disable=SC2016 # apt expands these
    apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' | sed -n "s/^$1 //p" | head -n 1
}

machine_unmount() {
    for point in proc sys dev/pts; do
        ! mountpoint -q "$machine/$point" || umount "$machine/$point"
    done
}

# Called by a trap.
# shellcheck disable=SC2317
machines_close() {
    machine_unmount
    rm -rf --one-file-system "$machine"
    [ -n "${ROOT-}" ] || rm -rf --one-file-system "$machines"
}

# Sets `machine` to the folder of the copies, which are removed when the test ends.
machines_open() {
    [ "$(id -u)" -eq 0 ] || fail "debootstrap and chroot need root"
    command -v debootstrap >/dev/null || fail "debootstrap is not installed"
    machines=${ROOT-$(mktemp -d)}
    machine=$machines/machine
    mkdir -p "$machines"
    trap machines_close EXIT
    trap 'exit 1' INT TERM HUP
}

# Makes $machine a new copy of the base, which is made if there is none yet.
machine_new() {
    base=$machines/base
    if [ ! -e "$base.done" ]; then
        mirror=${MIRROR-$(mirror_of bookworm)}
        [ -n "$mirror" ] || fail "this machine's apt has no source for bookworm: name a mirror in MIRROR"
        rm -rf --one-file-system "$base"
        debootstrap --variant=minbase --include=git,ca-certificates bookworm "$base" "$mirror"
        # What debootstrap did not say: where updates come from, and what this machine's apt says of proxies and dates.
        for release in bookworm-updates bookworm-security; do
            uri=$(mirror_of "$release")
            [ -z "$uri" ] || echo "deb $uri $release main" >>"$base/etc/apt/sources.list"
        done
        apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries)' >"$base/etc/apt/apt.conf.d/90host" || true
        # A bare machine may never have fetched its package lists.
        rm -rf "$base/var/lib/apt/lists" "$base"/var/cache/apt/*.bin
        touch "$base.done"
    fi
    machine_unmount
    rm -rf --one-file-system "$machine"
    cp -a "$base" "$machine"
    mount -t proc proc "$machine/proc"
    mount -t sysfs -o ro sysfs "$machine/sys"
    # debootstrap made the device nodes; this machine's /dev stays out of it, so that nothing there can be removed.
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$machine/dev/pts"
}

# Copies the tree at $1, uncommitted changes too, to /tree there.
machine_add_tree() {
    mkdir "$machine/tree"
    (cd "$1" && git ls-files -z --cached --others --exclude-standard | tar --null -T - --ignore-failed-read -cf -) |
        tar -C "$machine/tree" --no-same-owner -xf -
}

# Installs packages there.
machine_install() {
    if ! machine_run sh -eu -c 'apt-get -q update && apt-get -q -y --no-install-recommends install "$@"' sh "$@" >"$machine/log" 2>&1; then
        cat "$machine/log"
        fail "packages cannot be installed: $*"
    fi
}

# Runs a command there with nothing of this environment.
machine_run() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        chroot "$machine" "$@"
}
