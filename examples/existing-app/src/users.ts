import type { UserRole } from '@flags/express';

/** The application's own users: the library does not know them. */
export interface User {
  /** Stays when the name changes: approvals compare people by it. */
  readonly id: number;
  readonly name: string;
  readonly role: UserRole;
}

const USERS: (User & { readonly password: string })[] = [
  { id: 1, name: 'ada', role: 'editor', password: 'lovelace' },
  { id: 2, name: 'grace', role: 'editor', password: 'hopper' },
  { id: 3, name: 'charles', role: 'viewer', password: 'babbage' },
];

export function logIn(name: unknown, password: unknown): User | undefined {
  return USERS.find((user) => user.name === name && user.password === password);
}

/** People marry, and correct their names. */
export function renameUser(id: number, name: string): void {
  const index = USERS.findIndex((user) => user.id === id);
  const user = USERS[index];
  if (user) USERS[index] = { ...user, name };
}

export function userWithId(id: number | undefined): User | undefined {
  return USERS.find((user) => user.id === id);
}
