// Traces of real runs in a stand-in collector that checks every span against the schema of OTLP;
// and collectors that are down, slow or refuse.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { autopilot, eventsOf, goScripted } from "../support/autopilot.ts";
import { scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";
import { attributesOf, spansIn } from "./otlp-schema.ts";
import { type Answer, receiver } from "./stand-ins.ts";

const seen = "seen.txt";
const turns = [
  {
    do: [
      { run: `printenv TRACEPARENT > ${seen} || true` },
      { write: { path: "src/b.txt", text: "b\n" } },
      { say: "<promise>DONE</promise>" },
    ],
  },
];
const bExists = ["--done-criteria", 'b is there :: test -f src/b.txt && test -z "$TRACEPARENT"'];

/** A collector that takes nothing but what the schema allows. */
const collector = (answer?: () => Answer) =>
  receiver(({ method, path, body }) => {
    if (answer !== undefined) return answer();
    try {
      spansIn(body);
      return { status: method === "POST" && path === "/v1/traces" ? 200 : 404 };
    } catch {
      return { status: 400 };
    }
  });

function asked(folder: string, text: string): void {
  const path = join(dirname(folder), "home", ".config", "autopilot");
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "config.yaml"), `${text}checks: { repeat: 1, canary: off }\n`);
}

test("a run's trace arrives while it works, the agent is handed its turn, no check is; sent again it is the same", async () => {
  const folder = scratch();
  const { url, got } = await collector();
  asked(folder, "otel: { export: true }\n");
  const caller = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=s3cret%20one",
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
    TRACEPARENT: caller,
  };

  const { json, err } = await goScripted(folder, turns, bExists, { env });
  expect(json).toMatchObject({ state: "completed", reason_code: "completion_verified" });
  expect(err).not.toContain("collector");
  expect(
    got.every(
      ({ headers }) => headers["x-key"] === "s3cret one" && headers["content-encoding"] === "gzip",
    ),
  ).toBe(true);

  const live = got.flatMap(({ body }) => spansIn(body));
  const root = live.find(({ parentSpanId }) => parentSpanId === undefined);
  expect(root?.name).toBe("invoke_workflow objective");
  expect(root?.links).toEqual([{ traceId: "a".repeat(32), spanId: "b".repeat(16) }]);
  expect(attributesOf(root ?? { attributes: [] })["autopilot.run.verdict"]).toBe("verified");
  const turn = live.find(({ name }) => name.startsWith("invoke_agent"));
  expect(readFileSync(join(folder, seen), "utf8").trim()).toBe(
    `00-${turn?.traceId}-${turn?.spanId}-01`,
  );

  expect(live.filter(({ name }) => name === "autopilot.check").length).toBeGreaterThan(0);

  got.length = 0;
  const again = await autopilot(folder, ["export", "otel", "--json"], { env });
  expect(again.json).toMatchObject({ result: "PASS", spans: live.length, trace_id: root?.traceId });
  const key = (span: { readonly spanId: string }): string => span.spanId;
  expect(
    got.flatMap(({ body }) => spansIn(body)).toSorted((a, b) => (key(a) < key(b) ? -1 : 1)),
  ).toEqual(live.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)));
});

test("nothing is sent unless it is asked for, whatever the environment says of a collector", async () => {
  const folder = scratch();
  const { url, got } = await collector();
  const { json } = await goScripted(folder, turns, bExists, {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
  });
  expect(json.state).toBe("completed");
  expect(got).toEqual([]);
  expect(readFileSync(join(folder, seen), "utf8")).toBe("");
  const inside = await autopilot(folder, ["export", "otel", "--json"], {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, AUTOPILOT_LIFE: "x" },
  });
  expect(inside.json.reason_code).toBe("inside_a_run");
  expect(got).toEqual([]);
});

test.each([
  ["is down", null, "cannot be reached"],
  ["answers 503", (): Answer => ({ status: 503 }), "HTTP 503"],
  ["hangs", (): Answer => "hang", "no answer in time"],
] as const)(
  "a collector that %s loses nothing of a run and is told of once",
  async (_what, answer, why) => {
    const folder = scratch();
    const down = await collector(answer ?? undefined);
    if (answer === null) await down.close();

    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: down.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: "500",
      AUTOPILOT_OTEL_EXPORT: "true",
    };

    const { json, err } = await goScripted(folder, turns, bExists, { env });
    expect(json).toMatchObject({ state: "completed", reason_code: "completion_verified" });
    expect(err.match(/doesn't take the run's trace/g)).toHaveLength(1);
    expect(err).toContain(why);
    expect(eventsOf(folder, "run_completed")).toHaveLength(1);
    const refused = await autopilot(folder, ["export", "otel", "--json"], { env });
    expect(refused.json).toMatchObject({ result: "FAIL", reason_code: "collector_unreachable" });
    const up = await collector();
    expect(
      (await autopilot(folder, ["export", "otel", "--endpoint", up.url, "--json"], { env })).json,
    ).toMatchObject({ result: "PASS" });

    expect(
      up.got
        .flatMap(({ body }) => spansIn(body))
        .some(({ parentSpanId }) => parentSpanId === undefined),
    ).toBe(true);
  },
);

test("bad addresses and protocols are refused in words; a trace can be a file", async () => {
  const folder = scratch();
  await goScripted(folder, turns, bExists);
  const said = async (args: readonly string[], env: Record<string, string> = {}) =>
    (await autopilot(folder, ["export", "otel", ...args, "--json"], { env })).json;
  expect(await said(["--endpoint", "ftp://x"])).toMatchObject({
    result: "FAIL",
    message: expect.stringContaining("http://") as string,
  });

  expect(await said([], { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toMatchObject({
    result: "FAIL",
    message: expect.stringContaining("http/json") as string,
  });

  expect(await said(["--file", "no/such/trace.json"])).toMatchObject({
    result: "FAIL",
    reason_code: "usage",
  });

  expect(await said(["--file", "trace.json"])).toMatchObject({ result: "PASS" });
  expect(spansIn(readFileSync(join(folder, "trace.json"), "utf8")).length).toBeGreaterThan(3);
});
