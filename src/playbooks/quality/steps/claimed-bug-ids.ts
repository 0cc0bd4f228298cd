// claimed-bug-ids: collects the bug ids that agents returned, whichever return schema they used.

/** Each id once. A claim that isn't an object with a list of bugs adds none. */
export function collectBugIds(claims: readonly unknown[]): readonly string[] {
  const ids = claims.flatMap((claim) => {
    if (typeof claim !== "object" || claim === null) return [];
    const { bugs, reconciled } = claim as Readonly<Record<string, unknown>>;
    return [bugs, reconciled].flatMap((list) => (Array.isArray(list) ? list.map(readId) : []));
  });
  return [...new Set(ids.filter((id) => id !== ""))];
}

/** Empty if there is no id. */
function readId(item: unknown): string {
  const id: unknown =
    typeof item === "object" && item !== null
      ? (item as Readonly<Record<string, unknown>>)["id"]
      : "";
  return typeof id === "string" ? id.trim() : "";
}
