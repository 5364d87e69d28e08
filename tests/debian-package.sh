#!/bin/sh
# Is the Debian package sound? Makes it in a Debian 12 of the smallest kind with no more than the packages that debian/control
# names, asks lintian, and installs it in another, where the program, its manual page, completion, documents and a
# notebook must work, and nothing may be left after its removal.
#
#   tests/debian-package.sh [PACKAGE.deb]    as root; a named package is not made
#
# ROOT and MIRROR are as in tests/debian-machine.sh.
set -eu

tree=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/debian-machine.sh
. "$tree/tests/debian-machine.sh"
machines_open

if [ $# -gt 0 ]; then
    package=$1
else
    echo "debian-package: build"
    machine_new
    machine_install build-essential debhelper fakeroot lintian
    machine_add_tree "$tree"
    machine_run sh -eu -c '
        cd /tree
        apt-get -q -y --no-install-recommends build-dep ./ >/log 2>&1 || { cat /log; exit 1; }
        make -s deb >/log 2>&1 || { cat /log; exit 1; }
        lintian --allow-root --info --display-info --fail-on error,warning,info build/deb/rql_*.deb'
    package=$machines/$(basename "$machine"/tree/build/deb/rql_*.deb)
    cp "$machine"/tree/build/deb/rql_*.deb "$package"
fi

machine_new
machine_install man-db bash-completion doc-base zsh
cp "$package" "$machine/root/rql.deb"
machine_add_tree "$tree"
# shellcheck disable=SC2016 # for the shell in there
machine_run env VERSION="$(cat "$tree/VERSION")" bash -eu -o pipefail -c '
    step() { echo "debian-package: $*"; }
    quietly() { "$@" >/root/log 2>&1 || { cat /root/log; exit 1; }; }
    files() { find / -xdev \( -path /proc -o -path /var -o -path /root -o -path /tmp -o -path /sys \) -prune -o -print | sort; }
    cd
    files >before
    quietly apt-get -q -y --no-install-recommends install /root/rql.deb
    step program
    [ "$(rql --version)" = "rql $VERSION" ]
    cd /usr/share/rql/sample
    [ "$(rql --device host -c "trades.csv | count")" = 416 ]
    cd
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
    ! files | grep rql | grep -vxFf before
    step notebook
    quietly apt-get -q -y --no-install-recommends install /root/rql.deb python3-pip python3-setuptools python3-nbclient python3-ipykernel
    # Debian has all of what the kernel needs.
    PIP_BREAK_SYSTEM_PACKAGES=1 PIP_NO_BUILD_ISOLATION=0 PIP_NO_DEPS=1 RQL=/usr/bin/rql python3 /tree/tests/jupyter/notebook.py
'
echo "debian-package: passed"
