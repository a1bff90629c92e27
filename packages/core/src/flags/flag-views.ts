import type { Versioned } from '../changes/documents.js';
import type { Settings } from '../flags.js';
import type { MetricsStorage } from '../storage/metrics-port.js';
import type { ListedDocument } from '../storage/port.js';
import { dependenciesOf, type FlagState, orderedEnvironmentOf } from './flag.js';
import type { ArchivedFlag, Flag, FlagDetail, FlagSummary } from './flag.types.js';
import type { ArchivedDetails, StoredFlagSummary } from './flag-documents.js';
import { toUpdate } from './metadata.decide.js';

/** Returns the time of a flag's last reported evaluation, as a timestamp; null if there is none. */
export type LastSeen = (flag: string) => string | null;

/** Reads the last-seen times of flags. */
export async function readLastSeen(
  metrics: MetricsStorage,
  flags: readonly { readonly name: string }[],
): Promise<LastSeen> {
  const times = await metrics.lastSeen(flags.map(({ name }) => name));
  // A report counts many flags at one time, and converting a time takes longer than finding it.
  const texts = new Map<number, string>();
  return (flag) => {
    const time = times.get(flag);
    if (time === undefined) return null;
    const text = texts.get(time) ?? new Date(time).toISOString();
    texts.set(time, text);
    return text;
  };
}

/**
 * Reads the last-seen time of one flag. Changes call it before the commit, because a later error would hide the commit.
 * It ignores a name that is not a string; reading the flag refuses such a name.
 */
export async function readLastSeenAt(metrics: MetricsStorage, flag: string): Promise<string | null> {
  if (typeof flag !== 'string') return null;
  return (await readLastSeen(metrics, [{ name: flag }]))(flag);
}

/** Converts a stored flag to the public type. */
export function toFlag({ state, revision }: Versioned<FlagState>, lastSeenAt: string | null): Flag {
  // Not a spread: on Node 20 it gives each object a hidden class of its own.
  return Object.assign(toUpdate(state, lastSeenAt), { revision });
}

/** The inputs of a flag's details besides the flag. */
export interface FlagDetailContext {
  readonly settings: Settings;
  readonly children: readonly string[];
}

/** Adds the details to a flag that nobody else has. */
export function toDetail(flag: Flag, state: FlagState, { settings, children }: FlagDetailContext): FlagDetail {
  const environments = settings.environments.map(({ name }) => orderedEnvironmentOf(state, name));
  return Object.assign(flag, { environments, dependencies: dependenciesOf(state), children });
}

/** A flag in a list. It is read from the stored summary only. */
export interface ListedFlag extends Omit<StoredFlagSummary, 'segments' | 'archive'> {
  readonly name: string;
  readonly project: string;
  readonly parents: readonly string[];
  readonly archive: ArchivedDetails | undefined;
}

// Lists are long. Naming the members is much faster than an object spread.

export function toListedFlag({ key, parent, content }: ListedDocument): ListedFlag {
  const { type, stale, archived, createdAt, enabledIn, parents = [], archive } = content as StoredFlagSummary;
  return { name: key.id, project: parent ?? '', type, stale, archived, createdAt, enabledIn, parents, archive };
}

export function toSummary(flag: ListedFlag, settings: Settings, lastSeen: LastSeen): FlagSummary {
  const { name, type, stale, createdAt, enabledIn } = flag;
  const environments = settings.environments.map(({ name, displayName }) => {
    return { name, displayName, enabled: enabledIn.includes(name) };
  });
  return { name, type, stale, createdAt, lastSeenAt: lastSeen(name), environments };
}

export function toArchivedFlag(summary: FlagSummary, project: string, details: ArchivedDetails): ArchivedFlag {
  const { archivedAt, description, impressionData } = details;
  return { ...summary, project, archived: true, archivedAt, description, impressionData };
}
