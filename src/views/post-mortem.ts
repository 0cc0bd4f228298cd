// post-mortem: a failed phase's post-mortem as a page. The JSON beside it (`phase-<id>-postmortem.json`) is the data itself.

import type { PostMortem } from "../contracts/roadmap-reports.ts";
import { inCode, inText, list, section, table } from "./markdown.ts";

/** Where both lie, below `.autopilot/diagnostics/`. */
export const postMortemName = (phase: string): string => `phase-${phase}-postmortem.json`;

export function postMortemPage(post: PostMortem): string {
  const { root_cause: cause, evidence } = post;
  return [
    `# Post-mortem: phase ${inText(post.phase_id)}, ${inText(post.phase_name)}`,
    "",
    `Written ${post.timestamp}. Status: ${post.status}.`,
    ...section("Root cause", [
      `**${cause.category}** in the step ${inText(cause.step)}, first seen ${cause.first_observed_at}.`,
      "",
      inText(cause.description, 500),
    ]),
    ...section(
      "Timeline",
      table(
        ["Time", "Step", "Event", "Status"],
        post.timeline.map(({ timestamp, step, event, status }) => [timestamp, inText(step), inText(event), status]),
      ),
    ),
    ...section("Commands run", list(evidence.commands_run.map((line) => inCode(line)))),
    ...section("Files checked", list(evidence.files_checked.map((line) => inText(line)))),
    ...section(
      "Attempted fixes",
      post.attempted_fixes.length === 0
        ? ["None."]
        : post.attempted_fixes.flatMap(({ attempt, description, commit_sha, resolved, remaining }) => [
            `${attempt}. ${inText(description)}${commit_sha === null ? "" : ` (${inText(commit_sha)})`}`,
            `   resolved: ${resolved.map((item) => inCode(item)).join(", ") || "nothing"}; remaining: ${remaining.map((item) => inCode(item)).join(", ") || "nothing"}`,
          ]),
    ),
    ...section("Prevention rule", [inText(post.prevention_rule, 500)]),
    "",
  ].join("\n");
}
