// An application that writes declarations: what it exports must be nameable.
import { defineFlags, memoryStorage, openFlags } from '@flags/core';

export const schema = defineFlags(
  { packed: { variants: { red: { color: 'string' } } } },
  { context: { plan: ['free'] } },
);
export const storage = memoryStorage();
export const typed = await openFlags({ storage, schema });
export const evaluator = typed.evaluator;
export const variant = typed.getVariant('packed');
export const payload = typed.getPayload('packed');
export const drift = await typed.drift();
export const flags = await openFlags({ storage: memoryStorage() });
export const settings = flags.settings;
export const status = flags.status();
export const contexts = flags.recentContexts();
export const explanation = flags.explain('packed');
export const [explained] = explanation.strategies;
export const constraint = explained?.constraints[0];
export const rollout = explained?.rollout;
export const [dependency] = explanation.dependencies;
export const choice = explanation.variantChoice;
export const configuration = flags.configuration();
export const [configured] = configuration.flags;
export const definition = configured?.strategies?.[0]?.constraints?.[0];
export const flag = await flags.createFlag({ project: 'default' }, { name: 'declared' });
export const detail = await flags.getFlag({ project: 'default', flag: 'declared' });
export const [environment] = detail.environments;
export const strategy = environment?.strategies[0];
export const found = await flags.listFlags();
export const [overview] = found.items;
export const audience = overview?.environments[0]?.audience;
export const plan = await flags.plan([]);
export const [effect] = plan.effects;
export const preview = await flags.preview([], { environment: 'production', contexts: [] });
export const before = effect?.before;
export const [context] = preview.flags[0]?.contexts ?? [];
export const answer = context?.before;
export const bucket = preview.flags[0]?.contexts[0]?.buckets[0];
export const history = await flags.history.list();
export const changed = history.items[0]?.differences[0];
export const part = history.items[0]?.differences[0]?.parts[0];
export const definitions = await flags.definitions.export();
export const defined = definitions.flags?.[0]?.environments?.production?.strategies;
export const imported = await flags.definitions.import(definitions, { dryRun: true });
export const [difference] = imported.differences;
export const usage = await flags.usage.list();
export const applications = await flags.applications.listByFlag();
export const counts = await flags.usage.count();
export const seen = await flags.usage.listSeenFlags();
export const events = await flags.events.listNext();
