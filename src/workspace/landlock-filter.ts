// landlock-filter: the system calls a landlocked command does without, as a program for the kernel's own filter (classic BPF). Pure.
//
// Landlock knows paths and TCP ports. It does not know datagrams, nor sockets that are files, nor the queue by which calls can be made
// past a filter; these are refused as a whole.

import type { Command } from "./confinement.ts";

type Arch = { readonly audit: number; readonly socket: number; readonly prctl: number; readonly capset: number };
export const arches: Readonly<Record<string, Arch>> = {
  x64: { audit: 0xc000003e, socket: 41, prctl: 157, capset: 126 },
  arm64: { audit: 0xc00000b7, socket: 198, prctl: 167, capset: 91 },
};

const ioUringSetup = 425;
/** On x64 the kernel also answers to numbers from here on, for programs of another kind. */
const foreignNumbers = 0x40000000;
const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
const stream = 1;
const typeMask = 0xf;
const at = { number: 0, arch: 4, firstArgument: 16, secondArgument: 24 } as const;
const answers = { allow: 0x7fff0000, refuse: 0x00050001, absent: 0x00050026 } as const;
const codes = { load: 0x20, and: 0x54, equal: 0x15, atLeast: 0x35, answer: 0x06 } as const;

type Step =
  | { readonly load: number }
  | { readonly and: number }
  | { readonly answer: number }
  | { readonly label: string }
  | { readonly when: "equal" | "atLeast"; readonly value: number; readonly go: string };

/** Which sockets a command may have: none of the network, streams alone, or any. */
export function filterFor(arch: Arch, network: NonNullable<Command["network"]>): Buffer {
  const inet = network === "on" ? "allow" : network === "door" ? "stream" : "refuse";
  return assembled([
    { load: at.arch },
    { when: "equal", value: arch.audit, go: "ours" },
    { answer: answers.refuse },
    { label: "ours" },
    { load: at.number },
    { when: "atLeast", value: foreignNumbers, go: "refuse" },
    { when: "equal", value: ioUringSetup, go: "absent" },
    { when: "equal", value: arch.socket, go: "socket" },
    { answer: answers.allow },
    { label: "socket" },
    { load: at.firstArgument },
    { when: "equal", value: families.inet, go: inet },
    { when: "equal", value: families.inet6, go: inet },
    { when: "equal", value: families.netlink, go: "allow" },
    { label: "refuse" },
    { answer: answers.refuse },
    { label: "stream" },
    { load: at.secondArgument },
    { and: typeMask },
    { when: "equal", value: stream, go: "allow" },
    { answer: answers.refuse },
    { label: "absent" },
    { answer: answers.absent },
    { label: "allow" },
    { answer: answers.allow },
  ]);
}

/** Eight bytes a step: what, how far to jump if so and if not, and a number. */
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
