# Becomes the holder: process 1 of the sandbox's PID namespace, which keeps all its namespaces alive and reachable for
# a later host. Its root is a folder with nothing in it but what it runs, so that /proc/1/root leads nowhere.
# /proc is still the host's here, so this is the pid that the host knows.
# With its start time it is told from a later process of that number.
read -r stat </proc/self/stat
pid=${stat%% *}
# shellcheck disable=SC2086 # a list of numbers, from the third field on
set -- ${stat##*) }
started=${20}
# Masked in both places: /proc/1/root is the holder's. Made in this one, as at the other there may be masks of the host's
# own beneath it (in a container there are), which `mount -a` would take for these.
"$MOUNT" -t proc -o nosuid,nodev,noexec proc /run/h/proc &&
  "$MOUNT" -a -T /run/s/proc-masks &&
  "$MOUNT" --rbind /run/h/proc /run/m/proc || exit
cd / || exit
# shellcheck disable=SC2086 # options without blanks
set -- "$CHROOT" $HOLDER_IDENTITY /run/h $HOLDER_PROGRAM
# The kernel reaps the orphans of a process 1 that ignores SIGCHLD; dash and busybox cannot ignore it themselves.
set -- "$ENV" -i --ignore-signal=CHLD "$@"
[ "$MODE" = root ] || set -- "$SETPRIV" --bounding-set=-all,+sys_chroot --inh-caps=-all "$@"
echo "$pid $started" >/run/s/holder.pid
exec "$SETPRIV" --no-new-privs "$SETSID" "$@" </dev/null >/dev/null 2>&1
