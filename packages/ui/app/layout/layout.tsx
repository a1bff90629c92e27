import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { forgetToken, hasToken } from '../api/credentials.js';
import { useResource } from '../api/resource.js';
import { heardAt, liveness } from '../api/stream.js';
import { Button, IconButton, Link, Select, sameText } from '../parts/control/controls.js';
import { Icon } from '../parts/control/icons.js';
import { trackHeight } from '../parts/control/track-height.js';
import { ReviewDialog } from '../parts/review/review.js';
import {
  ADMINISTRATION,
  currentList,
  currentProject,
  hrefIn,
  isAllProjects,
  listOf,
  navigate,
  path,
} from '../router.js';
import { settings } from '../settings.js';
import { useWaitingCount } from '../state/change-requests.js';
import { failingConsumers } from '../state/consumers.js';
import { isMac, overlay } from '../state/keys.js';
import { ActionGroup } from '../state/page-actions.js';
import { isLetIn, offers, session } from '../state/session.js';
import { number, plural, time } from '../words.js';
import { Overlay } from './key-help.js';
import { Toasts } from './toasts.js';
import { ViewAsPicker } from './view-as-picker.js';

const measureBar = trackHeight('--bar');

/** The frame of every screen: the bar, the navigation, banners and messages. */
export function Layout({ children }: { readonly children: ComponentChildren }) {
  const isIn = isLetIn.value;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Banners />
      <header ref={measureBar} class="bar">
        <ActionGroup.Provider value="Pages">
          <div class="bar-row">
            {settings.home !== undefined && (
              <a class="home" href={settings.home}>
                <Icon name="back" />
                <span class="hidden">Back to the application</span>
              </a>
            )}
            <Link class="brand" action="" to={['projects', currentProject()]}>
              <Icon name="flag" />
              <span class="bar-text">{settings.title}</span>
            </Link>
            {isIn && <ProjectPicker />}
            <span class="stretch" />
            {isIn && <FailingConsumers />}
            {isIn && <FindButton />}
            {isIn && <ViewAsPicker />}
            {isIn && <LiveDot />}
            <ThemeButton />
            {isIn && <User />}
          </div>
          {isIn && <Navigation />}
        </ActionGroup.Provider>
      </header>
      <main id="main">{children}</main>
      <Toasts />
      <ReviewDialog />
      {isIn && <Overlay />}
    </>
  );
}

/** Consumers that fail, for those who may list them. Absent while none fails. */
function FailingConsumers() {
  const count = failingConsumers.value.length;
  if (count === 0) return null;
  return (
    <Link class="consumers-link" to={[ADMINISTRATION]} label={`${plural(count, 'consumer')} failing`}>
      <Icon name="warning" /> <span class="bar-text">{plural(count, 'consumer')} failing</span>
    </Link>
  );
}

function FindButton() {
  const open = () => {
    overlay.value = 'palette';
  };
  return (
    <Button class="chip" action="" onClick={open}>
      <Icon name="search" /> <span class="bar-text">Find</span> <kbd>{isMac ? '⌘ K' : 'Ctrl K'}</kbd>
    </Button>
  );
}

function Banners() {
  const { banner } = settings;
  return (
    <aside aria-label="Notices">
      {banner && <p class={`banner ${banner.tone ?? 'info'}`}>{banner.text}</p>}
      {session.value?.auth === 'none' && (
        <p class="banner warning">
          This server has no authentication: everybody who can open this page can change every flag.
        </p>
      )}
    </aside>
  );
}

function ProjectPicker() {
  const { data } = useResource('listProjects', {});
  const current = isAllProjects() ? '' : currentProject();
  const options = (data?.projects ?? []).map(({ id, name }) => [id, name] as const);
  const isKnown = current === '' || options.some(([id]) => id === current);
  return (
    <label class="project-picker">
      <span class="hidden">Project</span>
      <Select
        value={current}
        options={[['', 'All projects'], ...(isKnown ? [] : sameText([current])), ...options]}
        onChange={(id) => navigate(hrefIn(id))}
      />
    </label>
  );
}

interface Tab {
  readonly label: string;
  /** The permissions of which the screen needs one. */
  readonly actions: readonly string[];
  readonly target: readonly string[];
  /** Default: whether the address begins as the target does. */
  readonly isCurrent?: boolean;
  /** What waits there for the caller. */
  readonly count?: number;
}

/** The entries of the navigation: one row per screen. */
function Navigation() {
  const project = currentProject();
  const [first, , third] = path.value;
  const list = currentList();
  const isMembers = first === 'projects' && third === 'members';
  const isFlags = first === undefined || first === 'flags' || (first === 'projects' && !isMembers && !list);
  const inList = (name: string) => ({ target: listOf(name, isAllProjects() ? '' : project), isCurrent: list === name });
  const rows: readonly Tab[] = [
    { label: 'Segments', actions: ['listSegments'], target: ['segments'] },
    { label: 'Playground', actions: ['explainFlags'], target: ['why'] },
    { label: 'Applications', actions: ['listApplications'], target: ['applications'] },
    { label: 'Changes', actions: ['listChangeRequests'], ...inList('changes'), count: useWaitingCount() },
    { label: 'Events', actions: ['listHistory'], ...inList('events') },
    { label: 'Members', actions: ['listMembers'], target: ['projects', project, 'members'], isCurrent: isMembers },
    {
      label: 'Administration',
      actions: ['listTokens', 'listConsumers'],
      target: [ADMINISTRATION],
      isCurrent: first === ADMINISTRATION || first === 'tokens',
    },
  ];
  const items: readonly Tab[] = [
    { label: 'Flags', actions: [], target: ['projects', project], isCurrent: isFlags },
    ...rows
      .filter(({ actions }) => actions.some((action) => offers(action, project)))
      .map((row) => ({ ...row, isCurrent: row.isCurrent ?? row.target[0] === first })),
  ];
  const nav = useRef<HTMLElement>(null);
  const current = items.find(({ isCurrent }) => isCurrent)?.label;
  // On a narrow screen the tabs scroll.
  useEffect(() => {
    const tab = nav.current?.querySelector<HTMLElement>('[aria-current]');
    nav.current?.scrollTo({ left: (tab?.offsetLeft ?? 0) - 40 });
  }, [current]);
  return (
    <nav ref={nav} aria-label="Main" class="tabs">
      {items.map(({ label, target, isCurrent = false, count = 0 }) => (
        <Link key={label} to={target} query={{ as: undefined }} isCurrent={isCurrent}>
          {label}
          {count > 0 && (
            <span class="tag badge">
              {number(count)}
              <span class="hidden"> waiting for you</span>
            </span>
          )}
        </Link>
      ))}
    </nav>
  );
}

const LIVE_WORDS = {
  connecting: 'Connecting',
  live: 'Live',
  polling: 'Updated every 5 s',
  lost: 'Connection lost',
  refused: 'No live updates',
} as const;

function LiveDot() {
  const state = liveness.value;
  const since = state === 'lost' ? `: shown as of ${time(new Date(heardAt.value).toISOString())}` : '';
  return (
    <span class={`liveness ${state}`} role="status">
      <span class="dot" aria-hidden="true" />
      <span class={state === 'live' ? 'bar-text' : undefined}>
        {LIVE_WORDS[state]}
        {since}
      </span>
    </span>
  );
}

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const THEME_KEY = 'flags-ui:theme';

function applyTheme(theme: string | null): void {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function ThemeButton() {
  const [theme, setTheme] = useState<Theme>((localStorage.getItem(THEME_KEY) ?? 'auto') as Theme);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
  return (
    <IconButton
      icon="theme"
      label={`Theme: ${theme}. Switch to ${next}`}
      onClick={() => {
        localStorage.setItem(THEME_KEY, next);
        applyTheme(next);
        setTheme(next);
      }}
    />
  );
}

export function startTheme(): void {
  applyTheme(localStorage.getItem(THEME_KEY));
}

function User() {
  const actor = session.value?.actor;
  return (
    <>
      {actor && <span class="user">{actor}</span>}
      {hasToken() && (
        <Button class="quiet" action="Forget the token" onClick={forgetToken}>
          Forget
        </Button>
      )}
    </>
  );
}
