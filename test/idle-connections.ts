/**
 * Options of a server whose clients reuse connections in the same process. It closes none that is idle: on a busy machine,
 * it would close one in the moment in which a client sends a request on it, which then fails with ECONNRESET.
 */
export const KEEP_IDLE = { keepAliveTimeout: 600_000 };
