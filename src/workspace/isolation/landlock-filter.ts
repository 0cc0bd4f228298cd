// landlock-filter: the system calls that a landlocked command may not use, as a seccomp filter
// (classic BPF). Pure.
//
// Landlock knows paths, TCP ports and signals. What it does not know is refused here by class:
//   F1. Sockets: without a shared network only TCP itself, made by its own number, and only if
//       there is an egress. Datagrams and other protocols that reach the same ports (MPTCP, SCTP)
//       are refused, and nothing connects by sending or listens. Unix sockets and other families
//       are refused with any network, but for netlink's routing table.
//   F2. Objects that all processes of a user share by number or name: memory, semaphores, queues,
//       keys.
//   F3. Limits and priorities of any process but the caller.
//   F4. io_uring, by which calls can bypass a filter.

import {
  auditArchitectures,
  callNumbers,
  groupTargetCalls,
  otherProcessCalls,
  type Processor,
  sharedObjectCalls,
} from "./call-numbers.ts";
import type { Command } from "./confinement.ts";

// Numbers of the kernel, from its headers.
const ioUringSetup = 425;
/** On x64 the kernel also accepts numbers from here on, for programs of another ABI. */
const foreignNumbers = 0x40000000;
const families = { inet: 2, inet6: 10, netlink: 16 } as const;
const protocols = { usual: 0, tcp: 6, netlinkRoute: 0 } as const;
const streamSocket = 1;
const typeMask = 0xf;
/** MSG_FASTOPEN: connects by sending. */
const fastOpen = 0x20000000;
/** `setpriority` numbers its targets from zero, `ioprio_set` from one. */
const oneProcess = { setpriority: 0, ioprio_set: 1 } as const;
const offsets = { number: 0, arch: 4, arguments: [16, 24, 32, 40] } as const;
/** `refuse` is EPERM, `absent` is ENOSYS, as if the kernel did not have the call. */
const answers = { allow: 0x7fff0000, refuse: 0x00050001, absent: 0x00050026 } as const;
const opcodes = {
  load: 0x20,
  and: 0x54,
  equal: 0x15,
  atLeast: 0x35,
  anyBit: 0x45,
  answer: 0x06,
} as const;

/**
 * One instruction of the filter, or a label to jump to (`go`). The value that `when` tests is the
 * one loaded last.
 */
type Step =
  | { readonly load: number }
  | { readonly and: number }
  | { readonly answer: number }
  | { readonly label: string }
  | { readonly when: "equal" | "atLeast" | "anyBit"; readonly value: number; readonly go: string };

const refuse: Step = { answer: answers.refuse };
const allow: Step = { answer: answers.allow };

/**
 * The whole filter of a landlocked command: which sockets it may have (no network, TCP alone, or
 * any), and F2 to F4.
 */
export function buildLandlockFilter(
  processor: Processor,
  network: NonNullable<Command["network"]>,
): Buffer {
  return assemble([
    ...loadCallNumber(processor),
    ...jumpToSocketCalls(processor, network),
    ...jumpToSharedCalls(processor),
    allow,
    ...decideSocketCalls(network),
    ...decideSharedCalls(),
  ]);
}

/** F2 to F4 alone, for a sandbox with its own network. */
export function buildSharedObjectFilter(processor: Processor): Buffer {
  return assemble([
    ...loadCallNumber(processor),
    ...jumpToSharedCalls(processor),
    allow,
    ...decideSharedCalls(),
  ]);
}

const loadCallNumber = (processor: Processor): readonly Step[] => [
  { load: offsets.arch },
  { when: "equal", value: auditArchitectures[processor], go: "ours" },
  refuse,
  { label: "ours" },
  { load: offsets.number },
  { when: "atLeast", value: foreignNumbers, go: "refused" },
];

const jumpToSharedCalls = (processor: Processor): readonly Step[] => [
  { when: "equal", value: ioUringSetup, go: "absent" }, // F4
  ...Object.values(sharedObjectCalls).map((number): Step => ({
    when: "equal",
    value: number[processor],
    go: "refused",
  })), // F2
  ...Object.values(otherProcessCalls).map((number): Step => ({
    when: "equal",
    value: number[processor],
    go: "self",
  })), // F3
  ...keysOf(groupTargetCalls).map((name): Step => ({
    when: "equal",
    value: groupTargetCalls[name][processor],
    go: name,
  })), // F3
];

const decideSharedCalls = (): readonly Step[] => [
  ...keysOf(groupTargetCalls).flatMap((name): Step[] => [
    { label: name },
    { load: offsets.arguments[0] },
    { when: "equal", value: oneProcess[name], go: "second is self" },
    refuse,
  ]),
  { label: "second is self" },
  { load: offsets.arguments[1] },
  { when: "equal", value: 0, go: "allowed" },
  refuse,
  { label: "self" },
  { load: offsets.arguments[0] },
  { when: "equal", value: 0, go: "allowed" },
  { label: "refused" },
  refuse,
  { label: "absent" },
  { answer: answers.absent },
  { label: "allowed" },
  allow,
];

function jumpToSocketCalls(
  processor: Processor,
  network: NonNullable<Command["network"]>,
): readonly Step[] {
  const jump = (
    call: "socket" | "listen" | "sendto" | "sendmsg" | "sendmmsg",
    label: string,
  ): Step => ({
    when: "equal",
    value: callNumbers[call][processor],
    go: label,
  });
  const restrictions = [
    jump("listen", "refused"),
    jump("sendto", "fourth"),
    jump("sendmmsg", "fourth"),
    jump("sendmsg", "third"),
  ];
  return [jump("socket", "socket"), ...(network === "on" ? [] : restrictions)];
}

/**
 * Where the filter goes on with an internet socket: a sandbox with an egress may open streams only.
 */
const inetLabels = { on: "allowed", egress: "stream", off: "refused" } as const;

/**
 * What happens to socket calls (F1): the code that `jumpToSocketCalls` jumps to. `third` and
 * `fourth`: the argument that holds the flags.
 */
function decideSocketCalls(network: NonNullable<Command["network"]>): readonly Step[] {
  const inet = inetLabels[network];
  return [
    { label: "socket" },
    { load: offsets.arguments[0] },
    { when: "equal", value: families.inet, go: inet },
    { when: "equal", value: families.inet6, go: inet },
    { when: "equal", value: families.netlink, go: "netlink" },
    refuse,
    { label: "netlink" },
    { load: offsets.arguments[2] },
    { when: "equal", value: protocols.netlinkRoute, go: "allowed" },
    refuse,
    { label: "stream" },
    { load: offsets.arguments[1] },
    { and: typeMask },
    { when: "equal", value: streamSocket, go: "protocol" },
    refuse,
    { label: "protocol" },
    { load: offsets.arguments[2] },
    { when: "equal", value: protocols.usual, go: "allowed" },
    { when: "equal", value: protocols.tcp, go: "allowed" },
    refuse,
    { label: "third" },
    { load: offsets.arguments[2] },
    { when: "anyBit", value: fastOpen, go: "refused" },
    allow,
    { label: "fourth" },
    { load: offsets.arguments[3] },
    { when: "anyBit", value: fastOpen, go: "refused" },
    allow,
  ];
}

const keysOf = <Name extends string>(table: Readonly<Record<Name, unknown>>): readonly Name[] =>
  Object.keys(table) as Name[];

/**
 * Encodes the steps in eight bytes each (opcode, jump if true, jump if false, a number), with
 * labels resolved to distances.
 */
function assemble(steps: readonly Step[]): Buffer {
  const labels = new Map<string, number>();
  let count = 0;

  for (const step of steps) {
    if ("label" in step) labels.set(step.label, count);
    else count += 1;
  }

  const instructions = steps.filter((step) => !("label" in step));
  return Buffer.concat(
    instructions.map((step, position) => {
      const word = Buffer.alloc(8);
      if ("load" in step) return encodeStep(word, opcodes.load, 0, step.load);
      if ("and" in step) return encodeStep(word, opcodes.and, 0, step.and);
      if ("when" in step) {
        return encodeStep(
          word,
          opcodes[step.when],
          (labels.get(step.go) ?? 0) - position - 1,
          step.value,
        );
      }

      return encodeStep(word, opcodes.answer, 0, "answer" in step ? step.answer : 0);
    }),
  );
}

function encodeStep(word: Buffer, code: number, jump: number, value: number): Buffer {
  word.writeUInt16LE(code, 0);
  word.writeUInt8(jump, 2);
  word.writeUInt32LE(value, 4);

  return word;
}
