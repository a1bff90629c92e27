import { signal } from '@preact/signals';

/** The dialog that a key has opened. */
export const overlay = signal<'palette' | 'help' | undefined>(undefined);

const STORED = 'flags-ui:letters';

/** Whether single-letter shortcuts are on. Users of speech input turn them off (WCAG 2.1.4). */
export const hasLetters = signal(localStorage.getItem(STORED) !== 'off');

export function setLetters(isOn: boolean): void {
  hasLetters.value = isOn;
  if (isOn) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, 'off');
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** All shortcuts, for the help. */
export const KEYS: readonly (readonly [keys: string, what: string])[] = [
  [isMac ? '⌘ K' : 'Ctrl K', 'Find flags, pages and actions'],
  ['/', 'Filter the list'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['↵', 'Open the row'],
  ['?', 'Show the keys'],
];

const LETTERS: Readonly<Record<string, () => boolean>> = {
  '/': () => focusOn(find('main input[type=search]')),
  '?': () => {
    overlay.value = 'help';
    return true;
  },
  j: () => moveRow(1),
  k: () => moveRow(-1),
};

/** Handles shortcuts. Letters do nothing in fields, in dialogs, and when they are turned off. */
export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.isComposing) return;
    const isModal = document.querySelector('dialog:modal') !== null;
    if (key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey) {
      if (isModal && overlay.value !== 'palette') return;
      event.preventDefault();
      overlay.value = overlay.value === 'palette' ? undefined : 'palette';
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isModal) return;
    if (leavesFilter(event) && moveRow(1)) return event.preventDefault();
    if (!hasLetters.value || isField(target)) return;
    if (LETTERS[key]?.()) event.preventDefault();
  });
}

function isField(target: EventTarget | null): boolean {
  const fields = 'textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])';
  return target instanceof Element && target.matches(fields);
}

/** Moves from the filter to the list. */
function leavesFilter({ key, target }: KeyboardEvent): boolean {
  return (key === 'ArrowDown' || key === 'Enter') && target instanceof Element && target.matches('input[type=search]');
}

const ROWS = 'main tbody tr, main .timeline > li';

function currentRow(): HTMLElement | null | undefined {
  return document.activeElement?.closest<HTMLElement>(ROWS);
}

/** The element that gets the focus in the current row. */
function handleOf(row: Element): HTMLElement | null {
  return row.querySelector<HTMLElement>('th a[href]') ?? row.querySelector<HTMLElement>('a[href], button, summary');
}

/** Moves the focus by rows. Without a focused row, focuses the first visible one. */
function moveRow(step: number): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)].filter((row) => handleOf(row)?.checkVisibility());
  const current = currentRow();
  const bar = document.querySelector('header.bar')?.getBoundingClientRect().bottom ?? 0;
  const next = current
    ? rows[rows.indexOf(current) + step]
    : rows.find((row) => row.getBoundingClientRect().top >= bar);
  return focusOn(next && handleOf(next));
}

function find(selector: string): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(selector)].find((element) => element.checkVisibility());
}

function focusOn(element: HTMLElement | null | undefined): boolean {
  element?.focus();
  return element != null;
}
