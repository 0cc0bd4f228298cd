// approve: re-exports the approve command, which shares its code with answer.

export { approve } from "./answer.ts";
