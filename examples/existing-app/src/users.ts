/** The application's own users: the library knows nothing of them. */
export interface User {
  readonly name: string;
  readonly may: 'edit' | 'view';
}

const USERS: readonly (User & { readonly password: string })[] = [
  { name: 'ada', may: 'edit', password: 'lovelace' },
  { name: 'charles', may: 'view', password: 'babbage' },
];

export function logIn(name: unknown, password: unknown): User | undefined {
  return USERS.find((user) => user.name === name && user.password === password);
}

export function userNamed(name: string | undefined): User | undefined {
  return USERS.find((user) => user.name === name);
}
