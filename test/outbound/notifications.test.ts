// Notifications of real runs: the examples of docs/NOTIFICATIONS.md against stand-ins on loopback,
// hooks that hang, and what a repository cannot do.

import { createHmac } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { autopilot, goScripted, until } from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";
import { mailServer, receiver } from "./stand-ins.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/NOTIFICATIONS.md"), "utf8");
const example = page.split("```yaml\n")[1]?.split("\n```")[0] ?? "";

const makeB = [
  { do: [{ write: { path: "src/b.txt", text: "b\n" } }, { say: "<promise>DONE</promise>" }] },
];
const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];
const asks = [
  {
    when: { attempt: 1 },
    do: [
      { ask: { question: "Is <!channel> an error?", options: ["yes", "no"] } },
      { say: "I wait." },
    ],
  },
  ...makeB,
];

const homeOf = (folder: string): string => join(dirname(folder), "home");
function configure(folder: string, text: string): void {
  const path = join(homeOf(folder), ".config", "autopilot");
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "config.yaml"), text);
}
const notifyFolder = (folder: string): string =>
  join(homeOf(folder), ".local", "state", "autopilot", "notify");
type Delivery = { readonly hook: string; readonly outcome: string; readonly detail: string };
const deliveries = (folder: string): readonly Delivery[] =>
  readFileSync(join(notifyFolder(folder), "deliveries.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Delivery);

test("the examples for ntfy, Slack, e-mail and a signed webhook deliver what a run has to say", async () => {
  const folder = scratch();
  const [web, mail] = await Promise.all([receiver(), mailServer()]);
  configure(folder, example.replace("https://hooks.example.org/autopilot", `${web.url}/own`));
  writeFileSync(join(homeOf(folder), ".config", "autopilot", "hook.key"), "s3cret\n");
  chmodSync(join(homeOf(folder), ".config", "autopilot", "hook.key"), 0o600);

  const env = {
    NTFY_TOPIC: `${web.url}/ntfy`,
    SLACK_WEBHOOK: `${web.url}/slack/T0K3N`,
    MAIL: "kim@example.org",
    MAIL_SERVER: mail.url,
  };

  const asked = await goScripted(folder, asks, bExists, { env });
  expect(asked.json).toMatchObject({ state: "paused" });
  const at = (path: string) => web.got.filter((got) => got.path.startsWith(path));
  const phone = await until("the phone", () => at("/ntfy")[0]);
  expect(phone.body).toMatch(
    /^repo: a question waits for you\nmake b\n.*Is <!channel> an error\?[^]*\nautopilot inbox --run run-/,
  );

  const slack = await until("Slack", () => at("/slack/T0K3N")[0]);
  expect(Object.keys(JSON.parse(slack.body) as object)).toEqual(["text"]);
  expect(slack.body).toContain("Is &lt;!channel&gt; an error?");
  const own = await until("the signed one", () => at("/own")[0]);
  const [, seconds = "", hex] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(own.headers["autopilot-signature"])) ?? [];
  expect(createHmac("sha256", "s3cret").update(`${seconds}.${own.body}`).digest("hex")).toBe(hex);
  expect(own.body).not.toMatch(/error|make b|repo/); // content: brief

  await autopilot(folder, ["answer", "yes", "--json"], { env });
  expect((await autopilot(folder, ["resume", "--json"], { env })).json).toMatchObject({
    state: "completed",
  });

  const letter = await until("the mail", () => mail.mails[0]);
  expect(letter).toContain("Subject: repo: verified");
  const ended = await until("all that ended", () => {
    const sent = deliveries(folder).filter(({ outcome }) => outcome === "sent");
    return sent.length === 6 && sent;
  });
  expect(ended.map(({ hook }) => hook).toSorted()).toEqual([
    "mail",
    "own",
    "own",
    "phone",
    "slack",
    "slack",
  ]); // the question was reported once

  expect(at("/ntfy")).toHaveLength(1);
  const kept = readFileSync(join(notifyFolder(folder), "deliveries.jsonl"), "utf8");
  expect(kept).not.toMatch(/T0K3N|s3cret|127\.0\.0\.1/);
  expect((await autopilot(folder, ["notify", "--json"], { env })).json).toMatchObject({
    result: "PASS",
    message: "4 hooks, 0 notices waiting.",
  });
});

test("a hook that hangs holds up no run; its notice waits and arrives when it answers", async () => {
  const folder = scratch();
  let isWell = false;
  const web = await receiver(() => (isWell ? { status: 200 } : "hang"));
  configure(
    folder,
    `notify: [{ name: a, webhook: "${web.url}/a" }, { name: b, run: [sh, -c, "sleep 1000"] }]\n`,
  );

  const { json } = await goScripted(folder, makeB, bExists);
  expect(json).toMatchObject({ state: "completed", reason_code: "completion_verified" });
  await until("the first try", () => web.got.length === 1);
  expect((await autopilot(folder, ["notify", "--json"])).json.message).toBe(
    "2 hooks, 2 notices waiting.",
  ); // it hangs still, and the run is long over

  isWell = true;
  await until("the second try", () =>
    deliveries(folder).find(({ hook, outcome }) => hook === "a" && outcome === "sent"),
  );

  expect(deliveries(folder)[0]).toMatchObject({
    hook: "a",
    outcome: "failed",
    detail: "no answer in 10 s",
  });

  const ended = await until("the command is ended", () =>
    deliveries(folder).find(({ hook }) => hook === "b"),
  );
  expect(ended).toMatchObject({ outcome: "failed", detail: "no end in 30 s" });
  rmSync(join(notifyFolder(folder), "queue"), { recursive: true, force: true }); // the courier has nothing left and goes
});

test("a repository sends nothing and runs nothing, and an agent's process may not try the hooks out", async () => {
  const folder = scratch();
  const web = await receiver();
  write(folder, {
    ".autopilot/config.yaml": `notify: [{ webhook: "${web.url}/evil" }]\notel: { export: true, endpoint: "${web.url}" }\n`,
  });

  git(folder, "add", "-A", "-f");
  git(folder, "commit", "-q", "-m", "config");
  const { json } = await goScripted(folder, makeB, bExists);
  expect(json.state).toBe("completed");
  expect(json.warnings.join(" ")).toContain("notify in");
  expect(json.warnings.join(" ")).toContain("is ignored");
  expect((await autopilot(folder, ["notify", "--json"])).json).toMatchObject({
    result: "FAIL",
    reason_code: "config_invalid",
  });

  configure(folder, `notify: [{ webhook: "${web.url}/own" }]\n`);
  const inside = await autopilot(folder, ["notify", "test", "--json"], {
    env: { AUTOPILOT_LIFE: "x" },
  });
  expect(inside.json.reason_code).toBe("inside_a_run");
  expect(web.got).toEqual([]);
  expect((await autopilot(folder, ["notify", "test", "--json"])).json).toMatchObject({
    result: "PASS",
    message: "1 hook took a test notice.",
  });

  expect(web.got).toHaveLength(1);
});

test("an address that refuses is said to, by the command that tries it", async () => {
  const folder = scratch();
  const web = await receiver(() => ({ status: 404 }));
  configure(folder, `notify: [{ name: gone, webhook: "${web.url}/T0K3N" }]\n`);
  const { json, out } = await autopilot(folder, ["notify", "test", "--json"]);
  expect(json).toMatchObject({ result: "FAIL", message: "gone: HTTP 404." });
  expect(out).not.toContain("T0K3N");
  const shown = await autopilot(folder, ["config"]);
  expect(shown.out).toContain("posts to http://127.0.0.1");
  expect(shown.out).not.toContain("T0K3N");
});
