# Becomes a command: a shell in a session of its own, started ahead, that reads the name of a run folder. See launcher.sh.
# Given `unsaid` it does not tell that it waits.

read -r pid _ </proc/self/stat
[ "${1-}" = unsaid ] || echo "ahead $PPID $pid"
IFS= read -r name || exit
echo "command $name" >&5
exec 5>&- 6<&-
# An agent may have made off with the folder: `command` keeps the shell, which has to tell that it ended.
command exec 2>/dev/null
# With the moment of its start (the 22nd word, see proc(5)): the number alone may be another's in a later namespace.
read -r stat <"/proc/$PPID/stat"
set -- $stat
echo "$PPID ${22}" >"/run/rewind/$name/pid"
# What it exports of the command's environment may not change what is done here: from here on there are arguments alone.
. "/run/rewind/$name/launch"
if ! cd -- "$1" 2>/dev/null; then
  echo "no-folder $2"
  exit 125
fi
echo "started $2"
exec <"$3" >>"/run/rewind/$2/stdout" 2>>"/run/rewind/$2/stderr"
shift 3
exec "$@"
