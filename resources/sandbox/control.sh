# The control shell of one sandbox: functions that Node calls by name, one call at a time. POSIX sh; dash and busybox.
# It runs in the sandbox's mount namespace with all rights there, and it alone mounts. It keeps no state: whatever it
# has to know comes with the call, so that it can be killed and replaced at any moment.
#
# The namespace has its own /run: s = the sandbox's folder, m = the root that commands see, v = the machine overlay,
# k = folders and files that are bound over what must not be seen, h = the holder's root. All short and without odd
# characters, whatever the user's folders are called.
#
# Given in the environment: FOLDER (the sandbox's folder on the host), WORKSPACE (its path inside), OVERLAY (mount
# options), BINDS (mount points of the machine layer, the last one mounted first), OWN_BUSYBOX (see start_in_image; ''
# where commands cannot change the programs of their root), and the paths of programs: MOUNT, UNSHARE, NSENTER, FLOCK, ...

# Dies as by `kill -9` where the crash suite armed this point.
crash() {
  [ "${REWIND_CRASH_AT-}" != "shell:$1" ] || kill -9 $$
}

# guard GENERATION: refuses the orders of a host that another one has replaced.
guard() {
  IFS=: read -r _ generation </run/s/state.json && [ "${generation%,}" = "$1" ] && return 0
  echo "another host took this sandbox over"
  return 70
}

# hold_lock SECONDS: one control shell at a time; held on a descriptor that nothing started from here inherits.
hold_lock() {
  exec 9>>/run/s/lock
  "$FLOCK" -w "$1" 9 || { echo "another control shell holds this sandbox"; return 71; }
}

# ground SOURCE OPTIONS IMAGE: the namespace's own /run. SOURCE is the host's workspace where that is the lowest layer,
# IMAGE the root of an image where that is the lowest machine layer; '' where it is not.
# The tmpfs is unbindable at first, so that the sandbox's root (a recursive bind of /) does not contain it.
ground() {
  "$MOUNT" -t tmpfs -o mode=755,nosuid,nodev,size=16m rewind "$FOLDER/ns" &&
    mkdir -p "$FOLDER/ns/s" "$FOLDER/ns/m" "$FOLDER/ns/v" "$FOLDER/ns/k" "$FOLDER/ns/h/proc" &&
    "$MOUNT" --bind "$FOLDER" "$FOLDER/ns/s" &&
    { [ -z "$1" ] || "$MOUNT" -o "bind,$2" "$1" "$FOLDER/ns/s/w/0"; } &&
    { [ -z "$3" ] || "$MOUNT" -o bind,ro "$3" "$FOLDER/ns/s/m/0"; } &&
    "$MOUNT" --make-unbindable "$FOLDER/ns" &&
    "$MOUNT" -n --move "$FOLDER/ns" /run
}

# workspace_up UPPER WORK LOWERS, machine_up UPPER WORK LOWERS: names of layers are relative, as mount(2) cuts its
# options at 4,095 bytes without a word.
workspace_up() {
  cd /run/s/w || return
  mount -t overlay rewind -o "$OVERLAY,lowerdir=$3,upperdir=$1,workdir=../k/$2" "/run/m$WORKSPACE"
  set -- $?
  cd /
  return "$1"
}

machine_up() {
  cd /run/s/m || return
  mount -t overlay rewind -o "$OVERLAY,lowerdir=$3,upperdir=$1,workdir=../k/$2" /run/v
  set -- $?
  cd /
  [ "$1" = 0 ] && machine_bind
}

# All of them by one program. busybox' own `mount -a` takes a place for mounted when the host's mount lies beneath ours.
machine_bind() {
  "$MOUNT" -n -a -T /run/s/binds
}

workspace_down() {
  umount "/run/m$WORKSPACE"
}

# The overlay itself goes last: while one of its binds is busy the others can be bound from it again.
machine_down() {
  # shellcheck disable=SC2086 # words without blanks
  umount $BINDS && umount /run/v && return 0
  machine_bind
  return 75
}

# swap NAME OLD-WORKSPACE NEW-WORKSPACE OLD-MACHINE NEW-MACHINE: puts other layers under the mounts. Each of the four
# is 'UPPER WORK LOWERS', the old ones with a fresh work folder for the way back; '-' leaves that overlay alone.
# 0 done · 75 busy, nothing changed · 74 the new layers could not be mounted, the old view stands again · 73 it does not
# shellcheck disable=SC2086
swap() {
  [ "$3" = - ] || workspace_down || return 75
  if [ "$5" != - ] && ! machine_down; then
    [ "$3" = - ] || workspace_up $2 || return 73
    return 75
  fi
  crash "$1-unmounted"
  { [ "$5" = - ] || machine_up $5; } && { [ "$3" = - ] || workspace_up $3; } && crash "$1-mounted" && return 0
  # Room for the work folders of the way back, should the disk be full; ext4 gives it out once its journal is written.
  rm -f /run/s/ballast && sync /run/s
  [ "$3" = - ] || workspace_down 2>/dev/null
  if [ "$5" != - ]; then
    # shellcheck disable=SC2015
    { umount $BINDS; umount /run/v; } 2>/dev/null
    machine_up $4 || return 73
  fi
  [ "$3" = - ] || workspace_up $2 || return 73
  return 74
}

# copy_layer NAME FOLDER UPPER NEW: the frozen copy of a whole upper that live processes hold.
copy_layer() {
  cd "/run/s/$2" || return
  "$COPY" -a --reflink=auto -- "$3" "$4.part" &&
    # Run folders are no part of a state.
    { [ "$2" = w ] || rm -rf "$4.part/run"; } &&
    "$MOVE" -T "$4.part" "$4" && crash "$1-copied"
  set -- $?
  cd /
  return "$1"
}

# copy_listed POINT VIEW TARGET: copies what /run/s/copies lists, by NUL, from a view into a layer that is being written.
copy_listed() {
  cd "$2" || return
  xargs -0 "$COPY" -a --reflink=auto --parents -t "$3" -- </run/s/copies && crash "$1"
  set -- $?
  cd /
  return "$1"
}

# hold: starts the holder, process 1 of new PID and IPC namespaces; it writes its host pid to holder.pid.
hold() {
  { "$UNSHARE" -p -i -f "$SH" $SH_WORD -c "$HOLDER_SCRIPT" rewind-holder || echo failed >/run/s/holder.pid; } \
    </dev/null >/run/s/holder.log 2>&1 3>&- 9>&- &
}

# launch HOLDER: starts the launcher inside, without any capability, and says its pid there. It talks to Node on
# descriptor 3. It is an orphan of the holder, as all its commands are: a parent outside of the namespace (nsenter) stops
# when its child is stopped, and the namespace cannot end before that parent has looked at its dead child.
launch() {
  if [ -n "$OWN_BUSYBOX" ]; then
    # shellcheck disable=SC2016
    start_in_image "$1" "" "--setuid $AGENT_UID --setgid $AGENT_GID" "$OWN_BUSYBOX" sh -c \
      ': | { exec 6<&0; "$@" <&3 >&3 2>/dev/null 3>&- & echo $!; }' sh \
      "$OWN_BUSYBOX" sh -c "$LAUNCHER_SCRIPT" rewind-launcher \
      "$OWN_BUSYBOX" setsid "$OWN_BUSYBOX" sh -c "$COMMAND_SCRIPT" rewind-launcher
    return
  fi
  case $MODE in
  root)
    set -- -t "$1" -p -i --root=/run/m --wd=/run/m "$SETPRIV" --reuid "$AGENT_UID" --regid "$AGENT_GID" --clear-groups
    ;;
  user)
    # Its own user again, not the namespace's root; made before the change of root, which would forbid it.
    set -- -t "$1" -p -i "$UNSHARE" -U --map-user="$AGENT_UID" --map-group="$AGENT_GID" --keep-caps \
      --root=/run/m --wd=/ "$SETPRIV"
    ;;
  esac
  "$NSENTER" "$@" --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs "$SETSID" "$ENV" -i \
    "PATH=$PATH" "$SH" $SH_WORD -c ': | { exec 6<&0; "$@" <&3 >&3 2>/dev/null 3>&- & echo $!; }' sh \
    "$SH" $SH_WORD -c "$LAUNCHER_SCRIPT" rewind-launcher \
    "$ENV" --default-signal=INT,QUIT "$SETSID" "$COMMAND_SH" -c "$COMMAND_SCRIPT" rewind-launcher 9>&-
}

# What root may do in an image: enough for apt, and no way out.
ROOT_MAY=,+chown,+dac_override,+fowner,+fsetid,+kill,+setuid,+setgid,+net_bind_service
# What it takes to get into the sandbox.
ENTER=+sys_admin,+sys_chroot,+sys_ptrace,+setuid,+setgid
ENTERED=-sys_admin,-sys_chroot,-sys_ptrace,-setuid,-setgid

# start_in_image HOLDER BOUNDING IDENTITY PROGRAM...: where commands of root may change every program of the image, none
# of them is run with rights. setpriv and nsenter are those outside; what they start inside is a static busybox that is
# mounted there, which gives up what it took to get in. BOUNDING: the capabilities that are left. IDENTITY: of nsenter.
start_in_image() {
  holder=$1 bounding=$2 identity=$3
  shift 3
  # shellcheck disable=SC2086 # words without blanks
  "$SETPRIV" --inh-caps="-all,$ENTER" \
    "$SETPRIV" --bounding-set="-all$bounding" --no-new-privs \
    "$NSENTER" -t "$holder" -p -i --root=/run/m --wd=/run/m $identity \
    "$OWN_BUSYBOX" setpriv --inh-caps="$ENTERED" \
    "$OWN_BUSYBOX" setsid "$OWN_BUSYBOX" env -i "PATH=$PATH" "$@" 9>&-
}

# start_as_root HOLDER FOLDER: starts the command of one run folder as root. It is told of on descriptor 3 as the
# launcher's are.
start_as_root() {
  # shellcheck disable=SC2016
  start_in_image "$1" "$ROOT_MAY" "" "$OWN_BUSYBOX" sh -c \
    ': | { exec 6<&0; name=$1; shift; printf "ahead\nrun %s\n" "$name" | "$@" >&3 2>/dev/null 3>&- & }' sh "$2" \
    "$OWN_BUSYBOX" sh -c "$LAUNCHER_SCRIPT" rewind-launcher \
    "$OWN_BUSYBOX" setsid "$OWN_BUSYBOX" sh -c "$COMMAND_SCRIPT" rewind-launcher unsaid
}
