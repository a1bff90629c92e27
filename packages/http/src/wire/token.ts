import type { CreatedToken, ListedToken, Token } from '@flags/core';

/** Older clients read `username` instead of `tokenName`, and `project`, the first of `projects`. */
export function tokenToWire({ id, name, kind, project, projects, environment, createdAt, expiresAt }: Token) {
  return {
    id,
    tokenName: name,
    username: name,
    type: kind,
    project,
    projects,
    environment,
    createdAt,
    expiresAt,
  };
}

export function listedTokenToWire({ lastUsedAt, ...token }: ListedToken) {
  return { ...tokenToWire(token), lastUsedAt };
}

export function createdTokenToWire({ token, secret }: CreatedToken) {
  return { ...listedTokenToWire({ ...token, lastUsedAt: null }), secret };
}
