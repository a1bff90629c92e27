// The public client specification, evaluated by `@flags/core/evaluate`. Without anything of a platform: it also runs in a page
// and in a worker. CommonJS, so that jest loads it, too.

/** The cases in all files of the specification. */
const CASES = 279;

/**
 * Evaluates every case of the given files, each with its document compiled by `compile`, and by `compileSync`.
 *
 * @returns the names of the cases, and a sentence for each that has another result
 */
async function evaluateSpecification({ compile, compileSync, patterns }, files) {
  const names = [];
  const failures = [];
  for (const { name, state, tests = [], variantTests = [] } of files) {
    const document = documentOf(state);
    for (const flags of [await compile(document), compileSync(document, { patterns })]) {
      const check = ({ description, expectedResult }, result) => {
        names.push(`${name}: ${description}`);
        const [found, expected] = [canonical(result), canonical(expectedResult)];
        if (found !== expected) failures.push(`${name}: ${description}: ${found} instead of ${expected}`);
      };
      for (const one of tests) check(one, flags.isEnabled(one.toggleName, one.context));
      for (const one of variantTests) {
        const { flagEnabled, ...variant } = flags.getVariant(one.toggleName, one.context);
        check(one, { ...variant, feature_enabled: flagEnabled });
      }
    }
  }
  return { names: [...new Set(names)], evaluated: names.length / 2, failures };
}

/** The reply of `/api/client/features` after all events of a stream. */
function documentOf(state) {
  if (!('events' in state)) return state;
  const features = new Map();
  const segments = new Map();
  for (const event of state.events) {
    switch (event.type) {
      case 'hydration':
        for (const feature of event.features) features.set(feature.name, feature);
        for (const segment of event.segments ?? []) segments.set(segment.id, segment);
        break;
      case 'feature-updated':
        features.set(event.feature.name, event.feature);
        break;
      case 'feature-removed':
        features.delete(event.featureName);
        break;
      case 'segment-updated':
        segments.set(event.segment.id, event.segment);
        break;
      case 'segment-removed':
        segments.delete(event.segmentId);
        break;
      default:
        throw new Error(`The specification has a new kind of event: ${event.type}.`);
    }
  }
  return { features: [...features.values()], segments: [...segments.values()] };
}

function canonical(value) {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.keys(value)
    .sort()
    .map((member) => `${member}:${canonical(value[member])}`)}}`;
}

module.exports = { CASES, evaluateSpecification };
