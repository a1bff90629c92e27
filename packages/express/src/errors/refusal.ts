/** Reasons for which the edge refuses a request, before the engine is asked. */
export type RefusalCode =
  | 'unauthenticated'
  | 'forbidden'
  | 'cross_origin'
  | 'host_not_allowed'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'invalid_json';

/** A request that the edge refuses. */
export class Refusal extends Error {
  constructor(
    readonly code: RefusalCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
