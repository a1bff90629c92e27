import type { UserRole } from '@flags/express';

/** The application's own users: the library does not know them. */
export interface User {
  readonly name: string;
  readonly role: UserRole;
}

const USERS: readonly (User & { readonly password: string })[] = [
  { name: 'ada', role: 'editor', password: 'lovelace' },
  { name: 'grace', role: 'editor', password: 'hopper' },
  { name: 'charles', role: 'viewer', password: 'babbage' },
];

export function logIn(name: unknown, password: unknown): User | undefined {
  return USERS.find((user) => user.name === name && user.password === password);
}

export function userNamed(name: string | undefined): User | undefined {
  return USERS.find((user) => user.name === name);
}
