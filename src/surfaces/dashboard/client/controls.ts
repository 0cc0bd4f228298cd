// controls: builds the dashboard's buttons. A button that can't act now stays visible and
// focusable, and says why.

import { type Child, el, type Element } from "../../../views/web/element.ts";
import { whyReadOnly } from "./actions.ts";
import { toast } from "./store.ts";

type ButtonKind = "" | "first" | "quiet";

export const button = (
  label: Child,
  onClick: () => void,
  kind: ButtonKind = "",
  more: Record<string, unknown> = {},
): Element => el("button.button", { type: "button", class: kind, onClick, ...more }, label);

/** A button that requests a change. `whyIdle`: why pressing it would do nothing yet. */
export function actionButton(
  label: Child,
  act: () => void,
  kind: ButtonKind = "",
  whyIdle: string | null = null,
): Element {
  const why = whyReadOnly() ?? whyIdle;
  return button(
    label,
    () => (why === null ? act() : toast(why)),
    kind,
    why === null ? {} : { "aria-disabled": "true", title: why },
  );
}

/** Focusable by script, so that a screen reader begins there after a page change. */
export const pageHeading = (text: Child): Element => el("h1", { tabindex: "-1" }, text);
