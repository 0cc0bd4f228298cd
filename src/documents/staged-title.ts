// staged-title: recognises the state file of a staged project by its content.

/** `# Autopilot State` */
export const isStagedTitle = (text: string): boolean => /^ {0,3}#\s+Autopilot State\s*$/.test(text);

/** Only the beginning of a file is read. */
const readCharsMax = 20_000;

/** By its title, or by a section Current Step with a field `flow`. */
export function isStagedState(text: string): boolean {
  const lines = text
    .slice(0, readCharsMax)
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\n|\r/);
  if (lines.some((line) => isStagedTitle(line.trimStart()))) return true;
  const stepIndex = lines.findIndex((line) => /^##\s+Current Step\s*$/.test(line));
  if (stepIndex < 0) return false;
  const nextHeading = lines.findIndex((line, index) => index > stepIndex && line.includes("#"));
  const section = lines.slice(stepIndex + 1, nextHeading === -1 ? undefined : nextHeading);

  return section.some((line) => /^\s*flow\s*:/.test(line));
}
