import { type FlagConfiguration, FlagsError } from '@flags/core';
import { type Route, route } from '../route.js';
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
      const { environment, project, flag, context } = unchecked<WirePlayground>(body);
      if (project !== undefined) await flags.getProject({ project });
      const asked = flags.configuration({ environment }).flags.filter((one) => isAskedFor(one, { project, flag }));
      if (flag !== undefined && asked.length === 0) {
        throw new FlagsError('flag_not_found', `There is no flag ${flag} that is not archived.`);
      }
      const evaluated = contextFromWire(context);
      const features = asked.map((one) => explanationToWire(one, flags.explain(one.name, evaluated, { environment })));
      return { body: { environment, features } };
    },
  }),
];

function isAskedFor(
  configured: FlagConfiguration,
  { project = configured.project, flag = configured.name }: { project: string | undefined; flag: string | undefined },
): boolean {
  return configured.project === project && configured.name === flag;
}
