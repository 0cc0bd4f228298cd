// browser: the dashboard as a person has it: started in a terminal, opened in a real Chromium.

import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterFile } from "../support/after-file.ts";
import { begin, until } from "../support/autopilot.ts";

const program = "/usr/bin/chromium";
/** Whether there is a browser to test with. */
export const hasChromium = existsSync(program);
const flags =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";

/** No test is about this time: it lets a hang be named, however busy the machine is. */
const hangMs = 120_000;
let browser: Browser | null = null;

export async function openBrowser(look: {
  width: number;
  height: number;
  dark?: boolean;
}): Promise<BrowserContext> {
  browser ??= await launched();
  const opened = await browser.newContext({
    viewport: { width: look.width, height: look.height },
    colorScheme: look.dark === true ? "dark" : "light",
  });
  opened.setDefaultTimeout(hangMs);

  return opened;
}

async function launched(): Promise<Browser> {
  const item = await chromium.launch({ executablePath: program, args: flags.split(" ") });
  afterFile(() => {
    browser = null;
    return item.close();
  });

  return item;
}

export type Served = {
  readonly address: string;
  readonly code: string;
  readonly end: (signal?: NodeJS.Signals) => Promise<void>;
};

/** `autopilot dashboard` in a folder, with what its terminal shows. */
export async function dashboardIn(folder: string, args: readonly string[] = []): Promise<Served> {
  const { child, ended } = begin(folder, ["dashboard", ...args]);
  let shown = "";
  child.stderr?.on("data", (text: string) => (shown += text));
  const [address = "", code = ""] = await until("the dashboard's address", () => {
    const found = /(http:\/\/127\.0\.0\.1:\d+\/#\S+)[\s\S]*Code +(\w{6})/.exec(shown);
    return found === null ? null : found.slice(1);
  });

  const end = async (signal: NodeJS.Signals = "SIGINT"): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  afterFile(() => end("SIGKILL"));
  return { address, code, end };
}

/** A tab on the dashboard, with everything that went wrong in it or left it. */
export async function openTab(
  context: BrowserContext,
  address: string,
): Promise<{ readonly page: Page; readonly wrong: readonly string[] }> {
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on("pageerror", ({ message }) => wrong.push(`error: ${message}`));
  page.on("console", (message) =>
    message.type() === "error" &&
    !/ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE|status of 4/.test(message.text())
      ? wrong.push(message.text())
      : undefined,
  );

  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });

  const own = new URL(address).origin;
  page.on("request", (request) =>
    request.url().startsWith(own) || request.url().startsWith("data:")
      ? undefined
      : wrong.push(`request: ${request.url()}`),
  );

  await page.goto(address);
  return { page, wrong };
}

export async function unlock(page: Page, code: string): Promise<void> {
  await page.getByLabel("Code from the terminal").fill(code);
  await page.getByRole("button", { name: "Unlock for this tab" }).click();
  await page.getByText("Unlocked for this tab.").waitFor();
}

export const go = async (page: Page, hash: string): Promise<void> => {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
};
