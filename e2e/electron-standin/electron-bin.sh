#!/bin/sh
# Takes the place of Electron's binary: Node gets --inspect, flags that are meant for Chromium are dropped.
here=$(dirname "$(readlink -f "$0")")
inspect=
for argument; do
  shift
  case "$argument" in
    --inspect*) inspect=$argument ;;
    --no-sandbox | --remote-debugging-*) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "$here/../../node_modules/.bin/node" ${inspect:+"$inspect"} --import "$here/register.ts" "$@"
