import { compareStates, type PartDifference, toPointer } from '../../base/parts.js';
import type { ChangedPart } from '../kind.js';
import type { Registry } from '../registry.js';

/** A fact as events store it. */
export interface DocumentEvent {
  readonly type: string;
  readonly environment: string | null;
  readonly data: unknown;
  readonly before: unknown;
}

/**
 * Returns the differences that events make to an existing document, without reading it: every event contains its part
 * before and after.
 */
export function compareByEvents(registry: Registry, events: readonly DocumentEvent[]): readonly PartDifference[] {
  const parts = new Map<string, Omit<ChangedPart, 'after'> & { after: unknown }>();
  for (const event of events) {
    for (const { path, before, after } of partsOf(registry, event)) {
      const name = toPointer(path);
      const known = parts.get(name);
      if (known) known.after = after;
      else parts.set(name, { path, before, after });
    }
  }
  return [...parts.values()].flatMap(({ path, before, after }) => compareStates(before, after, toPointer(path)));
}

/** The cast is safe: every stored event is the result of a decision. */
function partsOf(
  { describeEvent }: Registry,
  { type, environment, data, before }: DocumentEvent,
): readonly ChangedPart[] {
  return describeEvent(type).parts({ type, data, before, ...(environment !== null && { environment }) });
}
