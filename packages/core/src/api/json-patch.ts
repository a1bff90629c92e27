/** One operation of a JSON Patch (RFC 6902). `path` and `from` are JSON Pointers. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** Operations in order; all are applied, or none. */
export type JsonPatch = readonly JsonPatchOperation[];
