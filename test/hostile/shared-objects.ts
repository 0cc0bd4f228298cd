// shared-objects: what the kernel keeps for every process of a user, reached by a number or a name
// and through no folder: shared memory, message queues, keys, a terminal. Each holds a secret, or
// is listened to.

import { spawn } from "node:child_process";
import { callNumbers } from "../../src/workspace/isolation/call-numbers.ts";

export type SharedObjects = {
  readonly env: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
};

const isArm = process.arch === "arm64";
const of = (name: keyof typeof callNumbers): number => callNumbers[name][isArm ? "arm64" : "x64"];
const queue = { send: isArm ? 182 : 242, receive: isArm ? 183 : 243 } as const;

/**
 * Makes them, says their numbers, says what is written on the terminal, and takes all of it away
 * when its input ends.
 */
const keeper = `
use strict; use IPC::SysV qw(IPC_PRIVATE IPC_CREAT IPC_RMID); $| = 1;
my $name = $ENV{NAME} . "\\0"; my $secret = $ENV{SECRET};
my $memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600); shmwrite($memory, $secret, 0, 4096) if defined $memory;
my $messages = msgget(IPC_PRIVATE, IPC_CREAT | 0600); msgsnd($messages, pack("l! a*", 1, $secret), 0) if defined $messages;
my $attributes = pack("q4 x32", 0, 4, 256, 0);
my $queue = syscall(${of("mq_open")}, $name, 04302, 0600, $attributes);
my $sent = $secret; syscall(${queue.send}, $queue, $sent, length $sent, 0, 0) if $queue >= 0;
my $type = "user\\0"; my $payload = $secret;
my $key = syscall(${of("add_key")}, $type, $name, $payload, length $payload, -4);
my $terminal = "none"; my $master;
if (open($master, "+<", "/dev/ptmx")) {
  my $unlock = pack("i", 0); my $number = pack("i", 0);
  $terminal = "/dev/pts/" . unpack("i", $number) if ioctl($master, 0x40045431, $unlock) && ioctl($master, 0x80045430, $number);
}
print join(" ", defined $memory ? $memory : "none", defined $messages ? $messages : "none", $queue >= 0 ? "queue" : "none", $key > 0 ? "key" : "none", $terminal), "\\n";
my $slave; open($slave, "+<", $terminal) if $terminal ne "none"; # a terminal that nobody has open can be read no more
my $bits = ""; vec($bits, 0, 1) = 1; vec($bits, fileno $master, 1) = 1 if $slave;
while (select(my $ready = $bits, undef, undef, undef)) {
  if (vec($ready, 0, 1)) { last unless sysread(STDIN, my $rest, 64) }
  if ($slave && vec($ready, fileno $master, 1)) { my $written; print $written if sysread($master, $written, 4096) }
}
shmctl($memory, IPC_RMID, 0) if defined $memory; msgctl($messages, IPC_RMID, 0) if defined $messages;
syscall(${of("mq_unlink")}, $name) if $queue >= 0; syscall(${of("keyctl")}, 9, $key, -4) if $key > 0;
`;

export async function openSharedObjects(
  secret: string,
  hear: (data: Buffer) => void,
): Promise<SharedObjects> {
  const name = `autopilot-hostile-${process.pid}-${Math.floor(Math.random() * 1e9)}`;
  const child = spawn("perl", ["-e", keeper], {
    env: { PATH: process.env["PATH"], NAME: name, SECRET: secret },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const line = await new Promise<string>((resolve) => {
    child.stdout.once("data", (data: Buffer) => resolve(data.toString("utf8")));
    child.once("close", () => resolve(""));
  });

  child.stdout.on("data", hear);
  const [memory = "none", messages = "none", , , terminal = "none"] = line.trim().split(" ");
  return {
    env: { MEMORY: memory, MESSAGES: messages, QUEUE: name, KEY: name, TERMINAL: terminal },
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

/** What an agent runs to read each of them. */
export const reading = {
  memory: `perl -e 'exit 1 unless shmread($ENV{MEMORY}, my $b, 0, 4096); print $b' > "$LOOT"`,
  messages: `perl -e 'exit 1 unless msgrcv($ENV{MESSAGES}, my $b, 4096, 0, 04000); print $b' > "$LOOT"`,
  queue: `perl -e 'my $n = "$ENV{QUEUE}\\0"; my $q = syscall(${of("mq_open")}, $n, 04000, 0, 0); exit 1 if $q < 0; my $b = " " x 256; my $l = syscall(${queue.receive}, $q, $b, 256, 0, 0); print $b if $l > 0' > "$LOOT"`,
  key: `perl -e 'my ($t, $n) = ("user\\0", "$ENV{KEY}\\0"); my $k = syscall(${of("request_key")}, $t, $n, 0, 0); exit 1 if $k < 0; my $b = " " x 256; my $l = syscall(${of("keyctl")}, 11, $k, $b, 256); print $b if $l > 0' > "$LOOT"`,
} as const;
