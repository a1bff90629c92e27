import { computed, signal } from '@preact/signals';
import { ROOT } from './settings.js';

/** The address, relative to the root of the page. */
const address = signal(new URL(location.href));

/** The decoded segments of the path below `/ui/`. */
export const path = computed<readonly string[]>(() => {
  const { pathname } = address.value;
  const rest = pathname.startsWith(ROOT.pathname) ? pathname.slice(ROOT.pathname.length) : '';
  return rest.split('/').filter(Boolean).map(decode);
});

export const query = computed(() => address.value.searchParams);

const DEFAULT_PROJECT = 'default';

/** The path of the screen of consumers and tokens. */
export const ADMINISTRATION = 'administration';

/** The project of the address: in its path, or else in its query. */
export function currentProject(): string {
  const [first, project] = path.value;
  const named = first === 'projects' ? project : undefined;
  return named ?? query.value.get('project') ?? DEFAULT_PROJECT;
}

/** The screens of a project that also show all projects, beside the flags. */
const LISTS = ['events', 'changes'];

/** The screen of {@link LISTS} that the address shows; undefined: another screen. */
export function currentList(): string | undefined {
  const [first, , third] = path.value;
  return LISTS.find((list) => first === list || (first === 'projects' && third === list));
}

/** The segments of a list of a project, or of all projects if it is empty. */
export function listOf(list: string, project: string): readonly string[] {
  return project === '' ? [list] : ['projects', project, list];
}

/** The screens that every project has, and whose path does not name it. */
const SHARED = ['segments', 'why', 'applications', ADMINISTRATION];

/** Returns the address of the current screen for another project, or of its flags. Empty: all projects. */
export function hrefIn(project: string): string {
  const list = currentList();
  const [first = '', ...rest] = path.value;
  if (list !== undefined) return href(listOf(list, project));
  if (project === '') return href(['projects']);
  if (rest.length > 0 || !SHARED.includes(first)) return href(['projects', project]);
  return href([first], { project: project === DEFAULT_PROJECT ? undefined : project });
}

/** Whether the address shows all projects at once: their flags, events or changes. */
export function isAllProjects(): boolean {
  const [first = '', ...rest] = path.value;
  return rest.length === 0 && ['projects', ...LISTS].includes(first);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Query = Readonly<Record<string, string | undefined>>;

/** Every link within the page keeps the context of *View as*. */
const KEPT_PARAMETERS = ['as', 'in'];

/**
 * Returns the address of a screen: `href(['projects', 'default'], { stale: 'true' })`. If its path names no project, its
 * query names the current one, so that a reload and a new tab keep it. The default project needs no name.
 */
export function href(segments: readonly (string | number)[], parameters: Query = {}): string {
  const target = new URL(segments.map(encodeURIComponent).join('/'), ROOT);
  const isNamed = segments[0] === 'projects' && segments.length > 1;
  const project = currentProject();
  if (!isNamed && project !== DEFAULT_PROJECT) target.searchParams.set('project', project);
  for (const name of KEPT_PARAMETERS) {
    const value = query.value.get(name);
    if (value !== null) target.searchParams.set(name, value);
  }
  setParameters(target, parameters);
  return `${target.pathname}${target.search}`;
}

/** Goes to an address of this page. The heading gets the focus. */
export function navigate(target: string): void {
  history.pushState(null, '', target);
  address.value = new URL(location.href);
  scrollTo(0, 0);
  shouldFocus = true;
}

/** Changes the query in place, without an entry in the history. */
export function setQuery(parameters: Query): void {
  const target = new URL(address.value);
  setParameters(target, parameters);
  if (target.href === address.value.href) return;
  history.replaceState(null, '', target);
  address.value = target;
}

function setParameters({ searchParams }: URL, parameters: Query): void {
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === '') searchParams.delete(name);
    else searchParams.set(name, value);
  }
}

let shouldFocus = false;

/** Moves the focus to a heading that appears after a navigation. */
export function focusHeading(heading: HTMLElement | null): void {
  if (!shouldFocus || heading === null) return;
  shouldFocus = false;
  // Elements below a modal dialog cannot get the focus, and dialogs belong to the previous screen.
  for (const dialog of document.querySelectorAll<HTMLDialogElement>('dialog:modal')) dialog.close();
  heading.focus({ preventScroll: true });
}

/** Handles links and the history buttons of the browser. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    address.value = new URL(location.href);
    shouldFocus = true;
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element).closest('a');
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    const target = new URL(link.href);
    if (target.origin !== location.origin || !target.pathname.startsWith(ROOT.pathname)) return;
    if (target.hash !== '') return;
    event.preventDefault();
    navigate(target.href);
  });
}
