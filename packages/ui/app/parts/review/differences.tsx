import {
  type ComparedDocument,
  describeDifferences,
  describeDocument,
  type Names,
  nameStrategies,
  ownStrategiesOf,
} from '@flags/core/admin';
import { findSegmentName } from '../../model/describe.js';
import { session } from '../../state/session.js';
import { Details } from '../control/controls.js';

interface DifferencesProps {
  readonly documents: readonly ComparedDocument[];
  /** Flags, environments or events that name the strategies of the documents. */
  readonly states?: readonly unknown[];
  /** The number of visible differences; the rest unfolds. Default: all */
  readonly most?: number;
}

/** Returns the names of segments, roles and strategies for descriptions. */
export function namesFor(states: readonly unknown[] = []): Names {
  return {
    segment: findSegmentName,
    ownStrategies: ownStrategiesOf(session.value?.strategies),
    role: (id) => session.value?.roles?.find((role) => role.id === id)?.name,
    strategies: nameStrategies(states, findSegmentName),
  };
}

/** Differences of documents in words: "Gradual rollout 25 % → 50 %". Does not repeat the title of a single document. */
export function Differences({ documents, states, most = Infinity }: DifferencesProps) {
  const names = namesFor(states);
  const isTitled = documents.length === 1 && documents[0]?.kind !== 'project';
  const items = documents.flatMap((document) => {
    const differences = describeDifferences(document, names);
    const shown = isTitled ? differences.filter(({ before, after }) => (before ?? after) !== undefined) : differences;
    return shown.map(({ what, before, after }, index) => (
      <li key={`${document.kind} ${document.id} ${what}`}>
        {!isTitled && index === 0 && <span class="place">{describeDocument(document, names)}</span>}
        <span class="what">{what}</span>
        {before !== undefined && <del>{before}</del>}
        {before !== undefined && after !== undefined && <span class="arrow">→</span>}
        {after !== undefined && <ins>{after}</ins>}
      </li>
    ));
  });
  if (items.length === 0) return null;
  return (
    <>
      <ul class="differences">{items.slice(0, most)}</ul>
      {items.length > most && (
        <Details summary={`${items.length - most} more`}>
          {() => <ul class="differences">{items.slice(most)}</ul>}
        </Details>
      )}
    </>
  );
}
