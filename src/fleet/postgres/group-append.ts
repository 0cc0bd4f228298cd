// group-append: sends the appends of several runs of a process in one statement, so that they share
// a commit.
//
// Invariants:
//   G1. An append is sent at once while no other is under way. Later ones are sent together when an
//       answer is back, or after a moment, so that a lost answer blocks no other run.
//   G2. Each run has its own fence: if one run is refused, the others are still kept.
//   G3. An append under a second lease is sent alone: its statement locks that lease's row until it
//       has committed.
//   G4. If the server refuses a statement of several runs, nothing of it is kept, and each run is
//       sent alone: one run's failure doesn't affect another.

import type { Query } from "./connect.ts";
import { isInDoubt } from "./store-failure.ts";

/** The number and hash of a journal's last line, as its row has them. */
export type RowPosition = { readonly seq: number; readonly head: Buffer };
export type Append = {
  readonly run: string;
  readonly epoch: number;
  readonly expectedTip: RowPosition;
  readonly newTip: RowPosition;
  /** Without newlines. */
  readonly lines: readonly Buffer[];
  /** A second lease that must be held too, named by its row. */
  readonly under: { readonly run: string; readonly epoch: number } | null;
};
/**
 * Whether the lines are durable; false if the run's row is not as expected. Throws what the
 * database throws.
 */
export type SendAppend = (append: Append) => Promise<boolean>;

type Waiting = {
  readonly append: Append;
  readonly resolve: (isKept: boolean) => void;
  readonly reject: (error: unknown) => void;
};

const gatherMs = 50;
const appendsMax = 256;
const groupBytesMax = 8 * 1024 * 1024;

/**
 * Appends one line. The conditions of the update are the fence: without a row there is nothing to
 * insert.
 */
const appendLineSql = `with fence as (
    update autopilot.run set seq = $3::bigint, head = $5::bytea, bytes = bytes + $7::bigint, updated_at = now()
    where run_id = $1::text and epoch = $2::bigint and seq = $3::bigint - 1 and head = $4::bytea and lease_until > clock_timestamp()
    returning 1)
  insert into autopilot.entry (run_id, seq, epoch, line) select $1, $3, $2, $6::bytea from fence`;
/** The same for several lines of a run (schema.ts). */
const appendOneSql =
  "select autopilot.append_lines($1::text, $2::bigint, $3::bigint, $4::bytea, $5::bytea, $6::bytea[], $7::bigint) as kept";
const appendUnderSql =
  "select autopilot.append_under($8::text, $9::bigint, $1::text, $2::bigint, $3::bigint, $4::bytea, $5::bytea, $6::bytea[], $7::bigint) as kept";
const headBytes = 32;
const createHeadSlice = (heads: string): string =>
  `substring(${heads}::bytea from (${headBytes} * (a.n - 1) + 1)::int for ${headBytes})`;
/**
 * The same for several runs, each with its own fence. Lines and heads are slices of one binary
 * value each: as arrays they would be written in hex and read again, which takes a third of the
 * statement's time (decision 0166).
 */
const appendManySql = `with a as (
    select * from unnest($1::text[], $2::bigint[], $3::bigint[], $6::int[], $7::int[], $8::bigint[])
      with ordinality as a(run, epoch, seq, first, last, bytes, n)),
  kept as (
    update autopilot.run r set seq = a.seq + a.last - a.first, head = ${createHeadSlice("$5")}, bytes = r.bytes + a.bytes, updated_at = now() from a
    where r.run_id = a.run and r.epoch = a.epoch and r.seq = a.seq - 1 and r.head = ${createHeadSlice("$4")} and r.lease_until > clock_timestamp()
    returning a.n, a.run, a.epoch, a.seq, a.first),
  written as (
    insert into autopilot.entry (run_id, seq, epoch, line)
    select kept.run, kept.seq + i - kept.first, kept.epoch, substring($9::bytea from start for size)
    from unnest($10::int[], $11::int[], $12::bigint[]) with ordinality t(start, size, n, i) join kept using (n))
  select coalesce(string_agg(n::text, ' '), '') as kept from kept`;

export function openGroupAppend({ queryOften: query }: { readonly queryOften: Query }): SendAppend {
  let queue: Waiting[] = [];
  let sendingCount = 0;
  let timer: NodeJS.Timeout | null = null;

  const send = async (group: readonly Waiting[]): Promise<void> => {
    sendingCount += 1;
    try {
      const durable = await appendGroup(query, group);
      for (const [index, { resolve }] of group.entries()) resolve(durable.has(index)); // G2
    } catch (error) {
      if (group.length === 1 || isInDoubt(error)) for (const { reject } of group) reject(error);
      else await Promise.all(group.map((waiting) => send([waiting]))); // G4
    } finally {
      sendingCount -= 1;
      flush();
    }
  };

  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    while (queue.length > 0) void send(queue.splice(0, countGroup(queue)));
  };

  return (append) =>
    new Promise((resolve, reject) => {
      queue.push({ append, resolve, reject });
      if (sendingCount > 0) timer ??= setTimeout(flush, gatherMs);
      else if (queue.length === 1) setImmediate(flush); // runs that append in the same turn go together (G1)
    });
}

function countBytes(lines: readonly Buffer[]): number {
  let bytes = 0;
  for (const line of lines) bytes += line.length + 1;
  return bytes;
}

/** How many of these go into one statement: at least one. */
function countGroup(waiting: readonly Waiting[]): number {
  let bytes = 0;
  const end = waiting.findIndex(({ append }, index) => {
    bytes += countBytes(append.lines);
    const isSentAlone = append.under !== null || waiting[index - 1]?.append.under != null; // G3
    return index > 0 && (isSentAlone || bytes > groupBytesMax || index >= appendsMax);
  });
  return end === -1 ? waiting.length : end;
}

/** Appends a group in one statement; returns the indexes of those that are durable now. */
async function appendGroup(query: Query, group: readonly Waiting[]): Promise<ReadonlySet<number>> {
  const appends = group.map(({ append }) => append);
  const [onlyAppend] = appends;
  if (onlyAppend === undefined || appends.length > 1) return appendMany(query, appends);
  return new Set((await appendOne(query, onlyAppend)) ? [0] : []);
}

/** Whether the lines are durable now. */
async function appendOne(
  query: Query,
  { run, epoch, expectedTip, newTip, lines, under }: Append,
): Promise<boolean> {
  const [line] = lines;
  const fence = [run, epoch, expectedTip.seq + 1, expectedTip.head, newTip.head];
  if (line !== undefined && lines.length === 1 && under === null) {
    const { count } = await query(appendLineSql, [...fence, line, line.length + 1]);
    return count === 1;
  }

  const parameters = [...fence, lines, countBytes(lines)];
  const { rows } = await (under === null
    ? query(appendOneSql, parameters)
    : query(appendUnderSql, [...parameters, under.run, under.epoch]));
  return rows[0]?.["kept"] === true;
}

async function appendMany(query: Query, appends: readonly Append[]): Promise<ReadonlySet<number>> {
  const lines = appends.flatMap((append) => append.lines);
  const sizes = lines.map(({ length }) => length);
  const lineCounts = appends.map((append) => append.lines.length);
  const lastLines = addUp(lineCounts);
  const firstLines = lastLines.map((last, index) => last - (lineCounts[index] ?? 0) + 1);
  const starts = addUp(sizes).map((end, index) => end - (sizes[index] ?? 0) + 1);
  const ownAppends = lineCounts.flatMap((count, index) => Array<number>(count).fill(index + 1));

  const { rows } = await query(appendManySql, [
    appends.map(({ run }) => run),
    toArrayLiteral(appends.map(({ epoch }) => epoch)),
    toArrayLiteral(appends.map(({ expectedTip }) => expectedTip.seq + 1)),
    Buffer.concat(appends.map(({ expectedTip }) => expectedTip.head)),
    Buffer.concat(appends.map(({ newTip }) => newTip.head)),
    toArrayLiteral(firstLines),
    toArrayLiteral(lastLines),
    toArrayLiteral(appends.map((append) => countBytes(append.lines))),
    Buffer.concat(lines),
    toArrayLiteral(starts),
    toArrayLiteral(sizes),
    toArrayLiteral(ownAppends),
  ]);
  const kept = (rows[0]?.["kept"] ?? "") as string;
  return new Set(kept === "" ? [] : kept.split(" ").map((n) => Number(n) - 1));
}

/** For each of the numbers, its sum with all before it. */
function addUp(numbers: readonly number[]): readonly number[] {
  let sum = 0;
  return numbers.map((number) => {
    sum += number;
    return sum;
  });
}

/** `{1,2,3}`, an array as the server reads it. */
const toArrayLiteral = (values: readonly number[]): string => `{${values.join(",")}}`;
