// seccomp-filter: the seccomp filter of a box: system calls that nothing in it may make. They are calls that a build, a test or an agent does
// not need, and through which sandboxes were escaped before.
//
// Invariants:
//   S1. Calls of another architecture are refused as a whole: the same number would mean another call.
//   S2. Debuggers stay possible (leak checkers need them): they see the box's own processes and no others.

import { Buffer } from "node:buffer";

type Architecture = {
  readonly audit: number;
  readonly refused: readonly number[];
  readonly absent: readonly number[];
  readonly socket: number;
} & {
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

const x32Bit = 0x40000000;
const addressFamilyVsock = 40;
const newUserNamespace = 0x10000000;
const offset = { number: 0, audit: 4, firstArgument: 16 } as const;
const loadOpcode = 0x20;
const jumpOpcodes = { equal: 0x15, atLeast: 0x35, anyBit: 0x45 } as const;
const returnOpcode = 0x06;
const verdict = { allow: 0x7fff0000, refuse: 0x00050001, absent: 0x00050026 } as const; // EPERM, ENOSYS

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** For a machine with unknown call numbers it allows everything. `mayMakeUsers`: user namespaces are prevented by other means. */
export function buildSeccompFilter(architecture: string, mayMakeUsers: boolean): Buffer {
  const calls = architectures[architecture];
  if (calls === undefined) return instructionBytes([returnOpcode, 0, 0, verdict.allow]);
  const whenCall = (number: number, word: number): Instruction[] => [
    [jumpOpcodes.equal, 0, 1, number],
    [returnOpcode, 0, 0, word],
  ];
  /** Refused if the first argument equals this, or has the bit; the number is loaded again for what follows. */
  const whenArgument = (number: number, test: number, value: number): Instruction[] => [
    [jumpOpcodes.equal, 0, 4, number],
    [loadOpcode, 0, 0, offset.firstArgument],
    [test, 0, 1, value],
    [returnOpcode, 0, 0, verdict.refuse],
    [loadOpcode, 0, 0, offset.number],
  ];
  const program: Instruction[] = [
    [loadOpcode, 0, 0, offset.audit],
    [jumpOpcodes.equal, 1, 0, calls.audit],
    [returnOpcode, 0, 0, verdict.absent], // S1
    [loadOpcode, 0, 0, offset.number],
    [jumpOpcodes.atLeast, 0, 1, x32Bit],
    [returnOpcode, 0, 0, verdict.absent], // S1
    ...calls.refused.flatMap((number) => whenCall(number, verdict.refuse)),
    ...calls.absent.flatMap((number) => whenCall(number, verdict.absent)),
    ...whenArgument(calls.socket, jumpOpcodes.equal, addressFamilyVsock),
    ...(mayMakeUsers
      ? []
      : [
          ...whenArgument(calls.clone, jumpOpcodes.anyBit, newUserNamespace),
          ...whenArgument(calls.unshare, jumpOpcodes.anyBit, newUserNamespace),
          ...whenCall(calls.clone3, verdict.absent), // its flags are in memory; without it the older call is used
        ]),
    [returnOpcode, 0, 0, verdict.allow],
  ];
  return Buffer.concat(program.map(instructionBytes));
}

function instructionBytes([code, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
