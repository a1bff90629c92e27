import { signal } from '@preact/signals';
import { navigate } from '../router.js';
import { ROOT } from '../settings.js';
import { undoLatest } from './changes.js';

/** What lies over the page at the wish of a key. */
export const overlay = signal<'palette' | 'help' | undefined>(undefined);

const STORED = 'flags-ui:letters';

/** Whether single letters are keys. Users of speech input switch them off (WCAG 2.1.4). */
export const hasLetters = signal(localStorage.getItem(STORED) !== 'off');

export function setLetters(isOn: boolean): void {
  hasLetters.value = isOn;
  if (isOn) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, 'off');
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** All keys, as the help shows them. */
export const KEYS: readonly (readonly [keys: string, what: string])[] = [
  [isMac ? '⌘ K' : 'Ctrl K', 'Find flags, pages and actions'],
  ['/', 'Filter the list'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['↵', 'Open the row'],
  ['x', 'Choose the row'],
  ['e', 'Edit'],
  ['r', 'Review changes'],
  ['u', 'Undo the latest change'],
  ['v', 'View as'],
  ['g f', 'Go to the flags'],
  ['g s', 'Go to the segments'],
  ['g e', 'Go to the events'],
  ['g w', 'Go to the playground: why a flag is on or off'],
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
  x: chooseRow,
  e: edit,
  r: () => click(find('main [data-action=review]')),
  u: undoLatest,
  v: () => click(find('[data-action=view-as]')),
};

/** First segments of the places that a letter after `g` goes to. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  f: ['projects'],
  s: ['segments'],
  e: ['events', 'history'],
  w: ['why', 'playground'],
};
/** The second letter follows within this time. */
const SEQUENCE = 1_500;

/** Follows the keyboard. Letters are dead in fields, in dialogs, and when they are switched off. */
export function startKeys(): void {
  let goUntil = 0;
  document.addEventListener('keydown', (event) => {
    const { key, target, timeStamp } = event;
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
    const places = timeStamp < goUntil ? PLACES[key] : undefined;
    goUntil = key === 'g' ? timeStamp + SEQUENCE : 0;
    const isDone = places === undefined ? LETTERS[key]?.() : goTo(places);
    if (isDone) event.preventDefault();
  });
}

function isField(target: EventTarget | null): boolean {
  const fields = 'textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])';
  return target instanceof Element && target.matches(fields);
}

/** From the filter, the list is one key away. */
function leavesFilter({ key, target }: KeyboardEvent): boolean {
  return (key === 'ArrowDown' || key === 'Enter') && target instanceof Element && target.matches('input[type=search]');
}

const ROWS = 'main tbody tr, main .timeline > li';

function currentRow(): HTMLElement | null | undefined {
  return document.activeElement?.closest<HTMLElement>(ROWS);
}

/** What has the focus when a row is the current one. */
function handleOf(row: Element): HTMLElement | null {
  return row.querySelector<HTMLElement>('th a[href]') ?? row.querySelector<HTMLElement>('a[href], button, summary');
}

/** Moves the focus by rows; to the first one in view, if none has it. */
function moveRow(step: number): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)].filter((row) => handleOf(row)?.checkVisibility());
  const current = currentRow();
  const bar = document.querySelector('header.bar')?.getBoundingClientRect().bottom ?? 0;
  const next = current
    ? rows[rows.indexOf(current) + step]
    : rows.find((row) => row.getBoundingClientRect().top >= bar);
  return focusOn(next && handleOf(next));
}

/** The focus stays in the row. */
function chooseRow(): boolean {
  const box = currentRow()?.querySelector<HTMLElement>('input[type=checkbox]');
  box?.click();
  return box != null;
}

/** Edits the row or the part that has the focus, otherwise the first part of the page that can be edited. */
function edit(): boolean {
  const row = currentRow();
  if (row?.dataset.edit !== undefined) {
    navigate(row.dataset.edit);
    return true;
  }
  const selector = '[data-action=edit]:not([aria-disabled=true])';
  const own = document.activeElement?.closest('main section')?.querySelector<HTMLElement>(selector);
  return click(own ?? find(`main ${selector}`));
}

function goTo(places: readonly string[]): boolean {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav[aria-label=Main] a')];
  const placeOf = ({ pathname }: HTMLAnchorElement) => pathname.slice(ROOT.pathname.length).split('/')[0] ?? '';
  return click(links.find((link) => places.includes(placeOf(link))));
}

function find(selector: string): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(selector)].find((element) => element.checkVisibility());
}

function focusOn(element: HTMLElement | null | undefined): boolean {
  element?.focus();
  return element != null;
}

/** Focuses it first: a dialog that it opens returns the focus to it. */
function click(element: HTMLElement | null | undefined): boolean {
  if (element?.getAttribute('aria-disabled') === 'true') return false;
  element?.focus();
  element?.click();
  return element != null;
}
