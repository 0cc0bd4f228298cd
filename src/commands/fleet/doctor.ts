// doctor: checks whether a store can be trusted with runs: server, schema, durable commits, rights,
// clock, what a failover may lose.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { requireStoreAddress } from "../../fleet/address.ts";
import type { Inspection } from "../../fleet/postgres/inspect.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";

/** `isNote`: worth knowing though nothing is wrong; its `fix` is shown although it is `ok`. */
type Finding = {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  readonly fix: string;
  readonly isNote?: boolean;
};

const answerTimeoutMs = 10_000;
const clockDifferenceMsMax = 2_000;

/** Inspects the store that the flag or the environment names. Changes nothing. */
export function fleetDoctor(
  context: CommandContext,
  input: { readonly store?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const url = requireStoreAddress(context.env, input.store);
    const [{ connect }, { storeFailure }, { inspect }] = await Promise.all([
      import("../../fleet/postgres/connect.ts"),
      import("../../fleet/postgres/store-failure.ts"),
      import("../../fleet/postgres/inspect.ts"),
    ]);
    const database = connect(url, { answerMs: answerTimeoutMs });

    try {
      const findings = listFindings(
        await inspect(database).catch((error: unknown) => {
          throw storeFailure(error, database.name);
        }),
      );
      return reportFindings(database.name, findings);
    } finally {
      await database.close();
    }
  });
}

function reportFindings(store: string, findings: readonly Finding[]): CommandResponse {
  const failed = findings.filter(({ ok }) => !ok);
  return respond(failed.length === 0 ? "ok" : "store_unusable", {
    message:
      failed.length === 0
        ? `The store in ${store} can hold runs.`
        : `Not ready: ${failed.map(({ name }) => name).join(", ")}.`,
    page: [`Store ${store}`, "", ...findings.flatMap(findingLines)],
    remediation: failed.map(({ fix }) => fix),
    data: {
      store,
      findings: findings.map(({ name, ok, found, fix }) => ({ name, ok, found, fix })),
    },
  });
}

function findingLines({ name, ok, found, fix, isNote = false }: Finding): readonly string[] {
  const okMark = ok ? "✓" : "✗";
  const hasFix = fix !== "" && (!ok || isNote);
  return [`${isNote ? "·" : okMark} ${name}: ${found}`, ...(hasFix ? [`    ${fix}`] : [])];
}

function listFindings(inspection: Inspection): readonly Finding[] {
  const { settings, schema, faults, answerMs, bytes } = inspection;
  const standbys = settings.synchronousStandbys.trim();
  return [
    {
      name: "server",
      ok: settings.version >= 14,
      found: `PostgreSQL ${settings.version}, answers in ${answerMs.toFixed(1)} ms`,
      fix: "PostgreSQL 14 or newer",
    },
    checkSchema(inspection),
    {
      name: "writes",
      ok: !settings.isReadOnly,
      found: settings.isReadOnly ? "refused: it is a standby, or read-only for this user" : "taken",
      fix: "name the primary server",
    },
    {
      name: "durable commits",
      ok: faults.length === 0,
      found:
        faults.length === 0
          ? `synchronous_commit=${settings.synchronousCommit}, fsync=on`
          : faults.join(", "),
      fix: "set it to on: an acknowledged line must not be lost",
    },
    {
      name: "failover",
      ok: true,
      isNote: standbys === "",
      found: standbys === "" ? "no synchronous standby" : `synchronous: ${standbys}`,
      fix:
        standbys === ""
          ? "A failover may lose the last lines. They are noticed (store_lost_lines), not restored."
          : "",
    },
    ...(schema === null ? [] : checkRights(inspection)),
    checkClock(Math.round(inspection.clockMs)),
    {
      name: "size",
      ok: true,
      isNote: true,
      found: `${(bytes / 1_048_576).toFixed(1)} MiB`,
      fix: "",
    },
  ];
}

function checkSchema({ schema, schemaWanted, schemaLeast }: Inspection): Finding {
  const isUsable = schema !== null && schema >= schemaWanted && schemaLeast <= schemaWanted;
  const isNewer = schema !== null && schema > schemaWanted;

  const describe = (): string => {
    if (schema === null) return "none";
    if (schema === schemaWanted) return `${schema}`;
    return isUsable
      ? `${schema}, which this product (${schemaWanted}) still works with`
      : `${schema}, this product needs ${schemaWanted}`;
  };

  return {
    name: "schema",
    ok: isUsable,
    found: describe(),
    fix: isNewer ? "install the product that made it, or a newer one" : "autopilot fleet init",
  };
}

const checkRights = ({ missing, excessive }: Inspection): readonly Finding[] => [
  {
    name: "rights",
    ok: missing.length === 0,
    found: missing.length === 0 ? "as a worker needs them" : `missing: ${missing.join(", ")}`,
    fix: "autopilot fleet init --grant ROLE, by the owner of the schema",
  },
  {
    name: "least privilege",
    ok: true,
    isNote: excessive.length > 0,
    found:
      excessive.length === 0
        ? "cannot change or remove a line"
        : `this user may change or remove lines and blobs (${excessive.join(", ")})`,
    fix:
      excessive.length === 0
        ? ""
        : "Let workers use a role of their own: autopilot fleet init --grant ROLE",
  },
];

/** `differenceMs`: positive if this machine is behind the store. */
function checkClock(differenceMs: number): Finding {
  const apartMs = Math.abs(differenceMs);
  if (apartMs <= clockDifferenceMsMax) {
    return { name: "clock", ok: true, found: "agrees with the store", fix: "" };
  }

  return {
    name: "clock",
    ok: true,
    isNote: true,
    found: `this machine is ${apartMs} ms ${differenceMs > 0 ? "behind" : "ahead of"} the store`,
    fix: "Leases go by the store's clock, so this does no harm; times in journals differ.",
  };
}
