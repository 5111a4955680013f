# The launcher: a shell started ahead inside the sandbox, as the agent, that starts commands by the name of their run
# folder, read from standard input.
# Each command gets a supervisor, which is an orphan of the holder and outlives the launcher and the host. It leaves in
# the run folder what a later host must know (pid, exit) and tells this host at once on standard output.

# What the run folder's `launch` exports of the command's environment may not change what is done here.
supervise() {
  read -r pid _ </proc/self/stat
  echo "$pid" >"/run/rewind/$1/pid"
  # The shell says here when the command died of a signal: its exit code alone (128 + n) would not tell.
  # An agent may have made off with the folder: `command` keeps the shell, which has to tell that it ended.
  command exec 2>"/run/rewind/$1/signal" || :
  (
    . "/run/rewind/$1/launch"
    if ! cd -- "$1" 2>/dev/null; then
      echo "no-folder $2"
      exit 125
    fi
    echo "started $2"
    exec <"$3" >>"/run/rewind/$2/stdout" 2>>"/run/rewind/$2/stderr"
    shift 3
    exec "$@"
  )
  set -- "$1" $?
  exec 2>/dev/null
  [ -s "/run/rewind/$1/signal" ] && set -- "$1" "$2" signal
  echo "$2 ${3-}" >"/run/rewind/$1/exit"
  echo "ended $1 $2 ${3-}"
}

while IFS= read -r id; do
  (supervise "$id" &)
done
