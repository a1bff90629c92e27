import { memoryStorage, openFlags } from '@flags/core';
import { inputSchemas } from '@flags/core/integration/http';
import type { AuthMode } from '../../src/auth/auth.js';
import { openApiDocument } from '../../src/openapi/openapi-document.js';
import { GROUPS } from '../../src/routes.js';

export const AUTH_MODES: readonly AuthMode[] = ['none', 'token', 'host'];

export interface OpenApi {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
  readonly deprecated?: boolean;
}

interface Response {
  readonly headers?: Readonly<Record<string, { readonly required: boolean }>>;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Media {
  readonly schema: object;
  readonly example?: unknown;
}

/** The document of the whole API, as a client gets it. */
export async function documentFor(auth: AuthMode): Promise<OpenApi> {
  const flags = await openFlags({ storage: memoryStorage() });
  const { settings } = flags;
  const document = openApiDocument({ groups: GROUPS, schemas: inputSchemas(settings), settings, auth });
  await flags.close();
  return JSON.parse(JSON.stringify(document));
}

export function operationsOf({ paths }: OpenApi): readonly Operation[] {
  return Object.values(paths).flatMap((item) => Object.values(item));
}
