# The launcher: a shell started ahead inside the sandbox, as the agent, that starts commands by the name of their run
# folder, read from standard input. $1 and $2 are the paths of env and setsid.
# Each command gets a supervisor, which is an orphan of the holder and outlives the launcher and the host. It leaves in
# the run folder what a later host must know (pid, exit) and tells this host at once on standard output.
run=/run/rewind

supervise() {
  read -r pid _ </proc/self/stat
  echo "$pid" >"$run/$3/pid"
  # The shell says here when the command died of a signal: its exit code alone (128 + n) would not tell.
  # An agent may have made off with the folder: `command` keeps the shell, which has to tell that it ended.
  command exec 2>"$run/$3/signal" || :
  (
    tools_env=$1 tools_setsid=$2 id=$3
    . "$run/$id/launch"
    if ! cd -- "$dir" 2>/dev/null; then
      echo "no-folder $id"
      exit 125
    fi
    echo "started $id"
    # As a background job it would start with SIGINT and SIGQUIT ignored.
    exec "$tools_env" --default-signal=INT,QUIT "$tools_setsid" "$@" <"$stdin" >>"$run/$id/stdout" 2>>"$run/$id/stderr"
  )
  set -- "$3" $?
  exec 2>/dev/null
  [ -s "$run/$1/signal" ] && set -- "$1" "$2" signal
  echo "$2 ${3-}" >"$run/$1/exit"
  echo "ended $1 $2 ${3-}"
}

while IFS= read -r id; do
  (supervise "$1" "$2" "$id" &)
done
