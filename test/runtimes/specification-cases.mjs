import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileSnapshot } from '../../packages/core/dist/evaluation/snapshot.js';

const { resolve } = createRequire(new URL('../../packages/core/package.json', import.meta.url));
const folder = join(dirname(resolve('@unleash/client-specification/package.json')), 'specifications');
const read = (file) => JSON.parse(readFileSync(join(folder, file), 'utf8'));

/** All cases of the public client specification, evaluated by the compiled snapshots. */
export function declareSpecificationCases() {
  describe('the public client specification', () => {
    for (const { name, state, tests = [], variantTests = [] } of read('index.json').map(read)) {
      for (const { description, toggleName, context, expectedResult } of tests) {
        it(`${name}: ${description}`, () => {
          assert.equal(snapshotOf(state).isEnabled(toggleName, context), expectedResult);
        });
      }
      for (const { description, toggleName, context, expectedResult } of variantTests) {
        it(`${name}: ${description}`, () => {
          const { flagEnabled, ...variant } = snapshotOf(state).getVariant(toggleName, context);
          assert.deepEqual(plain({ ...variant, feature_enabled: flagEnabled }), plain(expectedResult));
        });
      }
    }
  });
}

function snapshotOf(state) {
  if (!('events' in state)) {
    return compileSnapshot({ flags: state.features.map(flagIn), segments: state.segments ?? [], now: Date.now });
  }
  const empty = compileSnapshot({ flags: [], now: Date.now });
  return state.events.reduce((snapshot, event) => snapshot.with(changesOf(event)), empty);
}

function changesOf(event) {
  switch (event.type) {
    case 'hydration':
      return { flags: event.features.map(flagIn), segments: event.segments };
    case 'feature-updated':
      return { flags: [flagIn(event.feature)] };
    case 'feature-removed':
      return { removedFlags: [event.featureName] };
    case 'segment-updated':
      return { segments: [event.segment] };
    case 'segment-removed':
      return { removedSegments: [event.segmentId] };
    default:
      throw new Error(`The specification has a new kind of event: ${event.type}.`);
  }
}

/** The specification names a parent `feature`. */
function flagIn({ dependencies, ...definition }) {
  if (!dependencies) return definition;
  return { ...definition, dependencies: dependencies.map(({ feature, ...rest }) => ({ ...rest, flag: feature })) };
}

function plain(value) {
  return JSON.parse(JSON.stringify(value));
}
