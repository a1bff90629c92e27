import type { CreatedToken, Token } from '@flags/core';
import type { JsonChunks } from '../chunks.js';
import { jsonObject } from '../json-chunks.js';

/** `username` and `projects` are the older and the newer clients' words for `tokenName` and `project`. */
export function tokenToWire({ id, name, kind, project, environment, createdAt, expiresAt }: Token) {
  return {
    id,
    tokenName: name,
    username: name,
    type: kind,
    project,
    projects: [project],
    environment,
    createdAt,
    expiresAt,
  };
}

export function tokenListToWire(tokens: JsonChunks) {
  return jsonObject({ tokens });
}

export function createdTokenToWire({ token, secret }: CreatedToken) {
  return { ...tokenToWire(token), secret };
}
