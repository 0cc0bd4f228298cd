// seccomp-filter: the seccomp filter of a sandbox: system calls that nothing in it may make. They
// are calls that a build, a test or an agent does not need, and through which sandboxes were
// escaped before.
//
// Invariants:
//   S1. Calls of another architecture are refused as a whole: the same number would mean another
//       call.
//   S2. Debuggers stay possible (ptrace is not refused; leak checkers need it): they see the
//       sandbox's own processes and no others.

import { Buffer } from "node:buffer";

/**
 * System call numbers of one processor architecture, and the number by which the kernel names it
 * (`audit`).
 */
type Architecture = {
  readonly audit: number;
  /** Calls that fail with EPERM. */
  readonly refused: readonly number[];
  /**
   * Calls that fail with ENOSYS, as if the kernel did not have them: programs then use older ones.
   */
  readonly absent: readonly number[];
  readonly socket: number;
  readonly clone: number;
  readonly clone3: number;
  readonly unshare: number;
};

const ioUringCalls = [425, 426, 427]; // io_uring_setup, io_uring_enter, io_uring_register
/** Refused: add_key, request_key, keyctl, perf_event_open, bpf, userfaultfd. */
const architectures: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    refused: [248, 249, 250, 298, 321, 323],
    absent: ioUringCalls,
    socket: 41,
    clone: 56,
    clone3: 435,
    unshare: 272,
  },
  arm64: {
    audit: 0xc00000b7,
    refused: [217, 218, 219, 241, 280, 282],
    absent: ioUringCalls,
    socket: 198,
    clone: 220,
    clone3: 435,
    unshare: 97,
  },
};

/** Set in the numbers of calls of the x32 ABI. */
const x32Bit = 0x40000000;
/** Sockets between a virtual machine and its host. */
const addressFamilyVsock = 40;
/** The flag CLONE_NEWUSER. */
const newUserNamespace = 0x10000000;
/**
 * Where a filter finds the call's number, its architecture and its first argument: offsets in
 * `struct seccomp_data`.
 */
const offset = { number: 0, audit: 4, firstArgument: 16 } as const;
// Opcodes of classic BPF.
const loadOpcode = 0x20;
const jumpOpcodes = { equal: 0x15, atLeast: 0x35, anyBit: 0x45 } as const;
const returnOpcode = 0x06;
const verdict = { allow: 0x7fff0000, refuse: 0x00050001, absent: 0x00050026 } as const; // EPERM, ENOSYS

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/**
 * The filter as a BPF program. For a machine with unknown call numbers it allows everything.
 * `mayCreateUserNamespaces`: they are prevented by other means.
 */
export function buildSeccompFilter(architecture: string, mayCreateUserNamespaces: boolean): Buffer {
  const calls = architectures[architecture];
  if (calls === undefined) return encodeInstruction([returnOpcode, 0, 0, verdict.allow]);

  const program: Instruction[] = [
    [loadOpcode, 0, 0, offset.audit],
    [jumpOpcodes.equal, 1, 0, calls.audit],
    [returnOpcode, 0, 0, verdict.absent], // S1
    [loadOpcode, 0, 0, offset.number],
    [jumpOpcodes.atLeast, 0, 1, x32Bit],
    [returnOpcode, 0, 0, verdict.absent], // S1
    ...calls.refused.flatMap((number) => answerCall(number, verdict.refuse)),
    ...calls.absent.flatMap((number) => answerCall(number, verdict.absent)),
    ...refuseArgument(calls.socket, jumpOpcodes.equal, addressFamilyVsock),
    ...(mayCreateUserNamespaces ? [] : refuseUserNamespaces(calls)),
    [returnOpcode, 0, 0, verdict.allow],
  ];
  return Buffer.concat(program.map(encodeInstruction));
}

const answerCall = (number: number, answer: number): readonly Instruction[] => [
  [jumpOpcodes.equal, 0, 1, number],
  [returnOpcode, 0, 0, answer],
];

/**
 * Refuses a call whose first argument equals a value, or has a bit of it; then loads the call's
 * number again for what follows.
 */
const refuseArgument = (number: number, test: number, value: number): readonly Instruction[] => [
  [jumpOpcodes.equal, 0, 4, number],
  [loadOpcode, 0, 0, offset.firstArgument],
  [test, 0, 1, value],
  [returnOpcode, 0, 0, verdict.refuse],
  [loadOpcode, 0, 0, offset.number],
];

const refuseUserNamespaces = ({ clone, unshare, clone3 }: Architecture): readonly Instruction[] => [
  ...refuseArgument(clone, jumpOpcodes.anyBit, newUserNamespace),
  ...refuseArgument(unshare, jumpOpcodes.anyBit, newUserNamespace),
  ...answerCall(clone3, verdict.absent), // its flags are in memory, where a filter can't see them; programs then use `clone`
];

function encodeInstruction([code, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);

  return bytes;
}
