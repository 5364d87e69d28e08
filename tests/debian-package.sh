#!/bin/sh
# Is the Debian package sound? Makes it (make deb), asks lintian, and installs it in a Debian 12 of the smallest kind, where
# the program, its manual page, completion and documents must work, and nothing may be left after its removal.
#
#   tests/debian-package.sh [PACKAGE.deb]    as root with debootstrap; a named package is not made
#
# ROOT=DIR keeps the downloaded base for the next time, MIRROR names where packages come from.
set -eu

fail() {
    echo "debian-package: $*" >&2
    exit 1
}

tree=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" -eq 0 ] || fail "debootstrap and chroot need root"
command -v debootstrap >/dev/null || fail "debootstrap is not installed"
if [ $# -gt 0 ]; then
    package=$1
else
    make -s -C "$tree" deb
    package=$(find "$tree/build/deb" -maxdepth 1 -name 'rql_*.deb')
fi
if command -v lintian >/dev/null; then
    lintian --allow-root --info --display-info --fail-on error,warning,info "$package"
else
    echo "debian-package: skipped: lintian is not installed"
fi

work=${ROOT-$(mktemp -d)}
machine=$work/machine
# shellcheck disable=SC2317 # called by the trap
clean_up() {
    rm -rf --one-file-system "$machine"
    [ -n "${ROOT-}" ] || rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

base=$work/package-base
if [ ! -e "$base.done" ]; then
    # shellcheck disable=SC2016 # apt expands these
    mirror=${MIRROR-$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' | sed -n 's/^bookworm //p' | head -n 1)}
    rm -rf --one-file-system "$base"
    mkdir -p "$work"
    debootstrap --variant=minbase --include=man-db,bash-completion,doc-base,zsh bookworm "$base" "$mirror"
    apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries)' >"$base/etc/apt/apt.conf.d/90host" || true
    touch "$base.done"
fi
rm -rf --one-file-system "$machine"
cp -a "$base" "$machine"
cp "$package" "$machine/root/rql.deb"
# shellcheck disable=SC2016 # for the shell in there
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 VERSION="$(cat "$tree/VERSION")" \
    chroot "$machine" bash -eu -o pipefail -c '
    step() { echo "debian-package: $*"; }
    find / -xdev -path /proc -prune -o -path /var -prune -o -path /root -prune -o -path /tmp -prune -o -print | sort >/root/before
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install /root/rql.deb >/root/log 2>&1 || { cat /root/log; exit 1; }
    step program
    [ "$(rql --version)" = "rql $VERSION" ]
    cd /usr/share/rql/sample
    [ "$(rql --device host -c "trades.csv | count")" = 416 ]
    step manual page
    man rql | grep -q "interactive shell"
    step completion
    bash -c ". /usr/share/bash-completion/bash_completion; _completion_loader rql || true; complete -p rql" | grep -q _rql
    zsh -f -c "autoload -U compinit && compinit -u && (( \$+_comps[rql] ))"
    step documents
    install-docs --status rql | grep -q "/usr/share/doc/rql"
    step editors
    grep -q rqlKeyword /usr/share/vim/vimfiles/syntax/rql.vim
    [ -e /usr/share/rql/vscode/rql.tmLanguage.json ]
    step removal
    dpkg --purge rql >/dev/null
    [ ! -e /usr/bin/rql ] && [ ! -e /usr/share/rql ] && [ ! -e /usr/share/doc/rql ] && [ ! -e /usr/share/doc-base/rql.rql ]
    ! find / -xdev -path /proc -prune -o -path /var -prune -o -path /root -prune -o -path /tmp -prune -o -name "*rql*" -print |
        grep -vxFf /root/before
'
echo "debian-package: passed"
