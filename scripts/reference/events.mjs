// The types of events, by the kinds of documents that they change.
import { code, phrase, table } from './markdown.mjs';
import { load, memberDocstrings } from './source.mjs';

const NAMES = 'packages/core/src/words/event-names.ts';

export async function events() {
  const { WIRE_NAMES } = await load(NAMES);
  const { FEATURES } = await load('packages/core/src/features.ts');
  const docstrings = memberDocstrings(NAMES, 'EVENT_NAMES');
  const kinds = FEATURES.flatMap((feature) => feature.kinds ?? []).map(({ documents }) => documents);
  const left = new Set(Object.keys(WIRE_NAMES));
  const sections = kinds.map(({ kind, events, cannotUndo }) => {
    const rows = Object.entries(events).map(([type, row]) => {
      left.delete(type);
      const end = (cannotUndo ?? row.cannotUndo) ? ' Cannot be undone.' : '';
      const permission = row.action ? code(row.action) : '';
      return [code(type), code(WIRE_NAMES[type]), phrase(`${docstrings.get(type)}${end}`), permission];
    });
    return `## ${titleOf(kind)}\n\n${table(['Event', 'Over HTTP', 'Meaning', 'Permission'], rows)}`;
  });
  if (left.size > 0) throw new Error(`No kind has the events ${[...left].join(', ')}.`);
  return `# Events

Every type of event. A change records one event per fact, in its own commit; [${code('subscribe')}](../typed-api.md) and [${code('consume')}](../hear-of-changes.md)
give them to your code under the first name, the HTTP API and webhooks under the second.

Each event has the ${code('data')} and the state ${code('before')}, the actor, the reason, the change set, and the project, flag and environment where
it has one. _Permission_ is the action that an import or an undo needs if it records the event.

${sections.join('\n')}`;
}

/** `change-request` becomes `Change request`. */
function titleOf(kind) {
  const words = kind.replaceAll(/[-_]|(?=[A-Z])/g, ' ').toLowerCase();
  return words[0].toUpperCase() + words.slice(1);
}
