// journal-version: the version of the journal format, on its own so that readers need not load the event schemas.

/** The version of the journal's format. By itself, so that whoever only reads a journal does not load the schema of every event. */
export const journalVersion = 1;
