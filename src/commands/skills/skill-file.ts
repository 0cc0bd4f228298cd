// skill-file: an installed skill: its text with a stamp, and the classification of a file found at
// its path. Pure.
//
// Invariants:
//   K1. The stamp holds the hash of everything else in the file, so that one changed character
//       makes it an edited file.
//   K2. Only a file that is ours and unedited may be replaced or removed.

import { sha256 } from "../../project/sha256.ts";

/** `foreign`: a file of that name without our stamp. */
export type SkillState = "absent" | "current" | "outdated" | "edited" | "foreign";

/** `  autopilot/content: "0123456789abcdef"`, a line of the front matter. */
const stampLine = /^ {2}autopilot\/content: "([0-9a-f]{16})"\n/m;
const frontMatterEnd = "\n---\n";

/** The skill with its stamp as the last entries of the front matter's `metadata`. */
export function stampSkill(text: string, version: string): string {
  const end = text.indexOf(frontMatterEnd) + 1;
  const versioned = `${text.slice(0, end)}  autopilot/version: "${version}"\n${text.slice(end)}`;
  const index = versioned.indexOf(frontMatterEnd) + 1;

  return `${versioned.slice(0, index)}  autopilot/content: "${textHash(versioned)}"\n${versioned.slice(index)}`; // K1
}

/** `wantedText`: the skill as this version would write it. */
export function classifySkill(currentText: string | null, wantedText: string): SkillState {
  if (currentText === null) return "absent";
  if (currentText === wantedText) return "current";
  const stamp = stampLine.exec(currentText);
  if (stamp === null) return "foreign";

  return stamp[1] === textHash(currentText.replace(stampLine, "")) ? "outdated" : "edited";
}

/** Whether the file is ours and unedited (K2). */
export const isOwnSkill = (state: SkillState): boolean =>
  state === "current" || state === "outdated";

const textHash = (text: string): string => sha256(text).slice(0, 16);
