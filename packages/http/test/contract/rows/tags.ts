import { inOrder, type Row, type Step } from '../row.js';
import { archived, CHECKOUT, checkout, FEATURES, FLAG } from '../states.js';

const TAGS = '/api/admin/features/checkout/tags';
const NOWHERE = '/api/admin/features/unknown/tags';
const GREEN = { type: 'simple', value: 'TeamGreen' };
const RED = { type: 'simple', value: 'Team Red/1' };

const tagged: Step = inOrder(checkout, (flags) =>
  flags.updateFlag(CHECKOUT, { labels: [GREEN.value, RED.value], owner: 'ada' }),
);
const full: Step = inOrder(checkout, (flags) =>
  flags.updateFlag(CHECKOUT, { labels: Array.from({ length: 20 }, (_, index) => `label-${index}`) }),
);

const owned = expect.objectContaining({ labels: [GREEN.value, RED.value], owner: 'ada' });

const flagRows: readonly Row[] = [
  {
    endpoint: 3,
    name: 'keeps labels and owner',
    request: {
      method: 'POST',
      path: FEATURES,
      body: { name: 'checkout', labels: [GREEN.value, RED.value], owner: 'ada' },
    },
    expect: { status: 201, body: owned },
  },
  {
    endpoint: 4,
    name: 'shows labels and owner',
    given: tagged,
    request: { method: 'GET', path: FLAG },
    expect: { status: 200, unchanged: true, body: owned },
  },
  {
    endpoint: 5,
    name: 'replaces labels, and clears the owner by null',
    given: tagged,
    request: { method: 'PUT', path: FLAG, body: { name: 'checkout', labels: ['a'], owner: null } },
    expect: { status: 200, body: expect.objectContaining({ labels: ['a'], owner: null }) },
  },
  {
    endpoint: 6,
    name: 'changes single labels and the owner',
    given: tagged,
    request: {
      method: 'PATCH',
      path: FLAG,
      body: [
        { op: 'remove', path: '/labels/0' },
        { op: 'replace', path: '/owner', value: 'grace' },
      ],
    },
    expect: { status: 200, body: expect.objectContaining({ labels: [RED.value], owner: 'grace' }) },
  },
  {
    endpoint: 7,
    name: 'copies labels and owner',
    given: tagged,
    request: { method: 'POST', path: `${FLAG}/clone`, body: { name: 'copy' } },
    expect: { status: 201, body: owned },
  },
  {
    endpoint: 2,
    name: 'shows neither labels nor owner in the list of a project',
    given: tagged,
    request: { method: 'GET', path: FEATURES },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, features: [expect.not.objectContaining({ labels: expect.anything() })] },
    },
  },
  {
    endpoint: 'listFlagEvents',
    name: 'shows labels and owner after and before the change',
    given: tagged,
    request: { method: 'GET', path: '/api/admin/events/checkout?type=feature-metadata-updated' },
    expect: {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({
        events: [
          expect.objectContaining({ data: owned, preData: expect.objectContaining({ labels: [], owner: null }) }),
        ],
      }),
    },
  },
];

const readRows: readonly Row[] = [
  {
    endpoint: 'listTags',
    name: 'lists no tags where no flag has labels',
    given: checkout,
    request: { method: 'GET', path: '/api/admin/tags' },
    expect: { status: 200, unchanged: true, body: { version: 1, tags: [] } },
  },
  {
    endpoint: 'listTags',
    name: 'lists the labels of all flags, each once',
    given: inOrder(tagged, (flags) => flags.cloneFlag(CHECKOUT, { name: 'copy' })),
    request: { method: 'GET', path: '/api/admin/tags' },
    expect: { status: 200, unchanged: true, body: { version: 1, tags: [GREEN, RED] } },
  },
  {
    endpoint: 'listTagTypes',
    name: 'lists the type simple',
    request: { method: 'GET', path: '/api/admin/tag-types' },
    expect: {
      status: 200,
      unchanged: true,
      body: { version: 1, tagTypes: [{ name: 'simple', description: 'A label of a flag', icon: '#' }] },
    },
  },
  {
    endpoint: 'listFlagTags',
    name: 'lists no tags of a new flag',
    given: checkout,
    request: { method: 'GET', path: TAGS },
    expect: { status: 200, unchanged: true, body: { version: 1, tags: [] }, headers: { etag: '"1-' } },
  },
  {
    endpoint: 'listFlagTags',
    name: 'lists the labels in their order',
    given: tagged,
    request: { method: 'GET', path: TAGS },
    expect: { status: 200, unchanged: true, body: { version: 1, tags: [GREEN, RED] } },
  },
  {
    endpoint: 'listFlagTags',
    name: 'does not find an unknown flag',
    request: { method: 'GET', path: NOWHERE },
    expect: { status: 404, code: 'flag_not_found' },
  },
];

const addRows: readonly Row[] = [
  {
    endpoint: 'addFlagTag',
    name: 'adds a tag at the end',
    given: tagged,
    request: { method: 'POST', path: TAGS, body: { value: 'TeamBlue', type: 'simple' } },
    expect: {
      status: 201,
      body: { type: 'simple', value: 'TeamBlue' },
      headers: { etag: '"3-' },
      afterwards: async (flags) =>
        expect((await flags.getFlag(CHECKOUT)).labels).toEqual([GREEN.value, RED.value, 'TeamBlue']),
    },
  },
  {
    endpoint: 'addFlagTag',
    name: 'treats a tag without a type as a simple one',
    given: checkout,
    request: { method: 'POST', path: TAGS, body: { value: 'TeamGreen' } },
    expect: { status: 201, body: GREEN },
  },
  {
    endpoint: 'addFlagTag',
    name: 'does nothing to an existing tag',
    given: tagged,
    request: { method: 'POST', path: TAGS, body: GREEN },
    expect: { status: 201, body: GREEN, unchanged: true },
  },
  ...[
    {},
    { type: 'simple' },
    { type: 'jira', value: 'a' },
    { type: 'simple', value: '' },
    { value: 7 },
    { value: 'x'.repeat(51) },
    [],
  ].map(
    (body): Row => ({
      endpoint: 'addFlagTag',
      name: `refuses ${JSON.stringify(body).slice(0, 60)}`,
      given: checkout,
      request: { method: 'POST', path: TAGS, body },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint: 'addFlagTag',
    name: 'refuses a twenty-first tag',
    given: full,
    request: { method: 'POST', path: TAGS, body: GREEN },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'addFlagTag',
    name: 'refuses an archived flag',
    given: archived,
    request: { method: 'POST', path: TAGS, body: GREEN },
    expect: { status: 409, code: 'flag_archived' },
  },
  {
    endpoint: 'addFlagTag',
    name: 'does not find an unknown flag',
    request: { method: 'POST', path: NOWHERE, body: GREEN },
    expect: { status: 404, code: 'flag_not_found' },
  },
];

const updateRows: readonly Row[] = [
  {
    endpoint: 'updateFlagTags',
    name: 'adds and removes tags in one change',
    given: tagged,
    request: { method: 'PUT', path: TAGS, body: { addedTags: [{ value: 'a' }], removedTags: [GREEN] } },
    expect: { status: 200, body: { version: 1, tags: [RED, { type: 'simple', value: 'a' }] } },
  },
  {
    endpoint: 'updateFlagTags',
    name: 'refuses a body without both lists',
    given: checkout,
    request: { method: 'PUT', path: TAGS, body: { addedTags: [] } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'updateFlagTags',
    name: 'refuses an archived flag',
    given: archived,
    request: { method: 'PUT', path: TAGS, body: { addedTags: [], removedTags: [] } },
    expect: { status: 409, code: 'flag_archived' },
  },
  {
    endpoint: 'updateFlagTags',
    name: 'does not find an unknown flag',
    request: { method: 'PUT', path: NOWHERE, body: { addedTags: [], removedTags: [] } },
    expect: { status: 404, code: 'flag_not_found' },
  },
];

const removeRows: readonly Row[] = [
  {
    endpoint: 'removeFlagTag',
    name: 'removes a tag, whose value is encoded',
    given: tagged,
    request: { method: 'DELETE', path: `${TAGS}/simple/${encodeURIComponent(RED.value)}` },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => expect((await flags.getFlag(CHECKOUT)).labels).toEqual([GREEN.value]),
    },
  },
  ...['simple/none', 'jira/TeamGreen'].map(
    (tag): Row => ({
      endpoint: 'removeFlagTag',
      name: `does nothing to ${tag}, which the flag has not`,
      given: tagged,
      request: { method: 'DELETE', path: `${TAGS}/${tag}` },
      expect: { status: 200, body: null, unchanged: true },
    }),
  ),
  {
    endpoint: 'removeFlagTag',
    name: 'refuses a label that is too long',
    given: tagged,
    request: { method: 'DELETE', path: `${TAGS}/simple/${'x'.repeat(51)}` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'removeFlagTag',
    name: 'refuses an archived flag',
    given: archived,
    request: { method: 'DELETE', path: `${TAGS}/simple/a` },
    expect: { status: 409, code: 'flag_archived' },
  },
  {
    endpoint: 'removeFlagTag',
    name: 'does not find an unknown flag',
    request: { method: 'DELETE', path: `${NOWHERE}/simple/a` },
    expect: { status: 404, code: 'flag_not_found' },
  },
];

export const tagRows: readonly Row[] = [...flagRows, ...readRows, ...addRows, ...updateRows, ...removeRows];
