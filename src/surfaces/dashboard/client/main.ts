// main: starts the dashboard in the browser: chooses the page by the URL and draws it from the
// server's facts.

import { render } from "preact";
import { el, type Child } from "../../../views/web/element.ts";
import { takeTokenFromAddress } from "./api.ts";
import { closedPage, frame, openDialog, pageTitle } from "./frame.ts";
import { listenToKeys, restoreTheme } from "./keys.ts";
import { followServer, reloadPage, resumeWithToken } from "./loading.ts";
import { costPage } from "./pages/cost.ts";
import { diffPage, nextFile } from "./pages/diff.ts";
import { fleetPage } from "./pages/fleet.ts";
import { inboxPage } from "./pages/inbox.ts";
import { logPage, openLine } from "./pages/log.ts";
import { moveInLog } from "./pages/log-list.ts";
import { nowPage } from "./pages/now.ts";
import { portfolioPage } from "./pages/portfolio.ts";
import { runPage } from "./pages/run.ts";
import { settingsPage } from "./pages/settings.ts";
import { isAboutRun, pageKeys, type PageName } from "../rail.ts";
import { draw, emptyLog, onDraw, state } from "./store.ts";

const pageViews: Readonly<Record<PageName, () => Child>> = {
  now: nowPage,
  inbox: inboxPage,
  run: runPage,
  log: logPage,
  diff: diffPage,
  portfolio: portfolioPage,
  fleet: fleetPage,
  cost: costPage,
  settings: settingsPage,
};

const root = document.getElementById("app");
let hasNavigated = false;
/**
 * A page whose facts come later is drawn twice: its title gets the focus again, until the user does
 * something else.
 */
let isTitleDue = false;
/**
 * The server sent the frame already, so the first draw waits for the facts, but no longer than
 * this.
 */
const firstDrawMs = 300;
const redrawMs = 30_000;

function drawPage(): void {
  if (root === null) return;
  document.title = `${pageTitle(state.page)} · autopilot`;
  document.body.toggleAttribute("data-still", state.areUpdatesHeld || state.connection === "gone");
  render(
    state.connection === "token"
      ? closedPage()
      : frame(el("div", { key: `${state.page} ${state.key ?? ""}` }, pageViews[state.page]())),
    root,
  );

  if (hasNavigated) scrollTo(0, 0);
  if (hasNavigated || (isTitleDue && document.activeElement === document.body)) {
    document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  }

  hasNavigated = false;
}

/** Reads the page, its run and the part of it to show from the URL. */
function openAddress({ isFirst }: { readonly isFirst: boolean }): void {
  const [page = "now", ...words] = location.hash.slice(1).split("/").map(decodeWord);
  const pageName = pageKeys.find((candidate) => candidate === page) ?? "now";
  const key = isAboutRun(pageName) ? (words[0] ?? state.key) : state.key;
  if (key !== state.key) {
    Object.assign(state, {
      key,
      head: null,
      run: null,
      missing: null,
      log: emptyLog(),
      diff: null,
      file: null,
      fileDiff: null,
      expanded: null,
      selectedRow: null,
      notes: [],
      openNote: null,
    });
  }

  state.page = pageName;
  if (pageName === "inbox") {
    state.question = words.length < 2 ? state.question : `${words[0] ?? ""} ${words[1] ?? ""}`;
  }

  if (pageName === "log" && words[1] !== undefined) openLine(Number(words[1]));
  hasNavigated = isTitleDue = !isFirst;
  if (!isFirst) draw();
  void reloadPage();
}

function decodeWord(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

const announcer = document.createElement("div");
announcer.id = "polite";
announcer.className = "hidden-text";
announcer.setAttribute("role", "status");
announcer.setAttribute("aria-live", "polite");
document.body.append(announcer);

restoreTheme();
takeTokenFromAddress();
onDraw(drawPage);
listenToKeys({ nextFile, moveInLog, help: () => openDialog("keys") });
addEventListener("hashchange", () => {
  if (takeTokenFromAddress()) resumeWithToken();
  openAddress({ isFirst: false });
});
for (const act of ["keydown", "pointerdown"]) {
  addEventListener(act, () => void (isTitleDue = false), { capture: true });
}
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !state.areUpdatesHeld) void reloadPage();
});
setInterval(draw, redrawMs); // the page shows how long ago things were
openAddress({ isFirst: true });
setTimeout(draw, firstDrawMs);
void followServer();
