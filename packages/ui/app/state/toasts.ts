import { signal } from '@preact/signals';

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'done' | 'fault';
  /** The label of the button and what it does. */
  readonly action?: { readonly label: string; readonly run: () => void };
}

export const toasts = signal<readonly Toast[]>([]);

/** How long a message is shown, in milliseconds. Errors are shown until they are closed. */
const DURATION = 10_000;
let lastId = 0;

export function showToast(toast: Omit<Toast, 'id'>): void {
  const id = ++lastId;
  // Shows the newest three, because more would cover the page.
  toasts.value = [...toasts.value.slice(-2), { ...toast, id }];
  if (toast.tone === 'done') setTimeout(() => closeToast(id), DURATION);
}

export function closeToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Sends a request, and shows a message about its result. */
export async function attempt(send: () => Promise<unknown>, done: string): Promise<void> {
  try {
    await send();
    showToast({ tone: 'done', text: done });
  } catch (error) {
    showToast({ tone: 'fault', text: (error as Error).message });
  }
}
