// entry: where the process begins. Nothing but the last resort stands here: what nobody caught is a bug of ours, told as such.

import { crashed, main } from "./main.ts";
import { processIo } from "./process-io.ts";

const argv = process.argv.slice(2);
const io = processIo();
process.on("uncaughtException", (error) => process.exit(crashed(error, argv, io)));
process.on("unhandledRejection", (error) => process.exit(crashed(error, argv, io)));
void main(argv, io).then((code) => process.exit(code));
