/**
 * The limits of the router, beside the `LIMITS` of the engine. The docstrings have the form of those, and are in the
 * same table of docs/reference/limits.md.
 */
export const ROUTER_LIMITS = {
  /** Bytes of a body, unpacked, unless the option `bodyLimit` says another number. Beyond it: `payload_too_large`. */
  body: 1_048_576,
  /**
   * Arrays, objects and members in a body, counted before it is parsed. The largest accepted report (10,000 flags with
   * variants) has fewer. Without this limit, a body of many `[]` would parse into a far larger object graph. Beyond it:
   * `payload_too_large`.
   */
  structure: 100_000,
  /**
   * Levels of JSON in a body. Deeper JSON would overflow the stack of recursive functions. Beyond it: `invalid_json`.
   */
  depth: 32,
  /** Operations of a JSON Patch. */
  patchOperations: 1000,
  /** Characters of a pointer of a JSON Patch: to match and to split a longer one would take long. */
  patchPointer: 4096,
  /** Characters of JSON that one patch copies: each `copy` can double a document. Beyond it: `invalid_patch`. */
  patchCopies: 500_000,
} as const;
