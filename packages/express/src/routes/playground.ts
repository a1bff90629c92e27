import { type FlagConfiguration, FlagsError, timeSlice } from '@flags/core';
import { type Route, route } from '../route.js';
import { type Serialized, serialized } from '../serialized.js';
import { unchecked } from '../unchecked.js';
import { contextFromWire } from '../wire/evaluation-context.js';
import { explanationToWire, playgroundSchema, type WirePlayground } from '../wire/explanation.js';

export const playgroundRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/admin/playground',
    action: 'explainFlags',
    summary: 'Why flags are on or off for a context',
    tag: 'Playground',
    access: 'admin',
    body: { required: true, schema: () => playgroundSchema, checkedBy: 'router' },
    reply: { status: 200, schema: 'Playground' },
    errors: ['invalid_input', 'environment_not_found', 'project_not_found', 'flag_not_found'],
    async handle({ flags, body }) {
      const { environment, project, flag, from, context } = unchecked<WirePlayground>(body);
      if (project !== undefined) await flags.getProject({ project });
      const asked = flags
        .configuration({ environment })
        .flags.filter((one) => isAskedFor(one, { project, flag, from }));
      if (flag !== undefined && asked.length === 0) {
        throw new FlagsError('flag_not_found', `There is no flag ${flag} that is not archived.`);
      }
      const explain = (one: FlagConfiguration) =>
        explanationToWire(one, flags.explain(one.name, contextFromWire(context), { environment }));
      return { serialized: await explainAll(environment, asked, explain) };
    },
  }),
];

/** In characters; the rest is asked for by `from`. */
const LONGEST_ANSWER = 4 * 1024 * 1024;

/** Evaluates and writes flag by flag: a flag may have very many constraints to explain. */
async function explainAll(
  environment: string,
  asked: readonly FlagConfiguration[],
  explain: (flag: FlagConfiguration) => object,
): Promise<Serialized> {
  const parts: string[] = [];
  let length = 0;
  let next = '';
  for (const flag of asked) {
    if (timeSlice.isOver()) await timeSlice.next();
    if (length >= LONGEST_ANSWER) {
      next = `,"next":${JSON.stringify(flag.name)}`;
      break;
    }
    const part = JSON.stringify(explain(flag));
    parts.push(part);
    length += part.length;
  }
  return serialized(`{"environment":${JSON.stringify(environment)},"features":[${parts.join(',')}]${next}}`);
}

interface AskedFor {
  readonly project: string | undefined;
  readonly flag: string | undefined;
  readonly from: string | undefined;
}

/** Names are ASCII, so that comparing them gives the order of the flags. */
function isAskedFor(
  configured: FlagConfiguration,
  { project = configured.project, flag = configured.name, from = '' }: AskedFor,
): boolean {
  return configured.project === project && configured.name === flag && configured.name >= from;
}
