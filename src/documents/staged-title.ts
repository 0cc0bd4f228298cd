// staged-title: by what the state file of a staged project is known, whatever it is called.

export const isTitle = (text: string): boolean => /^ {0,3}#\s+Autopilot State\s*$/.test(text);

/** Whether a text means to be such a file, whatever it is called. */
export function isStagedState(text: string): boolean {
  const lines = text
    .slice(0, 20_000)
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\n|\r/);
  if (lines.some((line) => isTitle(line.trimStart()))) return true;
  const at = lines.findIndex((line) => /^##\s+Current Step\s*$/.test(line));
  const next = lines.findIndex((line, index) => index > at && line.includes("#"));
  return at >= 0 && lines.slice(at + 1, next === -1 ? undefined : next).some((line) => /^\s*flow\s*:/.test(line));
}
