#!/bin/sh
# The verdict on auth.py, as one JSON object on stdout. Needs only sh; python3, where there is one, looks deeper.
verdict() {
  printf '{"status": "%s", "summary": "%s"' "$1" "$2"
  [ -n "$3" ] && printf ', "errors": ["%s"]' "$3"
  printf '}\n'
  exit 0
}
# Free text as the inside of a JSON string.
quoted() { printf '%s' "$1" | tr '\n\t' '  ' | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g'; }

[ -r auth.py ] || verdict fail "auth.py is gone" "auth.py cannot be read"

if command -v python3 >/dev/null 2>&1; then
  out=$(python3 -B -c '
import ast, sys
try:
    tree = ast.parse(open("auth.py").read(), "auth.py")
except SyntaxError as error:
    sys.exit(f"auth.py line {error.lineno}: {error.msg}")
scope = {}
exec(compile(tree, "auth.py", "exec"), scope)
login = scope["authenticate"]
if login("admin", "correct-horse") is not True:
    sys.exit("the right password is refused")
if login("admin", "wrong") or login("guest", "correct-horse"):
    sys.exit("a wrong login is let in")
' 2>&1) && verdict pass "auth.py parses, lets the admin in and keeps others out."
  case $out in
    auth.py*|the*|a\ wrong*) verdict fail "1 check failed" "$(quoted "$out")" ;;
  esac
  verdict unknown "python3 could not judge auth.py" "$(quoted "$out" | tail -c 300)"
fi

bad=$(grep -nE '(==|=|and|or|not|,|\()[[:space:]]*$' auth.py | head -n 1)
[ -n "$bad" ] && verdict fail "1 check failed" "$(quoted "auth.py line ${bad%%:*}: the expression is not finished")"
grep -q 'def authenticate(user, password):' auth.py || verdict fail "1 check failed" "authenticate(user, password) is missing"
verdict pass "auth.py looks whole."
