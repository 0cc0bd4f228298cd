// journal-version: the version of the journal format, on its own so that readers need not load the event schemas.

/** The version of the journal's format, in its own file so that readers do not load the schema of every event. */
export const journalVersion = 1;
