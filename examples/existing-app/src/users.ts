import type { UserRole } from '@flags/express';

/** The application's own users: the library does not know them. */
export interface User {
  /** Stays when the name changes: approvals compare people by it. */
  readonly id: number;
  readonly name: string;
  readonly role: UserRole;
}

const USERS: readonly (User & { readonly password: string })[] = [
  { id: 1, name: 'ada', role: 'editor', password: 'lovelace' },
  { id: 2, name: 'grace', role: 'editor', password: 'hopper' },
  { id: 3, name: 'charles', role: 'viewer', password: 'babbage' },
];

export function logIn(name: unknown, password: unknown): User | undefined {
  return USERS.find((user) => user.name === name && user.password === password);
}

export function userWithId(id: number | undefined): User | undefined {
  return USERS.find((user) => user.id === id);
}
