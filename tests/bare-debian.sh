#!/bin/sh
# Does ./bootstrap work where nothing is installed? Makes a Debian 12 of the smallest kind with git and ca-certificates only,
# clones the tree into a fresh copy of it for each mode, and runs ./bootstrap MODE there.
#
#   tests/bare-debian.sh [MODE...]     as root; the modes are demo and check, both if none is named
#
# ROOT and MIRROR are as in tests/debian-machine.sh.
set -eu

tree=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/debian-machine.sh
. "$tree/tests/debian-machine.sh"
[ $# -gt 0 ] || set -- demo check
machines_open

failures=0
for mode in "$@"; do
    echo "bare-debian: ./bootstrap $mode"
    machine_new
    machine_add_tree "$tree"
    # The clone is made in there, by that git, so that what a clone lacks is missing.
    # shellcheck disable=SC2016
    if machine_run sh -eu -c '
        cd /tree && git init -q && git add -A
        git -c user.name=bare -c user.email=bare@localhost commit -q -m tree
        git clone -q /tree /root/rql && rm -rf /tree && cd /root/rql && exec ./bootstrap '"$mode"
    then
        echo "bare-debian: ./bootstrap $mode: passed"
    else
        echo "bare-debian: ./bootstrap $mode: failed"
        failures=$((failures + 1))
    fi
done
[ "$failures" -eq 0 ]
