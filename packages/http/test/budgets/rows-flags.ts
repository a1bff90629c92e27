import {
  arrayOf,
  longText,
  MEBIBYTE,
  manyParameters,
  ofValues,
  operations,
  padded,
  within,
  withSlowPatterns,
  withUnknown,
  wrongConstraints,
} from './bodies.js';
import { AT_ONCE, flagName, strategyId } from './definitions.js';
import { type BudgetRow, type Preparation, together } from './row.js';

const FEATURES = '/api/admin/projects/default/features';
const STRATEGIES = (flag: string) => `${FEATURES}/${flag}/environments/production/strategies`;
const flagPath = (number: number) => `${FEATURES}/${flagName(number)}`;
const strategyPath = (number: number) => `${STRATEGIES(flagName(number))}/${strategyId(number)}`;
const TAGGED = '/api/admin/features';
const granted = { isGranted: true } as const;
/** A description of almost the longest length, in a body of 1 MiB. */
const LARGEST_TEXT = `"description":"${longText(9990)}","ignored":"…"`;

/** 20 patterns with a high cost per character, which are all tested. */
const patterns = () => {
  const constraint = '{"contextName":"userId","operator":"REGEX","value":"(?:a?){50}b","inverted":true}';
  return `{"name":"default","constraints":[${Array.from({ length: 20 }, () => constraint)}]}`;
};

/** Every copy doubles the value below `to`. */
const copies = (from: string, to: string) =>
  operations(1000, (number) => `{"op":"copy","from":"${from}","path":"${to.replace('#', String(number))}"}`);
const tests = (path: string) => operations(1000, () => `{"op":"test","path":"${path}","value":"${longText(900)}"}`);
const longPointers = () => operations(1000, () => `{"op":"replace","path":"/${'a/'.repeat(500)}","value":0}`);
const deepPointer = () => `[{"op":"add","path":"${padded('/…', MEBIBYTE - 50)}","value":0}]`;

const variantsOf = (count: number, member: string) =>
  `[${Array.from({ length: count }, (_, index) => `{"name":"variant-${index}"${member}}`)}]`;

const cloned = (name: string): Preparation => ({
  method: 'POST',
  path: `${FEATURES}/largest/clone`,
  body: () => `{"name":"${name}"}`,
});
const archived = (name: string): readonly Preparation[] => [
  cloned(name),
  { method: 'DELETE', path: `${FEATURES}/${name}` },
];

export const FLAG_ROWS = {
  searchFlags: [
    ...together({ name: 'all flags', path: '/api/admin/features', isGranted: true }),
    { name: 'text that no flag has', path: `${TAGGED}?query=${longText(500)}`, ...granted },
    { name: 'text in descriptions', path: `${TAGGED}?query=${longText(20)}`, ...granted },
    { name: 'last seen', path: `${TAGGED}?sort=-lastSeenAt&limit=1000`, ...granted },
    { name: 'by type', path: `${TAGGED}?sort=type&after=release%20flag-00100`, ...granted },
    { name: 'many labels', path: `${TAGGED}?${manyParameters('label')}` },
  ],
  validateFlagName: [
    { name: 'free', body: () => '{"name":"unheard-of"}', ...granted },
    { name: 'name of 1 MiB', body: () => padded('{"name":"…"}') },
    { name: 'unknown members', body: () => withUnknown('"name":"unknown-members"'), ...granted },
  ],
  createFlag: [
    { name: 'largest', body: () => padded(`{"name":"made",${LARGEST_TEXT}}`), ...granted },
    { name: 'name of 1 MiB', body: () => padded('{"name":"…"}') },
  ],
  getFlag: [
    { name: 'of 1 MiB', path: `${FEATURES}/largest`, ...granted },
    { name: 'with large events, as it was', path: `${FEATURES}/eventful?asOf=2100-01-01T00:00:00Z`, ...granted },
    {
      name: 'eight at once with many events, as it was',
      path: (round) => `${FEATURES}/busy?asOf=2100-01-01T00:00:0${round}Z`,
      isAtOnce: true,
      times: AT_ONCE,
      ...granted,
    },
  ],
  updateFlag: [
    {
      name: 'largest',
      path: flagPath(30),
      body: () => padded(`{"name":"${flagName(30)}",${LARGEST_TEXT}}`),
      ...granted,
    },
    {
      name: 'of 1 MiB',
      path: `${FEATURES}/largest`,
      body: () => padded('{"name":"largest","stale":true,"ignored":"…"}'),
      ...granted,
    },
  ],
  patchFlag: [
    {
      name: 'largest',
      path: flagPath(31),
      body: () => padded(`[{"op":"replace","path":"/description","value":"${longText(9990)}","ignored":"…"}]`),
      ...granted,
    },
    { name: '1,000 copies', path: `${FEATURES}/largest`, body: () => copies('/description', '/description') },
    { name: '1,000 tests', path: `${FEATURES}/largest`, body: () => tests('/description') },
    { name: 'long pointers', body: longPointers },
    { name: 'pointer of 1 MiB', body: deepPointer },
    { name: 'wrong operations', body: () => arrayOf(() => '{"op":"x","path":0,"value":[0]}') },
  ],
  cloneFlag: [
    {
      name: 'of 1 MiB',
      path: `${FEATURES}/largest/clone`,
      body: () => padded('{"name":"cloned","ignored":"…"}'),
      ...granted,
    },
  ],
  listFlagTags: [{ name: 'of 1 MiB', path: `${TAGGED}/largest/tags`, ...granted }],
  addFlagTag: [
    { name: 'largest', path: `${TAGGED}/largest/tags`, body: () => padded('{"value":"a","ignored":"…"}'), ...granted },
    { name: 'value of 1 MiB', body: () => padded('{"type":"simple","value":"…"}') },
  ],
  updateFlagTags: [
    { name: 'wrong tags', body: () => within('{"removedTags":[],"addedTags":[', () => '{"type":0,"value":0}', ']}') },
    {
      name: 'repeated',
      path: `${TAGGED}/largest/tags`,
      body: () => `{"removedTags":[],"addedTags":[${Array.from({ length: 20 }, () => '{"value":"a"}')}]}`,
      ...granted,
    },
  ],
  removeFlagTag: [{ name: 'of 1 MiB', path: `${TAGGED}/largest/tags/simple/a`, ...granted }],
  archiveFlag: [
    { name: 'of 1 MiB', path: `${FEATURES}/largest-1`, before: [cloned('largest-1')], ...granted },
    { name: 'that others depend on', path: flagPath(21) },
  ],
  reviveFlag: [
    { name: 'of 1 MiB', path: '/api/admin/archive/revive/largest-2', before: archived('largest-2'), ...granted },
    { name: 'small', path: '/api/admin/archive/revive/revived', ...granted },
  ],
  deleteFlag: [
    { name: 'of 1 MiB', path: '/api/admin/archive/largest-3', before: archived('largest-3'), ...granted },
    { name: 'small', path: '/api/admin/archive/deleted', ...granted },
  ],
} satisfies Record<string, readonly BudgetRow[]>;

export const STRATEGY_ROWS = {
  addStrategy: [
    {
      name: '49,000 values',
      path: STRATEGIES(flagName(40)),
      body: () => ofValues('{"name":"default","constraints":'),
      ...granted,
    },
    { name: 'wrong constraints', body: wrongConstraints },
    {
      name: 'unknown members',
      path: STRATEGIES(flagName(51)),
      body: () => withUnknown('"name":"default"'),
      ...granted,
    },
    {
      name: 'numbers as values',
      body: () =>
        within('{"name":"default","constraints":[{"contextName":"a","operator":"IN","values":[', () => '0', ']}]}'),
    },
    {
      name: '100 segments',
      body: () => `{"name":"default","segments":[${Array.from({ length: 100 }, (_, id) => id + 1)}]}`,
    },
    { name: 'segments without end', body: () => within('{"name":"default","segments":[', () => '1', ']}') },
    { name: '20 patterns', path: STRATEGIES(flagName(41)), body: patterns, ...granted },
    { name: '100 slow patterns', body: () => withSlowPatterns('"name":"default"', 100) },
    {
      name: 'a slow pattern',
      path: STRATEGIES(flagName(52)),
      body: () => withSlowPatterns('"name":"default"', 1),
      ...granted,
    },
    {
      name: 'patterns without end',
      body: () =>
        within(
          '{"name":"default","constraints":[',
          (number) => `{"contextName":"a","operator":"REGEX","value":"(?:${number}?){480}b"}`,
          ']}',
        ),
    },
  ],
  listStrategies: [{ name: 'of 1 MiB', path: STRATEGIES('largest'), ...granted }],
  getFlagEnvironment: [{ name: 'of 1 MiB', path: STRATEGIES('largest').replace('/strategies', ''), ...granted }],
  orderStrategies: [
    { name: 'wrong places', body: () => arrayOf(() => '{"id":0,"sortOrder":"0"}') },
    { name: 'places without end', body: () => arrayOf(() => '{"id":"a","sortOrder":0}') },
  ],
  updateStrategy: [
    {
      name: '49,000 values',
      path: strategyPath(42),
      body: () => ofValues('{"name":"default","constraints":'),
      ...granted,
    },
    { name: 'wrong constraints', body: wrongConstraints },
  ],
  patchStrategy: [
    {
      name: '49,000 values',
      path: strategyPath(43),
      body: () => `[{"op":"replace","path":"/constraints","value":${ofValues('').slice(0, -1)}}]`,
      ...granted,
    },
    { name: '1,000 copies', path: strategyPath(44), body: () => copies('/constraints', '/constraints/-') },
    {
      name: '1,000 copies of parameters',
      path: strategyPath(45),
      body: () => copies('/parameters/groupId', '/parameters/p#'),
    },
    { name: '1,000 tests', path: strategyPath(45), body: () => tests('/parameters/groupId') },
    { name: 'long pointers', body: longPointers },
  ],
  removeStrategy: [{ name: 'last one', path: strategyPath(46), ...granted }],
  enable: [
    { name: 'of 1 MiB', path: `${FEATURES}/largest/environments/development/on` },
    { name: 'again', ...granted },
  ],
  disable: [{ name: 'of 1 MiB', path: `${FEATURES}/largest/environments/development/off`, ...granted }],
  setVariants: [
    {
      name: '100 of 9,000 bytes',
      path: `${flagPath(47)}/variants`,
      body: () => variantsOf(100, `,"payload":{"type":"string","value":"${longText(9000)}"}`),
      ...granted,
    },
    { name: 'wrong', body: () => arrayOf(() => '{"name":0,"weight":-1,"x":0,"overrides":[0]}') },
    { name: 'of one name', body: () => variantsOf(100, '').replaceAll(/variant-\d+/g, 'same') },
    {
      name: 'JSON payloads',
      body: () => variantsOf(100, `,"payload":{"type":"json","value":"${'['.repeat(4000)}${']'.repeat(4000)}"}`),
    },
  ],
  patchVariants: [
    {
      name: '98 adds',
      path: `${flagPath(48)}/variants`,
      body: () => operations(98, (number) => `{"op":"add","path":"/-","value":{"name":"v${number}"}}`),
      ...granted,
    },
    { name: '1,000 copies', path: `${FEATURES}/largest/variants`, body: () => copies('/0', '/-') },
    {
      name: '1,000 moves',
      path: `${FEATURES}/largest/variants`,
      body: () => operations(1000, () => '{"op":"move","from":"/0","path":"/99"}'),
    },
    { name: '1,000 tests', path: `${FEATURES}/largest/variants`, body: () => tests('/0') },
    { name: 'long pointers', body: longPointers },
  ],
  addDependency: [
    {
      name: 'largest',
      path: `${flagPath(49)}/dependencies`,
      body: () => padded(`{"feature":"${flagName(50)}","ignored":"…"}`),
      ...granted,
    },
  ],
  removeDependency: [{ name: 'small', path: `${flagPath(20)}/dependencies/${flagName(21)}`, ...granted }],
  removeDependencies: [{ name: 'small', path: `${flagPath(22)}/dependencies`, ...granted }],
} satisfies Record<string, readonly BudgetRow[]>;
