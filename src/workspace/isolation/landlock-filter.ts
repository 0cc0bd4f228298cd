// landlock-filter: the system calls that a landlocked command may not use, as a seccomp filter (classic BPF). Pure.
//
// Landlock knows paths, TCP ports and signals. What it does not know is refused here by class:
//   F1. Sockets: only TCP itself, made by its own number, and only if it may connect at all. Datagrams, unix sockets, and other protocols
//       that reach the same ports (MPTCP, SCTP) are refused, and nothing connects by sending or listens without a port.
//   F2. Objects that all processes of a user share by number or name: memory, semaphores, queues, keys.
//   F3. Limits and priorities of any process but the caller.
//   F4. io_uring, by which calls can bypass a filter.

import { auditNames, callNumbers, groupTargetCalls, onProcesses, type Processor, sharedObjects } from "./call-numbers.ts";
import type { Command } from "./confinement.ts";

const ioUringSetup = 425;
/** On x64 the kernel also accepts numbers from here on, for programs of another ABI. */
const foreignNumbers = 0x40000000;
const families = { inet: 2, inet6: 10, netlink: 16 } as const;
const protocols = { usual: 0, tcp: 6, netlinkRoute: 0 } as const;
const stream = 1;
const typeMask = 0xf;
const fastOpen = 0x20000000;
/** `setpriority` numbers its targets from zero, `ioprio_set` from one. */
const oneProcess = { setpriority: 0, ioprio_set: 1 } as const;
const at = { number: 0, arch: 4, arguments: [16, 24, 32, 40] } as const;
const answers = { allow: 0x7fff0000, refuse: 0x00050001, absent: 0x00050026 } as const;
const codes = { load: 0x20, and: 0x54, equal: 0x15, atLeast: 0x35, anyBit: 0x45, answer: 0x06 } as const;

type Step =
  | { readonly load: number }
  | { readonly and: number }
  | { readonly answer: number }
  | { readonly label: string }
  | { readonly when: "equal" | "atLeast" | "anyBit"; readonly value: number; readonly go: string };

const refuse: Step = { answer: answers.refuse };
const allow: Step = { answer: answers.allow };

/** The whole filter of a landlocked command: which sockets it may have (no network, TCP alone, or any), and F2 to F4. */
export function filterFor(processor: Processor, network: NonNullable<Command["network"]>): Buffer {
  return assembled([
    ...begun(processor),
    ...toSockets(processor, network),
    ...toShared(processor),
    allow,
    ...atSockets(network),
    ...atShared(),
  ]);
}

/** F2 to F4 alone, for a box with its own network. */
export function sharedFilterFor(processor: Processor): Buffer {
  return assembled([...begun(processor), ...toShared(processor), allow, ...atShared()]);
}

const begun = (processor: Processor): readonly Step[] => [
  { load: at.arch },
  { when: "equal", value: auditNames[processor], go: "ours" },
  refuse,
  { label: "ours" },
  { load: at.number },
  { when: "atLeast", value: foreignNumbers, go: "refused" },
];

const toShared = (processor: Processor): readonly Step[] => [
  { when: "equal", value: ioUringSetup, go: "absent" }, // F4
  ...Object.values(sharedObjects).map((number): Step => ({ when: "equal", value: number[processor], go: "refused" })), // F2
  ...Object.values(onProcesses).map((number): Step => ({ when: "equal", value: number[processor], go: "self" })), // F3
  ...named(groupTargetCalls).map((name): Step => ({ when: "equal", value: groupTargetCalls[name][processor], go: name })),
];

const atShared = (): readonly Step[] => [
  ...named(groupTargetCalls).flatMap((name): Step[] => [
    { label: name },
    { load: at.arguments[0] },
    { when: "equal", value: oneProcess[name], go: "second is self" },
    refuse,
  ]),
  { label: "second is self" },
  { load: at.arguments[1] },
  { when: "equal", value: 0, go: "allowed" },
  refuse,
  { label: "self" },
  { load: at.arguments[0] },
  { when: "equal", value: 0, go: "allowed" },
  { label: "refused" },
  refuse,
  { label: "absent" },
  { answer: answers.absent },
  { label: "allowed" },
  allow,
];

function toSockets(processor: Processor, network: NonNullable<Command["network"]>): readonly Step[] {
  const go = (name: "socket" | "listen" | "sendto" | "sendmsg" | "sendmmsg", place: string): Step => ({
    when: "equal",
    value: callNumbers[name][processor],
    go: place,
  });
  const unlessAll = [go("listen", "refused"), go("sendto", "fourth"), go("sendmmsg", "fourth"), go("sendmsg", "third")];
  return [go("socket", "socket"), ...(network === "on" ? [] : unlessAll)];
}

/** F1 */
function atSockets(network: NonNullable<Command["network"]>): readonly Step[] {
  const inet = network === "on" ? "allowed" : network === "egress" ? "stream" : "refused";
  return [
    { label: "socket" },
    { load: at.arguments[0] },
    { when: "equal", value: families.inet, go: inet },
    { when: "equal", value: families.inet6, go: inet },
    { when: "equal", value: families.netlink, go: "netlink" },
    refuse,
    { label: "netlink" },
    { load: at.arguments[2] },
    { when: "equal", value: protocols.netlinkRoute, go: "allowed" },
    refuse,
    { label: "stream" },
    { load: at.arguments[1] },
    { and: typeMask },
    { when: "equal", value: stream, go: "protocol" },
    refuse,
    { label: "protocol" },
    { load: at.arguments[2] },
    { when: "equal", value: protocols.usual, go: "allowed" },
    { when: "equal", value: protocols.tcp, go: "allowed" },
    refuse,
    { label: "third" },
    { load: at.arguments[2] },
    { when: "anyBit", value: fastOpen, go: "refused" },
    allow,
    { label: "fourth" },
    { load: at.arguments[3] },
    { when: "anyBit", value: fastOpen, go: "refused" },
    allow,
  ];
}

const named = <Name extends string>(table: Readonly<Record<Name, unknown>>): readonly Name[] => Object.keys(table) as Name[];

/** Eight bytes per step: operation, jump if true, jump if false, and a number. */
function assembled(steps: readonly Step[]): Buffer {
  const places = new Map<string, number>();
  let count = 0;
  for (const step of steps) {
    if ("label" in step) places.set(step.label, count);
    else count += 1;
  }
  const words = steps.filter((step) => !("label" in step));
  return Buffer.concat(
    words.map((step, place) => {
      const word = Buffer.alloc(8);
      if ("load" in step) return fill(word, codes.load, 0, step.load);
      if ("and" in step) return fill(word, codes.and, 0, step.and);
      if ("when" in step) return fill(word, codes[step.when], (places.get(step.go) ?? 0) - place - 1, step.value);
      return fill(word, codes.answer, 0, "answer" in step ? step.answer : 0);
    }),
  );
}

function fill(word: Buffer, code: number, jump: number, value: number): Buffer {
  word.writeUInt16LE(code, 0);
  word.writeUInt8(jump, 2);
  word.writeUInt32LE(value, 4);
  return word;
}
