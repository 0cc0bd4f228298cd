// How the owner of a run hears of requests in a store that can't always be reached.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { JournalFailure } from "../../journal/journal-failure.ts";
import type { Database, Query } from "./connect.ts";
import { openStoredRequests } from "./requests.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a request that couldn't be read because the store was unreachable is announced again", async () => {
  const pause = JSON.stringify({
    event: "control_requested",
    control: "pause",
    now: false,
    request: "r1",
    actor: "operator:kim",
  });

  let isReachable = false;
  const query: Query = (text) => {
    if (text.includes("max(number)")) return Promise.resolve({ rows: [{ last: "1" }], count: 1 });
    if (!isReachable) {
      return Promise.reject(new JournalFailure({ kind: "store_unreachable", detail: "gone" }));
    }

    return Promise.resolve({ rows: [{ body: pause }], count: 1 });
  };

  const requests = openStoredRequests({ query, name: "store" } as Database, "run-1");
  let announced = 0;
  requests.watch(() => (announced += 1));
  await vi.advanceTimersByTimeAsync(3_000);
  expect([announced, await requests.pending()]).toEqual([1, []]);
  isReachable = true;
  await vi.advanceTimersByTimeAsync(3_000);
  expect([announced, (await requests.pending()).map(({ request }) => request)]).toEqual([
    2,
    ["r1"],
  ]);

  await requests.close();
});
