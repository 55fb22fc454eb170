#!/bin/sh
# Takes away everything that install.sh and a running Kinglet have put on this machine: pods,
# mounts, interfaces, rules, cgroups, files. Distribution packages stay.
set -eu

[ "$(id -u)" = 0 ] || { echo "error: run this as root" >&2; exit 1; }

data=/var/lib/kinglet
config=/etc/kinglet
run=/run/kinglet
bin=/usr/local/bin

if [ -d /run/systemd/system ] && [ -f /etc/systemd/system/kinglet.service ]; then
    systemctl disable --now kinglet.service
fi
if [ -f "$run/kinglet.pid" ]; then
    pid=$(cat "$run/kinglet.pid")
    # Only if the number is still ours.
    if [ "$(readlink "/proc/$pid/exe" 2>/dev/null)" = "$bin/kinglet" ]; then
        kill "$pid"
        while [ -d "/proc/$pid" ]; do sleep 0.1; done
    fi
fi
[ ! -x "$bin/kinglet" ] || "$bin/kinglet" cleanup

rm -rf "$data" "$config" "$run" /var/log/kinglet.log
if [ "$(readlink "$bin/kubectl" 2>/dev/null)" = "$bin/kinglet" ]; then
    rm -f "$bin/kubectl"
fi
rm -f /etc/systemd/system/kinglet.service "$bin/kinglet" "$bin/kinglet-uninstall.sh"
[ ! -d /run/systemd/system ] || systemctl daemon-reload
echo "Kinglet is gone."
