// staged-file: reads and writes `_docs/_autopilot_state.md`, which people and other tools may edit
// while a run is active.
//
// Invariants:
//   O1. Edits by others are never overwritten before they have been read and their differences
//       journaled; one that is too long is moved away (O3).
//   O2. The runner recognises its own text after a crash: it is recorded before it is written.
//   O3. The file is never deleted. Anything else in its place is moved into the run's own folder
//       before it is written.

import { stagedStatePath } from "../../../contracts/staged-state.ts";
import { isStagedState } from "../../../documents/staged-title.ts";
import { setAside } from "../../contract/generated-files.ts";
import { readBounded, replaceWholeFile, writeWholeFile } from "../../contract/whole-file.ts";

export type StagedFileStatus =
  | { readonly kind: "absent" }
  /** Its text is what the runner wrote or has already read. */
  | { readonly kind: "known"; readonly text: string }
  /**
   * Edited by others since. `baseText` is what they edited: what the runner wrote last; before its
   * first write, what it read last.
   */
  | { readonly kind: "edited"; readonly text: string; readonly baseText: string }
  | { readonly kind: "unusable"; readonly why: string };

/** The Current Step as others last edited it: optional steps before it are skipped. */
export type StatedStep = { readonly step: number | "done"; readonly status: string };

/** Kept in the run's folder between two processes, under these names. */
type Memory = {
  /** The last texts the runner wrote, the newest last. */
  readonly written: readonly string[];
  /**
   * Whether the file was ever written: until then the text that the run was drafted with is not an
   * edit.
   */
  readonly isPlaced: boolean;
  /** The last foreign text that was read and journaled. */
  readonly read: string | null;
  /**
   * A foreign text that was read and is about to be journaled. `after`: the newest entry at that
   * time.
   */
  readonly pending: { readonly text: string; readonly after: number } | null;
  /** The Current Step that others last wrote. */
  readonly statedStep: StatedStep | null;
};

const fileBytesMax = 1024 * 1024;
/** A foreign edit is journaled whole, and a journal line has a limit. */
const editedCharsMax = 200_000;
const memoryName = "staged-file.json";
/** After a crash the file has the text before the last, or the last. */
const writtenMax = 2;
const emptyMemory: Memory = {
  written: [],
  isPlaced: false,
  read: null,
  pending: null,
  statedStep: null,
};

/** The text of the file, or why it cannot be read; null if there is no file. */
export async function readStagedText(
  root: string,
): Promise<{ readonly text: string } | { readonly why: string } | null> {
  const content = await readBounded(root, stagedStatePath, fileBytesMax);
  if (content.kind === "absent") return null;
  if (content.kind === "unusable") return { why: `${stagedStatePath} ${content.why}` };
  const text = content.bytes.toString("utf8");
  if (content.bytes.includes(0) || !Buffer.from(text, "utf8").equals(content.bytes)) {
    return { why: `${stagedStatePath} is no UTF-8 text` };
  }

  return { text };
}

export class StagedFile {
  readonly #root: string;
  readonly #folder: string;

  /** `folder` is the run's own; it keeps what must be known after a restart. */
  constructor(root: string, folder: string) {
    this.#root = root;
    this.#folder = folder;
  }

  /**
   * What is in the file now. `draftedText` is the text that the run was drafted with, if there was
   * one.
   */
  async inspect(draftedText: string | null): Promise<StagedFileStatus> {
    const content = await readStagedText(this.#root);
    if (content === null) return { kind: "absent" };
    if ("why" in content) return { kind: "unusable", why: content.why };
    const { text } = content;
    const { written, read, isPlaced } = await this.#memory();
    if (written.includes(text) || text === read || (text === draftedText && !isPlaced)) {
      return { kind: "known", text };
    }

    if (!isStagedState(text)) {
      return { kind: "unusable", why: `${stagedStatePath} isn't a state file` };
    }

    if (text.length > editedCharsMax) {
      return {
        kind: "unusable",
        why: `${stagedStatePath} was edited and has ${text.length} characters, at most ${editedCharsMax} are read`,
      };
    }

    return { kind: "edited", text, baseText: written.at(-1) ?? read ?? draftedText ?? "" };
  }

  /** Whether a text was read that is not yet confirmed as journaled. */
  async isPending(): Promise<boolean> {
    return (await this.#memory()).pending !== null;
  }

  async statedStep(): Promise<StatedStep | null> {
    return (await this.#memory()).statedStep;
  }

  /** A foreign edit has been read and is journaled next; until `accept` it stays as it is. */
  async markPending(text: string, statedStep: StatedStep | null, seq: number): Promise<void> {
    const memory = await this.#memory();
    await this.#remember({
      ...memory,
      pending: { text, after: seq },
      statedStep: statedStep ?? memory.statedStep,
    });
  }

  /**
   * A pending edit may be overwritten once its difference is in the journal. `seq` is that of the
   * newest such entry.
   */
  async accept(seq: number): Promise<void> {
    const memory = await this.#memory();
    if (memory.pending !== null && seq > memory.pending.after) {
      await this.#remember({ ...memory, read: memory.pending.text, pending: null });
    }
  }

  /** False if an unread foreign text is there. */
  async write(text: string, draftedText: string | null): Promise<boolean> {
    const status = await this.inspect(draftedText);
    if (status.kind === "edited") return false; // O1
    if (status.kind === "known" && status.text === text) return true;
    if (status.kind === "unusable") await setAside(this.#root, stagedStatePath, this.#folder); // O3
    const previousMemory = await this.#memory();
    const earlierTexts = previousMemory.written.filter((earlierText) => earlierText !== text);
    const memory = { ...previousMemory, written: [...earlierTexts, text].slice(-writtenMax) };
    await this.#remember(memory); // O2

    const isUnchanged = async (): Promise<boolean> => {
      const current = await readStagedText(this.#root);
      return (
        current === null ||
        ("text" in current && status.kind === "known" && current.text === status.text)
      );
    };
    if (!(await replaceWholeFile(this.#root, stagedStatePath, text, isUnchanged))) {
      await this.#remember(previousMemory); // O1: this text was never in the file, so it must not count as the one that others edited
      return false;
    }

    if (!memory.isPlaced) await this.#remember({ ...memory, isPlaced: true });
    return true;
  }

  async #memory(): Promise<Memory> {
    const file = await readBounded(this.#folder, memoryName, 8 * fileBytesMax);
    if (file.kind !== "read") return emptyMemory;
    try {
      return { ...emptyMemory, ...(JSON.parse(file.bytes.toString("utf8")) as Partial<Memory>) };
    } catch {
      return emptyMemory; // damaged: then any text in the file counts as foreign, and is read
    }
  }

  async #remember(memory: Memory): Promise<void> {
    await writeWholeFile(this.#folder, memoryName, `${JSON.stringify(memory)}\n`);
  }
}
