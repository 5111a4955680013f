#!/bin/bash
# Makes a docker engine answer at /var/run/docker.sock: installs Debian's where there is none, and starts it by hand
# (package scripts cannot start services in every container). Run as root. One that answers already is left as it is.
# Prints the process id of what it started, and nothing where it started nothing: whoever calls it ends it.
set -euo pipefail
socket=/var/run/docker.sock
log=${REWIND_DOCKERD_LOG:-/tmp/rewind-dockerd.log}

answers() { [ -S $socket ] && DOCKER_HOST=unix://$socket timeout 5 docker version >/dev/null 2>&1; }

missing=()
for pair in dockerd:docker.io docker:docker-cli iptables:iptables debootstrap:debootstrap; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  # Older suites have the client in docker.io.
  apt-cache show docker-cli >/dev/null 2>&1 || missing=("${missing[@]/#docker-cli/docker.io}")
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

answers && exit
getent group docker >/dev/null || groupadd --system docker
setsid dockerd >"$log" 2>&1 </dev/null &
daemon=$!
for _ in $(seq 120); do
  if answers; then
    echo "$daemon"
    exit
  fi
  kill -0 $daemon 2>/dev/null || break
  sleep 0.5
done
echo "the docker engine did not come up; the end of $log:" >&2
tail -n 20 "$log" >&2
kill $daemon 2>/dev/null || :
exit 1
