#!/bin/sh
# After an installation or an upgrade: the user of ahp-canvas.service is made, and services
# that run continue with the new version.
# Nothing is enabled; "ahp-canvas docs operate" says how.
set -e
if ! getent passwd ahp-canvas >/dev/null; then
  if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers ahp-canvas.conf
  else
    useradd --system --home-dir /var/lib/ahp-canvas --no-create-home --shell /usr/sbin/nologin ahp-canvas
  fi
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
  systemctl try-restart ahp-canvas.service ahp-canvas-relay.service || true
fi
