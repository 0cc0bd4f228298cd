import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseLog } from "../views/parse-quality-log.ts";
import { QualityLog } from "../views/quality-log.ts";
import { Volume } from "../views/quality-log-volume.ts";
import { QualityLogFile } from "./quality-log-file.ts";
import { sha256 } from "../../../project/sha256.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "autopilot-quality-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const path = (): string => join(root, "quality/run_state.jsonl");
const lay = (text: string): void => {
  mkdirSync(join(root, "quality"), { recursive: true });
  writeFileSync(path(), text);
};
const lies = (): string => readFileSync(path(), "utf8");

/** A log of these lines, the earlier ones over and on their way to history. */
function logOf(...volumes: readonly (readonly string[])[]): QualityLog {
  const log = new QualityLog(() => null);
  for (const [n, lines] of volumes.entries()) {
    const volume = new Volume(null);
    volume.lines.push(...lines);
    volume.archive = n < volumes.length - 1 ? `quality/history/${n}.run_state.jsonl` : null;
    log.volumes.push(volume);
  }

  return log;
}
const one = ['{"event":"_index"}', '{"event":"run_start"}', '{"event":"phase_start","phase":1}'];
const text = (lines: readonly string[]): string => `${lines.join("\n")}\n`;
const drawn = async (file: QualityLogFile): Promise<boolean> => {
  if ((await file.findDifference()) !== null) return false;
  await file.write();
  return true;
};

describe("run_state.jsonl on disk", () => {
  test("whatever beginning of it lies there, it is completed and never rewritten", async () => {
    for (let cut = 0; cut <= text(one).length; cut++) {
      lay(text(one).slice(0, cut));
      expect(await drawn(new QualityLogFile(root, logOf(one), null))).toBe(true);
      expect(lies()).toBe(text(one));
    }
  });

  test("lines that come later are added; what somebody else adds meanwhile stops it", async () => {
    const log = logOf([...one]);
    const file = new QualityLogFile(root, log, null);
    await drawn(file);
    log.volumes[0]?.lines.push('{"event":"phase_end","phase":1}');
    await drawn(file);
    expect(lies()).toBe(text([...one, '{"event":"phase_end","phase":1}']));
    writeFileSync(path(), `${lies()}{"event":"error"}\n`);
    log.volumes[0]?.lines.push('{"event":"run_end"}');
    expect(await file.findDifference()).toMatchObject({ line: 5, actual: '{"event":"error"}' });
    expect(await drawn(file)).toBe(false);
    expect(lies()).not.toContain("run_end");
  });

  test.each([
    ["another first line", text(['{"event":"other"}', ...one]), 1],
    ["one letter changed in the third", text(one).replace('"phase":1', '"phase":2'), 3],
    ["more than the journal knows", `${text(one)}{"event":"run_end"}\n`, 4],
    ["a blank line too many", `${text(one)}\n`, 4],
  ])("%s: it differs from that line on, and stays", async (_what, found, line) => {
    lay(found);
    const file = new QualityLogFile(root, logOf(one), null);
    expect(await file.findDifference()).toMatchObject({ line });
    await file.write();
    expect(lies()).toBe(found);
  });

  test("a log that is over is completed, moved, and a new one begun; done twice it is done once", async () => {
    for (const found of ["", text(one).slice(0, 25), text(one)]) {
      rmSync(join(root, "quality"), { recursive: true, force: true });
      lay(found);

      for (let life = 0; life < 2; life++) {
        expect(
          await drawn(new QualityLogFile(root, logOf(one, ['{"event":"_index"}']), null)),
        ).toBe(true);
      }

      expect(readFileSync(join(root, "quality/history/0.run_state.jsonl"), "utf8")).toBe(text(one));
      expect(lies()).toBe('{"event":"_index"}\n');
      expect(readdirSync(join(root, "quality/history"))).toHaveLength(1);
    }
  });

  test("another tool's log is gone on with behind its own lines, and is no longer ours to add to once it is another", async () => {
    const theirs = '{"event": "_index", "ts": "2026-05-15T14:32:01Z", "event_types": []}';
    for (const ending of ["", "\n"]) {
      lay(`${theirs}${ending}`);
      const log = new QualityLog(() => null);
      const volume = new Volume(parseLog(theirs));
      volume.lines.push('{"event":"run_end"}');
      log.volumes.push(volume);

      const earlier = {
        bytes: theirs.length + ending.length,
        hash: sha256(Buffer.from(`${theirs}${ending}`)),
        text: `${theirs}${ending}`,
      };
      expect(await drawn(new QualityLogFile(root, log, earlier))).toBe(true);
      expect(lies()).toBe(`${theirs}\n{"event":"run_end"}\n`);
      lay(`${theirs.replace("2026", "2027")}${ending}`);
      expect(await new QualityLogFile(root, log, earlier).findDifference()).toMatchObject({
        line: 1,
      });
    }
  });

  test("a link or a folder in its place is told, and nothing is written through it", async () => {
    mkdirSync(join(root, "quality"));
    writeFileSync(join(root, "elsewhere"), "");
    symlinkSync(join(root, "elsewhere"), path());
    const file = new QualityLogFile(root, logOf(one), null);
    expect(await file.findDifference()).toMatchObject({
      line: 1,
      actual: expect.stringContaining("link") as string,
    });

    expect(readFileSync(join(root, "elsewhere"), "utf8")).toBe("");
    rmSync(path());
    mkdirSync(path());
    expect(await file.findDifference()).toMatchObject({
      actual: expect.stringContaining("folder") as string,
    });
  });
});
