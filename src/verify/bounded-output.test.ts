import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { collectOutput, readLastLines, toStoredOutput } from "./bounded-output.ts";

const limits = { headBytesMax: 8, tailBytesMax: 8, hashBytesMax: 20 };
const collected = (chunks: readonly (string | Buffer)[], within = limits) => {
  const collector = collectOutput(within);
  for (const chunk of chunks) collector.add(Buffer.from(chunk));
  return collector.take();
};
const sha = (text: string) => createHash("sha256").update(text).digest("hex");

test("what fits is kept whole, however it was cut into chunks", () => {
  for (const chunks of [
    ["abcdefghijklmnop"],
    ["abc", "defghijk", "lmnop"],
    "abcdefghijklmnop".split(""),
  ]) {
    const output = collected(chunks);
    expect(toStoredOutput(output).toString()).toBe("abcdefghijklmnop");
    expect(output).toMatchObject({
      totalBytes: 16,
      omittedBytes: 0,
      hash: sha("abcdefghijklmnop"),
    });
  }
});

test("one byte more, and the middle is left out and said to be", () => {
  const output = collected(["abcdefgh", "i", "jklmnopq"]);
  expect(output).toMatchObject({ totalBytes: 17, omittedBytes: 1 });
  expect(toStoredOutput(output).toString()).toBe(
    `abcdefgh\n[autopilot: 1 of 17 bytes left out; SHA-256 of the first 17: ${sha("abcdefghijklmnopq")}]\njklmnopq`,
  );
});

test("the hash stops at its bound and the count does not", () => {
  const output = collected(["a".repeat(15), "b".repeat(15)]);
  expect(output).toMatchObject({
    totalBytes: 30,
    hashedBytes: 20,
    hash: sha(`${"a".repeat(15)}bbbbb`),
  });
});

test("an excerpt is the last lines, valid text whatever the bytes, within its bytes even so", () => {
  const roomy = { headBytesMax: 64, tailBytesMax: 64, hashBytesMax: 64 };
  expect(readLastLines(collected(["1\n2\n3\n4\n"], roomy), 2, 100)).toBe("3\n4");
  expect(readLastLines(collected([Buffer.from([0x61, 0xff, 0xfe, 0x62])], roomy), 9, 100)).toBe(
    "a\ufffd\ufffdb",
  );

  const wide = readLastLines(collected([Buffer.alloc(60, 0xff)], roomy), 9, 30);
  expect(Buffer.byteLength(wide)).toBeLessThanOrEqual(30);
  // The cut falls inside the é of "aé": half a character is dropped, not shown as a broken one.
  expect(readLastLines(collected(["aé12"], roomy), 9, 3)).toBe("12");

  for (const bytesMax of [0, -5]) {
    expect(readLastLines(collected(["aé12"], roomy), 9, bytesMax)).toBe("");
  }
});
