// example-block: the types of a document's examples: blocks of code, and the calls in them with the
// results that the document says they have.

export type ExampleLanguage = "js" | "py";

/** Lines of code in a document, as they are written. */
export type CodeBlock = {
  /** What stands behind the fence: `js`. Empty if there is nothing, or no fence. */
  readonly language: string;
  /** The line of text before the block. */
  readonly introduction: string;
  readonly lines: readonly string[];
};

/** What the document says a call gives. */
export type ExpectedResult =
  | { readonly value: string }
  /** What is printed. */
  | { readonly text: string }
  /** The name of the error; empty if the document only says that there is one. */
  | { readonly error: string };

/** A call, or the value of a constant. */
export type ExampleStep = {
  readonly code: string;
  /** The name of the constant; null for a call. */
  readonly constant: string | null;
  /** Null if the example does not say what the call gives. */
  readonly expected: ExpectedResult | null;
};

export type ExampleBlock = {
  readonly language: ExampleLanguage;
  readonly steps: readonly ExampleStep[];
};
