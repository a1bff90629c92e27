import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { useResource } from '../api/resource.js';
import { pageActions } from '../model/page-actions.js';
import { href, navigate } from '../router.js';
import { latestChange, undoLatest } from '../state/changes.js';
import { overlay } from '../state/keys.js';
import { Dialog } from './dialog.js';

interface Item {
  readonly group: string;
  readonly label: string;
  readonly detail?: string;
  readonly run: () => void;
}

/** Flags that one search shows. */
const FLAGS = 20;
/** Actions that are shown before anything is typed; the search looks in all. */
const SHOWN = 40;

/** Finds every flag, every page, and every action of the page under it. */
export function Palette() {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const actions = useMemo(ownActions, []);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ label }: Item) => words.every((word) => label.toLowerCase().includes(word));
  const flags = useFlags(text.trim());
  const items = byGroup([...actions.filter(matches).slice(0, SHOWN), ...flags]);
  const current = Math.min(active, items.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [current, items.length]);
  const choose = (item: Item | undefined) => {
    if (item === undefined) return;
    // Closed at once: what is under a modal dialog takes no focus.
    list.current?.closest('dialog')?.close();
    overlay.value = undefined;
    item.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActive((current + step + items.length) % Math.max(1, items.length));
    else if (event.key === 'Enter') choose(items[current]);
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
          }}
          onKeyDown={onKeyDown}
        />
        <p class="hidden" role="status">
          {items.length === 0 ? 'Nothing found' : `${items.length} found`}
        </p>
        {items.length === 0 && <p class="muted">Nothing found</p>}
        <div id={`${id}-list`} ref={list} role="listbox" aria-label="Found" class="palette-list">
          {groupsOf(items).map((group) => (
            // biome-ignore lint/a11y/useSemanticElements: the group of a listbox is no fieldset
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

function ownActions(): readonly Item[] {
  const projects = [...document.querySelectorAll<HTMLOptionElement>('.project-picker option')];
  return [
    ...pageActions(),
    ...projects.map(({ value, text }) => ({
      group: 'Pages',
      label: `Project ${text}`,
      run: () => navigate(href(['projects', value])),
    })),
    ...(latestChange.value === undefined
      ? []
      : [{ group: 'On this page', label: 'Undo the latest change', run: undoLatest }]),
    {
      group: 'Pages',
      label: 'Keyboard shortcuts',
      run: () => {
        overlay.value = 'help';
      },
    },
  ];
}

/** The flags of all projects that match, as the API finds them. The former ones stay until the new ones arrive. */
function useFlags(text: string): readonly Item[] {
  const [searched, setSearched] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text), 80);
    return () => clearTimeout(timer);
  }, [text]);
  const query = { ...(searched !== '' && { query: searched }), limit: FLAGS };
  const { data } = useResource('listAllFlags', { query });
  const former = useRef(data);
  if (data !== undefined) former.current = data;
  const isCurrent = data !== undefined && searched === text;
  const found = (former.current?.features ?? []).filter(({ name }) => isCurrent || name.includes(text));
  return found.map(({ name, project, description }) => ({
    group: 'Flags',
    label: name,
    detail: [project, description].filter(Boolean).join(' · '),
    run: () => navigate(href(['projects', project, 'flags', name])),
  }));
}

/** Flags are last: they arrive later, and what is chosen must not move. */
const GROUPS = ['On this page', 'Pages', 'Flags'];

function groupsOf(items: readonly Item[]): readonly string[] {
  return GROUPS.filter((group) => items.some((item) => item.group === group));
}

function byGroup(items: readonly Item[]): readonly Item[] {
  return GROUPS.flatMap((group) => items.filter((item) => item.group === group));
}
