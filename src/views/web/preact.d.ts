// preact: as much of Preact's types as is used here (tsconfig's `paths`). Its own bring the
// browser's types into every file of the program.

export type VNode = { readonly type: unknown; readonly props: Readonly<Record<string, unknown>> };
export function h(
  type: string,
  props: Readonly<Record<string, unknown>> | null,
  ...children: readonly unknown[]
): VNode;
export function render(node: VNode, into: object): void;
