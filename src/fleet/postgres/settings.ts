// settings: reads the server's settings, and finds those under which it could lose acknowledged
// lines.

import type { Query, DatabaseRow } from "./connect.ts";
import { unusable } from "./store-failure.ts";

export type ServerSettings = {
  readonly version: number;
  readonly synchronousCommit: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousStandbys: string;
  /** A standby, or set so for this user or database. */
  readonly isReadOnly: boolean;
};

/** SQL: the columns for `parseSettings`, which other queries select too. */
export const settingColumns = `current_setting('server_version_num')::int as version,
  current_setting('synchronous_commit') as synchronous_commit, current_setting('fsync') as fsync,
  current_setting('full_page_writes') as full_page_writes, current_setting('synchronous_standby_names') as standbys,
  current_setting('transaction_read_only') = 'on' as is_read_only`;

export const parseSettings = (row: DatabaseRow): ServerSettings => ({
  version: Math.floor(Number(row["version"]) / 10_000),
  synchronousCommit: String(row["synchronous_commit"]),
  fsync: String(row["fsync"]),
  fullPageWrites: String(row["full_page_writes"]),
  synchronousStandbys: String(row["standbys"]),
  isReadOnly: row["is_read_only"] === true,
});

export const readServerSettings = async (query: Query): Promise<ServerSettings> =>
  parseSettings((await query(`select ${settingColumns}`)).rows[0] ?? {});

/** Settings under which an acknowledged line may be gone after a crash of this one server. */
export const findDurabilityFaults = ({
  synchronousCommit,
  fsync,
  fullPageWrites,
}: ServerSettings): readonly string[] => [
  ...(synchronousCommit === "off" ? ["synchronous_commit=off"] : []),
  ...(fsync === "off" ? ["fsync=off"] : []),
  ...(fullPageWrites === "off" ? ["full_page_writes=off"] : []),
];

/** Refuses a store with durability faults. */
export function refuseLossy(name: string, faults: readonly string[]): void {
  if (faults.length > 0) {
    throw unusable(
      `${name} may lose what it acknowledged: ${faults.join(", ")}`,
      "set it to on, then try again",
    );
  }
}
