/** The actions of the current page, for the palette. */
export interface PageAction {
  readonly group: 'Pages' | 'On this page';
  readonly label: string;
  readonly run: () => void;
}

/** Actions of the screen come first. A control that several places contain belongs to the first. */
const PLACES = [
  ['On this page', 'main'],
  ['On this page', '.toasts'],
  ['Pages', 'nav[aria-label=Main]'],
  ['On this page', 'header.bar'],
] as const;
const CONTROLS = 'a[href], button, select, summary, textarea, input';
/** The palette names rows and lists itself. */
const SKIPPED = '[aria-disabled=true], :disabled, [data-palette=none], table.flags th a';
/** Fields that get the focus instead of a click. */
const FIELDS = 'select, textarea, input:not([type=checkbox], [type=radio])';

/**
 * Collects the actions from the page: every visible, enabled link, button and field, by its accessible
 * name. No screen has to declare them.
 */
export function pageActions(): readonly PageAction[] {
  const actions = new Map<string, PageAction>();
  for (const [group, selector] of PLACES) {
    for (const element of document.querySelectorAll<HTMLElement>(`${selector} :is(${CONTROLS})`)) {
      const label = labelOf(element);
      if (label === '' || element.matches(SKIPPED) || !element.checkVisibility()) continue;
      if (!actions.has(label)) actions.set(label, { group, label, run: () => use(element) });
    }
  }
  return [...actions.values()];
}

/** Describes the action of a control: "Switch off checkout in production", "Sort by Name", "Go to Events". */
function labelOf(element: HTMLElement): string {
  const name = nameOf(element);
  if (name === '') return '';
  if (element.role === 'switch') return `Switch ${element.ariaChecked === 'true' ? 'off' : 'on'} ${name}`;
  if (element instanceof HTMLInputElement && element.type === 'checkbox') {
    if (name.startsWith('Choose ')) return element.checked ? name.replace('Choose', 'Do not choose') : name;
    return `${element.checked ? 'Untick' : 'Tick'} “${name}”`;
  }
  if (element.matches(FIELDS)) return element.matches('[type=search]') ? name : `Set ${name}`;
  if (element.matches('.sort')) return `Sort by ${name}`;
  if (element.localName === 'summary') return `Show ${name}`;
  return element.matches('a:not(.button, [aria-label])') ? `Go to ${name}` : name;
}

function nameOf(element: HTMLElement): string {
  const label = element instanceof HTMLInputElement ? element.labels?.[0] : undefined;
  const field = element instanceof HTMLSelectElement ? element.labels?.[0]?.querySelector('.hidden') : undefined;
  const own = element instanceof HTMLSelectElement ? '' : visibleText(element);
  const text = element.getAttribute('aria-label') ?? label?.textContent ?? field?.textContent ?? own;
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The text without decoration, such as the arrow of a sorted column. */
function visibleText(element: HTMLElement): string {
  const isMark = (node: Node) => node instanceof Element && node.getAttribute('aria-hidden') === 'true';
  return [...element.childNodes].flatMap((node) => (isMark(node) ? [] : (node.textContent ?? ''))).join('');
}

/** Focuses a field, or clicks any other control. */
function use(element: HTMLElement): void {
  element.focus();
  if (!element.matches(FIELDS)) element.click();
}
