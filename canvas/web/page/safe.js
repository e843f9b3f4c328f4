// @ts-check
/** The methods that change nothing, as the host's tables have them: the page repeats them when their connection is lost. */
export const SAFE = new Set(["resourceRead", "resourceResolve", "listSessions", "resolveSessionConfig", "sessionConfigCompletions", "canvasReadResource", "x-ahp-canvas/history"]);
