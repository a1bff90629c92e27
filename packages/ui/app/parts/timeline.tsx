import { useState } from 'preact/hooks';
import type { DocumentDifference, HistoryEntry, Strategy, Variant, WireEvent } from '../api/types.js';
import { describeConstraint, describeStrategy } from '../model/describe.js';
import { describeVariant } from '../model/differences.js';
import { href } from '../router.js';
import { undo } from '../state/changes.js';
import { session } from '../state/session.js';
import { ago, eventType, time } from '../words.js';
import { AllowedButton } from './allowed-button.js';
import { FormDialog } from './dialog.js';
import { ReasonField } from './field.js';
import { Icon } from './icons.js';

interface TimelineProps {
  readonly entries: readonly HistoryEntry[];
  /** Whether entries name their flags. */
  readonly isGlobal?: boolean;
}

/** Change sets, the newest first: who, when, why, what, and a way back. */
export function Timeline({ entries, isGlobal = false }: TimelineProps) {
  const [reverting, setReverting] = useState<HistoryEntry>();
  return (
    <>
      <ol class="timeline">
        {entries.map((entry) => (
          <Entry
            key={entry.id ?? `${entry.at} ${entry.events[0]?.id}`}
            entry={entry}
            isGlobal={isGlobal}
            onRevert={() => setReverting(entry)}
          />
        ))}
      </ol>
      {reverting && <RevertDialog entry={reverting} onClose={() => setReverting(undefined)} />}
    </>
  );
}

interface EntryProps {
  readonly entry: HistoryEntry;
  readonly isGlobal: boolean;
  readonly onRevert: () => void;
}

function Entry({ entry, isGlobal, onRevert }: EntryProps) {
  const { actor, at, reason, events } = entry;
  const words = [...new Set(events.map(({ type }) => eventType(type)))];
  const summary = words.length > 3 ? `${words.slice(0, 3).join(', ')} and more` : words.join(', ');
  return (
    <li>
      <div class="entry-head">
        <strong>{actor}</strong> {summary}
        <EntryPlaces entry={entry} isGlobal={isGlobal} />
        <EntryTime entry={entry} />
        <span class="stretch" />
        {entry.id !== null && events.some(isRevertible) && (
          <AllowedButton
            class="quiet"
            needs={['undoChange']}
            project={events.find(({ project }) => project !== null)?.project ?? 'default'}
            label={`Revert: ${actor}, ${time(at)}`}
            onClick={onRevert}
          >
            <Icon name="undo" /> Revert…
          </AllowedButton>
        )}
      </div>
      {reason && <p class="reason">{reason}</p>}
      <EntryDifferences entry={entry} />
    </li>
  );
}

/** Tokens are not restored: their secrets are not stored. */
function isRevertible({ type }: WireEvent): boolean {
  return !type.startsWith('api-token-');
}

/** When it was, as a link to the change set alone. */
function EntryTime({ entry: { id, at } }: { readonly entry: HistoryEntry }) {
  const text = (
    <time dateTime={at} title={time(at)}>
      {ago(at)}
    </time>
  );
  return id === null ? (
    text
  ) : (
    <a class="when" href={href(['events', id])}>
      {text}
    </a>
  );
}

function EntryPlaces({ entry, isGlobal }: { readonly entry: HistoryEntry; readonly isGlobal: boolean }) {
  const { events, differences = [] } = entry;
  const segments = differences.filter(({ kind }) => kind === 'segment');
  const tokens = new Set(events.flatMap(({ data, preData }) => tokenNameOf(data) ?? tokenNameOf(preData) ?? []));
  const environments = [...new Set(events.flatMap(({ environment }) => environment ?? []))];
  const flags = [...new Map(events.map((event) => [`${event.project}/${event.featureName}`, event])).values()];
  return (
    <>
      {isGlobal &&
        flags.slice(0, 3).map(({ project, featureName }) =>
          project && featureName ? (
            <a key={featureName} href={href(['projects', project, 'flags', featureName])}>
              {featureName}
            </a>
          ) : null,
        )}
      {isGlobal && flags.length > 3 && <span class="muted">and {flags.length - 3} more</span>}
      {isGlobal &&
        segments.slice(0, 3).map(({ id }) => (
          <a key={id} href={href(['segments', id])}>
            segment {id}
          </a>
        ))}
      {isGlobal && [...tokens].map((name) => <b key={name}>{name}</b>)}
      {environments.map((name) => (
        <span key={name} class="tag">
          {name}
        </span>
      ))}
    </>
  );
}

function tokenNameOf(state: unknown): string | undefined {
  const isToken = typeof state === 'object' && state !== null && 'tokenName' in state;
  return isToken ? String(state.tokenName) : undefined;
}

/** Differences shown at once; the rest unfolds. */
const SHOWN = 6;

function EntryDifferences({ entry }: { readonly entry: HistoryEntry }) {
  const parts = (entry.differences ?? []).flatMap(partsOf);
  return (
    <>
      <PartList parts={parts.slice(0, SHOWN)} />
      {parts.length > SHOWN && (
        <details>
          <summary>{parts.length - SHOWN} more</summary>
          <PartList parts={parts.slice(SHOWN)} />
        </details>
      )}
      <details>
        <summary>JSON</summary>
        <pre>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <code tabIndex={0}>{JSON.stringify(entry, null, 2)}</code>
        </pre>
      </details>
    </>
  );
}

interface Part {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

function PartList({ parts }: { readonly parts: readonly Part[] }) {
  if (parts.length === 0) return null;
  return (
    <ul class="differences">
      {parts.map(({ path, before, after }) => (
        <li key={path}>
          <span class="what">{path}</span>
          {before !== undefined && <del>{before}</del>}
          {before !== undefined && after !== undefined && <span class="arrow">→</span>}
          {after !== undefined && <ins>{after}</ins>}
        </li>
      ))}
    </ul>
  );
}

function partsOf({ kind, id, parts }: DocumentDifference): readonly Part[] {
  return parts
    .filter(({ path }) => path !== '' && path !== '/archivedAt')
    .map(({ path, before, after }) => ({
      path: kind === 'flag' ? wordsOf(path) : `${kind} ${id} · ${wordsOf(path)}`,
      before: shortText(before),
      after: shortText(after),
    }));
}

/** Members that only hold others. */
const CONTAINERS = new Set(['environments', 'strategies', 'parameters']);
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Says a JSON Pointer in words: "production · strategy 1a2b · parameters · rollout". */
export function wordsOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .filter((part) => !CONTAINERS.has(part))
    .map((part) => (UUID.test(part) ? `strategy ${part.slice(0, 4)}` : part))
    .join(' · ');
}

const LONGEST = 120;

/** Undefined for what did not exist. Strategies, variants and dependencies in words; the JSON below has the rest. */
function shortText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  const text =
    typeof value === 'object' ? objectText(value) : typeof value === 'boolean' ? yesNo(value) : String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text || 'empty';
}

function objectText(value: object): string {
  if ('constraints' in value && 'parameters' in value) return describeStrategy(value as Strategy);
  if ('roleId' in value)
    return session.value?.roles?.find(({ id }) => id === value.roleId)?.name ?? `role ${value.roleId}`;
  if ('weight' in value) return describeVariant(value as Variant);
  if ('flag' in value && 'enabled' in value) return value.enabled ? 'on' : 'off';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ');
  if (Array.isArray(value) && value.every((item) => 'contextName' in item)) {
    return value.map((constraint) => `${constraint.contextName} ${describeConstraint(constraint)}`).join(' and ');
  }
  return JSON.stringify(value);
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

function RevertDialog({ entry, onClose }: { readonly entry: HistoryEntry; readonly onClose: () => void }) {
  const [reason, setReason] = useState('');
  const { id, actor, at } = entry;
  if (id === null) return null;
  const revert = () => {
    onClose();
    void undo(id, reason.trim());
  };
  return (
    <FormDialog title="Revert the change" submit="Confirm: revert" onSubmit={revert} onClose={onClose}>
      <p>
        Takes back what {actor} changed on {time(at)}. Parts that were changed again since then stop the revert; nothing
        is changed then.
      </p>
      <EntryDifferences entry={entry} />
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  );
}
