import type { Answer } from "../contracts/answer.ts";
import { findingText } from "../kit/finding.ts";
import { lyingHere, shownAs, takenUpBy } from "./lying-here.ts";
import type { Place } from "../project/place.ts";
import { reply } from "../project/reply.ts";

/** No run at all: the same fields, with nothing in them, so that a program need not ask first; and what lies here to be taken up. */
export async function idle(place: Place, root: string | null): Promise<Answer> {
  const lying = root === null ? [] : await lyingHere(place, root);
  const next = [...takenUpBy(lying), 'autopilot "what you want done"'];
  const page = [
    "There is no run here.",
    ...lying.flatMap(({ standing, files, findings }) => [
      `  Found ${standing} (${files.join(", ")})`,
      ...findings.map((finding) => `    ${finding.severity === "error" ? "✗" : "!"} ${findingText(finding)}`),
    ]),
    ...(lying.length === 0 ? [] : ["", "Next", ...next.map((action) => `  → ${action}`)]),
  ];
  const data = {
    objective: null,
    budget: { limits: {}, counters: {}, ratios: {}, warnings: [] },
    progress: { completed_steps: [], pending_steps: [], blockers: [] },
    phases: [],
    isolation: null,
    verdict: null,
    next_actions: next,
    found: lying.map(shownAs),
  };
  return reply("run_idle", {
    state: "idle",
    message: "There is no run here.",
    remediation: next,
    data,
    ...(lying.length === 0 ? {} : { page }),
  });
}
