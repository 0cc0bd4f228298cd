export { approve } from "./answer.ts";
