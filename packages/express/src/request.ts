import type { RegisteredContextualFlags } from '@flags/core/types';

/**
 * Extends the global `Express.Request` interface of Express 4 and 5. The extension applies where this file is imported.
 */
declare global {
  namespace Express {
    interface Request {
      /** Evaluates flags for this request. Set by `flagsMiddleware`. Typed by the schema that you register. */
      readonly flags: RegisteredContextualFlags;
    }
  }
}
