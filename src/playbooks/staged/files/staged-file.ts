// staged-file: `_docs/_autopilot_state.md` in the user's checkout, which people and other tools may edit while a run continues.
//
// Invariants:
//   O1. It is never overwritten unread: foreign edits stay until they have been read and their differences journaled.
//   O2. What the runner wrote is recognised after a crash: it is recorded before it is written.
//   O3. It is never deleted. What isn't a state file is moved into the run's own folder before one is written.

import { stagedStatePath } from "../../../contracts/staged-state.ts";
import { isStagedState } from "../../../documents/staged-title.ts";
import { setAside } from "../../contract/generated-files.ts";
import { readBounded, replaceWholeFile, writeWholeFile } from "../../contract/whole-file.ts";

export type Looked =
  | { readonly kind: "absent" }
  /** As the runner left it, or as it was read before. */
  | { readonly kind: "known"; readonly text: string }
  /** Edited by others since. `before`: what the runner wrote last, or read first. */
  | { readonly kind: "edited"; readonly text: string; readonly before: string }
  | { readonly kind: "unusable"; readonly why: string };

/** What their Current Step said when they last changed it: optional steps that come before it are passed over. */
export type StatedStep = { readonly step: number | "done"; readonly status: string };

type Memory = {
  /** The last texts the runner wrote, the newest last. */
  readonly written: readonly string[];
  /** Whether one of them was ever written: until then the text that the run was drafted with isn't an edit. */
  readonly isPlaced: boolean;
  /** The last foreign text that was read and journaled. */
  readonly read: string | null;
  /** One that was read and is about to be journaled. */
  readonly pending: { readonly text: string; readonly after: number } | null;
  readonly said: StatedStep | null;
};

const fileBytesMax = 1024 * 1024;
/** A foreign edit is journaled whole, and a journal line has a limit. */
const editedCharsMax = 200_000;
const memoryName = "staged-file.json";
const writtenMax = 2;
const nothing: Memory = { written: [], isPlaced: false, read: null, pending: null, said: null };

/** Reads the file as it is there; null if there is none that can be read. */
export async function readStagedText(root: string): Promise<{ readonly text: string } | { readonly why: string } | null> {
  const found = await readBounded(root, stagedStatePath, fileBytesMax);
  if (found.kind === "absent") return null;
  if (found.kind === "unusable") return { why: `${stagedStatePath} ${found.why}` };
  const text = found.bytes.toString("utf8");
  if (found.bytes.includes(0) || !Buffer.from(text, "utf8").equals(found.bytes)) return { why: `${stagedStatePath} is no UTF-8 text` };
  return { text };
}

export class StagedFile {
  readonly #root: string;
  readonly #folder: string;

  /** `folder`: the run's own, which remembers between two lives. */
  constructor(root: string, folder: string) {
    this.#root = root;
    this.#folder = folder;
  }

  /** `first`: the text that the run was drafted with, if there was one. */
  async look(first: string | null): Promise<Looked> {
    const found = await readStagedText(this.#root);
    if (found === null) return { kind: "absent" };
    if ("why" in found) return { kind: "unusable", why: found.why };
    const { text } = found;
    const { written, read, isPlaced } = await this.#memory();
    if (written.includes(text) || text === read || (text === first && !isPlaced)) return { kind: "known", text };
    if (!isStagedState(text)) return { kind: "unusable", why: `${stagedStatePath} isn't a state file` };
    if (text.length > editedCharsMax)
      return {
        kind: "unusable",
        why: `${stagedStatePath} was edited and has ${text.length} characters, at most ${editedCharsMax} are read`,
      };
    return { kind: "edited", text, before: written.at(-1) ?? read ?? first ?? "" };
  }

  /** Whether a text was read that is not yet confirmed as journaled. */
  async isPending(): Promise<boolean> {
    return (await this.#memory()).pending !== null;
  }

  async said(): Promise<StatedStep | null> {
    return (await this.#memory()).said;
  }

  /** A foreign edit has been read and is journaled next; until `accept` it stays as it is. */
  async pend(text: string, said: StatedStep | null, seq: number): Promise<void> {
    const memory = await this.#memory();
    await this.#remember({ ...memory, pending: { text, after: seq }, said: said ?? memory.said });
  }

  /** A pending edit may be overwritten once its difference is in the journal. `seq` is that of the newest such entry. */
  async accept(seq: number): Promise<void> {
    const memory = await this.#memory();
    if (memory.pending !== null && seq > memory.pending.after)
      await this.#remember({ ...memory, read: memory.pending.text, pending: null });
  }

  /** False if an unread foreign text is there. */
  async write(text: string, first: string | null): Promise<boolean> {
    const there = await this.look(first);
    if (there.kind === "edited") return false; // O1
    if (there.kind === "known" && there.text === text) return true;
    if (there.kind === "unusable") await setAside(this.#root, stagedStatePath, this.#folder); // O3
    const previousMemory = await this.#memory();
    const memory = {
      ...previousMemory,
      written: [...previousMemory.written.filter((earlier) => earlier !== text), text].slice(-writtenMax),
    };
    await this.#remember(memory); // O2
    const isAsSeen = async (): Promise<boolean> => {
      const now = await readStagedText(this.#root);
      return now === null || ("text" in now && there.kind === "known" && now.text === there.text);
    };
    if (!(await replaceWholeFile(this.#root, stagedStatePath, text, isAsSeen))) {
      await this.#remember(previousMemory); // O1: what was never in its place is nothing that others could have edited
      return false;
    }
    if (!memory.isPlaced) await this.#remember({ ...memory, isPlaced: true });
    return true;
  }

  async #memory(): Promise<Memory> {
    const found = await readBounded(this.#folder, memoryName, 8 * fileBytesMax);
    if (found.kind !== "read") return nothing;
    try {
      return { ...nothing, ...(JSON.parse(found.bytes.toString("utf8")) as Partial<Memory>) };
    } catch {
      return nothing; // damaged: then everything there counts as foreign, and is read
    }
  }

  async #remember(memory: Memory): Promise<void> {
    await writeWholeFile(this.#folder, memoryName, `${JSON.stringify(memory)}\n`);
  }
}
