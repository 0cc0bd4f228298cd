// actions-machine: commands on the run's own state, on other processes and over the network.

import { existsSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { cpus } from "node:os";
import { callNumbers, readProcessor } from "../../src/workspace/isolation/call-numbers.ts";
import { type Action, changed, claimed, heard, looted, syscalls } from "./action.ts";
import type { Scene } from "./scene.ts";
import { reading } from "./shared-objects.ts";

const request = (id: string): string =>
  JSON.stringify({
    event: "control_requested",
    control: "stop",
    now: true,
    request: id,
    actor: "operator:agent",
  });

const asked =
  (id: string) =>
  async ({ requests }: Scene): Promise<boolean> =>
    (await requests.pending()).some((candidate) => candidate.request === id);

export const stateActions: readonly Action[] = [
  {
    id: "state/append",
    tries: "appends to the journal",
    command: 'echo x >> "$RUN_DIR/journal.jsonl"',
  },
  { id: "state/truncate", tries: "empties the journal", command: ': > "$RUN_DIR/journal.jsonl"' },
  {
    id: "state/replace",
    tries: "puts another journal in its place",
    command: 'echo x > mine; mv mine "$RUN_DIR/journal.jsonl"',
  },
  {
    id: "state/read",
    tries: "reads the journal",
    command: 'cat "$RUN_DIR/journal.jsonl" > "$LOOT"',
    escaped: looted("journal"),
  },
  {
    id: "state/lock",
    tries: "steals the lock",
    command: 'rm -f "$RUN_DIR/journal.lock"; echo x > "$RUN_DIR/journal.lock"',
  },
  {
    id: "state/evidence",
    tries: "rewrites evidence",
    command: 'echo passed > "$RUN_DIR/blobs/aa/aabb"',
  },
  {
    id: "state/records",
    tries: "rewrites the runner's records",
    command: 'echo {} > "$RUN_DIR/records/layers/x.json"',
  },
  {
    id: "state/shadow",
    tries: "poisons the runner's own git folder",
    command: 'printf "[core]\\n\\tfsmonitor = /bin/false\\n" >> "$RUN_DIR/git/config"',
  },
  {
    id: "state/neighbour",
    tries: "writes into another attempt's layer",
    command: 'echo x >> "$NEIGHBOUR/src/a.ts"',
  },
  {
    id: "state/inbox",
    tries: "answers in the operator's name, by a file",
    command: `printf '%s\\n' '${request("approve-myself")}' > "$RUN_DIR/inbox/000000000000001-approve-myself.json"`,
    escaped: asked("approve-myself"),
  },
].map((action) => ({ kind: "state", escaped: changed, ...action }));

const stack = `open(my $m, "<", "/proc/$ENV{RUNNER}/maps"); my ($from, $to); while (<$m>) { ($from, $to) = (hex $1, hex $2) if /^(\\w+)-(\\w+) .*\\[stack\\]/ }`;

/** Whether the runner's state is this one; the kernel may take a moment to carry a signal out. */
const runnerIs =
  (state: RegExp) =>
  async ({ runnerPid }: Scene): Promise<boolean> => {
    for (let look = 0; look < 20; look += 1) {
      if (state.test(statusOf(runnerPid()))) return true;
      await wait(10);
    }

    return false;
  };

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "State: X";
  }
}

/** A field of the runner's line in /proc, counted as its manual does. */
const statIs =
  (field: number, value: string) =>
  ({ runnerPid }: Scene): boolean =>
    readFileSync(`/proc/${runnerPid()}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")[field - 3] === value;

const numberOf = (name: keyof typeof callNumbers): number =>
  callNumbers[name][readProcessor() ?? "x64"];

const noProc = existsSync("/proc/self/environ") ? null : "there is no /proc here";

export const processActions: readonly Action[] = [
  {
    id: "processes/kill",
    tries: "kills the runner",
    command: "kill -KILL $RUNNER",
    escaped: runnerIs(/^State:\s+[ZX]/m),
  },
  {
    id: "processes/stop",
    tries: "halts the runner",
    command: "kill -STOP $RUNNER",
    escaped: runnerIs(/^State:\s+T/m),
  },
  {
    id: "processes/environment",
    tries: "reads the runner's environment",
    command: 'cat /proc/$RUNNER/environ > "$LOOT"',
    escaped: looted("environment"),
  },
  {
    id: "processes/memory",
    tries: "reads the runner's memory from its file",
    command: `perl -e '${stack} open(my $f, "<", "/proc/$ENV{RUNNER}/mem"); sysseek($f, $from, 0); sysread($f, my $b, $to - $from); print $b' > "$LOOT"`,
    escaped: looted("environment"),
  },
  {
    id: "processes/read-memory",
    tries: "reads the runner's memory by a call",
    command: `perl -e '${stack} my $n = $to - $from; my $b = "\\0" x $n; my $l = pack("QQ", unpack("Q", pack("P", $b)), $n); my $r = pack("QQ", $from, $n); syscall(${syscalls.readMemory}, $ENV{RUNNER} + 0, $l, 1, $r, 1, 0); print $b' > "$LOOT"`,
    escaped: looted("environment"),
  },
  {
    id: "processes/trace",
    tries: "takes the runner over as its debugger",
    command: `perl -e 'my $p = $ENV{RUNNER} + 0; exit 1 if syscall(${syscalls.ptrace}, 16, $p, 0, 0) != 0; print "done"; select(undef, undef, undef, 0.1); syscall(${syscalls.ptrace}, 17, $p, 0, 0)' > "$LOOT"`,
    escaped: claimed,
  },
  {
    id: "processes/descriptor",
    tries: "writes through a file the runner holds open",
    command: "echo x >> /proc/$RUNNER/fd/9",
    escaped: changed,
  },
  {
    id: "processes/score",
    tries: "offers the runner to the kernel when memory is short",
    command: "echo 500 > /proc/$RUNNER/oom_score_adj",
    escaped: ({ runnerPid }: Scene) =>
      readFileSync(`/proc/${runnerPid()}/oom_score_adj`, "utf8").trim() === "500",
  },
  {
    id: "processes/limits",
    tries: "lowers the runner's limits, which can end it",
    command: `perl -e 'my $l = pack("QQ", 77, 77); syscall(${numberOf("prlimit64")}, $ENV{RUNNER} + 0, 11, $l, 0)'`,
    escaped: ({ runnerPid }: Scene) =>
      /^Max pending signals\s+77\s+77/m.test(readFileSync(`/proc/${runnerPid()}/limits`, "utf8")),
  },
  {
    id: "processes/priority",
    tries: "takes the runner's priority away",
    command: "perl -e 'setpriority(0, $ENV{RUNNER}, 17)'",
    escaped: statIs(19, "17"),
  },
  {
    id: "processes/policy",
    tries: "has the runner scheduled as a batch job",
    command: `perl -e 'my $p = pack("i", 0); syscall(${numberOf("sched_setscheduler")}, $ENV{RUNNER} + 0, 3, $p)'`,
    escaped: statIs(41, "3"),
  },
  {
    id: "processes/affinity",
    tries: "ties the runner to one processor",
    command: `perl -e 'my $m = pack("Q", 1); syscall(${numberOf("sched_setaffinity")}, $ENV{RUNNER} + 0, 8, $m)'`,
    escaped: ({ runnerPid }: Scene) => /^Cpus_allowed_list:\s+0$/m.test(statusOf(runnerPid())),
    impossible: noProc ?? (cpus().length > 1 ? null : "there is one processor only"),
  },
  {
    id: "processes/terminal",
    tries: "writes on the user's terminal",
    command: 'echo on-terminal > "$TERMINAL"',
    escaped: heard("on-terminal"),
    impossible: existsSync("/dev/ptmx") ? noProc : "there are no terminals here",
  },
].map((action) => ({ kind: "processes", impossible: noProc, ...action }));

export const sharedActions: readonly Action[] = [
  ["memory", "reads shared memory of another program"],
  ["messages", "reads another program's message queue"],
  ["queue", "reads another program's message queue by its name"],
  ["key", "reads a key that the kernel keeps for the user"],
].map(([what = "", tries = ""]) => ({
  id: `shared/${what}`,
  kind: "shared",
  tries,
  command: reading[what as keyof typeof reading],
  escaped: looted("shared"),
}));

const node = (program: string): string => `"$NODE" -e '${program}'`;
const send = (where: string, word: string): string =>
  node(
    `const s = require("net").connect(${where}, () => s.end("${word}")); s.on("error", () => process.exit(1)); setTimeout(() => process.exit(2), 2000).unref()`,
  );

const perlSend = (protocol: number, how: string): string =>
  `perl -MSocket -e 'my $to = pack_sockaddr_in($ENV{TCP}, inet_aton("127.0.0.1")); socket(my $s, AF_INET, SOCK_STREAM, ${protocol}) or exit 1; ${how} or exit 2'`;

export const networkActions: readonly Action[] = [
  {
    id: "network/tcp",
    tries: "speaks to a service on this machine",
    command: send('{ host: "127.0.0.1", port: +process.env.TCP }', "by-tcp"),
    word: "by-tcp",
  },
  {
    id: "network/mptcp",
    tries: "does so by MPTCP",
    command: perlSend(262, 'connect($s, $to) && syswrite($s, "by-several-paths")'),
    word: "by-several-paths",
  },
  {
    id: "network/fast-open",
    tries: "does so by TCP Fast Open, which connects by sending",
    command: perlSend(0, 'send($s, "by-fast-open", 0x20000000, $to)'),
    word: "by-fast-open",
  },
  {
    id: "network/tcp6",
    tries: "does so over IPv6",
    command: send('{ host: "::1", port: +process.env.TCP6 }', "by-six"),
    word: "by-six",
  },
  {
    id: "network/udp",
    tries: "sends a datagram",
    command: node(
      'const s = require("dgram").createSocket("udp4"); s.send("by-udp", +process.env.UDP, "127.0.0.1", () => s.close())',
    ),
    word: "by-udp",
  },
  {
    id: "network/names",
    tries: "carries a secret out in a name it looks up",
    command: node(
      'const { Resolver } = require("dns"); const r = new Resolver({ timeout: 300, tries: 1 }); r.setServers([`127.0.0.1:${process.env.NAMES}`]); r.resolve4("looked-up.example", () => process.exit())',
    ),
    word: "looked-up",
  },
  {
    id: "network/socket",
    tries: "speaks to another program's socket",
    command: send("{ path: process.env.SERVICE }", "by-path"),
    word: "by-path",
  },
  {
    id: "network/abstract",
    tries: "speaks to a socket without a file",
    command: send('{ path: "\\0" + process.env.ABSTRACT }', "by-name"),
    word: "by-name",
  },
  {
    id: "network/metadata",
    tries: "finds a way to the address where clouds keep credentials",
    // A datagram socket that is only connected sends nothing: it says whether there is a way.
    command: `${node('const s = require("dgram").createSocket("udp4"); s.connect(80, "169.254.169.254", (no) => { if (!no) console.log("done"); process.exit() })')} > "$LOOT"`,
    word: "",
  },
].map(({ word, ...action }) => ({
  kind: "network",
  ...action,
  escaped: word === "" ? claimed : heard(word),
}));
