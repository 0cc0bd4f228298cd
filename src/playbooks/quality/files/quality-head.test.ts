// What an open quality log says of itself stays with a run that goes on with it.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { drafted } from "../../../views/run-view.test-support.ts";
import { buildRunHeader } from "../views/quality-log-events.ts";
import { parseLog } from "../views/parse-quality-log.ts";
import { selectReusableHead } from "./quality-prepare.ts";

const whole = readFileSync(
  new URL("../../../../test/fixtures/quality/complete-run.run_state.jsonl", import.meta.url),
  "utf8",
);
const lines = whole.split("\n");
const open = lines.filter((line) => !line.includes('"event": "run_end"')).join("\n");

test("benchmark, lever, runner and version are the log's, whoever goes on with it", () => {
  const log = parseLog(open);
  const head = selectReusableHead(log);
  expect(head).toMatchObject({
    benchmark: log.index?.benchmark,
    lever_state: log.index?.lever_state,
    runner: log.start?.runner,
    playbook_version: log.start?.playbook_version,
  });

  const header = buildRunHeader({
    ...drafted(),
    options: head,
    cast: { explorer: { agent: "somebody else" } },
  });
  expect(header).toMatchObject({
    benchmark: head["benchmark"],
    leverState: head["lever_state"],
    runner: head["runner"],
    playbookVersion: head["playbook_version"],
  });
});

test("a run that has ended passes nothing on", () =>
  expect(selectReusableHead(parseLog(whole))).toEqual({}));

test("a target outside the project is not taken over", () => {
  const log = parseLog(open.replace(/"target_path": ?"[^"]*"/, '"target_path":"/etc"'));
  expect(selectReusableHead(log)).not.toHaveProperty("target_path");
});
