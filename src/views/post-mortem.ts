// post-mortem: renders a failed phase's post-mortem as a page. The JSON file beside it
// (`phase-<id>-postmortem.json`) has the data.

import type { PostMortem } from "../contracts/roadmap-reports.ts";
import {
  markdownCode,
  escapeMarkdown,
  markdownList,
  markdownSection,
  markdownTable,
} from "./markdown.ts";

/**
 * The name of the JSON file, below `.autopilot/diagnostics/`; the page has the same name with
 * `.md`.
 */
export const postMortemName = (phase: string): string => `phase-${phase}-postmortem.json`;

const codeList = (items: readonly string[]): string =>
  items.map((item) => markdownCode(item)).join(", ") || "nothing";

export function postMortemPage(postMortem: PostMortem): string {
  const { root_cause: cause, evidence } = postMortem;
  return [
    `# Post-mortem: phase ${escapeMarkdown(postMortem.phase_id)}, ${escapeMarkdown(postMortem.phase_name)}`,
    "",
    `Written ${postMortem.timestamp}. Status: ${postMortem.status}.`,
    ...markdownSection("Root cause", [
      `**${cause.category}** in the step ${escapeMarkdown(cause.step)}, first seen ${cause.first_observed_at}.`,
      "",
      escapeMarkdown(cause.description, 500),
    ]),
    ...markdownSection(
      "Timeline",
      markdownTable(
        ["Time", "Step", "Event", "Status"],
        postMortem.timeline.map(({ timestamp, step, event, status }) => [
          timestamp,
          escapeMarkdown(step),
          escapeMarkdown(event),
          status,
        ]),
      ),
    ),
    ...markdownSection(
      "Commands run",
      markdownList(evidence.commands_run.map((line) => markdownCode(line))),
    ),
    ...markdownSection(
      "Files checked",
      markdownList(evidence.files_checked.map((line) => escapeMarkdown(line))),
    ),
    ...markdownSection(
      "Attempted fixes",
      postMortem.attempted_fixes.length === 0
        ? ["None."]
        : postMortem.attempted_fixes.flatMap(
            ({ attempt, description, commit_sha, resolved, remaining }) => [
              `${attempt}. ${escapeMarkdown(description)}${commit_sha === null ? "" : ` (${escapeMarkdown(commit_sha)})`}`,
              `   resolved: ${codeList(resolved)}; remaining: ${codeList(remaining)}`,
            ],
          ),
    ),
    ...markdownSection("Prevention rule", [escapeMarkdown(postMortem.prevention_rule, 500)]),
    "",
  ].join("\n");
}
