// The flags in the pictures: a shop with eight flags, two applications, and two weeks of changes.
import { memoryStorage, openFlags } from '@flags/core';

const HOUR = 3_600_000;
const FLAGS = [
  ['checkout', 'The new checkout', 'release', 25, ['web', 'payments'], 'team-checkout', 900],
  ['dark-mode', 'Dark colours for everybody who asks for them', 'release', 100, ['web'], 'team-design', 4_200],
  ['express-delivery', 'Delivery on the same day', 'experiment', 50, ['logistics'], 'team-delivery', 310],
  ['old-banner', 'The banner of last summer', 'release', undefined, [], undefined, 0],
  ['payment-provider-b', 'The second provider takes over', 'kill-switch', 100, ['payments'], 'team-checkout', 120],
  ['recommendations', 'Articles that others have bought', 'experiment', 10, ['web'], 'team-search', 2_600],
  ['search-v2', 'Search with suggestions', 'release', 5, ['web'], 'team-search', 1_900],
  ['staff-tools', 'Tools for the staff', 'permission', 100, [], 'team-shop', 40],
];

/** Returns the engine of the shop. Its changes lie in the past, its usage in the last day. */
export async function createShop() {
  let clock = Date.now() - 14 * 24 * HOUR;
  const flags = await openFlags({
    storage: memoryStorage(),
    now: () => new Date(clock),
    due: { run: 'elsewhere' },
    usage: { instance: 'shop-1' },
  });
  for (const [index, flag] of FLAGS.entries()) {
    clock += 20 * HOUR;
    await addFlag(flags, flag, index % 2 === 0 ? 'ada' : 'bob');
  }
  clock = Date.now() - 26 * HOUR;
  const countries = [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT', 'FR', 'NL'] }];
  await flags
    .as('bob')
    .segments.create({ name: 'EU', description: 'Customers in our EU countries', constraints: countries });
  const staff = [{ contextName: 'email', operator: 'STR_ENDS_WITH', values: ['@shop.example'] }];
  await flags.as('ada').segments.create({ name: 'Staff', constraints: staff });
  for (const [userId, roleId] of [
    [1, 4],
    [2, 5],
    [3, 5],
  ]) {
    await flags.as('ada').addMember({ project: 'default' }, { userId, roleId });
  }
  for (const [name, kind, days] of [
    ['shop-backend', 'client', 90],
    ['shop-web', 'frontend', 6],
    ['deploy', 'admin', 90],
  ]) {
    const expiresAt = new Date(Date.now() + days * 24 * HOUR).toISOString();
    await flags.as('ada').tokens.create({ name, kind, expiresAt });
  }
  await flags.apply(
    [
      {
        op: 'updateFlag',
        ref: { project: 'default', flag: 'checkout' },
        input: { description: 'The new checkout, in two steps' },
      },
    ],
    { actor: 'bob', reason: 'Step two is ready' },
  );
  clock = await addRequests(flags, (time) => {
    clock = time;
  });
  await reportUsage(flags, clock);
  return flags;
}

/** A rollout of the first strategy, which has taken two of its steps by now. */
async function startRollout(flags, place) {
  const { environments } = await flags.getFlag(place);
  const [{ id: strategy }] = environments.find(({ name }) => name === place.environment).strategies;
  const steps = [
    { percentage: 20, hold: 8 * HOUR },
    { percentage: 40, hold: 48 * HOUR },
    { percentage: 70, hold: null },
    { percentage: 100 },
  ];
  await flags.as('ada').rollouts.start({ ...place, strategy }, { steps }, { reason: 'Half of the shop by Friday' });
}

/** Requests that were applied, have failed, and wait for their time. Returns the present time. */
async function addRequests(flags, setClock) {
  const now = Date.now();
  const at = (hours) => new Date(Math.ceil(now / HOUR) * HOUR + hours * HOUR).toISOString();
  const inProduction = (flag) => ({ project: 'default', flag, environment: 'production' });
  const search = { project: 'default', flag: 'search-v2' };
  const provider = { project: 'default', flag: 'payment-provider-b' };
  const text = 'Search with suggestions, in all languages';
  await flags
    .as('ada')
    .changeRequests.create([{ op: 'updateFlag', ref: search, input: { description: text } }], { at: at(-20) });
  await flags.as('bob').changeRequests.create([{ op: 'disable', ref: inProduction('payment-provider-b') }], {
    at: at(-9),
    ifUnchanged: true,
    reason: 'The first provider is back',
  });
  await flags.as('ada').updateFlag(provider, { description: 'The second provider takes over, if the first one fails' });
  setClock(Date.parse(at(-20)));
  await startRollout(flags, inProduction('recommendations'));
  for (const hours of [-20, -9]) {
    setClock(Date.parse(at(hours)) + 2_000);
    await flags.runDue();
  }
  setClock(now);
  await flags.as('bob').changeRequests.create([{ op: 'disable', ref: inProduction('express-delivery') }], {
    at: at(14),
    reason: 'No couriers on Sunday',
  });
  await flags.as('ada').changeRequests.create([{ op: 'disable', ref: inProduction('dark-mode') }], {
    at: at(62),
    ifUnchanged: true,
    reason: 'The old style sheet goes',
  });
  return now;
}

/** Two people must approve changes of production from now on. Returns the id of a request that one has approved. */
export async function addApprovals(flags) {
  await flags.as('root').approvalPolicy.set({ environments: { production: { required: 2 } } });
  const inProduction = { project: 'default', flag: 'search-v2', environment: 'production' };
  const { environments } = await flags.getFlag(inProduction);
  const [{ id: strategy }] = environments.find(({ name }) => name === 'production').strategies;
  const steps = [{ percentage: 10, hold: 24 * HOUR }, { percentage: 50, hold: 24 * HOUR }, { percentage: 100 }];
  const changes = [{ op: 'startRollout', ref: { ...inProduction, strategy }, input: { steps, guarded: true } }];
  const reason = 'The new index answers in 40 ms, also at noon';
  const { id, effect } = await flags.as('bob').changeRequests.create(changes, { reason });
  const seen = { reason: 'Seen on staging' };
  await flags.as('grace').changeRequests.approve({ changeRequest: id }, { effect }, seen);
  return id;
}

/** Two consumers of events, one of which fails. Returns what ends them. */
export async function startConsumers(flags) {
  const fail = () => {
    throw new Error('The webhook of Slack answered 404 no_service');
  };
  return [
    await flags.consume('audit-log', () => undefined, { from: 'beginning' }),
    await flags.consume('slack', fail, { from: 'beginning' }),
  ];
}

async function addFlag(flags, [name, description, type, rollout, labels, owner], actor) {
  const ref = { project: 'default', flag: name };
  await flags.as(actor).createFlag(ref, { name, description, type, labels, ...(owner && { owner }) });
  if (rollout === undefined) {
    await flags.as('bob').updateFlag(ref, { stale: true });
    return;
  }
  for (const environment of ['development', 'production']) {
    const parameters = {
      rollout: environment === 'production' ? rollout : 100,
      stickiness: 'default',
      groupId: name,
    };
    const isLimited = name === 'checkout' && environment === 'production';
    const constraints = isLimited ? [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }] : [];
    const target = { ...ref, environment };
    await flags.as(actor).addStrategy(target, { name: 'flexibleRollout', parameters, constraints });
    await flags.as(actor).enable(target);
  }
}

/** More by day than by night, and a little different from hour to hour. */
async function reportUsage(flags, now) {
  for (const [application, share, url, color] of [
    ['shop-backend', 1, 'https://shop.example/', '#0969da'],
    ['shop-web', 0.4, 'https://shop.example/', '#1a7f37'],
  ]) {
    const strategies = ['flexibleRollout', 'default'];
    await flags.registerApplication({ application, strategies, url, color });
    for (let ago = 23; ago >= 0; ago--) {
      const stop = now - ago * HOUR;
      const hour = new Date(stop).getUTCHours();
      const counts = FLAGS.flatMap(([name, , , rollout = 0, , , most], index) => {
        const level = (1.15 - Math.cos(((hour - 3) / 24) * 2 * Math.PI)) / 2 + ((hour * 7 + index * 5) % 11) / 40;
        const count = Math.round(most * share * level);
        const yes = Math.round((count * rollout) / 100);
        return count === 0 ? [] : [[name, { yes, no: count - yes }]];
      });
      const counted = { start: stop - 60_000, stop, counts: Object.fromEntries(counts) };
      await flags.reportMetrics({ application, environment: 'production', ...counted });
    }
  }
}
