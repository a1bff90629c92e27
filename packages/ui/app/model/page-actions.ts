/** What a user can do on the page that is shown, for the palette. */
export interface PageAction {
  readonly group: 'Pages' | 'On this page';
  readonly label: string;
  readonly run: () => void;
}

const CONTROLS = 'a[href], button, select, summary, textarea, input';
/** Rows and lists have names of their own here. */
const SKIPPED = '[aria-disabled=true], :disabled, [data-palette=none], .skip';

/**
 * Reads the actions off the page itself: every link, button and field that is shown and enabled, under its accessible
 * name. So no screen can forget one.
 */
export function pageActions(): readonly PageAction[] {
  const actions = new Map<string, PageAction>();
  for (const place of document.querySelectorAll('nav[aria-label=Main], main, header, .toasts')) {
    const isNavigation = place.matches('nav');
    for (const element of place.querySelectorAll<HTMLElement>(CONTROLS)) {
      const label = nameOf(element);
      if (label === '' || element.matches(SKIPPED) || !element.checkVisibility()) continue;
      const group = isNavigation ? 'Pages' : 'On this page';
      if (!actions.has(label)) actions.set(label, { group, label, run: () => use(element) });
    }
  }
  return [...actions.values()];
}

function nameOf(element: HTMLElement): string {
  const label = element instanceof HTMLInputElement ? element.labels?.[0] : undefined;
  const field = element instanceof HTMLSelectElement ? element.labels?.[0]?.querySelector('.hidden') : undefined;
  const own = element instanceof HTMLSelectElement ? '' : (element.textContent ?? '');
  const text = element.getAttribute('aria-label') ?? label?.textContent ?? field?.textContent ?? own;
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Fields get the focus, everything else is done. */
function use(element: HTMLElement): void {
  element.focus();
  const isField = element.matches('select, textarea, input:not([type=checkbox], [type=radio])');
  if (!isField) element.click();
}
