import type { InputSchemas, Settings } from '@flags/core';
import type { Refer } from './schema-references.js';
import type { AuthMode } from './security.js';

/** What describing an operation needs besides its row. */
export interface OperationContext {
  readonly schemas: InputSchemas;
  readonly settings: Settings;
  readonly auth: AuthMode;
  readonly refer: Refer;
}
