// actions: sends a person's requests to the server. Nothing is shown as done before the server has
// confirmed it.

import { isUnlocked, Refused, postRequest, unlock } from "./api.ts";
import { reloadPage } from "./loading.ts";
import { isAboutRun } from "../rail.ts";
import { draw, state, toast } from "./store.ts";

/** Why no change can be requested now; null if one can. */
export function whyReadOnly(): string | null {
  if (state.connection !== "live") return "The server is gone: nothing can be sent now.";
  const readOnlyReason = state.overview?.readOnlyBecause ?? null;
  if (readOnlyReason !== null && !isUnlocked())
    return "Read-only: type the code from the terminal first.";

  return state.head?.card.foreign === true && isAboutRun(state.page)
    ? "This run came from elsewhere: it is only read here."
    : null;
}

/** Sends a request; true if it was done. While another is under way nothing is sent. */
export async function sendRequest(body: object): Promise<boolean> {
  const why = whyReadOnly();
  if (why !== null) {
    toast(why);
    return false;
  }

  if (state.isSending) return false;
  state.isSending = true;
  draw();

  try {
    const response = await postRequest(body);
    state.changedQuestion = response.reason_code === "block_changed" ? state.question : null;
    toast([response.message, ...response.warnings].join(" "));
    await reloadPage();

    return response.result !== "FAIL";
  } catch (error) {
    toast(
      error instanceof Refused
        ? error.message
        : "The server did not answer: nothing is known to have been done.",
    );

    return false;
  } finally {
    state.isSending = false;
    draw();
  }
}

export async function unlockWithCode(): Promise<void> {
  try {
    await unlock(state.typedCode);
    state.typedCode = "";
    state.codeError = null;
    toast("Unlocked for this tab.");
  } catch (error) {
    state.codeError = error instanceof Refused ? error.message : "The server did not answer.";
  }

  draw();
}

const copiedCharsMax = 60;

export function copyText(text: string): void {
  void navigator.clipboard
    ?.writeText(text)
    .then(() => toast(`Copied: ${text.slice(0, copiedCharsMax)}`))
    .catch(() => toast("The browser did not let it be copied."));
}
