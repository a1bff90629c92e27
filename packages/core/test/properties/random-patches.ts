import fc from 'fast-check';

const pointer = fc.constantFrom(
  ...['', '/0', '/1', '/-', '/00', '/0/name', '/0/weight', '/0/overrides/-', '/name', '/id', '/createdAt', '/lastSeen'],
  ...['/description', '/type', '/parameters', '/parameters/rollout', '/constraints/0', '/__proto__', '/toString'],
);
const value = fc.constantFrom('text', 'release', true, null, 7, [], {}, { name: 'a' }, { contextName: 'a' });

/** Patches of flags, strategies and lists of variants, and patches without a target. */
export const anyPatch = fc.oneof(
  fc.array(
    fc.oneof(
      fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value }),
      fc.record({ op: fc.constant('remove'), path: pointer }),
      fc.record({ op: fc.constantFrom('move', 'copy'), from: pointer, path: pointer }),
      fc.record({ op: fc.constantFrom('add', 'merge'), path: fc.constantFrom('name', '/~2', '/name') }),
    ),
    { maxLength: 3 },
  ),
  fc.constantFrom(null, {}, [null], 'patch'),
);
