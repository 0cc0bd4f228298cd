// Writes the skills of plugin/skills into src/commands/skills/embedded.ts, so that a bundle of one file holds them.
// Run it after every change there; a test compares.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { keyOf, quoted } from "./embed-flows.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const skills = join(root, "plugin", "skills");

/** The text of embedded.ts as it ought to be. */
export function embeddedSkills() {
  // Git may check text files out with CRLF; the embedded text is the same everywhere.
  const textOf = (name) =>
    readFileSync(join(skills, name, "SKILL.md"), "utf8").replaceAll("\r\n", "\n");
  const lines = readdirSync(skills)
    .sort()
    .map((name) => `  ${keyOf(name)}:\n    ${quoted(textOf(name))},\n`);
  return `// Written by scripts/embed-skills.mjs from plugin/skills/*/SKILL.md. Edit those, then run it again.

export const embeddedSkills: Readonly<Record<string, string>> = {
${lines.join("")}};
`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  writeFileSync(join(root, "src", "commands", "skills", "embedded.ts"), embeddedSkills());
