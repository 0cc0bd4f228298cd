// The dashboard in a real Chromium, beside a blank page in the same browser: first paint, 100 runs,
// 500 phases and 10,000 events drawn, scrolling, and what 1,000 live events cost. Where there is no
// Chromium only the size is measured.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { chromium, type Page } from "playwright-core";
import { styleSheet } from "../src/views/web/style.ts";
import { largeRun, triesOf, writeRuns } from "./dashboard-runs.ts";
import {
  interleave,
  isQuick,
  median,
  plainEnv,
  quantile,
  report,
  repository,
  withFolder,
} from "./measure.ts";

const program = "/usr/bin/chromium";
const flags =
  "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync";
const size = isQuick ? { runs: 20, phases: 50 } : { runs: 100, phases: 500 };
const rounds = isQuick ? 3 : 9;
const frames = isQuick ? 60 : 240;
const live = { events: isQuick ? 300 : 1_000, everyMs: 100, perTick: 10 };

/** The newest lines are drawn first; scrolling is measured when all of them are there. */
const everyLine =
  "document.querySelector('.filters [role=status]')?.textContent.endsWith(' lines') === true";

const client = readFileSync(join(repository, "dist/dashboard-client.cjs"));
report("dashboard_size", (gzipSync(client).length + gzipSync(styleSheet).length) / 1_000);
if (existsSync(program)) await withFolder(measured);

async function measured(folder: string): Promise<void> {
  mkdirSync(join(folder, ".git"));
  const large = writeRuns(folder, size);
  const dashboard = await served(folder);

  const blank = createServer((_request, response) =>
    response
      .setHeader("content-type", "text/html")
      .end("<!doctype html><title>blank</title><p>blank</p>"),
  );
  await new Promise<void>((resolve) => blank.listen(0, "127.0.0.1", resolve));
  const blankUrl = `http://127.0.0.1:${(blank.address() as AddressInfo).port}/`;
  const browser = await chromium.launch({ executablePath: program, args: flags.split(" ") });

  try {
    const page = await (
      await browser.newContext({ viewport: { width: 1440, height: 900 } })
    ).newPage();
    await page.goto(dashboard.address);
    await page.locator("main h1").waitFor();
    const origin = new URL(dashboard.address).origin;
    await measureLoads(page, origin, blankUrl);
    await measureScrolling(page, origin, blankUrl);
    await measureLive(page, dashboard.child, (at) =>
      large.add(triesOf(String(size.phases), 1 + (at * live.perTick) / 3, live.perTick / 3)),
    );
  } finally {
    await browser.close();
    blank.close();
    dashboard.child.kill("SIGKILL");
    large.close();
  }
}

/** What is looked for tells that everything a page is about has been drawn. */
async function measureLoads(page: Page, origin: string, blankUrl: string): Promise<void> {
  const loads = {
    blank: { url: blankUrl, drawn: "document.querySelector('p') !== null" },
    now: {
      url: `${origin}/#now`,
      drawn: `document.querySelectorAll('main .panel .item').length >= ${size.runs - 1}`,
    },
    run: {
      url: `${origin}/#run/${largeRun}`,
      drawn: `document.querySelectorAll('.waterfall .w-name').length >= ${size.phases - 1}`,
    },
    log: {
      url: `${origin}/#log/${largeRun}`,
      drawn: "document.querySelectorAll('.log-row').length > 10",
    },
  };

  const paints: Record<string, number[]> = {};
  const slices = await interleave(
    Object.entries(loads).map(([name, { url, drawn }]) => ({
      name,
      slice: async () => {
        const { drawnMs, paintMs } = await loaded(page, url, drawn);
        (paints[name] ??= []).push(paintMs);
        return drawnMs;
      },
    })),
    rounds,
    1,
  );

  const over = (name: string, of: Record<string, number[]>): number =>
    median((of[name] ?? []).map((value, at) => value - (of["blank"]?.[at] ?? 0)));
  const each = ["now", "run", "log"]
    .map((name) => `${name} ${Math.round(over(name, slices))}`)
    .join(", ");

  report(
    "dashboard_first_paint",
    over("now", paints),
    `a blank page took ${Math.round(median(paints["blank"] ?? []))} ms`,
  );

  report(
    "dashboard_drawn",
    Math.max(...["now", "run", "log"].map((name) => over(name, slices))),
    `${each}; a blank page ${Math.round(median(slices["blank"] ?? []))} ms`,
  );
}

/** Times since the navigation began, by the page's own clock. */
async function loaded(
  page: Page,
  url: string,
  drawn: string,
): Promise<{ readonly drawnMs: number; readonly paintMs: number }> {
  await page.goto("about:blank");
  await page.goto(url, { waitUntil: "commit" });
  return page.evaluate<{ drawnMs: number; paintMs: number }>(`new Promise((resolve) => {
    const look = () => requestAnimationFrame(() => {
      if (!(${drawn})) return look();
      const at = performance.now();
      setTimeout(() => resolve({ drawnMs: at, paintMs: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? at }), 50);
    });
    look();
  })`);
}

/** Frames while the whole log is scrolled through, in frames of a blank page at rest. */
async function measureScrolling(page: Page, origin: string, blankUrl: string): Promise<void> {
  const deltas = (move: string): Promise<number[]> =>
    page.evaluate<number[]>(`new Promise((resolve) => {
      const list = document.querySelector(".log");
      const spent = [];
      let last = performance.now();
      const step = () => requestAnimationFrame((at) => {
        spent.push(at - last);
        last = at;
        ${move}
        if (spent.length < ${frames}) step(); else resolve(spent.slice(5));
      });
      step();
    })`);

  await page.goto(blankUrl);
  const still = median(await deltas(""));
  await loaded(page, `${origin}/#log/${largeRun}`, everyLine);
  const scrolled = await deltas(
    `list.scrollTop = (spent.length / ${frames}) * (list.scrollHeight - list.clientHeight);`,
  );
  report(
    "dashboard_scroll",
    quantile(scrolled, 0.95) / still,
    `a frame of a blank page took ${still.toFixed(1)} ms`,
  );
}

/** Share of one core that the page takes while lines are added to the run it shows. */
async function measureLive(
  page: Page,
  server: ChildProcess,
  add: (tick: number) => void,
): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const metrics = async (): Promise<Record<string, number>> => {
    const { metrics: list } = await session.send("Performance.getMetrics");
    return Object.fromEntries(list.map(({ name, value }) => [name, value]));
  };
  const [before, served, began] = [await metrics(), cpuSeconds(server), performance.now()];

  for (let tick = 0; tick * live.perTick < live.events; tick += 1) {
    add(tick);
    await wait(live.everyMs);
  }

  await wait(1_000); // what is still to be drawn counts too
  const seconds = (performance.now() - began) / 1_000;
  const after = await metrics();
  const share = (100 * ((after["TaskDuration"] ?? 0) - (before["TaskDuration"] ?? 0))) / seconds;
  report(
    "dashboard_live",
    share,
    `${live.events} events in ${seconds.toFixed(1)} s; the server took ${((100 * (cpuSeconds(server) - served)) / seconds).toFixed(0)} %`,
  );

  report("dashboard_heap", (after["JSHeapUsedSize"] ?? 0) / 1e6);
}

function cpuSeconds({ pid }: ChildProcess): number {
  const fields =
    readFileSync(`/proc/${pid ?? 0}/stat`, "latin1")
      .split(") ")[1]
      ?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function served(
  folder: string,
): Promise<{ readonly address: string; readonly child: ChildProcess }> {
  const env = { ...plainEnv, HOME: folder, XDG_STATE_HOME: join(folder, "state") };
  const child = spawn(process.execPath, [join(repository, "dist/autopilot.cjs"), "dashboard"], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });

  let shown = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (shown += text));

  for (;;) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+\/#\S+/.exec(shown) ?? [];
    if (address !== undefined) return { address, child };
    if (child.exitCode !== null) throw new Error(`Error: the dashboard did not start: ${shown}`);
    await wait(50);
  }
}
