#!/bin/sh
# After a removal. The state in /var/lib/ahp-canvas and its user stay: they are not of the
# package.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
fi
