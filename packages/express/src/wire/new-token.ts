import { type JsonSchema, type NewToken, TOKEN_KINDS } from '@flags/core';
import { propertyOf } from '../schema-properties.js';
import { unchecked } from '../unchecked.js';

/** What a client sends to create a token. */
export interface WireNewToken {
  readonly tokenName?: string;
  readonly username?: string;
  /** In any case: some clients send `ADMIN`. */
  readonly type: string;
  readonly project?: string;
  readonly projects?: readonly string[];
  readonly environment?: string;
  readonly expiresAt?: string | null;
}

/** The engine's rules under the wire's names. A secret cannot be given over HTTP. */
export function newTokenSchema(newToken: JsonSchema): JsonSchema {
  const of = (name: keyof NewToken) => propertyOf(newToken, name);
  return {
    type: 'object',
    properties: {
      tokenName: of('name'),
      username: of('name'),
      type: { type: 'string', pattern: anyCase(TOKEN_KINDS), description: `one of ${TOKEN_KINDS.join(', ')}` },
      project: of('project'),
      projects: of('projects'),
      environment: of('environment'),
      expiresAt: of('expiresAt'),
    },
    required: ['type'],
    if: { type: 'object', required: ['username'] },
    else: { required: ['tokenName'] },
  };
}

/** Of both names the first is taken; `project` goes before `projects`. */
export function newTokenFromWire(token: WireNewToken): NewToken {
  const { tokenName, username, type, project, projects, environment, expiresAt } = token;
  return unchecked<NewToken>({
    name: tokenName ?? username,
    kind: type.toLowerCase(),
    ...(project !== undefined && { project }),
    ...(projects !== undefined && { projects }),
    ...(environment !== undefined && { environment }),
    ...(expiresAt !== undefined && { expiresAt }),
  });
}

function anyCase(words: readonly string[]): string {
  const alternatives = words.map((word) => word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`));
  return `^(?:${alternatives.join('|')})$`;
}
