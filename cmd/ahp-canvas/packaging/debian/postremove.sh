#!/bin/sh
# After a removal. The state in /var/lib/private/ahp-canvas stays: it is the user's.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
fi
