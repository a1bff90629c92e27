/**
 * The parts of the documents that the administration's rules refuse or change, by document. Their replacements mean the
 * same for evaluation. It refuses names that a URL does not keep, operators that it does not offer, operands that can
 * never be used, empty lists, segments that do not exist, and dependencies that keep a flag off for ever; an enabled flag has a strategy; weights add up to 1000.
 */
export const DEVIATIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['01-simple-examples', ['Feature.C: enabled without strategies, gets default']],
  [
    '08-variants',
    [
      'Feature.Variants.A: weights 1 are 1000',
      'Feature.Variants.B: enabled without strategies, gets default',
      'Feature.Variants.B: weights 1 1 are 500 500',
      'Feature.Variants.C: enabled without strategies, gets default',
      'Feature.Variants.C: weights 33 33 33 are 334 333 333',
      'Feature.Variants.D: enabled without strategies, gets default',
      'Feature.Variants.D: weights 1 49 50 are 10 490 500',
      'Feature.Variants.override.D: enabled without strategies, gets default',
      'Feature.Variants.override.D: weights 33 33 34 are 330 330 340',
      'Feature.Variants.E: weights 1 are 1000',
      'Feature.Variants.G: weights 1 are 1000',
      'Feature.Variants.H: weights 1 are 1000',
    ],
  ],
  [
    '09-strategy-constraints',
    [
      'Feature.constraints.empty: invalid_input /constraints/0/values, IN ',
      'Feature.constraints.empty-not-in: invalid_input /constraints/0/values, NOT_IN ',
    ],
  ],
  [
    '11-strategy-constraints-edge-cases',
    [
      'Feature.constraints.no_values: invalid_input /constraints/0/values, IN ',
      'Feature.constraints.no_values_NOT_IN: invalid_input /constraints/0/values, NOT_IN ',
    ],
  ],
  ['12-custom-stickiness', ['Feature.flexible.rollout.custom.stickiness_100: weights 25 25 25 25 are 250 250 250 250']],
  [
    '13-constraint-operators',
    ['F7.invalid-operator: invalid_input /constraints/0/operator, NOT_A_VALID_OPERATOR 2022-01-22T13:00:00.000Z'],
  ],
  [
    '14-constraint-semver-operators',
    ['F8.invalidSemverWithLeadingV: invalid_input /constraints/0/value, SEMVER_EQ v2.0.0'],
  ],
  [
    '15-global-constraints',
    [
      'F9.globalSegmentOn: weights 25 25 25 25 are 250 250 250 250',
      'F9.withMissingSegment: invalid_input /segments/0, SEMVER_EQ 1.2.2',
    ],
  ],
  [
    '16-strategy-variants',
    [
      'Feature.strategy.variant.overrides.feature.variant: weights 1 are 1000',
      'Feature.strategy.variant.fallback: weights 1 are 1000',
      'Feature.strategy.no.strategy.variants: weights 1 are 1000',
    ],
  ],
  [
    '17-dependent-features',
    [
      'parents.not.exist.child.enabled: parent_not_found, parent.not.exist, switched off',
      'child.with.cycle: dependency_too_deep, parent.with.cycle, switched off',
      'child.with.transitive.dependency: dependency_too_deep, parent.enabled.child.enabled, switched off',
    ],
  ],
  [
    '18-utf8-flag-names',
    [
      'Feature.UTF-8.Hellø_Wørld: invalid_input, called Feature.UTF-8.Hell__W_rld',
      'Feature.UTF-8.😊_φriend_你好_🌍: invalid_input, called Feature.UTF-8.____riend______',
    ],
  ],
  [
    '21-regex-constraint-operators',
    [
      'invalid-regex-defaults-to-false: invalid_input /constraints/0/value, REGEX (regex',
      'R90.reject_lookahead: invalid_input /constraints/0/value, REGEX ^(?=a)b$',
      'R91.reject_backreference: invalid_input /constraints/0/value, REGEX ^(a)\\1$',
    ],
  ],
  [
    '22-cidr-constraint-operator',
    [
      'CIDR.mixed.values: invalid_input /constraints/0/values/0, IN_CIDR 127.invalid,192.168.1.0/24',
      'CIDR.invalid.only: invalid_input /constraints/0/values/0, IN_CIDR 127.invalid',
      // Without its one range, which is refused, the list is empty.
      'CIDR.invalid.only: invalid_input /constraints/0/values, IN_CIDR ',
      'CIDR.ipv6.mixed.values: invalid_input /constraints/0/values/0, IN_CIDR bad::cidr,2001:db8::/32',
    ],
  ],
]);

/**
 * The names of the cases in which weights that add up to 1000 draw another variant than the document's own
 * weights: the bucket is the hash modulo their sum. The variants here were computed with another implementation of the
 * hash.
 */
export const DRAWN_OF_1000: ReadonlyMap<string, string> = new Map([
  ['Feature.Variants.C should return variant1', 'variant3'],
  ['Feature.Variants.C should return variant2', 'variant3'],
  ['Feature.Variants.C should return variant3', 'variant1'],
  ['Feature.Variants.D should return variant1', 'variant3'],
  ['Feature.Variants.override.D should return variant2 for user 388', 'variant3'],
  ['Feature.flexible.rollout.custom.stickiness_100 and customField=438 yields green', 'blue'],
  ['Feature.flexible.rollout.custom.stickiness_100 and customField=44 yields yellow', 'blue'],
]);
