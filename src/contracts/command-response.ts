// command-response: the one shape of every command's response, for people and for --json.

import type { ReasonCode, ResultWord } from "./reason.ts";

/**
 * What every command returns. With `--json` it is printed without `page`, `whole` and `rowsMax`,
 * and with the fields of `data` beside the others; otherwise a person reads `page` if there is one,
 * else `message`.
 */
export type CommandResponse = {
  readonly result: ResultWord;
  readonly reason_code: ReasonCode;
  readonly run_id: string | null;
  readonly state: string | null;
  /** One sentence: what happened. */
  readonly message: string;
  readonly warnings: readonly string[];
  /** What to do now; at least one entry unless the result is PASS. */
  readonly remediation: readonly string[];
  /** The same for a person, as lines, if a sentence is not enough. Not part of the JSON. */
  readonly page?: readonly string[];
  /** How many lines of the page are shown without -v; all if left out. */
  readonly rowsMax?: number;
  /** The page for a person who asks with -v, if that is another one. */
  readonly whole?: readonly string[];
  /** The command's own fields, merged into the JSON object. */
  readonly data?: Readonly<Record<string, unknown>>;
};
