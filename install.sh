#!/bin/sh
# Installs Kinglet from this checkout and starts a single-node cluster. Run it as root.
#
# It builds the release binary, installs what is missing from the distribution, puts kinglet, its
# service and kinglet-uninstall.sh in place, starts it, and waits until the node is Ready. Running
# it again is harmless: what is there is kept, a new build is put in place and started.
#
#   KINGLET_BINARY=FILE   install this binary instead of building one
set -eu

say() { printf '%s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

checkout=$(cd "$(dirname "$0")" && pwd)
bin=/usr/local/bin
run=/run/kinglet
log=/var/log/kinglet.log
config=/etc/kinglet/kubeconfig.yaml

[ "$(id -u)" = 0 ] || fail "run this as root"

install_packages() {
    missing=
    for pair in "containerd:containerd" "runc:runc" "$@"; do
        command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null 2>&1 || fail "missing:$missing; install these with your package manager"
    say "Installing$missing"
    # A package that starts a daemon of its own is none of our business.
    DEBIAN_FRONTEND=noninteractive apt-get update -q >/dev/null
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >/dev/null
}

build() {
    command -v cargo >/dev/null 2>&1 || fail "no Rust toolchain: install one from https://rustup.rs, or give KINGLET_BINARY"
    say "Building kinglet (this takes some minutes the first time)"
    arch=$(uname -m)
    (cd "$checkout" && cargo build --quiet --release --package kinglet --target "$arch-unknown-linux-gnu")
    binary="$checkout/target/$arch-unknown-linux-gnu/release/kinglet"
}

put_in_place() {
    mkdir -p "$bin"
    # A running binary cannot be written to, but it can be replaced.
    install -m 0755 "$binary" "$bin/kinglet.new"
    mv "$bin/kinglet.new" "$bin/kinglet"
    install -m 0755 "$checkout/packaging/kinglet-uninstall.sh" "$bin/kinglet-uninstall.sh"
    command -v kubectl >/dev/null 2>&1 || ln -s "$bin/kinglet" "$bin/kubectl"
}

running_pid() {
    pid=$(cat "$run/kinglet.pid" 2>/dev/null) || return 1
    case $(readlink "/proc/$pid/exe" 2>/dev/null) in
        "$bin/kinglet" | "$bin/kinglet (deleted)") echo "$pid" ;;
        *) return 1 ;;
    esac
}

start_with_systemd() {
    install -m 0644 "$checkout/packaging/kinglet.service" /etc/systemd/system/kinglet.service
    systemctl daemon-reload
    systemctl enable --quiet kinglet.service
    systemctl restart --no-block kinglet.service
    log="journalctl -u kinglet"
}

start_in_background() {
    if pid=$(running_pid); then
        kill "$pid"
        while [ -d "/proc/$pid" ]; do sleep 0.1; done
    fi
    mkdir -p "$run"
    setsid "$bin/kinglet" server >>"$log" 2>&1 </dev/null &
    echo $! >"$run/kinglet.pid"
}

wait_until_ready() {
    printf 'Waiting for the node'
    seconds=0
    until "$bin/kinglet" kubectl --kubeconfig "$config" get nodes 2>/dev/null | grep -q ' Ready '; do
        if [ ! -d /run/systemd/system ] && ! running_pid >/dev/null; then
            printf '\n'
            tail -n 5 "$log" >&2
            fail "kinglet has ended; the whole log is in $log"
        fi
        seconds=$((seconds + 1))
        [ "$seconds" -lt 240 ] || { printf '\n'; fail "the node is not Ready after two minutes; see $log"; }
        printf '.'
        sleep 0.5
    done
    printf ' Ready\n'
}

if [ -n "${KINGLET_BINARY:-}" ]; then
    [ -x "$KINGLET_BINARY" ] || fail "KINGLET_BINARY: $KINGLET_BINARY is no program"
    binary=$KINGLET_BINARY
    install_packages
else
    install_packages "cc:gcc" "cc:libc6-dev" "protoc:protobuf-compiler"
    build
fi
put_in_place
if [ -d /run/systemd/system ]; then start_with_systemd; else start_in_background; fi
wait_until_ready

address=$("$bin/kinglet" kubectl --kubeconfig "$config" get nodes -o wide --no-headers | awk 'NR == 1 { print $6 }')

cat <<TEXT

Kinglet is running. Next:

  export KUBECONFIG=$config
  kubectl get nodes
  kubectl create namespace demo

Add a node, on another machine with kinglet installed:

  kinglet agent --server https://$address:6443 --token \$(cat /etc/kinglet/token)

Log: $log    Uninstall: kinglet-uninstall.sh
TEXT
