import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Entry } from "../../contracts/event.ts";
import type { RunView } from "../../core/state.ts";
import { openFileWriter } from "./file-writer.ts";

const entry = {} as Entry;
const run = {} as RunView;

describe("the file writer at which a run's files are drawn", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function opened(draw: () => Promise<void> = () => Promise.resolve()) {
    const seen: string[] = [];
    const reported: string[] = [];

    const playbook = {
      onEntry: () => void seen.push("take"),
      writeFiles: (now: string) => {
        seen.push(`draw ${now}`);
        return draw();
      },
    };

    let minute = 0;
    const fileWriter = openFileWriter(
      playbook,
      { now: () => `minute ${minute++}` },
      (problem) => void reported.push(problem),
    );

    return { fileWriter, seen, reported };
  }

  test("who writes an entry waits for no file: entries are noted at once, the files are drawn later and once for many", async () => {
    const { fileWriter, seen } = opened();
    for (let n = 0; n < 100; n++) fileWriter.onEntry(entry, run);
    expect(seen).toEqual(Array.from({ length: 100 }, () => "take"));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(seen.slice(100)).toEqual(["draw minute 0"]);
    await fileWriter.close();
    expect(seen).toHaveLength(101);
  });

  test("what the playbook's record says of a phase is handed on; one without a record says nothing", async () => {
    const { fileWriter } = opened();
    expect(fileWriter.phaseNotes("3")).toBe("");
    await fileWriter.close();

    const playbook = {
      onEntry: () => undefined,
      writeFiles: () => Promise.resolve(),
      phaseNotes: (phase: string) => `of ${phase}`,
    };
    const other = openFileWriter(playbook, { now: () => "" }, () => undefined);
    expect(other.phaseNotes("3")).toBe("of 3");
    await other.close();
  });

  test("a live event that cannot be stored is reported once, and does not reach the agent's turn", async () => {
    const reported: string[] = [];
    const onLiveEvent = (): never => {
      throw new Error("no space left on device");
    };

    const playbook = { onEntry: () => undefined, writeFiles: () => Promise.resolve(), onLiveEvent };
    const fileWriter = openFileWriter(
      playbook,
      { now: () => "" },
      (problem) => void reported.push(problem),
    );

    for (let n = 0; n < 3; n++) {
      fileWriter.onLiveEvent({ signal: "said", attempt: "1@1/do#1", text: "" });
    }

    expect(reported).toEqual(["The run's files could not be written: no space left on device"]);
    await fileWriter.close();
  });

  test("a step that takes long is no crash: the files are refreshed at least every five minutes", async () => {
    const { fileWriter, seen } = opened();
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(seen.length).toBeGreaterThanOrEqual(12);
    await fileWriter.close();
    const drawn = seen.length;
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(seen).toHaveLength(drawn);
  });

  test("what was noted last is drawn before it closes, and never two drawings at once", async () => {
    let busy = 0;
    let most = 0;

    const { fileWriter, seen } = opened(async () => {
      most = Math.max(most, ++busy);
      await new Promise((done) => setTimeout(done, 500));
      busy--;
    });

    for (let n = 0; n < 5; n++) {
      fileWriter.onEntry(entry, run);
      await vi.advanceTimersByTimeAsync(210);
    }

    fileWriter.onEntry(entry, run);
    const closed = fileWriter.close();
    await vi.advanceTimersByTimeAsync(10_000);
    await closed;
    expect(most).toBe(1);
    expect(seen.at(-1)).toMatch(/^draw/);
  });

  test("a file that cannot be drawn is told once and ends nothing", async () => {
    const { fileWriter, seen, reported } = opened(() => Promise.reject(new Error("no room")));
    for (let n = 0; n < 3; n++) {
      fileWriter.onEntry(entry, run);
      await vi.advanceTimersByTimeAsync(300);
    }

    await fileWriter.close();
    expect(seen.filter((one) => one.startsWith("draw")).length).toBeGreaterThan(1);
    expect(reported).toEqual(["The run's files could not be written: no room"]);
  });
});
