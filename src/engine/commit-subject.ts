// commit-subject: builds the subject line of an attempt's commit from its phase, step and changed paths.

/** What the commit of one attempt is called: the phase and step it belongs to, and what was changed. */
export function commitSubject(order: {
  readonly phase: string;
  /** The phase's name, if it has one besides its id. */
  readonly name: string | undefined;
  /** The step or the task. */
  readonly step: string;
  readonly paths: readonly string[];
  readonly goal: string;
}): string {
  const { phase, name, step, paths, goal } = order;
  const isNamed = name !== undefined && name.toLowerCase() !== phase.toLowerCase();
  const place = `${!isNamed ? phase : `${phase} ${name}`}/${step}`;
  const what = paths.length === 0 ? (goal.split("\n", 1)[0] ?? "") : `change ${shown(paths)}`;
  return cut(`${place}: ${what}`, subjectCharsMax);
}

const subjectCharsMax = 100;
const pathsShownMax = 2;

const shown = (paths: readonly string[]): string =>
  `${paths.slice(0, pathsShownMax).join(", ")}${paths.length > pathsShownMax ? ` and ${paths.length - pathsShownMax} more` : ""}`;

const cut = (text: string, charactersMax: number): string => (text.length > charactersMax ? `${text.slice(0, charactersMax - 1)}…` : text);
