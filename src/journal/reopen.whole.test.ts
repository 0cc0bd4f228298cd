import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { Entry, Event } from "../contracts/event.ts";
import { openJournal } from "./file-journal.ts";
import { readJournal } from "./read.ts";
import {
  readBytes,
  entryEvents,
  freshFolder,
  grouped,
  skipped,
  still,
  surveyed,
  sweep,
} from "./scene.test-support.ts";
import { anyCharacter } from "../../test/support/any-character.ts";

afterAll(sweep);

const anEvent = fc.oneof(
  fc
    .record({ walk: fc.string({ minLength: 1 }), step: fc.string({ unit: anyCharacter }) })
    .map((data) => ({ ...skipped(1), ...data })),
  fc.array(fc.string({ unit: anyCharacter })).map((gone) => surveyed(...gone)),
  fc
    .dictionary(fc.string(), fc.jsonValue())
    .map((options) => ({ ...skipped(1), options }) as unknown as Event),
);

test("whatever is appended, in whatever batches and by however many owners, comes back as it was", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(fc.boolean(), fc.array(fc.array(anEvent, { maxLength: 4 }), { maxLength: 4 })),
        { maxLength: 4 },
      ),
      async (owners) => {
        const folder = freshFolder();
        const given: Event[] = [];
        const acknowledged: Entry[] = [];

        for (const [isGrouped, batches] of owners) {
          const { journal, entries: read } = await openJournal(folder, isGrouped ? grouped : still);
          expect(read).toStrictEqual(acknowledged);
          given.push(...batches.flat());
          acknowledged.push(
            ...(await Promise.all(batches.map((batch) => journal.append(batch)))).flat(),
          );

          await journal.close();
        }

        const read: Entry[] = [];
        const { end } = readJournal(folder, { onEntry: (entry) => read.push(entry) });
        expect(read).toStrictEqual(acknowledged);
        expect(end.byte).toBe(
          given.length === 0 && owners.length === 0 ? 0 : readBytes(folder).length,
        );

        expect(entryEvents(read)).toEqual(
          given.map((event) => JSON.parse(JSON.stringify(event)) as unknown),
        );
      },
    ),
    { numRuns: 30 },
  );
});
