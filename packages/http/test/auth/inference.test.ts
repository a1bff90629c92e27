import { createFlags, type Flags, memoryStorage } from '@flags/core';
import type { Request } from 'express';
import { createFlagsRouter, isApiToken, roles, type UserRole } from '../../../express/src/index.js';

interface User {
  readonly name: string;
  readonly isAdmin: boolean;
}

const findUser = (request: Request): User | undefined => ({ name: request.url, isAdmin: true });

/** Compiled by the build, which is what this is about. */
const ROUTERS: Readonly<Record<string, (flags: Flags) => unknown>> = {
  "a function's user": (flags) =>
    createFlagsRouter(flags, { auth: (request) => findUser(request), authorize: (user) => user.isAdmin }),
  "a promise's user": (flags) =>
    createFlagsRouter(flags, {
      auth: async (request) => findUser(request) ?? null,
      authorize: async (user, action, project) => user.isAdmin && action !== 'deleteProject' && project !== null,
    }),
  'a user type that is written down': (flags) =>
    createFlagsRouter(flags, { auth: (request) => findUser(request), authorize: (user: User) => user.isAdmin }),
  "a session's user, or a token": (flags) =>
    createFlagsRouter(flags, {
      auth: { session: async (request) => findUser(request) ?? null, tokens: true },
      authorize: (actor) => (isApiToken(actor) ? actor.kind === 'admin' : actor.isAdmin),
    }),
  "a session's user with a role, or a token": (flags) =>
    createFlagsRouter(flags, {
      auth: {
        session: async (request) => (findUser(request) ? { name: 'Ada', role: 'viewer' as UserRole } : null),
        tokens: true,
      },
      authorize: (actor, action) => isApiToken(actor) || roles[actor.role](action),
    }),
  "no more than a session's user, or a token": (flags) =>
    // @ts-expect-error: tokens are no users
    createFlagsRouter(flags, {
      auth: { session: findUser, tokens: true },
      authorize: (user: User) => user.isAdmin,
    }),
  'the name of a token': (flags) =>
    createFlagsRouter(flags, { auth: 'token', authorize: (actor) => actor.name !== '' }),
  'no more than the name of a token': (flags) =>
    // @ts-expect-error: tokens are no users
    createFlagsRouter(flags, { auth: 'token', authorize: (user: User) => user.isAdmin }),
};

describe('authorize', () => {
  it.each(Object.keys(ROUTERS))('is given the type of %s', async (name) => {
    expect(ROUTERS[name]?.(await createFlags({ storage: memoryStorage() }))).toBeInstanceOf(Function);
  });
});
