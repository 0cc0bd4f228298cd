// limits: lists everything the meter bounds.

const mib = 1024 * 1024;

/**
 * A request is buffered whole: no provider answers before it has all of it, so it costs only a copy
 * on this machine, and only a complete request shows its model, wherever the agent wrote it.
 * Anthropic takes 32 MB, Gemini 20 MB.
 */
export const requestBytesMax = 32 * mib;
/** For all requests together. */
export const heldRequestsBytesMax = 256 * mib;
/** Of a call of one of the runner's own tools. */
export const toolCallBytesMax = 4 * mib;
/**
 * An error is read up to this before it is passed on, so that a key in it can be removed before the
 * agent sees it.
 */
export const errorBytesMax = mib;
/** The figures of a call, an error, a model's name: what is parsed out of a body. */
export const captureBytesMax = 64 * 1024;
/** What is kept of an error's text. */
export const errorCharsMax = 500;

export const headerBytesMax = 64 * 1024;
export const headersMax = 200;
/** How long an agent may take to send the headers, and the whole of a request. */
export const headersTimeoutMs = 30_000;
export const requestTimeoutMs = 5 * 60_000;
export const keepAliveTimeoutMs = 75_000;
/** A reasoning model may be silent for minutes; one that is silent for this long is gone. */
export const providerIdleMs = 10 * 60_000;
export const callTotalMs = 2 * 60 * 60_000;
export const dialTimeoutMs = 30_000;
export const tunnelIdleMs = 10 * 60_000;
/** How long a cut stream may take to send its last event. */
export const abortGraceMs = 2000;

export const connectionsMax = 2048;
/** Connections that have not yet sent a token. */
export const unclaimedConnectionsMax = 256;
/** Of one account, at one time. */
export const openPerAccountMax = { call: 64, tunnel: 128, connection: 256 } as const;
/** Accounts that are open, or closed and not yet paid. */
export const accountsMax = 4096;
/** The latest calls that are kept one by one; the sums have all. */
export const callsKeptMax = 1000;
export const refusedHostsMax = 100;

/** A figure above this isn't a figure. */
export const tokensMax = 1e12;
/** Bytes of text per token, on average. */
export const bytesPerToken = 4;
/**
 * This many bytes that aren't text (names, frames, pings) count as a token, so that no stream is
 * free.
 */
export const frameBytesPerToken = 1024;
/**
 * More bytes of text than this for each token of an output figure: the figure is too low to be
 * believed.
 */
export const textBytesPerTokenMax = 64;
/** An image or file inside a request counts as at most this many bytes of text. */
export const attachmentBytesMax = 6400;
/** A stream that reported its end may still end; one that continues this long has not ended. */
export const bytesAfterEndMax = 64 * 1024;
/** An event is parsed when it is complete; a larger one is not parsed. */
export const eventBytesMax = 16 * mib;
/** This much of an incomplete event goes uncounted. */
export const uncountedBytesMax = 64 * 1024;
