# The launcher: a shell inside the sandbox, as the agent, that has a pair of shells wait for the next command: its
# supervisor, and the shell that becomes the command (command.sh), whose words are this script's arguments. So a command
# is started by one exec. Both are orphans of the holder and outlive the launcher and the host.
#
# Read from standard input: `ahead` makes a pair ready, which says so; `run NAME` starts what the run folder of that name
# holds in the pair that waits. The supervisor leaves in the run folder what a later host must know (exit) and tells this
# host at once on standard output.
#
# Pipes come by way of /proc/self/fd, where opening one gives both its ends: 5 is a pair's own, 6 leads to who waits.

supervise() {
  exec 5<>/proc/self/fd/5 6</proc/self/fd/6 </dev/null
  # The shell says here when the command died of a signal: its exit code alone (128 + n) would not tell.
  command exec 2>&5
  "$@" <&6
  set -- $?
  exec 2>/dev/null
  # Nothing below waits.
  echo >&5
  name=
  said=
  IFS= read -r name <&5
  IFS= read -r said <&5
  case $name in
  'command '*) name=${name#command } ;;
  *) exit ;; # Nobody asked for it: the launcher is gone.
  esac
  [ -z "$said" ] || said=signal
  echo "$1 $said" >"/run/rewind/$name/exit"
  echo "ended $name $1 $said"
}

exec 6<>/proc/self/fd/6
while read -r word name; do
  case $word in
  # Two commands: what is put into the background as a whole has no standard input.
  ahead) : | { exec 5<&0; supervise "$@" & } ;;
  run) echo "$name" >&6 ;;
  esac
done
