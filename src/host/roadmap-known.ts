// roadmap-known: which phases earlier runs brought to an end, as state.json and the archive tell it, whichever tool wrote them.
// What cannot be read knows nothing; whoever needs the file itself says what is wrong with it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { phaseIdOf } from "../flows/documents/phase-id.ts";
import type { Home } from "./home.ts";

const archivesMax = 1_000;

/** Completed somewhere: true. Begun and never completed: false. Not in it: nobody has begun it, and the roadmap's own box decides. */
export function knownPhases(home: Pick<Home, "folder">): ReadonlyMap<string, boolean> {
  const known = new Map<string, boolean>();
  const current = phasesIn(join(home.folder, "state.json")) ?? phasesIn(join(home.folder, "state.json.backup"));
  for (const phases of [current, ...archivesIn(join(home.folder, "archive")).map(phasesIn)]) {
    for (const [key, phase] of Object.entries(phases ?? {})) {
      const id = phaseIdOf(key.replace(/^phase_/, ""));
      const status = statusOf(phase);
      if (id === null || status === null || status === "not_started") continue;
      known.set(id, known.get(id) === true || status === "completed");
    }
  }
  return known;
}

function archivesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^run-.*\.json$/.test(name))
      .toSorted()
      .slice(-archivesMax)
      .map((name) => join(folder, name));
  } catch {
    return []; // nothing was archived yet
  }
}

/** Null where it is no state. */
function phasesIn(path: string): Readonly<Record<string, unknown>> | null {
  try {
    const state = JSON.parse(readFileSync(path, "utf8").replace(/^\ufeff/, "")) as unknown;
    return isTree(state) && isTree(state["phases"]) ? state["phases"] : null;
  } catch {
    return null;
  }
}

const statusOf = (phase: unknown): string | null => (isTree(phase) && typeof phase["status"] === "string" ? phase["status"] : null);
const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
