# shellcheck shell=bash
# What the scripts of this folder share. Source it, do not run it.
#
#   TRUEUP_CACHE         builds that outlive a run           (default ~/.cache/trueup)
#   TRUEUP_INSTANCE      name of one set of servers, so that several can run (default "default")
#   TRUEUP_SERVICES_RUN  data, logs, pidfiles and secrets of that set
#                        (default $TRUEUP_CACHE/run/$TRUEUP_INSTANCE)
#
# Every server listens on 127.0.0.1 only. A script ends just the processes that it recorded
# itself: pid and start time must both match, so a reused pid is never signalled.
set -euo pipefail
umask 077
TRUEUP_CACHE=${TRUEUP_CACHE:-$HOME/.cache/trueup}
TRUEUP_INSTANCE=${TRUEUP_INSTANCE:-default}
TRUEUP_SERVICES_RUN=${TRUEUP_SERVICES_RUN:-$TRUEUP_CACHE/run/$TRUEUP_INSTANCE}
TRUEUP_CACHE=$(realpath -m "$TRUEUP_CACHE")
TRUEUP_SERVICES_RUN=$(realpath -m "$TRUEUP_SERVICES_RUN")
HOST=127.0.0.1
export no_proxy="127.0.0.1,localhost${no_proxy:+,$no_proxy}"
export NO_PROXY=$no_proxy

log() { printf '[%s] %s\n' "${0##*/}" "$*" >&2; }
die() {
  log "ERROR: $*"
  exit 1
}
need() {
  local c
  for c in "$@"; do
    command -v "$c" >/dev/null || die "missing command: $c (tools/services/install gets it)"
  done
}

# Prints the comment at the top of the running script, which is its help.
usage() { awk 'NR > 1 { if (!/^#/ || /shellcheck/) exit; sub(/^# ?/, ""); print }' "$0"; }

# ------------------------------------------------------------------ processes
# Field 22 of /proc/PID/stat, the start time in ticks.
start_time() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  stat=${stat##*) }
  # shellcheck disable=SC2086  # splitting into fields is the point
  set -- $stat
  echo "${20}"
}

# A zombie does not count as alive.
is_zombie() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  stat=${stat##*) }
  [ "${stat%% *}" = Z ]
}

record() { # NAME PID
  local started
  started=$(start_time "$2") || return 1
  echo "$2 $started" >"$RUN/$1.pid"
}

# Prints the pid of NAME if the recorded process still runs.
pid_of() {
  local pid started
  [ -s "$RUN/$1.pid" ] || return 1
  read -r pid started <"$RUN/$1.pid"
  [ "$(start_time "$pid")" = "$started" ] && ! is_zombie "$pid" || return 1
  echo "$pid"
}
alive() { pid_of "$1" >/dev/null; }

# spawn NAME CMD...: own session, stdin closed, output appended to $RUN/NAME.log.
spawn() {
  local name=$1 pid
  shift
  setsid nice -n "${TRUEUP_SERVICES_NICE:-0}" "$@" >>"$RUN/$name.log" 2>&1 </dev/null 8>&- 9>&- &
  pid=$!
  sleep 0.05
  if ! record "$name" "$pid" || ! alive "$name"; then
    die "$name ended at once; see $RUN/$name.log: $(tail -n 3 "$RUN/$name.log")"
  fi
}

# stop NAME SIGNAL SECONDS: signals the recorded process, waits, then kills it.
stop() {
  local name=$1 signal=$2 seconds=$3 pid i
  if pid=$(pid_of "$name"); then
    kill -"$signal" "$pid" 2>/dev/null || true
    for ((i = 0; i < seconds * 20; i++)); do
      alive "$name" || break
      sleep 0.05
    done
    if alive "$name"; then
      kill -KILL "$pid" 2>/dev/null || true
      while alive "$name"; do sleep 0.02; done
    fi
    log "$name stopped (pid $pid, SIG$signal)"
  fi
  rm -f "$RUN/$name.pid"
}

# wait_for SECONDS WHAT NAME CMD...: until CMD succeeds; fails early if process NAME ends.
wait_for() {
  local deadline=$((SECONDS + $1)) what=$2 name=$3 from=$SECONDS said=$SECONDS
  shift 3
  until "$@" >/dev/null 2>&1; do
    [ "$name" = - ] || alive "$name" ||
      die "$name ended while waiting for $what: $(tail -n 5 "$RUN/$name.log")"
    [ "$SECONDS" -lt "$deadline" ] || die "no $what after $((SECONDS - from)) s; see $RUN/*.log"
    if ((SECONDS - said >= 15)); then
      said=$SECONDS
      log "waiting for $what ... $((SECONDS - from)) s"
    fi
    sleep 0.1
  done
}

# with_progress WHAT LOGFILE CMD...: runs CMD, output to LOGFILE, an elapsed line every 15 s.
# Ends CMD if the script itself is ended.
with_progress() {
  local what=$1 file=$2 from=$SECONDS said=$SECONDS pid rc=0
  shift 2
  log "$what"
  setsid "$@" >>"$file" 2>&1 </dev/null 8>&- 9>&- &
  pid=$!
  # shellcheck disable=SC2064  # the pid of now is meant
  trap "kill -TERM -- -$pid 2>/dev/null; exit 130" INT TERM HUP
  while kill -0 "$pid" 2>/dev/null; do
    if ((SECONDS - said >= 15)); then
      said=$SECONDS
      log "$what ... $((SECONDS - from)) s"
    fi
    sleep 0.5
  done
  wait "$pid" || rc=$?
  trap - INT TERM HUP
  if [ "$rc" != 0 ]; then
    tail -n 15 "$file" >&2
    die "$what failed after $((SECONDS - from)) s; all of it: $file"
  fi
  log "$what: done in $((SECONDS - from)) s"
}

# ------------------------------------------------------------------ ports
# free_ports N: N distinct free ports, below the range from which outgoing connections are
# served, so that a server that restarts finds its port free again.
free_ports() {
  python3 - "$1" <<'X'
import random, socket, sys
held = []
while len(held) < int(sys.argv[1]):
    s = socket.socket()
    try:
        s.bind(("127.0.0.1", random.randrange(20000, 32000)))
        held.append(s)
    except OSError:
        s.close()
print(*(s.getsockname()[1] for s in held))
X
}
port_in_use() { (exec 3<>"/dev/tcp/$HOST/$1") 2>/dev/null; }

# Has another service of any set chosen it?
port_chosen() {
  find "$TRUEUP_CACHE/run" -mindepth 3 -maxdepth 3 -name '*.port' ! -path "$RUN/$name.port" \
    -exec grep -qx "$1" {} \; -print -quit 2>/dev/null | grep -q .
}

# choose_port NAME WANTED: prints the port for NAME. WANTED is a number, or 0/auto for the port
# of the last run if that is still free, else a new one. The choice is kept in $RUN/NAME.port. Sets
# that start at once choose one after the other, and none what another one has just chosen.
choose_port() {
  local name=$1 port=$2
  mkdir -p "$TRUEUP_CACHE"
  exec 6>"$TRUEUP_CACHE/.ports.lock"
  flock 6
  case $port in
  0 | auto | '')
    port=$(cat "$RUN/$name.port" 2>/dev/null || true)
    until [ -n "$port" ] && ! port_in_use "$port" && ! port_chosen "$port"; do
      port=$(free_ports 1)
    done
    ;;
  *) port_in_use "$port" && die "port $port ($name) is in use by another process" ;;
  esac
  echo "$port" >"$RUN/$name.port"
  exec 6>&-
  echo "$port"
}

# ------------------------------------------------------------------ files
# One up/down/restart at a time per service of a set.
lock() {
  mkdir -p "$RUN"
  exec 9>"$RUN/.lock"
  flock -n 9 && return
  log "another ${0##*/} works on $RUN, waiting for it"
  flock -w 1800 9 || die "$RUN/.lock is still held"
}
# Builds are shared by all sets: only one at a time per NAME.
lock_build() {
  mkdir -p "$TRUEUP_CACHE"
  exec 8>"$TRUEUP_CACHE/.build-$1.lock"
  flock -n 8 && return
  local from=$SECONDS
  log "another build of $1 is running, waiting for it"
  until flock -w 15 8; do
    log "another build of $1 is running, waiting for it ... $((SECONDS - from)) s"
  done
}
unlock_build() { exec 8>&-; }

# write_env NAME < exports: writes $TRUEUP_SERVICES_RUN/NAME.env, and services.env, which is
# all *.env files of the set in one.
write_env() {
  (
    umask 077
    cat >"$TRUEUP_SERVICES_RUN/$1.env"
  )
  join_env
}
drop_env() {
  rm -f "$TRUEUP_SERVICES_RUN/$1.env"
  join_env
}
join_env() {
  (
    umask 077
    cd "$TRUEUP_SERVICES_RUN" || exit 1
    exec 7>.env.lock
    flock 7
    for f in kafka.env kube.env postgres.env; do [ ! -f "$f" ] || cat "$f"; done >services.env.tmp
    mv services.env.tmp services.env
  )
}
show_env() {
  [ -s "$TRUEUP_SERVICES_RUN/$1.env" ] || die "not up; ${0##*/} up starts it"
  cat "$TRUEUP_SERVICES_RUN/$1.env"
}
# Forgets the data of one service, and the set's folder once nothing is left in it.
purge() {
  rm -rf "$RUN"
  rm -f "$TRUEUP_SERVICES_RUN/.env.lock" "$TRUEUP_SERVICES_RUN/.test.lock"
  [ -s "$TRUEUP_SERVICES_RUN/services.env" ] || rm -f "$TRUEUP_SERVICES_RUN/services.env"
  rmdir "$TRUEUP_SERVICES_RUN" 2>/dev/null || true
}
