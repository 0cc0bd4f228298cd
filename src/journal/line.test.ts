import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Event } from "../contracts/event.ts";
import { InvariantBroken } from "../kit/invariant.ts";
import type { Batch } from "./batch.ts";
import { JournalFailure } from "./journal-failure.ts";
import { addLine, findLineFault, genesis, lineBytesMax } from "./line.ts";
import { skipped, surveyed } from "./scene.test-support.ts";

const stamp = { epoch: 1, ts: "2026-01-02T03:04:05.678Z", activeMs: 7 };

function writeLines(...events: Event[]) {
  const batch: Batch = { bytes: Buffer.alloc(16), used: 0 };
  const position = { ...genesis };
  const entries = events.map((event) => addLine(batch, position, stamp, event));

  return {
    batch,
    position,
    entries,
    lines: batch.bytes.toString("utf8", 0, batch.used).split("\n"),
  };
}

describe("a line", () => {
  test("is JSON in a fixed order, the first with the format's version", () => {
    const { lines, position } = writeLines(skipped(1), skipped(2));
    const head = `{"seq":1,"journal":1,"epoch":1,"ts":"2026-01-02T03:04:05.678Z","active_ms":7,"event":"step_skipped","actor":"system","reason_code":"ok","walk":"1","step":"step-1","prev":"${"0".repeat(64)}"`;
    const first = `${head},"crc":"${crc32(head).toString(16).padStart(8, "0")}"}`;
    expect(lines[0]).toBe(first);
    expect(lines[1]).toMatch(/^\{"seq":2,"epoch":1,"ts"/);
    expect(lines[1]).toContain(`,"prev":"${hash("sha256", first)}","crc":"`);
    expect(lines[2]).toBe("");
    expect(position).toEqual({
      seq: 2,
      epoch: 1,
      activeMs: 7,
      byte: lines.join("\n").length,
      prev: hash("sha256", lines[1] ?? ""),
    });
  });

  test("comes back as a replay reads it, whatever order and oddities the event had", () => {
    const odd = {
      walk: "\ud800 \u2028 ü",
      step: "s",
      reason_code: "ok",
      actor: "system",
      event: "step_skipped",
    } as Event;

    const nested = { ...surveyed("a"), gone: [-0, Number.NaN, undefined] } as unknown as Event;
    const hidden = { ...skipped(3), detail: undefined, n: -0 } as unknown as Event;
    const { entries, lines } = writeLines(skipped(1), odd, nested, hidden);
    const read = lines.slice(0, -1).map((line) => JSON.parse(line) as unknown);
    expect(entries.map((entry) => JSON.stringify(entry))).toEqual(lines.slice(0, -1));
    expect(entries).toStrictEqual(read);
  });

  test("comes back as a replay reads it, with whatever is nested in it", () => {
    const deep = { list: [1, "ü", null, [true, { a: {} }]], "1": 2, none: null };
    const odd = [
      { a: new Date(0) },
      { a: { toJSON: () => "b" } },
      { a: [undefined] },
      { a: [, 1] }, // oxlint-disable-line no-sparse-arrays
      { a: new Map([[1, 2]]) },
      { a: Object.create(null) as unknown },
      { a: JSON.parse('{"__proto__":{"b":1}}') as unknown },
      { a: { b: Number.POSITIVE_INFINITY } },
    ];
    const events = [deep, ...odd].map((more) => ({ ...skipped(1), more }) as unknown as Event);
    const { entries, lines } = writeLines(skipped(1), ...events);
    const read = lines.slice(0, -1).map((line) => JSON.parse(line) as unknown);
    expect(entries.map((entry) => JSON.stringify(entry))).toEqual(lines.slice(0, -1));
    expect(entries).toStrictEqual(read);
    deep.list.push(2);
    expect(entries[1]).toStrictEqual(read[1]);
  });

  test("does not change when whoever made the event changes it later", () => {
    const gone = ["a"];
    const { entries } = writeLines(skipped(1), { ...surveyed(), gone } as Event);
    gone.push("b");
    expect(entries[1]).toMatchObject({ gone: ["a"] });
  });

  test("over a mebibyte is refused, and the batch stays as it was", () => {
    const { batch, position } = writeLines(skipped(1));
    const before = { used: batch.used, position: { ...position } };
    const large = (step: string) => () =>
      addLine(batch, position, stamp, { ...skipped(2), step } as Event);
    expect(large("x".repeat(lineBytesMax))).toThrow("over the limit");
    // Fewer characters than the limit, but more bytes.
    expect(large("ü".repeat(lineBytesMax * 0.6))).toThrow(JournalFailure);
    expect({ used: batch.used, position }).toEqual(before);
  });

  test("has no room for names that the journal adds", () => {
    expect(() => writeLines({ ...skipped(1), seq: 9 } as unknown as Event)).toThrow(
      InvariantBroken,
    );
  });

  test("is found at fault on its bytes alone", () => {
    const { batch, lines } = writeLines(skipped(1));
    const end = batch.used - 1;
    expect(findLineFault(batch.bytes, 0, end)).toBeNull();
    expect(findLineFault(batch.bytes, 0, end - 1)).toBe("not an entry");
    expect(findLineFault(Buffer.from("{}"), 0, 2)).toBe("not an entry");
    const changed = Buffer.from((lines[0] ?? "").replace("step-1", "step-2"));
    expect(findLineFault(changed, 0, changed.length)).toBe("its checksum does not match");
  });

  test("is at fault if its checksum is written in capitals", () => {
    // Most checksums have a letter, so one of the first steps' has.
    const line = Array.from(
      { length: 20 },
      (_, index) => writeLines(skipped(index)).lines[0] ?? "",
    ).find((text) => /"crc":"\d*[a-f]/.test(text));
    const shouted = Buffer.from(
      (line ?? "").replace(/(?<="crc":")\w+/, (checksum) => checksum.toUpperCase()),
    );
    expect(findLineFault(shouted, 0, shouted.length)).toBe("its checksum does not match");
  });
});
