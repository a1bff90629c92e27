import { describeState } from '@flags/core/admin';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { requestOf, useLatest, useResource } from '../api/resource.js';
import type { ListedFlag, Project } from '../api/types.js';
import { findSegmentName } from '../model/describe.js';
import { Dialog } from '../parts/form/dialog.js';
import { href, navigate } from '../router.js';
import { latestChange, undoLatest } from '../state/changes.js';
import { overlay } from '../state/keys.js';
import { type Action, shownActions } from '../state/page-actions.js';

interface Item extends Action {
  readonly detail?: string;
}

/** The maximum number of flags for a search, and for an empty search. */
const FLAGS = 20;
const FIRST_FLAGS = 5;
/** The number of actions for an empty search. A search includes all actions. */
const SHOWN = 40;

/** Finds every flag, every page, and every action of the page under it. */
export function Palette() {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const projects = useResource('listProjects', {}).data?.projects ?? [];
  const actions = useMemo(() => ownActions(projects), [projects.length]);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ label }: Item) => words.every((word) => label.toLowerCase().includes(word));
  const { flags, isCurrent } = useFlags(text.trim());
  const items = byGroup([...flags, ...actions.filter(matches).slice(0, SHOWN)]);
  const current = Math.min(active, items.length - 1);
  const [isWaiting, setWaiting] = useState(false);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [current, items.length]);
  const choose = (item: Item | undefined) => {
    if (item === undefined) return;
    // Closes first: elements below a modal dialog cannot get the focus.
    list.current?.closest('dialog')?.close();
    overlay.value = undefined;
    item.run();
  };
  // Flags are the first results, but arrive last. Enter waits for them, so that it runs the first shown result.
  useEffect(() => {
    if (isWaiting && isCurrent) choose(items[current]);
  }, [isWaiting, isCurrent]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActive((current + step + items.length) % Math.max(1, items.length));
    else if (event.key === 'Enter') setWaiting(true);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Find" onClose={close}>
      <div class="dialog-body palette">
        <input
          type="text"
          role="combobox"
          aria-label="Find flags, pages and actions"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={items.length > 0 ? `${id}-${current}` : undefined}
          aria-autocomplete="list"
          autocomplete="off"
          spellcheck={false}
          placeholder="Flags, pages and actions"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setActive(0);
            setWaiting(false);
          }}
          onKeyDown={onKeyDown}
        />
        <p class="hidden" role="status">
          {items.length === 0 ? 'Nothing found' : `${items.length} found`}
        </p>
        {items.length === 0 && <p class="muted">Nothing found</p>}
        <div id={`${id}-list`} ref={list} role="listbox" aria-label="Found" class="palette-list">
          {groupsOf(items).map((group) => (
            // biome-ignore lint/a11y/useSemanticElements: a group in a listbox is not a fieldset
            <div key={group} role="group" aria-label={group}>
              <p class="palette-group" aria-hidden="true">
                {group}
              </p>
              {items.map((item, index) =>
                item.group !== group ? null : (
                  // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field has the keys and the focus
                  <div
                    key={`${group} ${item.label} ${item.detail}`}
                    id={`${id}-${index}`}
                    role="option"
                    aria-selected={index === current}
                    onClick={() => choose(item)}
                  >
                    <span>{item.label}</span>
                    {item.detail && <small>{item.detail}</small>}
                  </div>
                ),
              )}
            </div>
          ))}
        </div>
      </div>
    </Dialog>
  );
}

function close(): void {
  overlay.value = undefined;
}

function ownActions(projects: readonly Project[]): readonly Item[] {
  return [
    ...shownActions(),
    ...projects.map(({ id, name }) => ({
      group: PAGES,
      label: `Go to the project ${name}`,
      run: () => navigate(href(['projects', id])),
    })),
    ...(latestChange.value === undefined
      ? []
      : [{ group: 'On this page', label: 'Undo the latest change', run: undoLatest }]),
    {
      group: PAGES,
      label: 'Show the keyboard shortcuts',
      run: () => {
        overlay.value = 'help';
      },
    },
  ];
}

/** The matching flags of all projects, from the API. Earlier results stay until the new ones arrive. */
function useFlags(text: string): { readonly flags: readonly Item[]; readonly isCurrent: boolean } {
  const [searched, setSearched] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text), 80);
    return () => clearTimeout(timer);
  }, [text]);
  const query = searched === '' ? { limit: FIRST_FLAGS } : { query: searched, limit: FLAGS };
  const { data, error, isCurrent: isLoaded } = useLatest(requestOf('listAllFlags', { query }));
  const isCurrent = (isLoaded || error !== undefined) && searched === text;
  const found = (data?.features ?? []).filter(({ name }) => isCurrent || name.includes(text));
  const isNamed = ({ name }: ListedFlag) => Number(name.includes(text));
  const sorted = found.toSorted((one, other) => isNamed(other) - isNamed(one));
  const flags = sorted.map(({ name, project, description, environments }) => ({
    group: 'Flags',
    label: name,
    detail: [...environments.map(stateText), project, description].filter(Boolean).join(' · '),
    run: () => navigate(href(['projects', project, 'flags', name])),
  }));
  return { flags, isCurrent };
}

function stateText(environment: ListedFlag['environments'][number]): string {
  return `${environment.name} ${describeState(environment, findSegmentName) || 'on'}`;
}

const PAGES = 'Pages';
const GROUPS = ['Flags', 'On this page', PAGES];

function groupsOf(items: readonly Item[]): readonly string[] {
  return GROUPS.filter((group) => items.some((item) => item.group === group));
}

function byGroup(items: readonly Item[]): readonly Item[] {
  return GROUPS.flatMap((group) => items.filter((item) => item.group === group));
}
