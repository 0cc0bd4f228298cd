// init: creates the store in a database, or migrates it to this version; grants a role the rights
// of a worker.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { requireStoreAddress } from "../../fleet/address.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { product } from "../../project/runs/product.ts";

/** A migration may have to wait for another, and for a large table. */
const migrationTimeoutMs = 120_000;

export type InitInput = {
  readonly store?: string | undefined;
  readonly grant?: string | undefined;
};

/** Can be given again at any time: a store that is up to date stays as it is. */
export function initFleet(context: CommandContext, input: InitInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const url = requireStoreAddress(context.env, input.store);
    const [{ connect }, { grantTo, migrate }] = await Promise.all([
      import("../../fleet/postgres/connect.ts"),
      import("../../fleet/postgres/migrate.ts"),
    ]);
    const database = connect(url, { answerMs: migrationTimeoutMs });

    try {
      const { from, to } = await migrate(database, product);
      if (input.grant !== undefined) await grantTo(database, input.grant);
      const message = `The store in ${database.name} ${describeMigration(from, to)}.`;
      const page = [message];
      if (input.grant !== undefined) {
        page.push(
          `${input.grant} may add lines and blobs and hold runs, and can change or remove none.`,
        );
      }

      return respond("ok", {
        message,
        page: [...page, "", "Check it: autopilot fleet doctor"],
        data: { store: database.name, from, to, granted: input.grant ?? null },
      });
    } finally {
      await database.close();
    }
  });
}

function describeMigration(from: number, to: number): string {
  if (from === to) return `is at schema ${to} already`;
  return from === 0 ? `was made, schema ${to}` : `went from schema ${from} to ${to}`;
}
