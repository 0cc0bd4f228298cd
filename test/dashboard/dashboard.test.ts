// dashboard: stories told in a real browser, against runs that the embedded agent makes. Where
// there is no Chromium they are skipped.

import { readFileSync, rmSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { largeRun, triesOf, writeRuns } from "../../bench/dashboard-runs.ts";
import {
  autopilot,
  begin,
  goScripted,
  goArgs,
  journal,
  runFolderOf,
  until,
} from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";
import { dashboardIn, go, hasChromium, openBrowser, openTab, unlock } from "./browser.ts";

const hostile = [
  '<img src="http://evil.example/x" onerror="alert(1)"></script><script>alert(2)</script> \u202eturned\u001b[2J',
  `"><svg onload=alert(3)>' onfocus='alert(4)' autofocus x='`,
  '</style><style>@import "http://evil.example/s";body{background:url(http://evil.example/b)}</style>',
  '<iframe srcdoc="<script>alert(5)</script>"></iframe><base href="http://evil.example/"><link rel="stylesheet" href="http://evil.example/l">',
  "<a href='javascript:alert(6)'>x</a> [y](javascript:alert(7)) <!-- <form action=http://evil.example/f><input name=token>",
  '<meta http-equiv="refresh" content="0;url=http://evil.example/m"><object data="http://evil.example/o"></object> {{7*7}} ${7*7} \u200b\ufeff\u2066',
].join(" ");
const asking = [
  {
    do: [
      { write: { path: "b", text: "b\n" } },
      { say: hostile },
      { ask: { question: `Which one? ${hostile}`, options: ["red", "blue"] } },
    ],
  },
  {
    do: [
      { say: "then so" },
      { write: { path: "b", text: "blue\n" } },
      { usage: { input: 100, output: 20, usd: 0.01 } },
    ],
  },
];
describe.skipIf(!hasChromium)("in a browser (needs Chromium at its Debian place)", () => {
  test("every page shows a run that is at work, in light and dark, and none scrolls sideways at 320, 768 or 1440", async () => {
    const folder = scratch();
    await goScripted(folder, asking, ["--done-criteria", "b is there :: test -f b"]);
    const { address } = await dashboardIn(folder);

    for (const [width, dark] of [
      [1440, false],
      [320, true],
      [768, false],
    ] as const) {
      const context = await openBrowser({ width, height: 900, dark });
      const { page, wrong } = await openTab(context, address);
      await page.getByRole("heading", { level: 1, name: "1 thing needs you" }).waitFor();

      for (const [name, text] of [
        ["now", "Needs you"],
        ["inbox", "Which one?"],
        ["run", "Waterfall"],
        ["log", / of \d+ lines/],
        ["diff", "make b"],
        ["portfolio", "No portfolio here"],
        ["fleet", "No store is named"],
        ["cost", "Cost"],
        ["settings", "Settings in force"],
      ] as const) {
        await go(page, name);
        await page.locator("main").getByText(text).first().waitFor();
        expect(
          await page.evaluate("document.documentElement.scrollWidth - innerWidth"),
          `${name} at ${width}`,
        ).toBeLessThanOrEqual(0);

        expect(await page.locator("h1").count(), name).toBe(1);
      }

      expect(wrong, `at ${width}`).toEqual([]);
      await context.close();
    }
  });

  test("hostile text of an agent leaves no element and no request, on no page", async () => {
    const folder = scratch();
    await goScripted(folder, asking, [
      "--done-criteria",
      `${"x".repeat(300)} <b>bold</b> :: test -f b`,
    ]);

    const { address } = await dashboardIn(folder);
    const context = await openBrowser({ width: 1200, height: 800 });
    const { page, wrong } = await openTab(context, address);

    for (const name of ["now", "inbox", "run", "log", "diff"]) {
      await go(page, name);
      await page.locator("main h1").waitFor();
      const made =
        "main img, main script, main iframe, main style, main object, main base, main link, main meta, main b b";
      expect(
        await page
          .locator(
            `${made}, main [onload], main [onfocus], main [onerror], main [href^=javascript]`,
          )
          .count(),
        name,
      ).toBe(0);
    }

    await go(page, "inbox");
    expect(await page.locator(".code-point").first().textContent()).toBe("U+202E");
    expect(wrong).toEqual([]);
    await context.close();
  });

  test("a question is answered in the browser, the run goes on, and the journal names who it was; a second tab sees it", async () => {
    const folder = scratch();
    await goScripted(folder, asking, ["--done-criteria", "b is there :: test -f b"]);
    const { address, code } = await dashboardIn(folder);
    const context = await openBrowser({ width: 1200, height: 800 });
    const one = await openTab(context, address);
    const other = await openTab(context, address);
    await other.page.getByRole("heading", { name: "1 thing needs you" }).waitFor();
    await go(one.page, "inbox");
    const send = one.page.getByRole("button", { name: /Choose an answer|Send “/ });
    await send.waitFor();
    expect(await send.getAttribute("aria-disabled")).toBe("true"); // read-only: the agent runs as the user
    await unlock(one.page, code);
    await one.page.getByRole("radio", { name: /blue/ }).click();
    await one.page.getByRole("button", { name: "Send “blue”" }).click();
    await one.page.locator(".toast .code-point", { hasText: "U+202E" }).waitFor(); // the question's words, shown and not obeyed
    const answered = await until("the answer in the journal", () =>
      journal(folder).find(({ event }) => event === "block_answered"),
    );
    expect(answered).toMatchObject({ actor: `operator:${userInfo().username}`, answer: "blue" });
    await other.page.getByText("Which one?").first().waitFor({ state: "detached" });
    await other.page
      .getByText("Your answer is recorded. The run goes on when you resume it.")
      .first()
      .waitFor();

    await go(one.page, "run");
    await one.page.getByRole("button", { name: "Resume", exact: true }).click();
    const resumed = await until("that it goes on", () =>
      journal(folder).find(({ event }) => event === "run_resumed"),
    );
    expect(resumed).toMatchObject({ actor: `operator:${userInfo().username}` });
    await autopilot(folder, ["stop", "--json"]);
    expect([...one.wrong, ...other.wrong]).toEqual([]);
    await context.close();
  });

  test("notes on lines of the diff are sent as one request, for the next turn", async () => {
    const folder = scratch();
    const turns = [
      { do: [{ write: { path: "b", text: "one\ntwo\n" } }] },
      { do: [{ sleep: 600_000 }] },
    ];

    const { ended } = begin(
      folder,
      goArgs(folder, turns, [
        "--done-criteria",
        "b is there :: test -f b",
        "--done-criteria",
        "c :: test -f c",
      ]),
    );

    await until(
      "work that was kept and a second turn",
      () => journal(folder).filter(({ event }) => event === "session_opened").length === 2,
    );

    const { address, code } = await dashboardIn(folder);
    const context = await openBrowser({ width: 1200, height: 800 });
    const { page, wrong } = await openTab(context, address);
    await unlock(page, code);
    await go(page, "diff");

    const note = async (line: number, text: string): Promise<void> => {
      await page.getByRole("button", { name: `Note on line ${line}` }).click();
      await page.getByLabel("Note on this line").fill(text);
      await page.getByRole("button", { name: "Keep note" }).click();
    };
    await note(1, "Cap this, please.");
    await note(2, "And <b>this</b>.");
    await page.getByText("2 notes on 1 file").waitFor();
    // For this tab the change moves on now: what is noted from here on is about another commit.
    const movedTip = "f".repeat(40);
    await page.route(/\/api\/(?:diff|file)\?/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        json: { ...((await response.json()) as object), tip: movedTip },
      });
    });

    await go(page, "now");
    const moved = page.waitForResponse(/\/api\/(?:diff|file)\?/);
    await go(page, "diff");
    await moved;
    await page.getByText("Note, not sent yet").first().waitFor({ state: "detached" });
    await note(1, "Later.");
    await page.getByText("3 notes on 1 file").waitFor();
    await page.getByRole("button", { name: "Send as one answer" }).click();
    const noted = await until("the notes in the journal", () => {
      const lines = journal(folder).filter(({ event }) => event === "review_noted");
      return lines.length === 2 ? lines : null;
    });

    const tip = journal(folder).findLast(({ event }) => event === "changes_applied");
    const here = { path: "b", side: "new" };
    expect(noted).toMatchObject([
      {
        actor: `operator:${userInfo().username}`,
        commit: tip?.["commit"],
        notes: [
          { ...here, line: 1, text: "Cap this, please." },
          { ...here, line: 2, text: "And <b>this</b>." },
        ],
      },
      { commit: movedTip, notes: [{ ...here, line: 1, text: "Later." }] },
    ]);

    await page.getByText("No notes yet").waitFor();
    expect(wrong).toEqual([]);
    await context.close();
    await autopilot(folder, ["stop", "--json"]);
    await ended;
  });

  test("pause and stop from the browser; stopping asks for the run's id", async () => {
    const folder = scratch();
    const { ended } = begin(
      folder,
      goArgs(
        folder,
        [{ do: [{ write: { path: "b", text: "b" } }, { sleep: 600_000 }] }],
        ["--done-criteria", "b :: test -f b"],
      ),
    );

    await until("a turn at work", () =>
      journal(folder).some(({ event }) => event === "session_opened"),
    );

    const { address, code } = await dashboardIn(folder);
    const context = await openBrowser({ width: 1200, height: 800 });
    const { page, wrong } = await openTab(context, address);
    await unlock(page, code);
    await go(page, "run");
    await page.getByRole("button", { name: "Pause after the turn" }).click();
    await until("the request", () =>
      journal(folder).find(
        ({ event, actor }) =>
          event === "control_requested" && actor === `operator:${userInfo().username}`,
      ),
    );

    await page.getByRole("button", { name: "Stop…" }).click();
    await page.locator("dialog input:focus").waitFor(); // what one types goes there
    await page.keyboard.type("something else");
    await page.keyboard.press("Enter");
    await page.getByText("That is not this run's id.").waitFor();
    expect(
      await page.getByRole("button", { name: "Stop the run" }).getAttribute("aria-disabled"),
    ).toBe("true");

    await page.getByLabel(/Type run-/).fill(runFolderOf(folder).split("/").at(-1) ?? "");
    await page.keyboard.press("Enter");
    await until("the stop", () => journal(folder).some(({ event }) => event === "run_stopped"));
    await ended;
    expect(wrong).toEqual([]);
    await context.close();
  });

  test("a wrong link shows nothing; a killed server is told, what was seen stays, and its next link opens the same tab again", async () => {
    const folder = scratch();
    await goScripted(folder, asking, ["--done-criteria", "b is there :: test -f b"]);
    const first = await dashboardIn(folder);
    const context = await openBrowser({ width: 1200, height: 800 });
    const lost = await openTab(context, first.address.replace(/#.*/, `#${"x".repeat(32)}`));
    await lost.page.getByRole("heading", { name: "This link does not open anything" }).waitFor();
    expect(await lost.page.locator("body").textContent()).not.toContain("make b");
    const { page } = await openTab(context, first.address);
    await page.getByRole("heading", { name: "1 thing needs you" }).waitFor();
    expect(page.url()).not.toContain(first.address.split("#")[1] ?? "");
    await first.end("SIGKILL");
    await page.getByText("has not answered since").waitFor();
    expect(await page.locator("main").textContent()).toContain("Which one?");
    const second = await dashboardIn(folder, ["--port", new URL(first.address).port]);
    await page.getByRole("heading", { name: "This link does not open anything" }).waitFor();
    await page.goto(second.address);
    await page.getByRole("heading", { name: "1 thing needs you" }).waitFor();
    await go(page, "run");
    await page.getByRole("heading", { name: "Waterfall" }).waitFor();
    rmSync(runFolderOf(folder), { recursive: true }); // while it is shown
    await page.getByRole("heading", { name: "This run is not here any more" }).waitFor();
    await go(page, "now");
    await page.getByRole("heading", { name: "Nothing runs yet" }).waitFor();
    await context.close();
  });

  test("by keyboard alone: to a page, along its rows, into a question, to an answer", async () => {
    const folder = scratch();
    await goScripted(folder, asking, ["--done-criteria", "b is there :: test -f b"]);
    const { address, code } = await dashboardIn(folder);
    const context = await openBrowser({ width: 1200, height: 800 });
    const { page, wrong } = await openTab(context, address);
    await unlock(page, code);
    await page.locator("main h1").focus();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("radio", { name: /red/ }).waitFor();
    await page.keyboard.press("2");
    await page.getByRole("radio", { name: /blue/, checked: true }).waitFor();
    await page.keyboard.press("ArrowUp");
    await page.getByRole("radio", { name: /red/, checked: true }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("l");
    await page.getByText("Started.", { exact: true }).first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("started");
    await page.getByText(/^\d+ of \d+ lines$/).waitFor();
    await page.keyboard.press("Escape");

    for (const [key, title] of [
      ["c", "Cost"],
      ["r", "make b"],
      ["n", "1 thing needs you"],
    ] as const) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.locator("main h1:focus", { hasText: title }).waitFor(); // even if the facts come later than the page
    }

    await page.keyboard.press("t");
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    expect(wrong).toEqual([]);
    await context.close();
  });

  test("a log of a thousand lines: the newest come first, all come, the place one reads stays, and keys reach lines that were not drawn", async () => {
    const folder = scratch();
    const large = writeRuns(folder, { runs: 1, phases: 60 });
    const { address } = await dashboardIn(folder);
    const context = await openBrowser({ width: 1200, height: 800 });
    const { page, wrong } = await openTab(context, address);
    const asked: string[] = [];
    page.on("request", (request) =>
      request.url().includes("/api/log") ? asked.push(new URL(request.url()).search) : undefined,
    );

    await go(page, `log/${largeRun}`);
    const total =
      readFileSync(join(runFolderOf(folder), "journal.jsonl"), "utf8").split("\n").length - 1;
    const words = (lines: number): string =>
      `${lines.toLocaleString("en")} of ${lines.toLocaleString("en")} lines`;
    await page.getByText(words(total), { exact: true }).waitFor();
    expect(asked.filter((query) => !query.includes("after=")).slice(0, 2)).toEqual([
      expect.stringMatching(/max=200$/),
      expect.stringMatching(/before=\d+&max=\d+$/),
    ]);

    const rows = page.locator(".log-row");
    await page.locator(`.log-row[data-at="${total - 1}"]`).waitFor(); // followed: the end is in sight
    expect(await rows.count()).toBeLessThan(100);
    await page
      .locator(".log")
      .evaluate((list) => void ((list as unknown as { scrollTop: number }).scrollTop = 3_000));

    const line = page.locator('.log-row[data-at="101"]');
    await line.waitFor();
    const text = await line.textContent();
    await line.focus();
    await page.keyboard.press("j");
    await page.locator('.log-row[data-at="102"]:focus').waitFor();
    await page.keyboard.press("k");
    await page.locator('.log-row[data-at="101"]:focus').waitFor();
    large.add(triesOf("60", 1, 20));
    await page.getByText(words(total + 60), { exact: true }).waitFor();
    expect(await page.locator(".log-row:focus").textContent()).toBe(text);
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Line 102" }).waitFor();
    await page
      .locator(".log")
      .evaluate((list) => void ((list as unknown as { scrollTop: number }).scrollTop = 0));

    await page.locator('.log-row[data-at="0"]').waitFor();
    await page.locator(".log:focus").waitFor(); // its line is out of sight
    expect(wrong).toEqual([]);
    await context.close();
    large.close();
  });
});

test("the page's script and style stay small", async () => {
  const { gzipSync } = await import("node:zlib");
  const { styleSheet } = await import("../../src/views/web/style.ts");
  const script = readFileSync(join(import.meta.dirname, "../../dist/dashboard-client.cjs"));
  expect(gzipSync(script).length + gzipSync(styleSheet).length).toBeLessThan(100_000);
});
