import type { PlannedDocument } from '@flags/core';
import { rolloutToWire } from '@flags/core/integration/http';
import { isObject } from '@flags/core/integration/shared';
import type { DocumentDifference } from '@flags/core/types';

/*
 * Stored flags contain the ids of the people who started rollouts. Replies leave these ids out: only the engine compares
 * people by them.
 */

function environmentToWire(environment: unknown): unknown {
  return isObject(environment) && isObject(environment.rollouts)
    ? { ...environment, rollouts: rolloutsToWire(environment.rollouts) }
    : environment;
}

function rolloutsToWire(rollouts: unknown): unknown {
  return Object.fromEntries(Object.entries(Object(rollouts)).map(([strategy, one]) => [strategy, toWire(one)]));
}

function toWire(rollout: unknown): unknown {
  return rolloutToWire(rollout as Parameters<typeof rolloutToWire>[0]);
}

/** Returns the stored state of a document without the ids of people. */
function stateToWire(state: unknown): unknown {
  return isObject(state) && Array.isArray(state.environments)
    ? { ...state, environments: state.environments.map(environmentToWire) }
    : state;
}

export function statesToWire<Document extends Pick<PlannedDocument, 'before' | 'after'>>(document: Document): Document {
  return { ...document, before: stateToWire(document.before), after: stateToWire(document.after) };
}

/** The parts of a flag that hold rollouts, by the pattern of their paths. */
const PARTS: readonly (readonly [path: RegExp, toWire: (value: unknown) => unknown])[] = [
  [/^$/, stateToWire],
  [/^\/environments\/[^/]*$/, environmentToWire],
  [/^\/environments\/[^/]*\/rollouts$/, rolloutsToWire],
  [/^\/environments\/[^/]*\/rollouts\/[^/]*$/, toWire],
  [/\/rollouts\/[^/]*\/author$/, (author) => ({ name: Object(author).name })],
];

/** A path to a part of the author other than the name. */
const HIDDEN = /\/rollouts\/[^/]*\/author\/(?!name$)/;

/** Returns the differences of a document without the ids of people. */
export function differenceToWire(difference: DocumentDifference): DocumentDifference {
  const parts = difference.parts.flatMap((part) => {
    if (HIDDEN.test(part.path)) return [];
    const convert = PARTS.find(([path]) => path.test(part.path))?.[1];
    const convertValue = (value: unknown) => (convert && value !== null ? convert(value) : value);
    return [{ ...part, before: convertValue(part.before), after: convertValue(part.after) }];
  });
  return { ...difference, parts };
}
