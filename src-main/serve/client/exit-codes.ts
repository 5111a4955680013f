/** What a headless host's exit code tells the client that started it. */

/** The data folder has another host already: look for that one. */
export const OWNED_BY_ANOTHER = 75
