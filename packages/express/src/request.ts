import type { ContextualFlags } from '@flags/core';

/** The types of Express 4 and 5 both extend this global interface; importing this file is what adds to it. */
declare global {
  namespace Express {
    interface Request {
      /** The answers for this request, by `flagsMiddleware`. */
      readonly flags: ContextualFlags;
    }
  }
}
