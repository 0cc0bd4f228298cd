// ids-claimed: collects the bug ids that agents returned, whichever return schema they used.

export function collectBugIds(claims: readonly unknown[]): readonly string[] {
  const ids = claims.flatMap((claim) => {
    if (typeof claim !== "object" || claim === null) return [];
    const { bugs, reconciled } = claim as Readonly<Record<string, unknown>>;
    return [bugs, reconciled].flatMap((list) => (Array.isArray(list) ? list.map(idOf) : []));
  });
  return [...new Set(ids.filter((id) => id !== ""))];
}

function idOf(item: unknown): string {
  const id: unknown = typeof item === "object" && item !== null ? (item as Readonly<Record<string, unknown>>)["id"] : "";
  return typeof id === "string" ? id.trim() : "";
}
