// staged-title: recognises the state file of a staged project by its content.

export const isTitle = (text: string): boolean => /^ {0,3}#\s+Autopilot State\s*$/.test(text);

/** By its title, or by a section Current Step with a field `flow`. */
export function isStagedState(text: string): boolean {
  const lines = text
    .slice(0, 20_000)
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\n|\r/);
  if (lines.some((line) => isTitle(line.trimStart()))) return true;
  const stepIndex = lines.findIndex((line) => /^##\s+Current Step\s*$/.test(line));
  const nextHeading = lines.findIndex((line, index) => index > stepIndex && line.includes("#"));
  return (
    stepIndex >= 0 && lines.slice(stepIndex + 1, nextHeading === -1 ? undefined : nextHeading).some((line) => /^\s*flow\s*:/.test(line))
  );
}
