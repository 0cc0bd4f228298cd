// loading: fetches the facts of the current page, again whenever something changed, and notices
// when the server is gone.

import { fetchFacts, followChanges, Refused } from "./api.ts";
import { draw, emptyLog, serverNow, setClock, state, type State } from "./store.ts";
import { isAboutRun } from "../rail.ts";
import type { Overview } from "../../../commands/dashboard/overview.ts";
import type { LogPage } from "../../../views/facts/log-rows.ts";

/** However much happens, a page is not loaded more often. */
const reloadIntervalMs = 900;
/**
 * The newest lines fill any screen; older ones come in parts, so that the page answers in between.
 */
const logRowsFirst = 200;
const logRowsPart = 2_500;
export const logRowsMax = 20_000;
const retryMaxS = 30;
/** A tab in the background draws no frames: then a part of the log waits only this long. */
const frameWaitMs = 500;
/** Of what a screen reader announces. */
const announcedCharsMax = 300;

let isLoading = false;
let isStale = false;
let loadedAt = 0;

/**
 * Loads the facts of the current page. If it is called while it loads, it loads once more
 * afterwards.
 */
export async function reloadPage(): Promise<void> {
  if (isLoading) {
    isStale = true;
    return;
  }

  isLoading = true;
  try {
    do {
      isStale = false;
      loadedAt = performance.now();
      await loadOnce();
    } while (isStale);

    if (state.connection === "opening" || state.connection === "gone") state.connection = "live";
  } catch (error) {
    noteFailure(error);
  } finally {
    isLoading = false;
    draw();
  }
}

function noteFailure(error: unknown): void {
  if (error instanceof Refused && error.status === 401) state.connection = "token";
  else if (!(error instanceof Refused)) markGone();
}

function markGone(): void {
  if (state.connection === "token") return;
  if (state.connection !== "gone") state.goneSince = serverNow();
  state.connection = "gone";
}

/**
 * A page's facts are requested together with the overview, unless the overview must say which run
 * is meant.
 */
async function loadOnce(): Promise<void> {
  if (state.key !== null || !isAboutRun(state.page)) {
    await Promise.all([loadOverview(), loadPage()]);
    return;
  }

  await loadOverview();
  state.key = state.overview?.runs[0]?.key ?? null;
  await loadPage();
}

async function loadOverview(): Promise<void> {
  const overview = await fetchFacts<NonNullable<State["overview"]>>("overview");
  const previousOverview = state.overview;
  state.overview = overview;
  setClock(overview.at);
  announce(previousOverview, overview);
  if (state.head !== null || !isAboutRun(state.page)) draw(); // otherwise the page's own facts come at once, and draw
}

async function loadPage(): Promise<void> {
  const { page, key } = state;
  try {
    if (page === "portfolio") state.portfolio = await fetchFacts("portfolio");
    if (page === "fleet") state.fleet = await fetchFacts("fleet");
    if (page === "cost") state.cost = await fetchFacts("cost");
    if (page === "settings") state.settings = await fetchFacts("settings");
    if (key === null || !isAboutRun(page)) return;
    if (page === "run") await loadRun(key);
    else await Promise.all([loadHead(key), page === "log" ? loadLog(key) : loadDiff(key)]);
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    state.missing = key;
    state.head = state.run = null;
  }
}

async function loadRun(key: string): Promise<void> {
  const expanded = state.expanded === null ? {} : { expanded: [...state.expanded].join("\n") };
  const run = await fetchFacts<NonNullable<State["run"]>>("run", { run: key, ...expanded });
  if (state.key !== key) return;
  state.head = state.run = run;
  state.missing = null;
  draw();
}

/** The pages of a log and a diff need only the head of the run. */
async function loadHead(key: string): Promise<void> {
  const head = await fetchFacts<NonNullable<State["head"]>>("head", { run: key });
  if (state.key !== key) return;
  state.head = head;
  state.missing = null;
  draw();
}

async function loadLog(key: string): Promise<void> {
  const lastSeq = state.log.rows.at(-1)?.seq ?? 0;
  const logPage = await fetchFacts<LogPage>("log", {
    run: key,
    ...(lastSeq === 0 ? { max: String(logRowsFirst) } : { after: String(lastSeq) }),
  });

  if (state.key !== key) return;
  if (logPage.total < lastSeq) {
    state.log = emptyLog(); // another journal under the same name: it is read from its end, as at first
    return loadLog(key);
  }

  state.log.rows = lastSeq === 0 ? [...logPage.rows] : [...state.log.rows, ...logPage.rows];
  state.log.total = logPage.total;
  draw();
  void loadOlder(key);
}

let isLoadingOlder = false;

/**
 * Filters and search need every line; they come after what is visible, and each part is drawn
 * before the next is requested.
 */
async function loadOlder(key: string): Promise<void> {
  if (isLoadingOlder) return;
  isLoadingOlder = true;

  try {
    for (;;) {
      await waitForDrawing();
      const { rows } = state.log;
      const firstSeq = rows[0]?.seq ?? 1;
      const max = Math.min(logRowsPart, logRowsMax - rows.length);
      if (state.key !== key || state.page !== "log" || firstSeq === 1 || max <= 0) return;

      const logPage = await fetchFacts<LogPage>("log", {
        run: key,
        before: String(firstSeq),
        max: String(max),
      });
      if (state.key !== key || logPage.rows.length === 0) return;
      if (state.log.rows[0]?.seq !== firstSeq) continue; // another journal meanwhile
      state.log.rows = [...logPage.rows, ...state.log.rows];
      draw();
    }
  } catch (error) {
    noteFailure(error);
  } finally {
    isLoadingOlder = false;
  }
}

/** After the next frame, if there is one: a tab in the background draws none. */
const waitForDrawing = (): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      setTimeout(resolve, 0);
    };
    const timer = setTimeout(done, frameWaitMs);
    requestAnimationFrame(done);
  });

async function loadDiff(key: string): Promise<void> {
  const tipBefore = state.diff?.tip;
  const diffPage = await fetchFacts<NonNullable<State["diff"]>>("diff", { run: key });
  if (state.key !== key) return;
  state.diff = diffPage;
  const firstFile = diffPage.files.find(({ mark }) => mark !== "refused") ?? diffPage.files[0]; // a refused file has no lines to show
  const file = state.file ?? firstFile?.path ?? null;
  if (file !== null && (file !== state.file || tipBefore !== diffPage.tip)) await loadFile(file);
}

const noLines = { lines: [], cut: false, tip: "" };

export async function loadFile(path: string): Promise<void> {
  state.file = path;
  state.fileDiff = null;
  draw();
  const key = state.key ?? "";
  const refused = state.diff?.files.find((file) => file.path === path)?.mark === "refused";

  try {
    state.fileDiff = refused ? noLines : await fetchFacts("file", { run: key, path });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    state.fileDiff = noLines;
  }

  draw();
}

/** Lets a screen reader announce that something needs the person, or that a run ended. */
function announce(before: Overview | null, after: Overview): void {
  if (before === null) return;
  const text = findNews(before, after);
  const region = document.getElementById("polite");
  if (text !== null && region !== null) region.textContent = text.slice(0, announcedCharsMax);
}

function findNews(before: Overview, after: Overview): string | null {
  const knownQuestions = new Set(before.attention.map(({ key, id }) => `${key} ${id}`));
  const newQuestion = after.attention.find(({ key, id }) => !knownQuestions.has(`${key} ${id}`));
  if (newQuestion !== undefined) return `Needs you: ${newQuestion.question}`;
  const statesBefore = new Map(before.runs.map((run) => [run.key, run.state]));
  const endedRun = after.runs.find(
    (run) => run.state === "completed" && statesBefore.get(run.key) === "running",
  );

  return endedRun === undefined ? null : `Ended: ${endedRun.goal}`;
}

/**
 * Follows the server's change notices for as long as the page is open; reconnects with growing
 * delays.
 */
export async function followServer(): Promise<void> {
  for (let waitS = 1; ; waitS = Math.min(retryMaxS, waitS * 2)) {
    const stream = new AbortController();
    try {
      await followChanges((changed) => {
        waitS = 1;
        if (state.connection === "gone") state.connection = "live";
        // The store is only asked now and then, and its notice concerns one page.
        const isShown = changed.some((key) => key !== "fleet" || state.page === "fleet");
        if (isShown && !state.areUpdatesHeld && !document.hidden) loadSoon();
        else if (changed.length === 0) loadSoon(); // the first message: something may have changed before the stream was open
      }, stream.signal);
    } catch (error) {
      stream.abort();
      noteFailure(error);
      draw();
    }

    if (state.connection === "token") await waitForToken();
    await countDown(waitS);
  }
}

let isPlanned = false;
/**
 * Loads at most about once a second, and a moment after the first notice, because they come in
 * bursts.
 */
function loadSoon(): void {
  if (isPlanned) return;
  isPlanned = true;
  setTimeout(
    () => {
      isPlanned = false;
      void reloadPage();
    },
    Math.max(50, reloadIntervalMs - (performance.now() - loadedAt)),
  );
}

let endCountDown: (() => void) | null = null;
export const retryNow = (): void => endCountDown?.();

function countDown(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    state.retryInS = seconds;
    const timer = setInterval(() => {
      state.retryInS--;
      draw();
      if (state.retryInS <= 0) done();
    }, 1_000);

    const done = (): void => {
      clearInterval(timer);
      endCountDown = null;
      resolve();
    };
    endCountDown = done;
  });
}

let onNewToken: (() => void) | null = null;
const waitForToken = (): Promise<void> => new Promise((resolve) => void (onNewToken = resolve));

/** The URL brought another token: waiting requests continue. */
export function resumeWithToken(): void {
  state.connection = "opening";
  onNewToken?.();
  onNewToken = null;
  void reloadPage();
}
