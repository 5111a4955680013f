#!/bin/bash
# Makes the product's image for the docker engine's tests, under the very name that the product looks for, and prints it.
# No image needs to be pulled: the base comes from Debian's packages, and on it the product's own Dockerfile is built.
# Both are kept in a cache folder, so that the next run takes seconds. Run as root, with an engine that answers.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
recipe=$here/resources/sandbox-image
cache=${REWIND_TEST_CACHE:-$HOME/.cache/rewind-tests}
# The machine's own source of packages, unless it is told of another.
mirror=${REWIND_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' | awk '!/-security/ && !found++')}
# As src-main/sandbox/docker/images.ts names it.
name=rewind-sandbox:$(cat "$recipe/Dockerfile" "$recipe/packages" | sha256sum | cut -c1-12)
base=debian:sid-slim

there() { docker image inspect "$1" >/dev/null 2>&1; }
keep() {
  docker save "$1" >"$2.part"
  mv "$2.part" "$2"
}

mkdir -p "$cache"
there "$name" || { [ ! -f "$cache/${name/:/-}.tar" ] || docker load -q <"$cache/${name/:/-}.tar" >/dev/null; }
if there "$name"; then
  echo "$name"
  exit
fi

there $base || { [ ! -f "$cache/base.tar" ] || docker load -q <"$cache/base.tar" >/dev/null; }
if ! there $base; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  echo "making $base from packages" >&2
  debootstrap --variant=minbase sid "$folder" "$mirror" >&2
  # Where the packages come from a copy of the past; in tests alone.
  echo 'Acquire::Check-Valid-Until "false";' >"$folder/etc/apt/apt.conf.d/90-tests"
  rm -rf "$folder"/var/cache/apt/archives/*.deb
  tar -C "$folder" -c . | docker import - $base >/dev/null
  keep $base "$cache/base.tar"
fi

echo "building $name" >&2
docker build --network host -t "$name" "$recipe" >&2
keep "$name" "$cache/${name/:/-}.tar"
echo "$name"
