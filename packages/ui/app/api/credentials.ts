import { signal } from '@preact/signals';

const KEY = 'flags-ui:token';

/** The pasted token. It is kept for this tab until the tab is closed. */
const token = signal<string | undefined>(sessionStorage.getItem(KEY) ?? undefined);

/** Whether the API requires a sign-in: it replied 401. */
export const isSignedOut = signal(false);

export const hasToken = () => token.value !== undefined;

export function authorization(): string | undefined {
  return token.value;
}

export function keepToken(secret: string): void {
  sessionStorage.setItem(KEY, secret);
  token.value = secret;
  isSignedOut.value = false;
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
  token.value = undefined;
}

export function onUnauthenticated(): void {
  isSignedOut.value = true;
}
