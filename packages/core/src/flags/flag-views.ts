import type { Versioned } from '../changes/aggregate.js';
import type { Settings } from '../flags.js';
import type { MetricsStorage } from '../storage/metrics-port.js';
import type { ListedDocument } from '../storage/port.js';
import { dependenciesOf, type FlagState, orderedEnvironmentOf } from './flag.js';
import type { ArchivedFlag, Flag, FlagDetail, FlagSummary } from './flag.types.js';
import type { ArchivedDetails, StoredFlagSummary } from './flag-documents.js';

/** When each flag was last seen, as a timestamp. */
export type LastSeen = (flag: string) => string | null;

export async function readLastSeen(
  metrics: MetricsStorage,
  flags: readonly { readonly name: string }[],
): Promise<LastSeen> {
  const times = await metrics.lastSeen(flags.map(({ name }) => name));
  return (flag) => {
    const time = times.get(flag);
    return time === undefined ? null : new Date(time).toISOString();
  };
}

/**
 * When one flag was last seen. Changes ask for it first: what has happened must not fail afterwards. Where the name is no
 * text, reading the flag refuses it.
 */
export async function readLastSeenAt(metrics: MetricsStorage, flag: string): Promise<string | null> {
  if (typeof flag !== 'string') return null;
  return (await readLastSeen(metrics, [{ name: flag }]))(flag);
}

/** The flag as callers see it. */
export function toFlag({ state, revision }: Versioned<FlagState>, lastSeenAt: string | null): Flag {
  const { name, project, description, type, stale, impressionData, archived, createdAt, variants } = state;
  return {
    name,
    project,
    description,
    type,
    stale,
    impressionData,
    archived,
    createdAt,
    lastSeenAt,
    variants,
    revision,
  };
}

/** What a flag's details are made of besides the flag. */
export interface FlagDetailContext {
  readonly settings: Settings;
  readonly children: readonly string[];
}

export function toDetail(flag: Flag, state: FlagState, { settings, children }: FlagDetailContext): FlagDetail {
  const environments = settings.environments.map(({ name }) => orderedEnvironmentOf(state, name));
  return { ...flag, environments, dependencies: dependenciesOf(state), children };
}

/** A listed flag, made of its stored summary alone. */
export interface ListedFlag extends Omit<StoredFlagSummary, 'segments' | 'archive'> {
  readonly name: string;
  readonly project: string;
  readonly parents: readonly string[];
  readonly archive: ArchivedDetails | undefined;
}

// Lists are long: members are named one by one, as an object spread costs ten times as much.

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
