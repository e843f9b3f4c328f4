#!/bin/sh
# Does what "ahp-canvas docs operate" says on two fresh Debian machines with a running systemd.
# On the first: install the package of an older release, start the service, open the page in
# a browser, upgrade, back up. On the second: install the archive, restore the backup, start
# the service. Then the relay's service.
#
#   sh cmd/ahp-canvas/packaging/fresh/try.sh RELEASE OLDER
#
# The arguments are the folders of two releases. It needs root on Linux, debootstrap, curl
# and a Debian mirror (AHP_DEBIAN_MIRROR). The machines are folders in namespaces, without a
# network: the kernel is that of this machine. A line that begins with sudo runs in one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
release=$(cd "$1" && pwd) older=$(cd "$2" && pwd)
arch=$(dpkg --print-architecture)
work=$(mktemp -d)
machines=""
end() {
  for pid in $machines; do kill -9 "$pid" 2>/dev/null || true; done
  wait || true
  for group in "$cgroups/ahp-fresh-$$"-*; do
    [ -d "$group" ] || continue
    for _ in $(seq 100); do # its processes end in a moment
      find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
      [ -d "$group" ] || break
      sleep 0.1
    done
  done
  rm -rf "$work"
}
trap end EXIT
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$cgroups" ] || { echo "fresh: no cgroup2 file system is mounted" >&2; exit 1; }
step() { printf '\n== %s\n' "$1"; }
fail() { echo "fresh: $1" >&2; sudo journalctl --no-pager -n 30 >&2 || true; exit 1; }

# on MACHINE: the commands after it run there.
on() { at=$(cat "$work/$1.pid"); }
sudo() { nsenter --target "$at" --mount --uts --ipc --net --pid --cgroup --root --wd="/proc/$at/root/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb "$@"; }
# near runs a command of this machine in the network of the other.
near() { nsenter --target "$at" --net "$@"; }

machine() { # machine NAME: a copy of the fresh root boots
  cp -a "$work/base" "$work/$1"
  group=$cgroups/ahp-fresh-$$-$1
  mkdir "$group"
  sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' - "$group" \
    unshare --mount --pid --fork --uts --ipc --net --cgroup --kill-child sh "$here/boot.sh" "$work/$1" >"$work/$1.log" 2>&1 &
  outer=$!
  machines="$machines $outer"
  for _ in $(seq 600); do
    child=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null | tr -d ' ')
    if [ -n "$child" ]; then
      echo "$child" >"$work/$1.pid"
      on "$1"
      case $(sudo systemctl is-system-running 2>/dev/null || true) in
      running | degraded) return ;;
      esac
    fi
    kill -0 "$outer" 2>/dev/null || { cat "$work/$1.log" >&2; echo "fresh: systemd ended" >&2; exit 1; }
    sleep 0.2
  done
  echo "fresh: systemd does not start" >&2
  exit 1
}

# page waits until the socket's address shows the page: the first connection starts the host.
page() {
  near curl -fsS --max-time 60 http://127.0.0.1:8080/ -o "$work/page.html" || fail "no page at the socket's address"
  grep -qi '<!doctype html>' "$work/page.html" || fail "not the page"
  [ "$(sudo systemctl is-active ahp-canvas)" = active ] || fail "the service is not active"
}
ask() { sudo XDG_RUNTIME_DIR=/run/ahp-canvas runuser -u ahp-canvas -- ahp-canvas "$@"; }
browser() { # a browser opens the link and connects
  if ! command -v chromium >/dev/null; then
    echo "NOT DONE: there is no chromium, so no browser opened the page"
    return
  fi
  # Not by near: the background process would be a shell, and chromium would outlive it.
  nsenter --target "$at" --net chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$work/browser" --remote-debugging-port=0 "$1" >/dev/null 2>&1 &
  shown=$!
  connected=""
  for _ in $(seq 600); do
    if near curl -fsS http://127.0.0.1:9090/metrics | grep -q '^ahp_canvas_connections [1-9]'; then
      connected=1
      break
    fi
    sleep 0.1
  done
  kill "$shown"
  wait "$shown" 2>/dev/null || true
  [ -n "$connected" ] || fail "the page in chromium does not connect"
}

step "a fresh Debian"
debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus "${AHP_DEBIAN:-bookworm}" "$work/base" "${AHP_DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$work/debootstrap.log" 2>&1 ||
  { tail -n 5 "$work/debootstrap.log" >&2; exit 1; }
echo "127.0.0.1 localhost" >"$work/base/etc/hosts" # as the installer of Debian does
sed -n 's/^PRETTY_NAME=//p' "$work/base/etc/os-release"
machine one

step "the package of the older release"
cp "$older"/ahp-canvas_*_linux_"$arch".deb "$work/one/root/ahp-canvas_VERSION_linux_amd64.deb"
sudo apt install ./ahp-canvas_VERSION_linux_amd64.deb
sudo systemctl enable --now ahp-canvas.socket
page
sudo systemctl status ahp-canvas --no-pager | grep -E 'Active|Status'
before=$(sudo ahp-canvas version)
link=$(sudo XDG_RUNTIME_DIR=/run/ahp-canvas runuser -u ahp-canvas -- ahp-canvas link)
case $link in http://localhost:8080/*tkn=*) ;; *) fail "the link is $link" ;; esac
token=$(echo "$link" | sed 's/.*tkn=//; s/&.*//')
! sudo journalctl --no-pager | grep -q -e "$token" || fail "the journal has the token"
ask invoke board add_card -f list="To do" -f title="Tried" >/dev/null
echo 'AHP_CANVAS_FLAGS=--admin 127.0.0.1:9090' >"$work/one/etc/default/ahp-canvas"
sudo systemctl restart ahp-canvas
page
browser "$link"
sudo systemctl kill --signal=KILL ahp-canvas # a crash
page
ask invoke board get_board | grep -q Tried || fail "the card was lost in a crash"

step "upgrade"
sudo runuser -u ahp-canvas -- ahp-canvas state backup --state /var/lib/ahp-canvas /var/lib/ahp-canvas/before-upgrade.db
cp "$release"/ahp-canvas_*_linux_"$arch".deb "$work/one/root/ahp-canvas_VERSION_linux_amd64.deb"
sudo apt install ./ahp-canvas_VERSION_linux_amd64.deb
after=$(sudo ahp-canvas version)
[ "$before" != "$after" ] || fail "the version is still $before"
printf 'from %s\nto   %s\n' "$before" "$after"
page
[ "$(readlink "/proc/$at/root/proc/$(sudo systemctl show -P MainPID ahp-canvas)/exe")" = /usr/bin/ahp-canvas ] || fail "the older program still runs"
ask invoke board get_board | grep -q Tried || fail "the upgrade lost the card"
[ "$(ask link)" = "$link" ] || fail "the upgrade changed the link"
grep -q 9090 "$work/one/etc/default/ahp-canvas" || fail "the upgrade changed the flags"

step "backup while it runs"
sudo runuser -u ahp-canvas -- ahp-canvas state backup --keys --state /var/lib/ahp-canvas /var/lib/ahp-canvas/move.db

step "another machine: the archive, and the backup"
machine two
tar -xzf "$release"/ahp-canvas_*_linux_"$arch".tar.gz -C "$work/two/root" --no-same-owner
sudo install -m 755 ahp-canvas /usr/bin/
sudo install -D -m 644 -t /etc/systemd/system packaging/systemd/ahp-canvas.service packaging/systemd/ahp-canvas.socket
sudo install -D -m 644 packaging/systemd/ahp-canvas-user.conf /etc/sysusers.d/ahp-canvas.conf
sudo systemd-sysusers
sudo systemctl daemon-reload
sudo systemctl enable --now ahp-canvas.socket
page
! ask invoke board get_board 2>/dev/null | grep -q Tried || fail "the second machine has the card already"
cp -r "$work"/one/var/lib/ahp-canvas/move.db* "$work/two/var/lib/ahp-canvas/"
sudo systemctl stop ahp-canvas.socket ahp-canvas.service
sudo chown -R ahp-canvas:ahp-canvas /var/lib/ahp-canvas
sudo runuser -u ahp-canvas -- ahp-canvas state restore --keys --state /var/lib/ahp-canvas /var/lib/ahp-canvas/move.db
sudo systemctl start ahp-canvas.socket
page
ask invoke board get_board | grep -q Tried || fail "the backup has no card"
[ "$(ask link)" = "$link" ] || fail "the restored host has another link"

step "back to the older release"
on one
sudo systemctl stop ahp-canvas.socket ahp-canvas.service
cp "$older"/ahp-canvas_*_linux_"$arch".deb "$work/one/root/older.deb"
sudo apt install -y --allow-downgrades ./older.deb
sudo runuser -u ahp-canvas -- ahp-canvas state restore --state /var/lib/ahp-canvas /var/lib/ahp-canvas/before-upgrade.db
sudo systemctl start ahp-canvas.socket
page
ask invoke board get_board | grep -q Tried || fail "the older release has no card"

step "the relay's service"
sudo install -d -m 700 /etc/ahp-canvas
sudo ahp-canvas relay token --tokens /etc/ahp-canvas/tokens.json --host laptop --out laptop.json
sudo systemctl enable --now ahp-canvas-relay.socket
near curl -sS --max-time 60 http://127.0.0.1:8443/ -o /dev/null || fail "no relay at the socket's address"
[ "$(sudo systemctl is-active ahp-canvas-relay)" = active ] || fail "the relay is not active"

step "removal"
sudo apt purge -y ahp-canvas
[ ! -e "$work/one/usr/bin/ahp-canvas" ] && [ ! -e "$work/one/etc/default/ahp-canvas" ] || fail "files are left"
[ -s "$work/one/var/lib/ahp-canvas/store.db" ] || fail "the removal deleted the state"
[ -z "$(sudo systemctl --failed --no-legend)" ] || fail "units have failed"
step "done"
