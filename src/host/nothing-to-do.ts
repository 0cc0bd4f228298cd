import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../contracts/answer.ts";
import { findHome } from "./home.ts";
import type { Place } from "./place.ts";
import { reply } from "./reply.ts";

const documents = [
  { path: "ROADMAP.md", what: "a roadmap" },
  { path: join(".planning", "ROADMAP.md"), what: "a roadmap" },
  { path: "_docs", what: "a staged project" },
  { path: join("quality", "run_state.jsonl"), what: "a quality run" },
];

/** No goal, and nothing to take up: a goal is never guessed, but what lies here is named. */
export function invalidGoal(place: Place, input: { readonly run?: string | undefined }): Answer {
  const root = findHome(place.cwd)?.root ?? place.cwd;
  const found = documents
    .filter(({ path }) => existsSync(join(root, path)))
    .map(({ path, what }) => `found ${what} (${path}): autopilot "complete what ${path} describes"`);
  return reply("objective_schema_invalid", {
    run_id: input.run ?? null,
    state: "idle",
    message: "There is no goal, and no open run to take up.",
    remediation: ['autopilot "what you want done" --done-criteria "it works :: npm test"', ...found],
    data: { missing_fields: ["goal"] },
  });
}
