// verify-page: renders the result of `verify`: what holds, what does not, and what cannot be run
// again.

/**
 * A recorded check that was run again. `holds` is null if it cannot be run again here, and `why`
 * says why.
 */
export type RecheckedEvidence = {
  readonly id: string;
  readonly command: string;
  readonly commit: string | null;
  readonly recorded: string;
  readonly now: string;
  readonly holds: boolean | null;
  readonly why?: string;
};
/**
 * A recorded commit that was looked up. `what`: the base, or the attempt that made it. `holds` is
 * null if it isn't here.
 */
export type RecheckedCommit = {
  readonly commit: string;
  readonly what: string;
  readonly holds: boolean | null;
  readonly why?: string;
};

const rowsShownMax = 200;

type VerifyPageInput = {
  readonly run: string;
  readonly events: number;
  readonly blobs: {
    readonly checked: number;
    readonly damaged: readonly { readonly id: string; readonly why: string }[];
  };
  readonly commits: readonly RecheckedCommit[];
  readonly evidence: readonly RecheckedEvidence[];
  readonly verdict: { readonly recorded: string; readonly now: string };
};

type Outcome = { readonly mark: string; readonly text: string };
const outcomes = {
  true: { mark: "✓", text: "holds" },
  false: { mark: "✗", text: "does not hold" },
  null: { mark: "?", text: "cannot be re-run" },
} as const;
const describeHolds = (holds: boolean | null): Outcome => outcomes[`${holds}`];

/**
 * A line for each item that was re-checked, up to a number of each kind, and at the end the
 * verdict.
 */
export function verifyPage({
  run,
  events,
  blobs,
  commits,
  evidence,
  verdict,
}: VerifyPageInput): readonly string[] {
  const soundCount = commits.filter(({ holds }) => holds === true).length;
  return [
    `${run}: chain of ${events} events holds.`,
    `${blobs.damaged.length === 0 ? "✓" : "✗"} ${blobs.checked - blobs.damaged.length} of ${blobs.checked} blobs are what their names say`,
    ...limitRows(blobs.damaged.map(({ id, why }) => `  ✗ ${id.slice(0, 12)}: ${why}`)),
    `${soundCount === commits.length ? "✓" : "?"} ${soundCount} of ${commits.length} commits are there, with the trees that were recorded`,
    ...limitRows(commits.filter(({ holds }) => holds !== true).map(commitLine)),
    ...limitRows(evidence.map(evidenceLine)),
    verdict.now === verdict.recorded
      ? `Verdict: ${verdict.recorded.replaceAll("_", " ")}, as recorded.`
      : `Verdict: recorded ${verdict.recorded.replaceAll("_", " ")}, now ${verdict.now.replaceAll("_", " ")}.`,
  ];
}

const commitLine = ({ commit, what, holds, why }: RecheckedCommit): string =>
  `  ${describeHolds(holds).mark} ${commit.slice(0, 12)} (${what}): ${why ?? ""}`;

function evidenceLine({ command, commit, recorded, now, holds, why }: RecheckedEvidence): string {
  const because = why === undefined ? "" : ` (${why})`;
  const { mark, text } = describeHolds(holds);
  return `${mark} ${text}: ${command}  at ${commit?.slice(0, 12) ?? "?"}: recorded ${recorded}, now ${now}${because}`;
}

const limitRows = (rows: readonly string[]): readonly string[] =>
  rows.length <= rowsShownMax
    ? rows
    : [
        ...rows.slice(0, rowsShownMax),
        `… and ${rows.length - rowsShownMax} more: --json lists all`,
      ];
