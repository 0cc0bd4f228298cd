// guardian: a small shell process that kills a run's agents and checks if the runner dies without
// ending them itself.
//
// A runner killed with -9 cannot end its agents. The guardian is a few lines of shell in its own
// session, with the other end of a pipe to the runner. When the runner is gone, for whatever
// reason, the pipe closes, and the guardian kills everything with the mark of this opened set of
// agents (its `life`, see process-mark.ts). Processes of checks have no such mark; the runner tells
// the guardian how to recognise them. A runner that ends normally dismisses the guardian first.
//
// Invariants:
//   G1. The guardian has no mark itself, and it looks for one life's mark only: a run resumed at
//       once by a new runner has another life and is not touched.
//   G2. Its own work is bounded in time (`scansMax`).

import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { lifeVariable } from "./process-mark.ts";

/**
 * How often it scans for survivors before it gives up; it waits a tenth of a second after each scan
 * that found one.
 */
const scansMax = 100;

// Reads orders, one per line, until the pipe closes. Then the groups still watched are killed, and
// with /proc everything with one of the marks, until two scans in a row find no process.
const script = `
trap '' TERM HUP INT
groups=''
newline='
'
marks="$1$newline"
while read -r word rest; do
  case $word in
    add-mark) marks="$marks$rest$newline" ;;
    drop-mark)
      before=\${marks%%"$newline$rest$newline"*}
      after=\${marks#*"$newline$rest$newline"}
      [ "$before" = "$marks" ] || marks="$before$newline$after"
      ;;
    watch) groups="$groups $rest" ;;
    forget) groups=$(for group in $groups; do [ "$group" = "$rest" ] || printf ' %s' "$group"; done) ;;
    leave) exit 0 ;;
  esac
done
for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
[ -r /proc/self/environ ] || exit 0
marks=\${marks%"$newline"}
looks=0
quiet=0
while [ "$looks" -lt ${scansMax} ] && [ "$quiet" -lt 2 ]; do
  looks=$((looks + 1))
  found=$(grep -lszxF -e "$marks" /proc/[0-9]*/environ 2>/dev/null)
  if [ -z "$found" ]; then quiet=$((quiet + 1)); continue; fi
  quiet=0
  for file in $found; do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}" 2>/dev/null
  done
  sleep 0.1 2>/dev/null || sleep 1
done
`;

export type Guardian = {
  /** Watches the process group of an agent that was just started. */
  readonly watch: (group: number) => void;
  /** Stops watching a group whose agent has ended: its number may be reused. */
  readonly forget: (group: number) => void;
  /**
   * Processes with this `NAME=value` in their environment are ended too; the returned function
   * takes that back.
   */
  readonly alsoEnd: (mark: string) => () => void;
  /** Dismisses the guardian; the runner has ended its agents itself. */
  readonly dismiss: () => void;
  readonly pid: number | undefined;
};

/** Starts the guardian of one life. */
export function openGuardian(life: string): Guardian {
  const child = spawn("/bin/sh", ["-c", script, "autopilot-guardian", `${lifeVariable}=${life}`], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" }, // G1
  });

  const send = (line: string): void => {
    if (child.stdin !== null && child.stdin.writable) child.stdin.write(`${line}\n`);
  };

  detachFromRunner(child);
  return {
    watch: (group) => send(`watch ${group}`),
    forget: (group) => send(`forget ${group}`),
    alsoEnd: (mark) => {
      send(`add-mark ${mark}`);
      return () => send(`drop-mark ${mark}`);
    },
    dismiss: () => {
      send("leave");
      child.stdin?.end();
    },
    pid: child.pid,
  };
}

/** The guardian must not keep the runner from ending, nor may its absence crash the runner. */
function detachFromRunner(child: ChildProcess): void {
  child.on("error", () => undefined);
  child.stdin?.on("error", () => undefined);
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
}
