import type { EnvironmentConfiguration, FlagConfiguration, FlagsEvent } from '@flags/core';

/** The flags whose evaluation events may have changed: directly, through a segment, or through a parent. */
export function affectedFlags(events: readonly FlagsEvent[], { flags }: EnvironmentConfiguration): ReadonlySet<string> {
  const segments = new Set(events.flatMap(segmentOf));
  const names = new Set(events.flatMap(({ flag }) => flag ?? []));
  for (const flag of flags) if (usesAny(segments, flag)) names.add(flag.name);
  const children = flags.filter(({ dependencies }) => dependencies?.some(({ feature }) => names.has(feature)));
  return new Set([...names, ...children.map(({ name }) => name)]);
}

function segmentOf({ type, data, before }: FlagsEvent): readonly unknown[] {
  if (!type.startsWith('segment-')) return [];
  const segment = (data ?? before) as { readonly id?: unknown } | null;
  return [segment?.id];
}

function usesAny(ids: ReadonlySet<unknown>, { strategies }: FlagConfiguration): boolean {
  return ids.size > 0 && strategies.some(({ segments }) => segments?.some((id) => ids.has(id)));
}
