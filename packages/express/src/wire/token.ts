import type { CreatedToken, Token } from '@flags/core';
import type { JsonChunks } from '../chunks.js';
import { jsonObject } from '../json-chunks.js';

/** A token, or what an event tells of one: events of release 0.1, and of tokens for one project, have no `projects`. */
type ShownToken = Omit<Token, 'projects'> & Partial<Pick<Token, 'projects'>>;

/** `username` is the older clients' word for `tokenName`; `project` is the first of `projects`, which they do not know. */
export function tokenToWire({ id, name, kind, project, projects, environment, createdAt, expiresAt }: ShownToken) {
  return {
    id,
    tokenName: name,
    username: name,
    type: kind,
    project,
    projects: projects ?? [project],
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
