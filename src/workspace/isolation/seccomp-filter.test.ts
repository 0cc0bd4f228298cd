import { expect, test } from "vitest";
import { buildSeccompFilter } from "./seccomp-filter.ts";

/** What the kernel would answer to a call: the program run by hand. */
function answerOf(
  program: Buffer,
  call: { readonly audit: number; readonly number: number; readonly argument?: number },
): string {
  const memory: Readonly<Record<number, number>> = {
    0: call.number,
    4: call.audit,
    16: call.argument ?? 0,
  };

  let loaded = 0;
  for (let index = 0; index < program.length / 8; index += 1) {
    const [code, ifTrue, ifFalse, value] = [
      program.readUInt16LE(index * 8),
      program.readUInt8(index * 8 + 2),
      program.readUInt8(index * 8 + 3),
      program.readUInt32LE(index * 8 + 4),
    ] as const;
    if (code === 0x06) return value === 0x7fff0000 ? "allowed" : `error ${value & 0xffff}`;
    if (code === 0x20) {
      loaded = memory[value] ?? Number.NaN;
    } else {
      index += (
        code === 0x15 ? loaded === value : code === 0x35 ? loaded >= value : (loaded & value) !== 0
      )
        ? ifTrue
        : ifFalse;
    }
  }

  return "ran off its end";
}

const x64 = 0xc000003e;
const closed = buildSeccompFilter("x64", true);
const open = buildSeccompFilter("x64", false);

test.each([
  ["read", { number: 0 }, "allowed"],
  ["ptrace", { number: 101 }, "allowed"],
  ["socket of the internet", { number: 41, argument: 2 }, "allowed"],
  ["socket to the machine below", { number: 41, argument: 40 }, "error 1"],
  ["keyctl", { number: 250 }, "error 1"],
  ["bpf", { number: 321 }, "error 1"],
  ["userfaultfd", { number: 323 }, "error 1"],
  ["perf_event_open", { number: 298 }, "error 1"],
  ["io_uring_setup", { number: 425 }, "error 38"],
  ["read by its x32 number", { number: 0x40000000 }, "error 38"],
  ["clone into new users", { number: 56, argument: 0x10000011 }, "allowed"],
] as const)("%s: %o is %s", (_name, call, expected) => {
  expect(answerOf(closed, { audit: x64, ...call })).toBe(expected);
});

test("calls by another architecture's numbers are refused as a whole", () => {
  expect(answerOf(closed, { audit: 0x40000003, number: 0 })).toBe("error 38");
});

test("where nothing else keeps new users from being made, the filter does", () => {
  expect(answerOf(open, { audit: x64, number: 56, argument: 0x10000011 })).toBe("error 1");
  expect(answerOf(open, { audit: x64, number: 272, argument: 0x10000000 })).toBe("error 1");
  expect(answerOf(open, { audit: x64, number: 435 })).toBe("error 38");
  expect(answerOf(open, { audit: x64, number: 56, argument: 0x11 })).toBe("allowed");
  expect(answerOf(open, { audit: x64, number: 0 })).toBe("allowed");
});

test("on a machine whose numbers nobody wrote down everything passes", () => {
  expect(answerOf(buildSeccompFilter("riscv64", false), { audit: 1, number: 250 })).toBe("allowed");
});
